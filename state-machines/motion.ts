/** Everything that moves the robot, one operation at a time. */
import type { AmrDriver, MeasureLeg } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import { distance, type Pose } from '../config/contracts/geometry.js';
import { awaitWheelsStopped, type BodyFacts, bodyFacts, type StopLimits, stoppedWithProof } from './body.js';
import type { DockingRunner } from './docking/runner.js';
import { clearanceOf } from './docking/updates.js';
import { followPerson } from './following/follow.js';
import { driveByHand } from './hand-drive.js';
import type {
  Arrival,
  DockResult,
  Following,
  FollowRequest,
  HandDrive,
  HandDriveRequest,
  JourneySoFar,
  Legs,
  Measurement,
  MotionActivity,
  MotionOperations,
  MotionStatus,
  MoveRequest,
  Operation,
  Rotation,
  UndockResult,
} from './motion-types.js';
import type { NavigationRunner } from './navigation/runner.js';
import { oneAction } from './one-action.js';
import { PendingStops } from './pending-stops.js';
import type { MachineSettings } from './settings.js';
import { turn } from './turn.js';
import type { MachineNotice, StageReporter, StopProof } from './types.js';
import { waitForBody } from './wait.js';

export interface MotionDeps {
  amr: AmrDriver;
  clock: Clock;
  settings: MachineSettings;
  /** Pose of `base_link` when docked; null when the map has no station. */
  station(): Pose | null;
  newId(): string;
  /** `follow.started`, `follow.stopped`. */
  notify(notice: MachineNotice): void;
}

interface Current {
  activity: MotionActivity;
  operation: string;
  /** Ends it from outside, at whatever point it is. */
  stopper: AbortController;
  /** Where the journey goes, also while it still leaves the station. */
  goals: readonly (string | null)[];
}

/** After `relocalize`, how far from its station the robot may turn out to be, m. */
const AT_STATION = 0.3;
const RELOCALIZE_MS = 10_000;
/** For a held journey to be planned anew and the wheels to turn. */
const RESUME_MS = 20_000;

export class Motion implements MotionOperations {
  readonly #deps: MotionDeps;
  readonly #navigation: NavigationRunner;
  readonly #docking: DockingRunner;
  readonly #limits: StopLimits;
  readonly #stops = new PendingStops();
  #current: Current | null = null;
  /** Ends the resumption that is under way; the newest, should there be several. */
  #resuming: AbortController | null = null;

  constructor(deps: MotionDeps, navigation: NavigationRunner, docking: DockingRunner) {
    this.#deps = deps;
    this.#navigation = navigation;
    this.#docking = docking;
    const { stillMs, freshMs, stopProofMs } = deps.settings;
    this.#limits = { stillMs, freshMs, proofMs: stopProofMs };
  }

