/**
 * The control loop: twenty times a second it asks the navigator what the wheels shall do, cuts that down to what
 * the safety layer, the body and the way ahead allow, and sends it. It is the only part that makes wheels turn.
 */
import type { ActionUpdate, MotionAction, Scan } from '../../config/contracts/amr.js';
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { Twist } from '../../config/contracts/geometry.js';
import { STANDSTILL } from '../amr/control/types.js';
import type { Navigator, NavigatorInput } from '../amr/types.js';
import type { BaseDriver, BaseFrame } from '../serial/types.js';
import { CycleStats } from './cycle-stats.js';
import { DriveWatch } from './drive-watch.js';
import {
  type DriveLimits,
  isStandstill,
  limitTwist,
  rampTwist,
  type StraightWay,
  slowNearObstacles,
  straightWay,
  wheelSpeeds,
} from './kinematics.js';
import type { SafetyGuard, SafetyWish } from './safety/safety-guard.js';

/** The robot's body and what it may do: metres, m/s, rad/s, m/s², rad/s². */
export interface MotionBody extends DriveLimits {
  radius: number;
  wheelBase: number;
  maxWheelSpeed: number;
}

export interface MotionLoopOptions {
  clock: Clock;
  base: BaseDriver;
  navigator: Navigator;
  guard: SafetyGuard;
  body: MotionBody;
  onUpdate: (update: ActionUpdate) => void;
  /** Called at the end of each cycle with its number. */
  onCycle: (cycle: number) => void;
  /** The wheels went on turning although they were told to stand still; the drive has been cut. */
  onStopFailed: () => void;
}

const CONTROL_PERIOD_MS = 50;
/** For this long "stand still" is said in any case, ms. */
const SAY_STOP_MS = 100;
/** Wheels told to stand still must do so within this time, ms; otherwise the drive is cut. */
const STOP_CONFIRM_MS = 1000;
/** A standstill that nobody confirms is repeated in every cycle for this long, then once a second, ms. */
const REPEAT_STOP_MS = 3000;
/** A new action waits this long for the stop that is under way, ms. */
const START_WAIT_MS = 1500;

const NOT_SEEN_TO_STAND = 'the action never began, and the wheels were not seen to stand still';

interface Waiting {
  id: string;
  action: MotionAction;
  /** When it began to wait, or was dropped, `mono` ms. */
  since: number;
}

export class MotionLoop {
  readonly #clock: Clock;
  readonly #base: BaseDriver;
  readonly #navigator: Navigator;
  readonly #guard: SafetyGuard;
  readonly #body: MotionBody;
  readonly #options: MotionLoopOptions;
  readonly #stats = new CycleStats(CONTROL_PERIOD_MS);
  readonly #watch: DriveWatch;
  /** Speeds that the wheels were last told, m/s. */
  #told = { left: 0, right: 0 };
  readonly #counters = { motion_not_finite: 0, motion_held_back: 0, stops_unconfirmed: 0 };
  #cancel: CancelTimer = () => {};
  #dueMono = 0;
  #lastMono = 0;
  #cycle = 0;
  #frame: BaseFrame | null = null;
  #scan: Scan | null = null;
  #way: StraightWay = { forward: null, backward: null };
  #command: Twist = STANDSTILL;
  /** When the wheels were last told to stand still after they had been driven; null while they drive. */
  #standstillSince: number | null = null;
  #stopChecked = true;
  #waiting: Waiting | null = null;
  #dropped: Waiting[] = [];

  constructor(options: MotionLoopOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#base = options.base;
    this.#navigator = options.navigator;
    this.#guard = options.guard;
    this.#body = options.body;
    this.#watch = new DriveWatch(options.body.wheelBase);
  }

  start(): void {
    this.#lastMono = this.#clock.mono();
    this.#dueMono = this.#lastMono;
    this.#arm();
  }

  /** Ends the loop; the caller stops the base. */
  stop(): void {
    this.#cancel();
  }

  onFrame(frame: BaseFrame): void {
    this.#frame = frame;
  }

  onScan(scan: Scan): void {
    this.#scan = scan;
    this.#watch.onScan(scan);
    this.#way = straightWay(scan, this.#body.radius);
  }

  onBaseLink(connected: boolean): void {
    if (!connected) this.#frame = null;
  }

