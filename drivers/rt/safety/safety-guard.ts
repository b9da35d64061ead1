/**
 * The safety layer at work: keeps what `judge` needs, calls it on every base frame and whenever something grows
 * too old, and acts on the verdict. The stop bytes go out inside the callback that brought the reason, before
 * anybody is told.
 */
import type { SafetyCondition, SafetyLevel, SafetyState } from '../../../config/contracts/amr.js';
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import type { BaseDriver, BaseFrame } from '../../serial/types.js';
import {
  type ContactFlags,
  DEFAULT_THRESHOLDS,
  msToNextDeadline,
  type SafetyInputs,
  type SafetyThresholds,
} from './conditions.js';
import { failsafeRow, NO_MOTION } from './failsafe-table.js';
import { judge, NOTHING_REMEMBERED, type SafetyMemory, type SafetyVerdict, worseLevel } from './judge.js';

export type EstopState = SafetyState['estop'];

export interface SafetyChange {
  at: number;
  safety: SafetyState;
  /** What appeared; null when something ended or the e-stop changed hands. */
  cause: SafetyCondition | null;
}

/** What the safety layer does to the base. */
export type DriveSwitch = Pick<BaseDriver, 'stopNow' | 'disable' | 'enable'>;

export interface SafetyGuardOptions {
  clock: Clock;
  base: DriveSwitch;
  /** As read from the state directory before any port was opened. */
  estop: EstopState;
  thresholds?: Partial<SafetyThresholds>;
  /** Buttons of the base, as its bit mask, that press the e-stop. 0: none. */
  estopButtons?: number;
}

/** A wheel that has not moved an encoder count for this long stands still, ms. */
const STILL_MS = 100;
/** Nobody judged for this long: the process did not get to run, and what it missed is still to be read. */
const STARVED_MS = 120;
/** Then the bytes that are waiting get this long to arrive, ms. */
const STARVED_GRACE_MS = 5;

/** What the safety layer demands of a control step, and which conditions demand it. */
export interface SafetyWish {
  level: SafetyLevel;
  because: readonly SafetyCondition[];
}

const NOTHING_DEMANDED: SafetyWish = { level: 'OK', because: [] };

function wishOf({ level, stopping, active }: SafetyVerdict): SafetyWish {
  return { level, because: stopping.length > 0 ? stopping : active };
}

export class SafetyGuard {
  readonly #clock: Clock;
  readonly #base: DriveSwitch;
  readonly #thresholds: SafetyThresholds;
  readonly #estopButtons: number;
  readonly #listeners: ((change: SafetyChange) => void)[] = [];
  readonly #counters: Record<string, number> = { safety_cuts: 0, safety_settles: 0, safety_starved: 0 };

