/**
 * Sees to it that the robot comes home: when its battery runs low, and again when it could not get onto its station. A
 * move that the low battery ended does not drive on by itself: going home is a task of its own, with its own evidence,
 * and may be cancelled like any other. Who cancels it, or uses the robot in between, has decided otherwise.
 */
import { z } from 'zod';
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { TaskEvent } from '../../config/contracts/wire/events.js';
import type { SnapshotStorage } from '../../state-machines/types.js';
import type { DeviceState } from './device-state.js';

export interface HomeKeeperDeps {
  clock: Clock;
  log: Log;
  state: DeviceState;
  snapshots: SnapshotStorage;
  /** Every task event after its commit. */
  onTaskEvent(listener: (event: TaskEvent) => void): () => void;
  /** True while a task drives home already. */
  goingHome(): boolean;
  /** Whether it stands right before its station, as far as it knows where it is. */
  beforeStation(): boolean;
  /** Something else is at work with the wheels. */
  moving(): boolean;
  /** Submits `returnToStation`; may throw a `Refusal`. */
  goHome(): void;
  /** Says aloud that it could not dock and tries again, or that it needs somebody; may throw a `Refusal`. */
  say(what: 'tries_again' | 'needs_help'): void;
}

const LOOK_MS = 2000;
/** After each failure, ms: people and things move on; a robot that tries all the time is a nuisance. */
const WAITS_MS = [60_000, 120_000, 300_000, 600_000, 1_200_000] as const;
/** Tries on a low battery, once no other is left, ms. */
const LOW_AGAIN_MS = 1_800_000;
/** Ends that another try cannot mend, or that somebody wanted. */
const LEFT_ALONE = [
  'EMERGENCY_STOP',
  'CANCELLED',
  'PREEMPTED',
  'RESTARTED',
  'APPROVAL_DENIED',
  'POLICY_DENIED',
];
const MOVES = ['setMoveTo', 'manualMove', 'rotate', 'undock', 'startFollowMe', 'startMapping'];
/** Pushed off its contacts, it goes back after this long, ms: somebody may be about to put it back. */
const PUSHED_OFF_MS = 20_000;
const KEY = 'home-keeper';

const keptSchema = z.object({ failures: z.number().int().min(0), dueAt: z.number().nullable() });

export class HomeKeeper {
  readonly #deps: HomeKeeperDeps;
  readonly #offs: (() => void)[];
  /** Failed ways home since it was last on its contacts. */
  #failures = 0;
  /** Robot time of the next try; null: none is wanted. */
  #dueAt: number | null = null;
  #lowNotBefore = 0;
  #wasOnStation = false;
  readonly #counters = { home_tries: 0, home_failures: 0, home_given_up: 0 };

  constructor(deps: HomeKeeperDeps) {
    this.#deps = deps;
    const kept = keptSchema.safeParse(deps.snapshots.loadSnapshot(KEY)?.context);
    if (kept.success) {
      this.#failures = kept.data.failures;
      this.#dueAt = kept.data.dueAt;
    }
    this.#offs = [
      deps.clock.every(LOOK_MS, () => this.#look()),
      deps.onTaskEvent((event) => this.#hear(event)),
    ];
  }

  close(): void {
    for (const off of this.#offs) off();
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  #hear({ event, method, reason_code: reason }: TaskEvent): void {
    if (method === 'returnToStation') {
      if (event === 'COMPLETED' || event === 'CANCELLED') this.#remember(0, null);
      if (event === 'FAILED') this.#failed(reason ?? '');
    } else if (event === 'STARTED' && method !== null && MOVES.includes(method) && this.#dueAt !== null) {
      // Somebody has another use for it now.
      this.#remember(this.#failures, null);
    }
  }

  #failed(reason: string): void {
    if (LEFT_ALONE.includes(reason) || this.#deps.state.battery().on_station === true) return;
    this.#counters.home_failures++;
    const wait = WAITS_MS[this.#failures];
    const failures = this.#failures + 1;
    if (wait === undefined) {
      this.#counters.home_given_up++;
      this.#remember(failures, null);
      this.#say('needs_help');
      return;
    }
    this.#remember(failures, this.#deps.clock.now() + wait);
    if (failures === 1) this.#say('tries_again');
  }

  #look(): void {
    const { state, clock } = this.#deps;
    const { low, on_station, charging } = state.battery();
    if (on_station === true) {
      if (this.#failures > 0 || this.#dueAt !== null) this.#remember(0, null);
      this.#lowNotBefore = 0;
      this.#wasOnStation = true;
      return;
    }
    if (this.#wasOnStation && on_station === false) this.#leftStation();
    if (on_station === null || charging === true || state.facts().estop || this.#deps.goingHome()) return;
    const due = this.#dueAt !== null && clock.now() >= this.#dueAt;
    const needed = low === true && this.#dueAt === null && clock.mono() >= this.#lowNotBefore;
    if (due || needed) this.#try(due ? 'it is off its station' : 'its battery is low');
  }

  /** Nobody drove it off: it was pushed, and stands before its station without charging. */
  #leftStation(): void {
    this.#wasOnStation = false;
    const { moving, beforeStation, clock } = this.#deps;
    if (moving() || this.#dueAt !== null || !beforeStation()) return;
    this.#remember(this.#failures, clock.now() + PUSHED_OFF_MS);
  }

  #try(why: string): void {
    const { clock, log } = this.#deps;
    this.#counters.home_tries++;
    this.#lowNotBefore = clock.mono() + LOW_AGAIN_MS;
    if (this.#dueAt !== null) this.#remember(this.#failures, null);
    try {
      this.#deps.goHome();
      log.info({ why, failures: this.#failures }, 'the robot goes home');
    } catch (error) {
      log.warn({ why, error: errorText(error) }, 'the robot cannot go home now; it tries again');
      this.#failed('refused');
    }
  }

  #say(what: 'tries_again' | 'needs_help'): void {
    const { log } = this.#deps;
    log.warn({ failures: this.#failures }, `the robot could not get onto its station: ${what}`);
    try {
      this.#deps.say(what);
    } catch (error) {
      log.info({ what, error: errorText(error) }, 'that could not be said aloud');
    }
  }

  #remember(failures: number, dueAt: number | null): void {
    this.#failures = failures;
    this.#dueAt = dueAt;
    const { snapshots, clock } = this.#deps;
    snapshots.saveSnapshot(KEY, { value: 'home', context: { failures, dueAt }, savedAt: clock.now() });
  }
}
