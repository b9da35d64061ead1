/**
 * The charge at which the robot has to go home: what the household configured, or more where the way home costs more.
 * The way is planned anew as the robot drives; what a metre costs is learnt on this robot. What is not known adds
 * nothing: then the configured reserve alone counts.
 */

import { z } from 'zod';
import type { AmrDriver, PlanResult, RobotState } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { compose, distance, type Pose } from '../../config/contracts/geometry.js';
import type { SnapshotStorage } from '../../state-machines/types.js';
import { BatteryUse } from './battery-use.js';

export interface BatteryReserveDeps {
  clock: Clock;
  amr: AmrDriver;
  /** Pose when docked; null without a station. */
  station(): Pose | null;
  /** Percent. */
  configured: number;
  /** m/s; homewards it is rarely this fast. */
  maxSpeed: number;
}

/** At most so much is kept for the way home, percent: above that the robot would not leave its station any more. */
const MOST = 60;
/** Where the base gives up (`battery_critical`), and what finding the contacts may take, percent and s. */
const CRITICAL = 3;
const DOCKING_S = 90;
/** A way home is planned for free floor; the real one goes round things. */
const MARGIN = 1.5;
/** Share of the full speed that a way is driven with on average. */
const PACE = 0.6;
/** The way is planned anew when the robot has moved this far, m, and not more often than this, ms. */
const MOVED = 2;
const PLAN_EVERY_MS = 5000;
/** In front of the docked pose, where an approach begins, m. */
const STAGING = 0.7;
/** A gap between two states that is longer says nothing about what was driven in it, ms. */
const GAP_MS = 2000;
const KEY = 'battery-use';

const finite = z.number().finite().nonnegative();
const sumsSchema = z.object({
  metres2: finite,
  metresSeconds: finite,
  seconds2: finite,
  metresLost: finite,
  secondsLost: finite,
  lost: finite,
});

export class BatteryReserve {
  readonly #deps: BatteryReserveDeps;
  #use = new BatteryUse(null);
  #snapshots: SnapshotStorage | null = null;
  readonly #off: () => void;
  #last: RobotState | null = null;
  /** The way home and where it was planned from. */
  #way: { metres: number; from: Pose; mapId: string | null } | null = null;
  #planning = false;
  #notBefore = 0;

  constructor(deps: BatteryReserveDeps) {
    this.#deps = deps;
    this.#off = deps.amr.subscribe((event) => {
      if (event.type === 'state') this.#see(event.state);
    });
  }

  /** Takes up what was learnt before, and keeps what is learnt from now on. */
  keepIn(snapshots: SnapshotStorage): void {
    this.#snapshots = snapshots;
    const kept = sumsSchema.safeParse(snapshots.loadSnapshot(KEY)?.context);
    if (kept.success) this.#use = new BatteryUse(kept.data);
  }

  close(): void {
    this.#off();
  }

  /** Percent. */
  value(): number {
    const needed = this.#needed();
    const { configured } = this.#deps;
    return needed === null ? configured : Math.max(configured, Math.min(MOST, Math.ceil(needed)));
  }

  /** Metres of the way home as planned last, and what a metre and a second cost; null where not known. */
  known(): { wayHome: number | null; perMetre: number | null; perSecond: number | null } {
    const rates = this.#use.rates();
    return {
      wayHome: this.#wayHome(),
      perMetre: rates?.perMetre ?? null,
      perSecond: rates?.perSecond ?? null,
    };
  }

  #needed(): number | null {
    const rates = this.#use.rates();
    const metres = this.#wayHome();
    if (rates === null || metres === null) return null;
    const seconds = metres / (PACE * this.#deps.maxSpeed) + DOCKING_S;
    return CRITICAL + MARGIN * (rates.perMetre * metres + rates.perSecond * seconds);
  }

  /** The planned way, and at most what was driven since. */
  #wayHome(): number | null {
    const pose = this.#last?.pose ?? null;
    if (this.#way === null || pose === null || this.#last?.mapId !== this.#way.mapId) return null;
    return this.#way.metres + distance(pose, this.#way.from);
  }

  #see(state: RobotState): void {
    const before = this.#last;
    this.#last = state;
    this.#learn(state, before);
    if (state.localized === true && state.base.docked === false) this.#planHome(state);
  }

  #learn(state: RobotState, before: RobotState | null): void {
    const { battery, docked, charging } = state.base;
    const gap = before === null ? Number.POSITIVE_INFINITY : state.at - before.at;
    const discharging = docked === false && charging !== true;
    if (battery === null || !discharging || gap < 0 || gap > GAP_MS) {
      this.#use.interrupted();
      return;
    }
    const seconds = gap / 1000;
    const metres = Math.abs(state.twist?.v ?? 0) * seconds;
    if (!this.#use.discharged(battery.percent, metres, seconds)) return;
    const savedAt = this.#deps.clock.now();
    this.#snapshots?.saveSnapshot(KEY, { value: 'learnt', context: this.#use.sums, savedAt });
  }

  #planHome({ pose, mapId }: RobotState): void {
    const { clock, amr } = this.#deps;
    const station = this.#deps.station();
    if (pose === null || station === null || this.#planning || clock.mono() < this.#notBefore) return;
    const near = this.#way !== null && this.#way.mapId === mapId && distance(pose, this.#way.from) < MOVED;
    if (near) return;
    this.#planning = true;
    this.#notBefore = clock.mono() + PLAN_EVERY_MS;
    const take = (plan: PlanResult) => {
      if (plan.ok) this.#way = { metres: plan.length, from: pose, mapId };
    };
    amr
      .plan({ from: pose, goal: compose(station, { x: -STAGING, y: 0, theta: 0 }) })
      // Without an answer the last way counts, and what was driven since.
      .then(take, () => {})
      .finally(() => {
        this.#planning = false;
      });
  }
}