  #memory: SafetyMemory = NOTHING_REMEMBERED;
  #verdict: SafetyVerdict = {
    level: 'OK',
    active: [],
    stopping: [],
    limits: NO_MOTION,
    appeared: [],
    cleared: [],
  };
  #estop: EstopState;
  #estopButtonDown = false;
  #frame: BaseFrame | null = null;
  #frameMono: number | null = null;
  #movedMono: number | null = null;
  #scanMono: number | null = null;
  #beatMono: number | null = null;
  #daemonGone = false;
  #commandedMotion = false;
  #localized: boolean | null = null;
  #followingPath = false;
  #judgedMono: number;
  /** While set, ages are judged as of `asOf`: what arrived in the meantime is still to be read. */
  #starved: { asOf: number } | null = null;
  #worst: SafetyWish = NOTHING_DEMANDED;
  #driveForbidden = false;
  #cutByHost = false;
  #toldEstop: EstopState;
  #cancelWatch: CancelTimer | null = null;
  #cancelGrace: CancelTimer = () => {};
  #closed = false;

  constructor(options: SafetyGuardOptions) {
    this.#clock = options.clock;
    this.#base = options.base;
    this.#estop = options.estop;
    this.#thresholds = { ...DEFAULT_THRESHOLDS, ...options.thresholds };
    this.#estopButtons = options.estopButtons ?? 0;
    this.#toldEstop = options.estop;
    this.#judgedMono = this.#clock.mono();
  }

  /** The first thing to be called with a base frame. */
  onFrame(frame: BaseFrame): void {
    const before = this.#frame;
    if (before === null || before.wheelLeft !== frame.wheelLeft || before.wheelRight !== frame.wheelRight) {
      this.#movedMono = frame.mono;
    }
    this.#frame = frame;
    this.#frameMono = frame.mono;
    this.#estopButtonDown = (frame.buttons & this.#estopButtons) !== 0;
    if (this.#estopButtonDown && !this.#estop.latched) this.pressEstop('button');
    else this.#judge();
  }

  onScan(): void {
    this.#scanMono = this.#clock.mono();
  }

  onHeartbeat(): void {
    this.#beatMono = this.#clock.mono();
  }

  /** The line the beats come over was closed: nothing is known of the daemon until the next beat. */
  heartbeatLineLost(): void {
    this.#beatMono = null;
    this.#judge();
  }

  /** The channel to the daemon closed for good. */
  daemonGone(): void {
    this.#daemonGone = true;
    this.#judge();
  }

  /** To be told before motion is sent to the wheels, and when they are told to stand still. */
  commanded(motion: boolean): void {
    this.#commandedMotion = motion;
  }

  navigation(localized: boolean | null, followingPath: boolean): void {
    this.#localized = localized;
    this.#followingPath = followingPath;
  }

  /** Latches and stops. Safe to repeat: the stop is sent each time. */
  pressEstop(by: string): void {
    const first = !this.#estop.latched;
    if (first) this.#estop = { latched: true, by, at: this.#clock.now() };
    else this.#base.stopNow();
    this.#judge();
  }

  /** False while a pressed button keeps it latched. */
  releaseEstop(): boolean {
    if (this.#estopButtonDown) return false;
    if (!this.#estop.latched) return true;
    this.#estop = { latched: false, by: null, at: null };
    this.#judge();
    return true;
  }

  /**
   * Judges anew by the time that has passed. False when the process was kept from running for so long that the
   * ages say nothing yet; then no motion may be sent.
   */
  check(): boolean {
    this.#judge();
    return this.#starved === null;
  }

  get verdict(): SafetyVerdict {
    return this.#verdict;
  }

  /** The worst since this was last asked, so that a control step misses none. */
  takeWorst(): SafetyWish {
    const worst = this.#worst;
    this.#worst = wishOf(this.#verdict);
    return worst;
  }

  /** Both wheels stand still, nothing is commanded, and fresh frames say so. */
  get stillProven(): boolean {
    return this.#inputs().stillProven;
  }

  /** Stops, and takes the power of driving away until `restoreDrive`: for wheels that do not obey a stop. */
  cutDrive(): void {
    this.#base.stopNow();
    this.#cutByHost = true;
    this.#judge();
  }

  restoreDrive(): void {
    if (!this.#cutByHost) return;
    this.#cutByHost = false;
    this.#judge();
  }

  state(): SafetyState {
    return { level: this.#verdict.level, active: [...this.#verdict.active], estop: { ...this.#estop } };
  }

  onChange(listener: (change: SafetyChange) => void): void {
    this.#listeners.push(listener);
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  close(): void {
    this.#closed = true;
    this.#cancelWatch?.();
    this.#cancelGrace();
  }

  #judge(): void {
    this.#noticeStarvation();
    const levelBefore = this.#verdict.level;
    const { memory, verdict } = judge(this.#memory, this.#inputs(), this.#thresholds);
    this.#memory = memory;
    this.#verdict = verdict;
    if (verdict.appeared.length > 0) this.#react(verdict);
    this.#switchDrive(verdict);
    if (worseLevel(this.#worst.level, verdict.level) !== this.#worst.level) this.#worst = wishOf(verdict);
    this.#watch();
    const changed = verdict.appeared.length + verdict.cleared.length > 0 || verdict.level !== levelBefore;
    if (changed || this.#toldEstop !== this.#estop) this.#tell(verdict.appeared[0] ?? null);
  }

  /** Stops at once for everything that cuts, moving or not: a stop too many does no harm. */
  #react(verdict: SafetyVerdict): void {
    const cuts = verdict.appeared.some((c) => failsafeRow(c).moving === 'CUT');
    if (cuts) {
      this.#base.stopNow();
      this.#commandedMotion = false;
    }
    for (const condition of verdict.appeared) this.#count(`safety_${condition}`);
    if (verdict.stopping.length > 0) this.#count(cuts ? 'safety_cuts' : 'safety_settles');
  }

  /** Takes the power of driving away, at once where it cuts, after the stop where it settles; and gives it back. */
  #switchDrive(verdict: SafetyVerdict): void {
    const forbidden =
      this.#cutByHost ||
      verdict.active.some((condition) => {
        const row = failsafeRow(condition);
        return row.still !== 'OK' && (row.moving === 'CUT' || !verdict.stopping.includes(condition));
      });
    if (forbidden === this.#driveForbidden) return;
    this.#driveForbidden = forbidden;
    if (forbidden) this.#base.disable();
    else this.#base.enable();
  }

  #tell(cause: SafetyCondition | null): void {
    this.#toldEstop = this.#estop;
    const change = { at: this.#clock.now(), safety: this.state(), cause };
    for (const listener of this.#listeners) listener(change);
  }

  #inputs(): SafetyInputs {
    const mono = this.#clock.mono();
    const asOf = this.#starved?.asOf ?? mono;
    const frame = this.#frame;
    const age = (since: number | null) => (since === null ? null : Math.max(0, asOf - since));
    const frameAge = age(this.#frameMono);
    const movedAge = age(this.#movedMono);
    const turning = movedAge !== null && movedAge < STILL_MS;
    const fresh = frameAge !== null && frameAge < STILL_MS;
    return {
      mono,
      contact: frame === null ? null : contactFlags(frame),
      frameAge,
      // The wheel counts of this base come in the same frame as everything else.
      odometryAge: frameAge,
      scanAge: age(this.#scanMono),
      heartbeatAge: age(this.#beatMono),
      daemonGone: this.#daemonGone,
      estopLatched: this.#estop.latched,
      localized: this.#localized,
      batteryPercent: frame === null || frame.charging || frame.docked ? null : frame.batteryPercent,
      moving: this.#commandedMotion || turning,
      followingPath: this.#followingPath,
      stillProven: !this.#commandedMotion && fresh && !turning,
    };
  }

  /** One timer for whatever grows too old first; it looks again when it fires rather than being moved. */
  #watch(): void {
    if (this.#cancelWatch !== null || this.#closed) return;
    const ms = msToNextDeadline(this.#inputs(), this.#thresholds);
    if (ms === null) return;
    this.#cancelWatch = this.#clock.after(ms, () => {
      this.#cancelWatch = null;
      this.#judge();
    });
  }

  /**
   * After a time in which nobody judged, what has arrived is read before it is missed: a robot must not stop for
   * a heartbeat that lies unread in its own socket. What the base reports is acted on all the same.
   */
  #noticeStarvation(): void {
    const mono = this.#clock.mono();
    if (this.#starved === null && mono - this.#judgedMono > STARVED_MS && !this.#closed) {
      this.#count('safety_starved');
      this.#starved = { asOf: this.#judgedMono };
      this.#cancelGrace = this.#clock.after(STARVED_GRACE_MS, () => {
        this.#starved = null;
        this.#judge();
      });
    }
    this.#judgedMono = mono;
  }

  #count(name: string): void {
    this.#counters[name] = (this.#counters[name] ?? 0) + 1;
  }
}

function contactFlags(frame: BaseFrame): ContactFlags {
  return {
    bumpLeft: frame.bumpLeft,
    bumpRight: frame.bumpRight,
    cliff: frame.cliffLeft || frame.cliffFrontLeft || frame.cliffFrontRight || frame.cliffRight,
    wheelDrop: frame.wheelDropLeft || frame.wheelDropRight,
    overcurrent: frame.overcurrentLeft || frame.overcurrentRight,
    tilt: null,
  };
}
