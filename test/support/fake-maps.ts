/** Maps of a test robot: one in use, and what was taken out of use; the motion process follows at once. */
import type { SimClock } from '../../config/contracts/sim-clock.js';
import type {
  AreaChange,
  AreaEvidence,
  AreaOperations,
  MapEvidence,
  MapOperations,
} from '../../executors/services.js';
import type { FakeAmr } from './fake-amr.js';

export const HOME_MAP = 'm-00000000000000a1';

export class FakeMaps implements MapOperations {
  inUse: string | null = HOME_MAP;
  before: string | null = null;
  missing: string | null = null;
  readonly #kept: { id: string; at: number }[] = [];

  constructor(
    readonly clock: SimClock,
    readonly amr: FakeAmr,
  ) {
    amr.mapId = this.inUse;
  }

  current() {
    return this.inUse === null ? null : { id: this.inUse, rooms: 5 };
  }
  unavailable() {
    return this.missing;
  }
  kept() {
    return this.#kept;
  }
  outOfUse() {
    return this.inUse === null ? this.before : null;
  }
  previous() {
    return this.before;
  }
  observed(): MapEvidence | null {
    return this.amr.mapId === this.inUse ? this.#seen() : null;
  }
  async reset(): Promise<MapEvidence> {
    this.before = this.inUse;
    if (this.inUse !== null) this.#kept.unshift({ id: this.inUse, at: this.clock.now() });
    this.inUse = null;
    await this.amr.clearMap();
    return this.#seen();
  }
  async name(): Promise<MapEvidence> {
    return this.#seen();
  }
  async use(id: string): Promise<MapEvidence> {
    this.inUse = id;
    this.amr.mapId = id;
    return this.#seen();
  }

  #seen(): MapEvidence {
    return {
      observedAtMs: this.clock.now(),
      rtBootId: 'rt-1',
      mapId: this.amr.mapId,
      rooms: this.inUse === null ? 0 : 5,
      localized: this.inUse === null ? null : this.amr.localized,
      pose: null,
    };
  }
}

/** Notes what is asked for; the motion process follows at once. */
export class FakeAreas implements AreaOperations {
  readonly asked: AreaChange[] = [];
  refuse: Error | null = null;
  /** The change that counts as made. */
  made: AreaChange | null = null;

  constructor(readonly maps: FakeMaps) {}

  check(): void {
    if (this.refuse !== null) throw this.refuse;
  }
  done(change: AreaChange): AreaEvidence | null {
    return this.made === change ? this.#evidence(true) : null;
  }
  async apply(change: AreaChange): Promise<AreaEvidence> {
    this.check();
    this.asked.push(change);
    return this.#evidence(false);
  }

  #evidence(already: boolean): AreaEvidence {
    const seen = this.maps.observed();
    if (seen === null) throw new Error('the motion process has another map');
    return {
      ...seen,
      previousMapId: HOME_MAP,
      already,
      walls: 0,
      noGoAreas: 0,
      speedAreas: 0,
      areaIds: ['1', '2', '3', '4', '5'],
    };
  }
}
