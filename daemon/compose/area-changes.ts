/** Changes of what is drawn on the map, for a robot that runs: judged on the map in use, stored, in force, and undone. */
import { createHash } from 'node:crypto';
import type { AmrDriver } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { Refusal, TaskFailure } from '../../config/contracts/errors.js';
import { editKeepOut, editRooms, type RoomsInUse } from '../../drivers/amr/map/area-edits.js';
import { areasText, parseAreas } from '../../drivers/amr/map/areas.js';
import { mapBundle } from '../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { AreaChange, AreaEvidence, AreaOperations, MapEvidence } from '../../executors/services.js';
import type { AreaEntry, AreaHistory } from '../maps/area-history.js';
import type { MapStore } from '../maps/map-store.js';
import type { MapInUse } from './map.js';
import type { MapChanges } from './map-changes.js';

export interface AreaChangesDeps {
  map: MapInUse;
  changes: MapChanges;
  store: MapStore;
  history: AreaHistory;
  amr: AmrDriver;
  clock: Clock;
  /** Of the robot, m. */
  radius: number;
}

const NOTHING_IN_USE: RoomsInUse = { ids: new Map(), names: new Map() };

export class AreaChanges implements AreaOperations {
  readonly #deps: AreaChangesDeps;
  #last: Promise<unknown> = Promise.resolve();
  /** Set once the schedules are there. */
  inUse: () => RoomsInUse = () => NOTHING_IN_USE;

  constructor(deps: AreaChangesDeps) {
    this.#deps = deps;
  }

  check(change: AreaChange): void {
    this.#after(change);
  }

  done(change: AreaChange): AreaEvidence | null {
    const { map, history, changes } = this.#deps;
    const seen = changes.observed();
    const newest = map.bundle === null ? null : history.newest(map.bundle.id);
    if (seen === null || newest === null || change.edit === 'undo') return null;
    return newest.asked === digestOf(change) ? this.#evidence(seen, newest.from, true) : null;
  }

  /** One after the other: two changes that are asked for at once are both made. */
  apply(change: AreaChange, taskId: string): Promise<AreaEvidence> {
    const made = this.#last.then(() => this.#apply(change, taskId));
    this.#last = made.catch(() => undefined);
    return made;
  }

  async #apply(change: AreaChange, taskId: string): Promise<AreaEvidence> {
    const { changes, store } = this.#deps;
    const bundle = this.#bundle();
    const again = this.#ofTask(bundle, taskId);
    if (again !== null) return again;
    const after = this.#after(change);
    if (after.id === bundle.id) {
      const seen = changes.observed();
      if (seen === null) throw new TaskFailure('HARDWARE_FAULT', 'the motion process reports another map');
      return this.#evidence(seen, bundle.id, true);
    }
    const seen = await changes.areas(after, (file, areas) => {
      if (areas === after.areas) this.#note(change, bundle, after, taskId);
      store.writeAreas(file, areas);
    });
    return this.#evidence(seen, bundle.id, false);
  }

  #note(change: AreaChange, before: MapBundle, after: MapBundle, task: string): void {
    const { history, clock } = this.#deps;
    if (change.edit === 'undo') {
      history.undoing(this.#newest(change.kind, before), task);
      return;
    }
    history.add({
      kind: change.kind,
      asked: digestOf(change),
      task,
      from: before.id,
      to: after.id,
      before: areasText(before.areas),
      at: clock.now(),
    });
  }

  /** A task that a restart cut short after its change was made has nothing left to do. */
  #ofTask(bundle: MapBundle, taskId: string): AreaEvidence | null {
    const { history, changes } = this.#deps;
    const seen = changes.observed();
    if (seen === null) return null;
    const newest = history.newest(bundle.id);
    if (newest?.task === taskId) return this.#evidence(seen, newest.from, true);
    const undone = history.undone(bundle.id);
    return undone?.task === taskId ? this.#evidence(seen, undone.from, true) : null;
  }

  #after(change: AreaChange): MapBundle {
    const bundle = this.#bundle();
    const ground = { bundle, radius: this.#deps.radius, inUse: this.inUse() };
    if (change.edit === 'undo') {
      return mapBundle(bundle.grid, parseAreas(this.#newest(change.kind, bundle).before, 'the areas before'));
    }
    const areas = change.kind === 'areas' ? editRooms(change.edit, ground) : editKeepOut(change.edit, ground);
    return mapBundle(bundle.grid, areas);
  }

  /** The change that an undo takes back. */
  #newest(kind: AreaEntry['kind'], bundle: MapBundle): AreaEntry {
    const newest = this.#deps.history.newest(bundle.id);
    if (newest === null) {
      throw new Refusal(
        'STATE_CONDITION_FAILED',
        'undo: nothing that was drawn on this map can be taken back',
        'undo',
      );
    }
    if (newest.kind !== kind) {
      const by = newest.kind === 'areas' ? 'setAreas' : 'setKeepOut';
      throw new Refusal(
        'STATE_CONDITION_FAILED',
        `undo: the newest change was made by ${by}: undo that first`,
        'undo',
      );
    }
    return newest;
  }

  #bundle(): MapBundle {
    const { bundle } = this.#deps.map;
    if (bundle === null) {
      throw new Refusal(
        'CAPABILITY_UNAVAILABLE',
        'no map is loaded: take one over with deviceagent map import',
      );
    }
    return bundle;
  }

  #evidence(seen: MapEvidence, previousMapId: string, already: boolean): AreaEvidence {
    const { areas } = this.#bundle();
    return {
      ...seen,
      previousMapId,
      already,
      walls: (areas.walls ?? []).length,
      noGoAreas: areas.keepout.length,
      speedAreas: areas.speedAreas.length,
      areaIds: areas.rooms.map(({ id }) => id),
    };
  }
}

function digestOf(change: AreaChange): string {
  return createHash('sha256').update(JSON.stringify(change)).digest('hex').slice(0, 16);
}
