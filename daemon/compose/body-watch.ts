/**
 * Keeps the motion process in possession of the map, or without one after a reset, and tells it where it is whenever it stands on its station
 * and does not know: after a start, after it died, after the base was away. Level-triggered, so that nothing
 * depends on having been there at the right moment.
 */
import type { AmrDriver, RobotState } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { MapInUse } from './map.js';

export interface BodyWatchDeps {
  amr: AmrDriver;
  map: MapInUse;
  clock: Clock;
  log: Log;
}

/** Between two tries of the same thing, ms of robot time. */
const AGAIN_MS = 2_000;

export class BodyWatch {
  readonly #deps: BodyWatchDeps;
  readonly #off: () => void;
  #asking = false;
  /** What was asked for last, and when the same may be asked for again. */
  #asked: { failure: string; againFrom: number } | null = null;

  constructor(deps: BodyWatchDeps) {
    this.#deps = deps;
    this.#off = deps.amr.subscribe((event) => {
      if (event.type === 'state') this.#look(event.state);
    });
  }

  close(): void {
    this.#off();
  }

  /**
   * The wheels report, the map is in use, and localisation has had its say: of a pose that it was given, on the station
   * or from before a restart, whether scans confirm it. A base that answers but has not yet said whether it stands on
   * its station is not known: ready too early, a first undocking would begin without a place.
   */
  get known(): boolean {
    const { amr, map } = this.#deps;
    const state = amr.state();
    if (state === null || !state.base.connected) return false;
    if (map.file !== null && state.base.docked === null) return false;
    if (map.bundle === null) return state.mapId === null;
    if (state.pose !== null && state.localized === null) return false;
    return state.mapId === map.bundle.id && !this.#asking && this.#wanted(state) === null;
  }

  #look(state: RobotState): void {
    if (this.#asking) return;
    const wanted = this.#wanted(state);
    if (wanted === null) return;
    const now = this.#deps.clock.mono();
    if (this.#asked?.failure === wanted.failure && now < this.#asked.againFrom) return;
    this.#asking = true;
    this.#asked = { failure: wanted.failure, againFrom: now + AGAIN_MS };
    wanted
      .ask()
      .catch((error: unknown) => this.#deps.log.warn({ error: errorText(error) }, wanted.failure))
      .finally(() => {
        this.#asking = false;
      });
  }

  #wanted(state: RobotState): { ask: () => Promise<void>; failure: string } | null {
    const { amr, map } = this.#deps;
    const { file, bundle } = map;
    // A map that grows is nobody's business until it is finished.
    if (state.mapping != null) return null;
    if (file === null || bundle === null) {
      if (state.mapId === null) return null;
      return {
        ask: () => amr.clearMap(),
        failure: 'the motion process did not give the map up; it is asked again',
      };
    }
    if (state.mapId !== bundle.id) {
      return {
        ask: () => amr.loadMap(file),
        failure: 'the motion process did not take the map; it is asked again',
      };
    }
    const { station } = bundle.areas;
    const lost = state.localized !== true && state.base.docked === true && state.action === null;
    if (station === null || !lost) return null;
    return {
      ask: () => amr.relocalize(station.pose),
      failure: 'localisation was not told that the robot stands on its station; it is told again',
    };
  }
}