  moveTo(request: MoveRequest, signal: AbortSignal, onStage: StageReporter): Promise<Arrival> {
    return this.#exclusive('navigating', request, signal, async (until, current) => {
      current.goals = request.goals.map((goal) => goal.areaId);
      await this.#leaveStation(request, until, onStage);
      return this.#navigation.travel(request, until, onStage);
    });
  }

  rotate(
    request: Operation & { angle: number; tolerance: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<Rotation> {
    return this.#exclusive('rotating', request, signal, async (until) => {
      await this.#leaveStation(request, until, onStage);
      onStage('navigation.rotating', { angle_deg: Math.round((request.angle * 180) / Math.PI) });
      const { angle, tolerance, fence } = request;
      const spin = { id: this.#deps.newId(), angle, tolerance, fence };
      return turn(this.#deps.amr, this.#deps.clock, this.#limits, spin, until);
    });
  }

  measure(
    request: Operation & { legs: MeasureLeg[] },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<Measurement> {
    return this.#exclusive('measuring', request, signal, async (until) => {
      const { amr, clock, newId } = this.#deps;
      const { legs, fence } = request;
      const action = { id: newId(), action: { kind: 'measure', legs }, fence } as const;
      const { ended, proof } = await oneAction(amr, clock, this.#limits, action, until, (note) =>
        onStage('maintenance.measuring', { note }),
      );
      return { detail: ended.detail, ...proof };
    });
  }

  driveByHand(request: HandDriveRequest, signal: AbortSignal, onStage: StageReporter): Promise<HandDrive> {
    return this.#exclusive('hand_driving', request, signal, (until) => {
      onStage('movement.hand_driving', { v: request.twist.v, w: request.twist.w });
      const { amr, clock, newId } = this.#deps;
      return driveByHand({ amr, clock, limits: this.#limits, newId }, request, until);
    });
  }

  follow(request: FollowRequest, signal: AbortSignal, onStage: StageReporter): Promise<Following> {
    return this.#exclusive('following', request, signal, async (until) => {
      await this.#leaveStation(request, until, onStage);
      const { amr, clock, newId, settings, notify } = this.#deps;
      const { maxSpeed, batteryReserve } = settings;
      const tell = (type: string, at: number) =>
        notify({ type, at, areaId: null, attributes: {}, operation: request.operation });
      let started = false;
      const onStarted = (at: number) => {
        started = true;
        tell('follow.started', at);
      };
      const deps = { amr, clock, newId, limits: this.#limits, maxSpeed, batteryReserve, onStarted };
      try {
        return await followPerson(deps, request, until, onStage);
      } finally {
        if (started) tell('follow.stopped', clock.now());
      }
    });
  }

  dock(request: Operation, signal: AbortSignal, onStage: StageReporter): Promise<DockResult> {
    return this.#exclusive('docking', request, signal, async (until) => {
      const already = this.#facts().docked === true;
      const { operation, fence } = request;
      const job = { operation, fence, kind: 'dock' as const, station: this.#station() };
      const { charging, pose, observedAtMs, attempts } = await this.#docking.run(job, until, onStage);
      return { docked: true, charging, pose, observedAtMs, attempts: already ? 0 : attempts, already };
    });
  }

  undock(request: Operation, signal: AbortSignal, onStage: StageReporter): Promise<UndockResult> {
    return this.#exclusive('undocking', request, signal, (until) => this.#undock(request, until, onStage));
  }

  /** For machines whose operation is made of several ways: a stop, a cancel and another operation see only one. */
  compose<T>(
    activity: MotionActivity,
    request: Operation,
    signal: AbortSignal,
    run: (until: AbortSignal, legs: Legs) => Promise<T>,
  ): Promise<T> {
    const { operation, fence } = request;
    const legs: Legs = {
      travel: (goal, until, onStage) =>
        this.#navigation.travel({ operation, fence, goals: [goal], maxSpeed: null }, until, onStage, {
          quiet: true,
        }),
      dock: async (station, until, onStage) => {
        await this.#docking.run({ operation, fence, kind: 'dock', station }, until, onStage);
      },
      undock: async (until, onStage) => {
        await this.#undock(request, until, onStage);
      },
    };
    return this.#exclusive(activity, request, signal, (until) => run(until, legs));
  }

  async relocalizeAtStation(
    signal: AbortSignal,
  ): Promise<{ pose: Pose; score: number | null; observedAtMs: number }> {
    const { amr, clock, settings } = this.#deps;
    const station = this.#station();
    if (this.#facts().docked !== true) {
      throw new TaskFailure('STATE_CONDITION_FAILED', 'the robot does not stand on its charging contacts');
    }
    const asked = clock.now();
    await amr.relocalize(station);
    const at = (facts: BodyFacts) =>
      facts.localized === true &&
      facts.pose !== null &&
      (facts.at ?? 0) > asked &&
      distance(facts.pose, station) <= AT_STATION;
    const facts = await waitForBody(amr, clock, at, {
      freshMs: settings.freshMs,
      timeoutMs: RELOCALIZE_MS,
      signal,
      reason: 'LOCALIZATION_LOST',
      what: 'the lidar to agree that the robot stands on its station',
    });
    return {
      pose: facts.pose ?? station,
      score: facts.localizationScore,
      observedAtMs: facts.at ?? clock.now(),
    };
  }

  async pause(signal: AbortSignal): Promise<StopProof & { already: boolean }> {
    signal.throwIfAborted();
    const already = this.#held();
    if (!already && !this.#hold()) {
      const what = this.#current === null ? 'nothing is moving' : `${this.#current.activity} cannot be held`;
      throw new TaskFailure('STATE_CONDITION_FAILED', `${what}; there is nothing to pause`);
    }
    this.#giveUpResuming('it was paused again before the wheels turned');
    return { ...(await this.#proveStop()), already };
  }

  async resume(signal: AbortSignal): Promise<{ observedAtMs: number; already: boolean }> {
    const resuming = new AbortController();
    this.#resuming = resuming;
    try {
      return await this.#resume(AbortSignal.any([signal, resuming.signal]));
    } finally {
      if (this.#resuming === resuming) this.#resuming = null;
    }
  }

  async stop(reason: string, signal: AbortSignal): Promise<StopProof> {
    signal.throwIfAborted();
    this.#giveUpResuming('it was stopped before the wheels turned');
    this.#current?.stopper.abort();
    return this.#stops.track(this.#stopWheels(reason));
  }

  soFar(operation: string): JourneySoFar | null {
    return this.#navigation.soFar(operation);
  }

  status(): MotionStatus {
    const machine = this.#docking.active && !this.#navigation.active ? this.#docking : this.#navigation;
    return {
      activity: this.#current?.activity ?? 'idle',
      stage: machine.stage,
      paused: this.#held(),
      operation: this.#current?.operation ?? null,
      targetAreaId: this.#navigation.targetAreaId ?? this.#current?.goals[0] ?? null,
      problem: this.#current === null ? null : machine.problem,
    };
  }

  /** Also what no operation started. A lost motion process has stopped the base itself. */
  async #stopWheels(reason: string): Promise<StopProof> {
    await this.#deps.amr.stop(reason).catch(() => undefined);
    return this.#proveStop();
  }

  /** Nothing sets the wheels in motion before this has settled. */
  #proveStop(): Promise<StopProof> {
    return this.#stops.track(awaitWheelsStopped(this.#deps.amr, this.#deps.clock, this.#limits));
  }

  #giveUpResuming(why: string): void {
    this.#resuming?.abort(new TaskFailure('STATE_CONDITION_FAILED', why));
  }

  async #resume(until: AbortSignal): Promise<{ observedAtMs: number; already: boolean }> {
    const { clock } = this.#deps;
    if (this.#stops.any) await this.#stops.over(until);
    if (!this.#held()) {
      if (this.#current === null) {
        throw new TaskFailure('STATE_CONDITION_FAILED', 'no journey is held; there is nothing to resume');
      }
      return { observedAtMs: clock.now(), already: true };
    }
    if (this.#docking.held) this.#docking.send({ type: 'RESUME' });
    else this.#navigation.send({ type: 'RESUME' });
    const facts = await this.#untilItGoesOn(until);
    return { observedAtMs: facts.at ?? clock.now(), already: false };
  }

  #untilItGoesOn(signal: AbortSignal): Promise<BodyFacts> {
    const { amr, clock, settings } = this.#deps;
    const current = this.#current;
    const goesOn = (facts: BodyFacts) =>
      this.#current !== current || this.#navigation.stage === 'arriving' || facts.stoppedForMs === 0;
    return waitForBody(amr, clock, goesOn, {
      freshMs: settings.freshMs,
      timeoutMs: RESUME_MS,
      signal,
      reason: 'OBSTRUCTED',
      what: 'the wheels to turn again',
    });
  }

  #held(): boolean {
    return this.#navigation.held || this.#docking.held;
  }

  /** False when nothing that can be held is under way. */
  #hold(): boolean {
    if (this.#navigation.active) this.#navigation.send({ type: 'PAUSE' });
    else if (this.#docking.active) this.#docking.send({ type: 'PAUSE' });
    return this.#held();
  }

  async #leaveStation(request: Operation, signal: AbortSignal, onStage: StageReporter): Promise<void> {
    if (this.#facts().docked === true) await this.#undock(request, signal, onStage);
  }

  async #undock(request: Operation, signal: AbortSignal, onStage: StageReporter): Promise<UndockResult> {
    const facts = this.#facts();
    // On the contacts the pose is the station's: leaving it needs no map.
    const station = this.#deps.station() ?? (facts.docked === true ? facts.pose : null) ?? this.#station();
    const clearance = clearanceOf(facts, station);
    const halfway =
      facts.docked === false && clearance !== null && clearance < this.#deps.settings.docking.clearance;
    if (facts.docked !== true && !halfway) {
      throw new TaskFailure('STATE_CONDITION_FAILED', 'the robot is not docked');
    }
    const { operation, fence } = request;
    const job = { operation, fence, kind: 'undock' as const, station };
    const { pose, observedAtMs } = await this.#docking.run(job, signal, onStage);
    return {
      docked: false,
      clearance: pose === null ? null : distance(pose, station),
      pose,
      observedAtMs,
    };
  }

  /**
   * `until` ends `run` when the task is cancelled or anybody stops the robot. A stop counts from the moment the
   * operation was asked for, also while it still waits for its turn or makes its preparations.
   */
  async #exclusive<T>(
    activity: MotionActivity,
    request: Operation,
    signal: AbortSignal,
    run: (until: AbortSignal, current: Current) => Promise<T>,
  ): Promise<T> {
    if (this.#current !== null) {
      throw new TaskFailure('RESOURCE_BUSY', `the robot is ${this.#current.activity}`);
    }
    const { operation, first } = request;
    const current: Current = { activity, operation, stopper: new AbortController(), goals: [] };
    this.#current = current;
    const until = AbortSignal.any([signal, current.stopper.signal]);
    try {
      if (this.#stops.any || first !== undefined) await this.#prepare(until, first);
      return await run(until, current);
    } finally {
      this.#current = null;
    }
  }

  /** Nothing moves yet; rejects as an operation does that is stopped. */
  async #prepare(until: AbortSignal, first: Operation['first']): Promise<void> {
    try {
      await first?.(until);
      await this.#stops.over(until);
    } catch (error) {
      if (!until.aborted || error instanceof TaskFailure) throw error;
      const { amr, clock } = this.#deps;
      throw stoppedWithProof(await awaitWheelsStopped(amr, clock, this.#limits));
    }
  }

  #facts(): BodyFacts {
    return bodyFacts(this.#deps.amr.state(), this.#deps.clock.now(), this.#deps.settings.freshMs);
  }

  #station(): Pose {
    const station = this.#deps.station();
    if (station === null) {
      throw new TaskFailure('CAPABILITY_UNAVAILABLE', 'the map has no station: add one to areas.yaml');
    }
    return station;
  }
}
