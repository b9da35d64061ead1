/**
 * Another map, or none, for a robot that runs: stored first, then in use here, then in the motion process, whose own
 * word is the evidence. One change at a time, and only while nothing drives.
 */
import type { AmrDriver, RobotState } from '../../config/contracts/amr.js';
import { type Clock, delay } from '../../config/contracts/clock.js';
import { errorText, isRefusal, TaskFailure } from '../../config/contracts/errors.js';
import type { Areas, MapBundle } from '../../drivers/amr/types.js';
import type { MapEvidence, MapOperations } from '../../executors/services.js';
import type { MapStore } from '../maps/map-store.js';
import type { MapInUse } from './map.js';
import { MapRooms } from './rooms.js';

export interface MapChangesDeps {
  map: MapInUse;
  store: MapStore;
  amr: AmrDriver;
  clock: Clock;
  /** Of the robot, m. */
  radius: number;
}

/** How long the motion process may take to show what it was told, and to know where it is, ms of robot time. */
const SHOWN_MS = 5_000;
const PLACE_MS = 5_000;
const LOOK_MS = 50;

const NO_FILE = 'the profile names no map: set map.file to where this robot keeps its map, and restart it';

export class MapChanges implements MapOperations {
  readonly #deps: MapChangesDeps;
  #busy = false;

  constructor(deps: MapChangesDeps) {
    this.#deps = deps;
  }

  current(): { id: string; rooms: number } | null {
    const { bundle } = this.#deps.map;
    return bundle === null ? null : { id: bundle.id, rooms: bundle.areas.rooms.length };
  }

  unavailable(): string | null {
    return this.#deps.map.file === null ? NO_FILE : null;
  }

  kept(): readonly { id: string; at: number; name?: string | undefined }[] {
    return this.#deps.store.record.kept.toReversed();
  }

  outOfUse(): string | null {
    return this.#deps.store.record.reset?.map_id ?? null;
  }

  previous(): string | null {
    return this.#deps.store.record.previous;
  }

  /** Evidence of what is, without changing it; null while the motion process says something else. */
  observed(): MapEvidence | null {
    const state = this.#deps.amr.state();
    return state === null || state.mapId !== this.#id ? null : this.#evidence(state);
  }

