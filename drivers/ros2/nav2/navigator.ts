/**
 * Navigation by the robot's own Nav2, as the motion process asks for it. Goals on the map go to Nav2's actions; turning,
 * backing up and driving by hand are done here, over `/cmd_vel`, by the controllers of the navigation on board. How
 * actions begin, end and are proven is the same as on board: the same runner, the same standstill.
 */
import type {
  MotionAction,
  PlanRequest,
  PlanResult,
  SafetyLevel,
  Scan,
} from '../../../config/contracts/amr.js';
import { Refusal } from '../../../config/contracts/errors.js';
import type { Point, Pose, Twist } from '../../../config/contracts/geometry.js';
import { TwistLimiter } from '../../amr/control/limits.js';
import { Standstill } from '../../amr/control/standstill.js';
import type { ControlInput, Controller } from '../../amr/control/types.js';
import { Odometry } from '../../amr/localisation/odometry.js';
import { scanPoints } from '../../amr/localisation/scan-points.js';
import { ActionRunner } from '../../amr/navigator/action-runner.js';
import type { NavigatorConfig } from '../../amr/navigator/config.js';
import { LidarView } from '../../amr/navigator/lidar-view.js';
import type {
  MapBundle,
  Navigator,
  NavigatorInput,
  NavigatorOutput,
  NavigatorState,
} from '../../amr/types.js';
import { GoalController } from './goal-controller.js';
import type { RosLocalization } from './localization.js';
import type { Nav2Goals } from './nav2-goals.js';
import type { RosMap } from './ros-map.js';

export interface Nav2NavigatorOptions {
  config: NavigatorConfig;
  localization: RosLocalization;
  goals: Nav2Goals;
  map: RosMap;
}

/** All rays of a ROS scan are taken as measured at once: its stamp is that of the first, and turns are slow. */
const AT_ONCE = { turnMs: 0, clockwise: false, startBearing: 0 };

export class Nav2Navigator implements Navigator {
  readonly #options: Nav2NavigatorOptions;
  readonly #odometry: Odometry;
  readonly #standstill = new Standstill();
  readonly #limiter: TwistLimiter;
  readonly #view: LidarView;
  readonly #runner: ActionRunner;
  #bundle: MapBundle | null = null;
  #controller: Controller | null = null;
  #scan: Scan | null = null;
  #lastStep: { mono: number; now: number } | null = null;
  #pose: Pose | null = null;
  /** When a goal was last open at the robot, `mono` ms. */
  #goalOpenMono = Number.NEGATIVE_INFINITY;
  #localized: boolean | null = null;
  readonly #counters = { scans: 0, plans: 0, plans_failed: 0 };

