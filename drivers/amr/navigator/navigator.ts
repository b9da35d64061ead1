import type {
  MotionAction,
  PlanRequest,
  PlanResult,
  SafetyLevel,
  Scan,
} from '../../../config/contracts/amr.js';
import { isRefusal } from '../../../config/contracts/errors.js';
import type { Point, Pose, Twist } from '../../../config/contracts/geometry.js';
import { TwistLimiter } from '../control/limits.js';
import { Standstill } from '../control/standstill.js';
import type { ControlInput } from '../control/types.js';
import { COST_INSCRIBED } from '../costmap/costs.js';
import { StaticCostmap } from '../costmap/static-costmap.js';
import type { LiveMapper } from '../explore/live-mapper.js';
import { MapMaker } from '../explore/map-maker.js';
import type { Whereabouts } from '../explore/mapped-place.js';
import { Localizer } from '../localisation/localizer.js';
import { Odometry } from '../localisation/odometry.js';
import { type ScanPoints, scanPoints } from '../localisation/scan-points.js';
import { sameGrid } from '../map/bundle.js';
import { People } from '../tracking/people.js';
import type { PersonTrack } from '../tracking/types.js';
import type {
  MapBundle,
  Navigator,
  NavigatorInput,
  NavigatorOutput,
  NavigatorState,
  Planner,
} from '../types.js';
import { ActionRunner } from './action-runner.js';
import { DEFAULT_NAVIGATOR, type NavigatorConfig } from './config.js';
import { createController } from './create-controller.js';
import type { Ground } from './ground.js';
import { LidarView } from './lidar-view.js';
import { LiveObstacles } from './live-obstacles.js';

export interface NavigatorOptions {
  planner: Planner;
  /** Uniform in [0, 1). */
  random: () => number;
  config?: NavigatorConfig;
  /** Makes new maps; without one it cannot. */
  createMapper?: () => LiveMapper;
}

/** How well the robot knows where it is on a map that it has just made, m and rad. */
const JUST_MAPPED = { xy: 0.1, theta: 0.1 };
/** Scans are not matched to obstacles while turning faster than this, rad/s: a small error of angle moves walls. */
const MAX_MARKING_TURN = 1;
/** Stamps of scans may lie this far back, ms; older ones come from a clock that jumped. */
const MAX_SCAN_AGE = 500;
/** A robot that has stood for this long without anything to do, ms, takes in only one of so many scans. */
const RESTS_AFTER_MS = 1000;
const RESTING_SCANS = 5;

/**
 * Localisation, obstacles, planning and motion of a robot with its own map: everything the motion process asks
 * for, without ports or clocks. `step` is called every 50 ms and does no more than a few milliseconds of work.
 */
export class OnboardNavigator implements Navigator {
  readonly #config: NavigatorConfig;
  readonly #planner: Planner;
  readonly #random: () => number;
  readonly #odometry: Odometry;
  readonly #standstill = new Standstill();
  readonly #limiter: TwistLimiter;
  readonly #view: LidarView;
  readonly #runner: ActionRunner;
  readonly #people = new People();
  #ground: Ground | null = null;
  readonly #maker: MapMaker | null;
  #scan: Scan | null = null;
  /** Scans left out since the last that was taken in; the newest of them is `#scan`. */
  #leftOut = 0;
  #lastStep: { mono: number; now: number } | null = null;
  #pendingPlans = 0;
  readonly #counters = { scans: 0, plans: 0, plans_failed: 0 };

