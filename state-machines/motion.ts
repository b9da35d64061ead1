/** Everything that moves the robot, one operation at a time. */
import type { AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import { distance, type Pose } from '../config/contracts/geometry.js';
import { awaitWheelsStopped, type BodyFacts, bodyFacts, type StopLimits } from './body.js';
import type { DockingRunner } from './docking/runner.js';
import { clearanceOf } from './docking/updates.js';
import type {
  Arrival,
  DockResult,
  MotionActivity,
  MotionOperations,
  MotionStatus,
  MoveRequest,
  Rotation,
  UndockResult,
} from './motion-types.js';
import type { NavigationRunner } from './navigation/runner.js';
import type { MachineSettings } from './settings.js';
import { turn } from './turn.js';
import type { StageReporter, StopProof } from './types.js';
import { waitForBody } from './wait.js';

export interface MotionDeps {
  amr: AmrDriver;
  clock: Clock;
  settings: MachineSettings;
  /** Pose of `base_link` when docked; null when the map has no station. */
  station(): Pose | null;
  newId(): string;
}

interface Current {
  activity: MotionActivity;
  operation: string;
  /** Ends a rotation; journeys and dockings have machines to tell. */
  stopper: AbortController | null;
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
  #current: Current | null = null;

  constructor(deps: MotionDeps, navigation: NavigationRunner, docking: DockingRunner) {
    this.#deps = deps;
    this.#navigation = navigation;
    this.#docking = docking;
    const { stillMs, freshMs, stopProofMs } = deps.settings;
    this.#limits = { stillMs, freshMs, proofMs: stopProofMs };
  }

  moveTo(request: MoveRequest, signal: AbortSignal, onStage: StageReporter): Promise<Arrival> {
    return this.#exclusive('navigating', request.operation, async (current) => {
      current.goals = request.goals.map((goal) => goal.areaId);
      await this.#leaveStation(request, signal, onStage);
      return this.#navigation.travel(request, signal, onStage);
    });
  }

  rotate(
    request: { operation: string; angle: number; tolerance: number; fence: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<Rotation> {
    return this.#exclusive('rotating', request.operation, async (current) => {
      await this.#leaveStation(request, signal, onStage);
      const stopper = new AbortController();
      current.stopper = stopper;
      onStage('navigation.rotating', { angle_deg: Math.round((request.angle * 180) / Math.PI) });
      const either = AbortSignal.any([signal, stopper.signal]);
      return turn(
        this.#deps.amr,
        this.#deps.clock,
        this.#limits,
        { ...request, id: this.#deps.newId() },
        either,
      );
    });
  }

  dock(
    request: { operation: string; fence: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<DockResult> {
    return this.#exclusive('docking', request.operation, async () => {
      const already = this.#facts().docked === true;
      const job = { ...request, kind: 'dock' as const, station: this.#station() };
      const { charging, pose, observedAtMs, attempts } = await this.#docking.run(job, signal, onStage);
      return { docked: true, charging, pose, observedAtMs, attempts: already ? 0 : attempts, already };
    });
  }

  undock(
    request: { operation: string; fence: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<UndockResult> {
    return this.#exclusive('undocking', request.operation, () => this.#undock(request, signal, onStage));
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
    return { ...(await awaitWheelsStopped(this.#deps.amr, this.#deps.clock, this.#limits)), already };
  }

  async resume(signal: AbortSignal): Promise<{ observedAtMs: number; already: boolean }> {
    const { amr, clock, settings } = this.#deps;
    if (!this.#held()) {
      if (this.#current === null) {
        throw new TaskFailure('STATE_CONDITION_FAILED', 'no journey is held; there is nothing to resume');
      }
      return { observedAtMs: clock.now(), already: true };
    }
    if (this.#docking.held) this.#docking.send({ type: 'RESUME' });
    else this.#navigation.send({ type: 'RESUME' });
    const current = this.#current;
    const goesOn = (facts: BodyFacts) =>
      this.#current !== current || this.#navigation.stage === 'arriving' || facts.stoppedForMs === 0;
    const facts = await waitForBody(amr, clock, goesOn, {
      freshMs: settings.freshMs,
      timeoutMs: RESUME_MS,
      signal,
      reason: 'OBSTRUCTED',
      what: 'the wheels to turn again',
    });
    return { observedAtMs: facts.at ?? clock.now(), already: false };
  }

  async stop(reason: string, signal: AbortSignal): Promise<StopProof> {
    signal.throwIfAborted();
    this.#docking.send({ type: 'STOP' });
    this.#navigation.send({ type: 'STOP' });
    this.#current?.stopper?.abort();
    // Also what no machine started, such as driving by hand. A lost motion process has stopped the base itself.
    await this.#deps.amr.stop(reason).catch(() => undefined);
    return awaitWheelsStopped(this.#deps.amr, this.#deps.clock, this.#limits);
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

  #held(): boolean {
    return this.#navigation.held || this.#docking.held;
  }

  /** False when nothing that can be held is under way. */
  #hold(): boolean {
    if (this.#navigation.active) this.#navigation.send({ type: 'PAUSE' });
    else if (this.#docking.active) this.#docking.send({ type: 'PAUSE' });
    return this.#held();
  }

  async #leaveStation(
    request: { operation: string; fence: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<void> {
    if (this.#facts().docked === true) await this.#undock(request, signal, onStage);
  }

  async #undock(
    request: { operation: string; fence: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<UndockResult> {
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

  async #exclusive<T>(
    activity: MotionActivity,
    operation: string,
    run: (current: Current) => Promise<T>,
  ): Promise<T> {
    if (this.#current !== null) {
      throw new TaskFailure('RESOURCE_BUSY', `the robot is ${this.#current.activity}`);
    }
    const current: Current = { activity, operation, stopper: null, goals: [] };
    this.#current = current;
    try {
      return await run(current);
    } finally {
      this.#current = null;
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