  constructor(options: Nav2NavigatorOptions) {
    this.#options = options;
    const { limits, inflation, obstacles } = options.config;
    this.#odometry = new Odometry({ wheelBase: limits.wheelBase, maxWheelSpeed: limits.maxWheelSpeed });
    this.#limiter = new TwistLimiter(limits);
    this.#view = new LidarView(inflation.robotRadius, obstacles.margin);
    this.#runner = new ActionRunner(obstacles, (action) => {
      this.#controller =
        this.#bundle === null && needsMap(action) ? null : options.goals.controllerFor(action);
      return this.#controller;
    });
  }

  setMap(bundle: MapBundle): void {
    this.#runner.mapChanged();
    this.#bundle = bundle;
    this.#options.map.use(bundle);
    this.#options.goals.map = bundle;
  }

  clearMap(): void {
    this.#runner.mapChanged();
    this.#bundle = null;
    this.#options.map.use(null);
    this.#options.goals.map = null;
  }

  /**
   * Goes to the robot's localizer. `spread` is only there for a pose that was remembered over a restart: the robot's
   * localizer did not restart, and knows better.
   */
  relocalize(pose: Pose, spread?: { xy: number; theta: number }): void {
    if (spread === undefined) this.#options.localization.tell(pose, { xy: 0.15, theta: 0.15 });
  }

  /** The robot's localizer keeps its estimate: what has just started here knows less than it. */
  relocalizeAnywhere(): void {}

  start(id: string, action: MotionAction): void {
    this.#runner.start(id, action);
  }

  stop(reason: string): void {
    this.#runner.stop(reason);
  }

  step(input: NavigatorInput): NavigatorOutput {
    const last = this.#lastStep;
    const dt = last === null ? 0.05 : Math.min(0.2, Math.max(0, input.mono - last.mono) / 1000);
    this.#lastStep = { mono: input.mono, now: input.now };
    if (input.wheels !== null) this.#odometry.add(input.wheels);
    this.#standstill.update(input.wheels, input.mono, input.now);
    if (input.scan !== null) this.#see(input.scan, input.mono);
    this.#pose = this.#options.localization.pose();
    const localized = this.#options.localization.localized();
    // A place that cannot be named is none.
    this.#localized = localized === true && this.#pose === null ? null : localized;
    const { wish, updates } = this.#runner.step(this.#controlInput(input, dt), {
      now: input.now,
      safety: input.safety,
      safetyBecause: input.safetyBecause ?? [],
      pose: this.#pose,
      localized: this.#localized,
    });
    const drivenByOthers = this.#letNav2(input.safety);
    return { twist: this.#drive(wish, input.safety, dt), updates, drivenByOthers };
  }

  /** Rejects with a `Refusal` `HARDWARE_FAULT` when Nav2 cannot be asked. */
  async plan(request: PlanRequest): Promise<PlanResult> {
    if (this.#bundle === null) return { ok: false, reason: 'no_map', message: 'no map is loaded' };
    const mismatch = this.#options.map.mismatch;
    if (mismatch !== null) return { ok: false, reason: 'no_map', message: mismatch };
    if (request.from === null && (this.#pose === null || this.#localized === false)) {
      return { ok: false, reason: 'no_pose', message: 'the robot does not know where it is' };
    }
    this.#counters.plans++;
    const missing = this.#options.goals.notReady();
    if (missing !== null) throw new Refusal('HARDWARE_FAULT', missing);
    const result = await this.#options.goals.plan(request, this.#pose);
    if (!result.ok) this.#counters.plans_failed++;
    return result;
  }

  state(): NavigatorState {
    const pose = this.#pose;
    return {
      pose,
      poseAt: pose === null ? null : (this.#lastStep?.now ?? null),
      localized: this.#localized,
      localizationScore: null,
      spread: this.#options.localization.spread,
      twist: this.#odometry.twist(),
      stoppedSince: this.#standstill.since,
      action: this.#runner.action,
      mapId: this.#options.map.mismatch === null ? (this.#bundle?.id ?? null) : null,
      pendingPlans: 0,
    };
  }

  counters(): Record<string, number> {
    return {
      ...this.#counters,
      odometry_jumps: this.#odometry.jumps,
      ...this.#options.localization.counters,
      ...this.#options.map.counters,
      ...this.#options.goals.counters(),
      ...this.#runner.counters(),
    };
  }

  view(): { scan: Scan | null; path: Pose[]; obstacles: Point[] } {
    const driving = this.#controller instanceof GoalController && this.#controller.driving;
    return { scan: this.#scan, path: driving ? this.#options.goals.path() : [], obstacles: [] };
  }

  /** True while Nav2 has the wheels. A goal that nobody looks at any more is cancelled. */
  #letNav2(safety: SafetyLevel): boolean {
    const controller = this.#controller;
    if (!(controller instanceof GoalController)) return false;
    if (controller.wasLeftAlone() || safety !== 'OK') {
      controller.giveUp();
      if (this.#runner.action === null && controller.settled) this.#controller = null;
      return false;
    }
    return controller.driving;
  }

  #see(scan: Scan, mono: number): void {
    this.#scan = scan;
    this.#counters.scans++;
    const points = scanPoints(scan, mono, (at) => this.#odometry.poseAt(at), AT_ONCE);
    this.#view.add(points, scan.ranges.length, this.#odometry.poseAt(mono), mono);
  }

  #controlInput(input: NavigatorInput, dt: number): ControlInput {
    return {
      mono: input.mono,
      dt,
      pose: this.#localized === false ? null : this.#pose,
      odometry: { forward: this.#odometry.forward, heading: this.#odometry.heading },
      measured: this.#odometry.twist(),
      stillMs: this.#stillMs(input.mono),
      surroundings: this.#view.around(this.#odometry.pose, input.mono),
      ir: input.ir,
      docked: input.docked,
      bumped: input.bumps.left || input.bumps.right,
      wheels: input.wheels,
      drive: null,
      scan: input.scan,
      driveFault: null,
    };
  }

  /**
   * A robot whose Nav2 still has a goal may set off at any moment: its standstill proves something only from when
   * the goal is known to be over.
   */
  #stillMs(mono: number): number {
    if (this.#controller instanceof GoalController && !this.#controller.settled) this.#goalOpenMono = mono;
    return Math.min(this.#standstill.stillMs, mono - this.#goalOpenMono);
  }

  #drive(wish: Twist, safety: SafetyLevel, dt: number): Twist {
    if (safety === 'CUT') {
      this.#limiter.halt();
      return this.#limiter.current;
    }
    return this.#limiter.step(safety === 'OK' ? wish : { v: 0, w: 0 }, dt, this.#odometry.twist());
  }
}

function needsMap({ kind }: MotionAction): boolean {
  return kind === 'followPath' || kind === 'dock';
}