  /** Begins an action, after the stop that the safety layer has under way, if there is one. */
  begin(id: string, action: MotionAction): void {
    if (this.#waiting?.id !== id) this.#dropWaiting();
    this.#waiting = null;
    this.#guard.restoreDrive();
    if (this.#guard.verdict.stopping.length > 0) {
      this.#waiting = { id, action, since: this.#clock.mono() };
      return;
    }
    this.#hand(id, action);
  }

  /** Brakes whatever runs, and forgets what waits. */
  brake(reason: string): void {
    this.#dropWaiting();
    this.#navigator.stop(reason);
  }

  /** The action that runs or waits for its turn. */
  get action(): { id: string; kind: MotionAction['kind'] } | null {
    const waiting = this.#waiting;
    return waiting === null ? this.#navigator.state().action : { id: waiting.id, kind: waiting.action.kind };
  }

  counters(): Record<string, number> {
    return { ...this.#counters, ...this.#stats.counters() };
  }

  /** Due times lie on a grid, so that the loop keeps its rate however late a single cycle is. */
  #arm(): void {
    const now = this.#clock.mono();
    this.#dueMono += CONTROL_PERIOD_MS;
    if (this.#dueMono < now) {
      this.#dueMono += Math.ceil((now - this.#dueMono) / CONTROL_PERIOD_MS) * CONTROL_PERIOD_MS;
    }
    const due = this.#dueMono;
    this.#cancel = this.#clock.after(due - now, () => {
      this.#stats.began(Math.max(0, this.#clock.mono() - due));
      this.#arm();
      this.#runCycle();
    });
  }

  #runCycle(): void {
    const mono = this.#clock.mono();
    const dt = Math.min(mono - this.#lastMono, 2 * CONTROL_PERIOD_MS) / 1000;
    this.#lastMono = mono;
    const trusted = this.#guard.check();
    const { twist, drivenByOthers } = this.#stepNavigator(mono);
    if (trusted) {
      this.#letWaitingBegin(mono);
      if (drivenByOthers && this.#mayBeDriven()) this.#letDrive();
      else this.#drive(twist, dt, mono);
    }
    this.#reportDropped(mono);
    this.#cycle += 1;
    this.#options.onCycle(this.#cycle);
  }

  #stepNavigator(mono: number): { twist: Twist; drivenByOthers: boolean } {
    const safety = this.#guard.takeWorst();
    if (safety.level === 'CUT') this.#command = STANDSTILL;
    const output = this.#navigator.step(this.#input(mono, safety));
    for (const update of output.updates) this.#options.onUpdate(update);
    const state = this.#navigator.state();
    this.#guard.navigation(state.localized, isJourney(state.action?.kind));
    const { twist, drivenByOthers = false } = output;
    if (Number.isFinite(twist.v) && Number.isFinite(twist.w)) return { twist, drivenByOthers };
    this.#counters.motion_not_finite += 1;
    return { twist: STANDSTILL, drivenByOthers: false };
  }

  /** What is not sent from here cannot be limited by direction: others drive only where nothing is forbidden. */
  #mayBeDriven(): boolean {
    const { level, limits } = this.#guard.verdict;
    const { forward, backward, turn } = limits;
    return level === 'OK' && this.#frame !== null && forward === null && backward === null && turn === null;
  }

  /** The robot's own controller has the wheels; the next standstill is said, and watched, as after own driving. */
  #letDrive(): void {
    this.#command = STANDSTILL;
    this.#standstillSince = null;
    this.#stopChecked = false;
    this.#guard.commanded(true);
  }

  #input(mono: number, safety: SafetyWish): NavigatorInput {
    const frame = this.#frame;
    const scan = this.#scan;
    this.#scan = null;
    const drive = this.#base.details();
    if (frame !== null) {
      const counted = { left: frame.wheelLeft, right: frame.wheelRight };
      this.#watch.step({ mono, commanded: this.#told, counted, gyroHeading: drive.gyroHeading });
    }
    return {
      mono,
      now: this.#clock.now(),
      wheels: frame === null ? null : { mono: frame.mono, left: frame.wheelLeft, right: frame.wheelRight },
      scan,
      ir: { omni: frame?.irOmni ?? 0, left: frame?.irLeft ?? 0, right: frame?.irRight ?? 0 },
      docked: frame?.docked ?? null,
      bumps: { left: frame?.bumpLeft ?? false, right: frame?.bumpRight ?? false },
      safety: safety.level,
      safetyBecause: safety.because,
      drive,
      driveFault: this.#watch.fault,
    };
  }

  #hand(id: string, action: MotionAction): void {
    // What happened before belongs to the action that this one replaces.
    this.#guard.takeWorst();
    this.#watch.reset();
    this.#navigator.start(id, action);
  }

  #letWaitingBegin(mono: number): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const stopped = this.#guard.verdict.stopping.length === 0;
    if (!stopped && mono - waiting.since < START_WAIT_MS) return;
    this.#waiting = null;
    this.#hand(waiting.id, waiting.action);
  }

  #dropWaiting(): void {
    if (this.#waiting !== null) this.#dropped.push({ ...this.#waiting, since: this.#clock.mono() });
    this.#waiting = null;
  }

  /** Actions that never began end like the others: `stopped`, once the wheels stand still. */
  #reportDropped(mono: number): void {
    if (this.#dropped.length === 0) return;
    const still = this.#guard.stillProven;
    const due = this.#dropped.filter(({ since }) => still || mono - since > START_WAIT_MS);
    this.#dropped = this.#dropped.filter((dropped) => !due.includes(dropped));
    const at = this.#clock.now();
    const { pose, stoppedSince } = this.#navigator.state();
    const stoppedForMs = stoppedSince === null ? 0 : Math.max(0, at - stoppedSince);
    for (const { id, action } of due) {
      const ended = { id, kind: action.kind, at, pose };
      this.#options.onUpdate(
        still
          ? { ...ended, status: 'stopped', stoppedForMs }
          : { ...ended, status: 'failed', failure: 'hardware', message: NOT_SEEN_TO_STAND, where: null },
      );
    }
  }

  #drive(wish: Twist, dt: number, mono: number): void {
    const cut = this.#guard.verdict.level === 'CUT';
    const next = cut ? STANDSTILL : rampTwist(this.#rampFrom(), this.#allowed(wish), this.#body, dt);
    if (isStandstill(next)) {
      this.#standStill(mono, cut);
      return;
    }
    this.#command = next;
    this.#standstillSince = null;
    this.#stopChecked = false;
    this.#guard.commanded(true);
    const wheels = wheelSpeeds(next, this.#body.wheelBase, this.#body.maxWheelSpeed);
    this.#told = wheels;
    this.#base.driveWheels(wheels.left, wheels.right);
  }

  /**
   * A base that does not take drive commands yet is asked for the first step of the ramp again and again: that
   * wakes it, and it does not jump to a speed that was never reached.
   */
  #rampFrom(): Twist {
    return this.#frame?.driveEnabled === true ? this.#command : STANDSTILL;
  }

  /** What may be driven of a wish: nothing while settling, or without a base. */
  #allowed(wish: Twist): Twist {
    const { level, limits } = this.#guard.verdict;
    if (level !== 'OK' || this.#frame === null) return STANDSTILL;
    const allowed = slowNearObstacles(limitTwist(wish, this.#body, limits), this.#way, this.#body.maxDecel);
    if (!isStandstill(wish) && isStandstill(allowed)) this.#counters.motion_held_back += 1;
    return allowed;
  }

  /**
   * Says "stand still" until the wheels are seen to do so, and a few times at least: wheels that are held stand still
   * whatever they were told, and would go on once they are let go.
   */
  #standStill(mono: number, cut: boolean): void {
    this.#command = STANDSTILL;
    this.#told = { left: 0, right: 0 };
    this.#guard.commanded(false);
    this.#standstillSince ??= mono;
    const since = mono - this.#standstillSince;
    if (this.#guard.stillProven && since >= SAY_STOP_MS) {
      this.#stopChecked = true;
      return;
    }
    if (since > REPEAT_STOP_MS && this.#cycle % Math.round(1000 / CONTROL_PERIOD_MS) !== 0) return;
    if (cut) this.#base.stopNow();
    else this.#base.driveWheels(0, 0);
    if (since > STOP_CONFIRM_MS && !this.#stopChecked) {
      this.#stopChecked = true;
      this.#counters.stops_unconfirmed += 1;
      this.#guard.cutDrive();
      this.#options.onStopFailed();
    }
  }
}

/** What drives by the map, and must not without knowing where it is. */
function isJourney(kind: MotionAction['kind'] | undefined): boolean {
  return kind === 'followPath' || kind === 'follow';
}