  constructor(options: NavigatorOptions) {
    const config = options.config ?? DEFAULT_NAVIGATOR;
    this.#config = config;
    this.#planner = options.planner;
    this.#random = options.random;
    this.#odometry = new Odometry({
      wheelBase: config.limits.wheelBase,
      maxWheelSpeed: config.limits.maxWheelSpeed,
    });
    this.#limiter = new TwistLimiter(config.limits);
    this.#view = new LidarView(config.inflation.robotRadius, config.obstacles.margin);
    this.#runner = new ActionRunner(config.obstacles, (action) => this.#controllerFor(action));
    this.#maker = this.#makerOf(options.createMapper);
  }

  #makerOf(createMapper: (() => LiveMapper) | undefined): MapMaker | null {
    if (createMapper === undefined) return null;
    return new MapMaker({
      createMapper,
      odometry: this.#odometry,
      config: this.#config,
      now: () => this.#lastStep?.now ?? 0,
      ground: () => this.#ground,
      use: (ground) => {
        this.#ground = ground;
        this.#planner.setMap(ground?.costmap ?? null);
      },
      changed: () => this.#planner.setMap(this.#ground?.costmap ?? null),
    });
  }

  setMap(bundle: MapBundle): void {
    this.#runner.mapChanged();
    const costmap = new StaticCostmap(bundle, this.#config.inflation);
    const localizer = this.#localizerOn(costmap, bundle);
    this.#maker?.forget();
    this.#ground = {
      bundle,
      costmap,
      localizer,
      obstacles: new LiveObstacles(costmap, this.#config.obstacles, this.#config.liveLayer),
    };
    this.#planner.setMap(costmap);
  }

  /** Where the robot is does not depend on what people drew on the map, and is known on a map that it has just made. */
  #localizerOn(costmap: StaticCostmap, bundle: MapBundle): Whereabouts {
    const before = this.#ground;
    const isMaking = (this.#maker?.session ?? null) !== null;
    if (!isMaking && before !== null && sameGrid(before.bundle.grid, bundle.grid)) return before.localizer;
    const localizer = new Localizer(costmap, this.#odometry, this.#random, this.#config.localizer);
    const pose = this.#maker?.poseOn(bundle) ?? null;
    if (pose !== null) localizer.setPose(pose, JUST_MAPPED);
    return localizer;
  }

  clearMap(): void {
    this.#runner.mapChanged();
    this.#maker?.forget();
    this.#ground = null;
    this.#planner.setMap(null);
  }

  relocalize(pose: Pose, spread: { xy: number; theta: number } = { xy: 0.1, theta: 0.1 }): void {
    this.#ground?.localizer.setPose(pose, spread);
    this.#ground?.obstacles.clear();
  }

  relocalizeAnywhere(): void {
    this.#ground?.localizer.setUnknown();
    this.#ground?.obstacles.clear();
  }

  start(id: string, action: MotionAction): void {
    this.#runner.start(id, action);
  }

  stop(reason: string): void {
    this.#runner.stop(reason);
  }

  step(input: NavigatorInput): NavigatorOutput {
    const dt =
      this.#lastStep === null ? 0.05 : Math.min(0.2, Math.max(0, input.mono - this.#lastStep.mono) / 1000);
    this.#lastStep = { mono: input.mono, now: input.now };
    if (input.wheels !== null) this.#odometry.add(input.wheels);
    this.#standstill.update(input.wheels, input.mono, input.now);
    this.#see(input);
    this.#maker?.step(input, this.#standstill.stillMs);
    const control = this.#controlInput(input, dt);
    const { wish, updates } = this.#runner.step(control, {
      now: input.now,
      safety: input.safety,
      safetyBecause: input.safetyBecause ?? [],
      pose: this.#pose(),
      localized: this.#ground?.localizer.localized ?? null,
    });
    return { twist: this.#drive(wish, input.safety, dt), updates };
  }

  plan(request: PlanRequest): Promise<PlanResult> {
    const from = request.from ?? this.#trustedPose();
    if (this.#ground === null)
      return Promise.resolve({ ok: false, reason: 'no_map', message: 'no map is loaded' });
    if (from === null) {
      return Promise.resolve({
        ok: false,
        reason: 'no_pose',
        message: 'the robot does not know where it is',
      });
    }
    return this.#ask(from, request.goal);
  }

  state(): NavigatorState {
    const making = this.#maker?.session ?? null;
    const localizer = this.#ground?.localizer;
    const pose = this.#pose();
    return {
      pose,
      poseAt: pose === null ? null : (this.#lastStep?.now ?? null),
      localized: localizer?.localized ?? null,
      localizationScore: localizer?.score ?? null,
      spread: localizer?.spread() ?? null,
      twist: this.#odometry.twist(),
      stoppedSince: this.#standstill.since,
      action: this.#runner.action,
      mapId: making === null ? (this.#ground?.bundle.id ?? null) : null,
      mapping: making?.state() ?? null,
      pendingPlans: this.#pendingPlans,
    };
  }

  counters(): Record<string, number> {
    return {
      ...this.#counters,
      odometry_jumps: this.#odometry.jumps,
      ...this.#people.counters(),
      ...this.#ground?.localizer.counters(),
      ...this.#ground?.obstacles.counters(),
      ...this.#planner.counters(),
      ...this.#runner.counters(),
    };
  }

  view(): { scan: Scan | null; path: Pose[]; obstacles: Point[] } {
    return {
      scan: this.#scan,
      path: this.#runner.path(),
      obstacles: [...(this.#ground?.obstacles.points ?? [])],
    };
  }

  /** Who is near, in the `map` frame; never leaves the motion process. */
  people(): readonly PersonTrack[] {
    return this.#people.inMap();
  }

  get mapper(): MapMaker | null {
    return this.#maker;
  }

  /** At rest most scans are only kept for displays; the newest is made up for when something begins. */
  #see(input: NavigatorInput): void {
    const resting = this.#resting;
    if (input.scan === null) {
      const missed = this.#leftOut > 0 ? this.#scan : null;
      if (resting || missed === null || input.now - missed.at > MAX_SCAN_AGE) return;
      this.#takeScan(missed, input);
      return;
    }
    this.#scan = input.scan;
    this.#counters.scans++;
    if (resting && this.#leftOut < RESTING_SCANS - 1) this.#leftOut++;
    else this.#takeScan(input.scan, input);
  }

  /** It stands with nothing to do, and knows where. */
  get #resting(): boolean {
    const idle = this.#runner.action === null && this.#standstill.stillMs >= RESTS_AFTER_MS;
    return idle && this.#ground?.localizer.settled !== false;
  }

  #takeScan(scan: Scan, input: NavigatorInput): void {
    this.#leftOut = 0;
    const age = input.now - scan.at;
    const mono = input.mono - (age >= 0 && age <= MAX_SCAN_AGE ? age : 0);
    const points = scanPoints(scan, mono, (at) => this.#odometry.poseAt(at), this.#config.scanTiming);
    this.#view.add(points, scan.ranges.length, this.#odometry.poseAt(mono), mono);
    const ground = this.#ground;
    ground?.localizer.addScan(points, mono);
    this.#track(points, mono);
    if (ground === null) return;
    this.#mark(ground, points, mono);
  }

  /** Legs are told from furniture by the map, where the pose is trusted. */
  #track(points: ScanPoints, mono: number): void {
    const ground = this.#ground;
    const sure = ground !== null && ground.localizer.localized === true && !ground.localizer.doubted;
    const known = {
      pose: sure ? ground.localizer.poseAt(mono) : null,
      isMapped: (p: Point) => ground?.obstacles.isMapped(p) ?? false,
    };
    this.#people.add(points, this.#odometry.poseAt(mono), known, mono);
    if (ground !== null) ground.obstacles.people = this.#people.inMap();
  }

  /** From a wrong place every wall looks like an obstacle: a doubted pose marks none, a lost one takes them back. */
  #mark({ localizer, obstacles }: Ground, points: ScanPoints, mono: number): void {
    if (localizer.localized === false) {
      obstacles.clear();
      return;
    }
    const pose = localizer.poseAt(mono);
    const turning = Math.abs(this.#odometry.twist()?.w ?? 0);
    if (pose === null || localizer.localized === null || localizer.doubted) return;
    if (turning < MAX_MARKING_TURN) obstacles.add(points, pose, mono);
  }

  #controlInput(input: NavigatorInput, dt: number): ControlInput {
    return {
      mono: input.mono,
      dt,
      pose: this.#trustedPose(),
      odometry: { forward: this.#odometry.forward, heading: this.#odometry.heading },
      measured: this.#odometry.twist(),
      stillMs: this.#standstill.stillMs,
      surroundings: this.#view.around(this.#odometry.pose, input.mono),
      ir: input.ir,
      docked: input.docked,
      bumped: input.bumps.left || input.bumps.right,
      wheels: input.wheels,
      drive: input.drive ?? null,
      scan: input.scan,
      driveFault: input.driveFault ?? null,
    };
  }

  #drive(wish: Twist, safety: SafetyLevel, dt: number): Twist {
    if (safety === 'CUT') {
      this.#limiter.halt();
      return this.#limiter.current;
    }
    return this.#limiter.step(safety === 'OK' ? wish : { v: 0, w: 0 }, dt, this.#odometry.twist());
  }

  #pose(): Pose | null {
    return this.#ground?.localizer.pose() ?? null;
  }

  /** Also before the first scan has confirmed it, but not once scans contradict it. */
  #trustedPose(): Pose | null {
    return this.#ground?.localizer.localized === false ? null : this.#pose();
  }

  #controllerFor(action: MotionAction) {
    const ground = this.#ground;
    return createController(action, {
      config: this.#config,
      ground:
        ground === null
          ? null
          : {
              obstacles: ground.obstacles,
              speedLimitAt: (p) => ground.costmap.speedLimitAt(p),
              people: () => this.#people.inMap(),
              isKeepout: (p) => ground.costmap.isKeepout(p),
              isFree: (p) => ground.costmap.costAt(p) < COST_INSCRIBED,
              plan: (from, goal) => this.#ask(from, goal).catch(planFailed),
            },
    });
  }

  async #ask(from: Pose, goal: Pose): Promise<PlanResult> {
    this.#counters.plans++;
    this.#pendingPlans++;
    try {
      const obstacles = this.#ground?.obstacles;
      const live = obstacles?.cells() ?? new Int32Array(0);
      const result = await this.#planner.plan(from, goal, live, obstacles?.personCells());
      if (!result.ok) this.#counters.plans_failed++;
      return result;
    } finally {
      this.#pendingPlans--;
    }
  }
}

/** For following a path: a planner that fails leaves the robot with the way it has. */
function planFailed(error: unknown): PlanResult {
  const message = isRefusal(error) ? error.message : String(error);
  return { ok: false, reason: 'unreachable', message };
}