  reset(): Promise<MapEvidence> {
    return this.#alone(async () => {
      const { map, store, amr, clock } = this.#deps;
      const { bundle } = map;
      if (bundle === null) throw new TaskFailure('STATE_CONDITION_FAILED', 'there is no map to reset');
      const before = store.record;
      stored(() => store.reset(bundle, clock.now()));
      this.#take(null);
      const since = clock.now();
      try {
        await amr.clearMap();
        return this.#evidence(await this.#shown(null, since));
      } catch (error) {
        // It drives by its map still: then nothing was reset.
        stored(() => store.revert(before));
        this.#take(bundle);
        const drives = isRefusal(error) && error.reason === 'ILLEGAL_STATE';
        throw new TaskFailure(
          drives ? 'RESOURCE_BUSY' : 'HARDWARE_FAULT',
          `the motion process did not give the map up (${errorText(error)}): the robot keeps it`,
        );
      }
    });
  }

  use(id: string): Promise<MapEvidence> {
    return this.#alone(async () => this.#put(this.#deps.store.load(id)));
  }

  /** A map that the robot has just made. */
  install(bundle: MapBundle): Promise<MapEvidence> {
    return this.#alone(() => this.#put(bundle));
  }

  /** Keeps the map in use under a name. Rejects with a `TaskFailure`. */
  name(name: string): Promise<MapEvidence> {
    return this.#alone(async () => {
      const { map, store, clock, amr } = this.#deps;
      const { bundle } = map;
      if (bundle === null) throw new TaskFailure('STATE_CONDITION_FAILED', 'there is no map to save');
      stored(() => store.keepAside(bundle, clock.now(), name));
      const state = amr.state();
      if (state === null) throw new TaskFailure('HARDWARE_FAULT', 'the motion process is gone');
      return this.#evidence(state);
    });
  }

  /** For a map from outside; `bundle` is kept as well. A robot without a body takes it, too. */
  put(bundle: MapBundle): Promise<void> {
    return this.#alone(async () => {
      if (this.#deps.amr.state() !== null) await this.#put(bundle);
      else await this.#deps.amr.loadMap(this.#adopt(bundle));
    });
  }

  /** The same ground with other areas: stored by `write`, then in use here and in the motion process, or as it was. */
  areas(bundle: MapBundle, write: (file: string, areas: Areas) => void): Promise<MapEvidence> {
    return this.#alone(async () => {
      const { map, amr, clock } = this.#deps;
      const { file, bundle: before } = map;
      if (file === null || before === null)
        throw new TaskFailure('STATE_CONDITION_FAILED', 'there is no map');
      stored(() => write(file, bundle.areas));
      this.#take(bundle, true);
      const since = clock.now();
      try {
        await amr.loadMap(file);
        const state = await this.#shown(bundle.id, since);
        return this.#evidence(state);
      } catch (error) {
        stored(() => write(file, before.areas));
        this.#take(before);
        const drives = isRefusal(error) && error.reason === 'ILLEGAL_STATE';
        throw new TaskFailure(
          drives ? 'RESOURCE_BUSY' : 'HARDWARE_FAULT',
          `the motion process did not take the areas (${errorText(error)}): the map stays as it was`,
        );
      } finally {
        if (map.rooms !== null) map.rooms.changing = false;
      }
    });
  }

  /** Stored and in use here. Returns where it lies. */
  #adopt(bundle: MapBundle): string {
    const { map, store, clock, radius } = this.#deps;
    const { file } = map;
    if (file === null) throw new TaskFailure('CAPABILITY_UNAVAILABLE', NO_FILE);
    const rooms = new MapRooms(bundle, radius);
    stored(() => store.use(file, bundle, map.bundle, clock.now()));
    Object.assign(map, { bundle, rooms, problem: null });
    return file;
  }

  async #put(bundle: MapBundle): Promise<MapEvidence> {
    const { amr, clock } = this.#deps;
    const file = this.#adopt(bundle);
    const since = clock.now();
    try {
      await amr.loadMap(file);
      await this.#shown(bundle.id, since);
    } catch (error) {
      throw new TaskFailure(
        'HARDWARE_FAULT',
        `the map is stored, but the motion process did not take it (${errorText(error)}); it is asked again by itself`,
      );
    }
    const { station } = bundle.areas;
    if (station !== null && amr.state()?.base.docked === true) await amr.relocalize(station.pose);
    return this.#evidence(await this.#placed());
  }

  #take(bundle: MapBundle | null, editable = false): void {
    const rooms = bundle === null ? null : new MapRooms(bundle, this.#deps.radius);
    if (rooms !== null) rooms.changing = editable;
    Object.assign(this.#deps.map, { bundle, rooms, problem: null });
  }

  get #id(): string | null {
    return this.#deps.map.bundle?.id ?? null;
  }

  async #alone<T>(change: () => Promise<T>): Promise<T> {
    if (this.#busy) throw new TaskFailure('RESOURCE_BUSY', 'the map is being changed already');
    this.#busy = true;
    try {
      return await change();
    } finally {
      this.#busy = false;
    }
  }

  /** The first report of the motion process, since it was asked, that says which map it has. */
  async #shown(id: string | null, since: number): Promise<RobotState> {
    const { amr, clock } = this.#deps;
    const deadline = clock.mono() + SHOWN_MS;
    for (;;) {
      const state = amr.state();
      if (state !== null && state.at >= since && state.mapId === id) return state;
      if (clock.mono() >= deadline) throw new Error('it does not report what it was told');
      await delay(clock, LOOK_MS);
    }
  }

  /** Once it knows where it is, or has had its time to find out. */
  async #placed(): Promise<RobotState> {
    const { amr, clock } = this.#deps;
    const deadline = clock.mono() + PLACE_MS;
    for (;;) {
      const state = amr.state();
      if (state === null) throw new TaskFailure('HARDWARE_FAULT', 'the motion process is gone');
      if (state.localized === true || clock.mono() >= deadline) return state;
      await delay(clock, LOOK_MS);
    }
  }

  #evidence(state: RobotState): MapEvidence {
    return {
      observedAtMs: state.at,
      rtBootId: state.rtBootId,
      mapId: state.mapId,
      rooms: this.current()?.rooms ?? 0,
      localized: state.localized,
      pose: state.localized === true ? state.pose : null,
    };
  }
}

/** Runs what writes to the disk; a `TaskFailure` says that it could not. */
function stored(write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new TaskFailure(
      'CAPABILITY_UNAVAILABLE',
      `the map cannot be stored (${errorText(error)}): the robot keeps the one it has`,
    );
  }
}
