/**
 * A simulated Nav2: the actions, services and topics of bt_navigator, planner, docking server and lifecycle, over a
 * planner and a controller that look at the true world. It is called simulated because it is: it shows how this
 * robot's software deals with Nav2's interface, not how good Nav2 drives.
 */
import { compose, distance, type Point, type Pose, relativeTo } from '../../config/contracts/geometry.js';
import type { WorldPart } from '../types.js';
import type { World } from '../world/world.js';
import { type Job, SimActionServer } from './action-server.js';
import { inTheWay, PathDriver, type Speeds, STILL, turnTo } from './driver.js';
import { GOAL } from './graph.js';
import { GridPlanner } from './grid-plan.js';
import { SimLocalizer } from './localizer.js';
import {
  dockGoalSchema,
  header,
  loadMapSchema,
  navigateGoalSchema,
  navigateThroughGoalSchema,
  planGoalSchema,
  poseStampedSchema,
  rosPose,
  speedLimitSchema,
} from './messages.js';
import type { RosRobot } from './robot.js';

export type Nav2Flavour = 'humble' | 'jazzy';

/** Codes of nav2_msgs from Jazzy on; Humble's results are empty. */
export const NAV2_ERROR = {
  failedToMakeProgress: 105,
  noValidPath: 208,
  goalOutsideMap: 204,
  goalOccupied: 206,
  failedToStage: 903,
  failedToControl: 905,
  failedToCharge: 906,
} as const;

export interface Nav2Faults {
  /** The next goal of any action is aborted with this code; null: none. */
  abortNext: number | null;
  /** Goals are taken, and nothing is said or done. */
  silent: boolean;
  /** Says that it arrived without driving. */
  lies: boolean;
  /** Cancel requests are not obeyed. */
  ignoresCancel: boolean;
  readonly inactive: Set<string>;
}

interface Work {
  readonly job: Job;
  /** Null: done. Called every 50 ms. */
  step(): Speeds | null;
}

const STEP_MS = 45;
const STAGING = 0.7;
const MAX_SPEED = 0.3;
const PATIENCE_MS = 10_000;
const REPLAN_MS = 1_000;
const STAND_OFF = 0.25;
const CHARGE_WAIT_MS = 4_000;
const NODES = ['bt_navigator', 'amcl', 'docking_server', 'map_server', 'controller_server', 'planner_server'];
const INACTIVE = { id: 2, label: 'inactive' };
const ACTIVE = { id: 3, label: 'active' };

export class SimNav2 implements WorldPart {
  readonly faults: Nav2Faults = {
    abortNext: null,
    silent: false,
    lies: false,
    ignoresCancel: false,
    inactive: new Set(),
  };
  readonly localizer: SimLocalizer;
  /** Maps that clients asked `map_server` to load. */
  readonly loadedMaps: string[] = [];
  readonly #world: World;
  readonly #robot: RosRobot;
  readonly #flavour: Nav2Flavour;
  readonly #planner: GridPlanner;
  #work: Work | null = null;
  #speedLimit: number | null = null;
  #dueMs = 0;

  constructor(world: World, robot: RosRobot, flavour: Nav2Flavour, map: object | null) {
    this.#world = world;
    this.#robot = robot;
    this.#flavour = flavour;
    this.#planner = new GridPlanner(world.layout);
    this.localizer = new SimLocalizer(world, robot);
    this.#offerNavigation();
    this.#offerDocking();
    this.#offerServices(map);
  }

  flush(): void {
    this.localizer.active = !this.faults.inactive.has('amcl');
    this.localizer.step();
    if (this.#world.timeMs < this.#dueMs) return;
    this.#dueMs = this.#world.timeMs + STEP_MS;
    this.#drive();
  }

  #drive(): void {
    const work = this.#work;
    if (work === null || work.job.ended) {
      this.#work = null;
      this.#robot.nav = null;
      return;
    }
    if (work.job.cancelRequested && !this.faults.ignoresCancel) {
      work.job.finish(GOAL.canceled, this.#result(0, 'canceled'));
      this.#robot.nav = STILL;
      return;
    }
    const speeds = work.step();
    this.#robot.nav = speeds ?? STILL;
  }

  #offerNavigation(): void {
    const navigator = () => this.faults.inactive.has('bt_navigator');
    this.#offer('navigate_to_pose', 'nav2_msgs/action/NavigateToPose', navigator, (goal, job) => {
      const parsed = navigateGoalSchema.safeParse(goal);
      if (parsed.success) this.#navigate([parsed.data.pose.pose], job);
      else job.finish(GOAL.aborted, this.#result(100, 'not a goal'));
    });
    this.#offer('navigate_through_poses', 'nav2_msgs/action/NavigateThroughPoses', navigator, (goal, job) => {
      const parsed = navigateThroughGoalSchema.safeParse(goal);
      if (parsed.success)
        this.#navigate(
          parsed.data.poses.map((p) => p.pose),
          job,
        );
      else job.finish(GOAL.aborted, this.#result(100, 'not a goal'));
    });
    const planner = () => this.faults.inactive.has('planner_server');
    this.#offer('compute_path_to_pose', 'nav2_msgs/action/ComputePathToPose', planner, (goal, job) =>
      this.#computePath(goal, job),
    );
    // A goal from RViz, or from a client without actions: bt_navigator sends it to itself.
    this.#robot.graph.subscribe(this.#robot.name('goal_pose'), null, (message) => {
      const parsed = poseStampedSchema.safeParse(message);
      if (!parsed.success) return;
      const goal = { pose: message };
      this.#robot.graph.actions
        .get(this.#robot.name('navigate_to_pose'))
        ?.send(goal, { onFeedback: () => {}, onResult: () => {} });
    });
    this.#robot.graph.subscribe(this.#robot.name('speed_limit'), null, (message) => {
      const parsed = speedLimitSchema.safeParse(message);
      if (!parsed.success) return;
      const { percentage, speed_limit: limit } = parsed.data;
      this.#speedLimit = limit <= 0 ? null : percentage ? (limit / 100) * MAX_SPEED : limit;
    });
  }

  #offerDocking(): void {
    const type = (name: string) =>
      this.#flavour === 'humble' ? `opennav_docking_msgs/action/${name}` : `nav2_msgs/action/${name}`;
    const server = () => this.faults.inactive.has('docking_server');
    this.#offer('dock_robot', type('DockRobot'), server, (goal, job) => this.#dock(goal, job));
    this.#offer('undock_robot', type('UndockRobot'), server, (_goal, job) => this.#undock(job));
  }

  #offerServices(map: object | null): void {
    const { graph } = this.#robot;
    for (const node of NODES) {
      graph.serve(this.#robot.name(`${node}/get_state`), 'lifecycle_msgs/srv/GetState', () => ({
        current_state: this.faults.inactive.has(node) ? INACTIVE : ACTIVE,
      }));
    }
    graph.serve(this.#robot.name('map_server/load_map'), 'nav2_msgs/srv/LoadMap', (request) => {
      const parsed = loadMapSchema.safeParse(request);
      if (!parsed.success) return { result: 1 };
      this.loadedMaps.push(parsed.data.map_url);
      return { result: 0 };
    });
    if (map !== null) graph.publish(this.#robot.name('map'), 'nav_msgs/msg/OccupancyGrid', map, true);
  }

  #offer(
    name: string,
    type: string,
    inactive: () => boolean,
    begin: (goal: unknown, job: Job) => void,
  ): void {
    new SimActionServer({
      graph: this.#robot.graph,
      name: this.#robot.name(name),
      type,
      now: () => this.#robot.now(),
      emptyResult: () => this.#result(0, ''),
      admit: () => (inactive() ? 'not active' : null),
      silent: () => this.faults.silent,
      begin: (goal, job) => {
        const code = this.faults.abortNext;
        if (code === null) {
          begin(goal, job);
          return;
        }
        this.faults.abortNext = null;
        job.finish(GOAL.aborted, this.#result(code, 'told to abort'));
      },
    });
  }

  #computePath(goal: unknown, job: Job): void {
    const parsed = planGoalSchema.safeParse(goal);
    if (!parsed.success) {
      job.finish(GOAL.aborted, this.#planResult([], 100));
      return;
    }
    const { start, use_start, goal: to } = parsed.data;
    const from = use_start && start !== undefined ? start.pose : this.localizer.pose();
    const plan = this.#planner.plan(from, to.pose, this.#world.visitors.obstacles);
    if (plan.ok) {
      job.finish(GOAL.succeeded, this.#planResult(headed(plan.path, to.pose.theta), 0));
      return;
    }
    const codes = {
      off_map: NAV2_ERROR.goalOutsideMap,
      occupied: NAV2_ERROR.goalOccupied,
      no_path: NAV2_ERROR.noValidPath,
    };
    job.finish(GOAL.aborted, this.#planResult([], codes[plan.why]));
  }

  /** From goal to goal; obstacles on the way are waited for and driven round. */
  #navigate(goals: readonly Pose[], job: Job): void {
    let at = 0;
    let driver: PathDriver | null = null;
    let recoveries = 0;
    let stuckMs = 0;
    let plannedMs = Number.NEGATIVE_INFINITY;
    const { timeMs: begunMs } = this.#world;
    const step = (): Speeds | null => {
      const goal = goals[at];
      if (goal === undefined || this.faults.lies) return this.#succeed(job);
      const pose = this.localizer.pose();
      const things = this.#world.visitors.things;
      const blocked = inTheWay(pose, things, STAND_OFF) !== null;
      const due = this.#world.timeMs - plannedMs > REPLAN_MS;
      if (driver === null || (blocked && due)) {
        plannedMs = this.#world.timeMs;
        const plan = this.#planner.plan(pose, goal, things);
        if (plan.ok) {
          driver = new PathDriver(plan.path, goal.theta);
          this.#publishPlan(headed(plan.path, goal.theta));
        } else if (stuckMs === 0) recoveries += 1;
      }
      const wish = driver?.step(pose, Math.min(MAX_SPEED, this.#speedLimit ?? MAX_SPEED)) ?? null;
      job.feedback(
        this.#progress(pose, driver?.remaining(pose) ?? distance(pose, goal), recoveries, begunMs),
      );
      if (driver !== null && wish === null) {
        at += 1;
        driver = null;
        return STILL;
      }
      const stands = driver === null || (blocked && (wish?.v ?? 0) > 0);
      stuckMs = stands ? stuckMs + STEP_MS : Math.max(0, stuckMs - STEP_MS);
      if (stuckMs > PATIENCE_MS) {
        const code = driver === null ? NAV2_ERROR.noValidPath : NAV2_ERROR.failedToMakeProgress;
        job.finish(GOAL.aborted, this.#result(code, 'no way forward'));
        return STILL;
      }
      return stands ? STILL : wish;
    };
    this.#work = { job, step };
  }

  #dock(goal: unknown, job: Job): void {
    const { dock } = this.#world.layout;
    const parsed = dockGoalSchema.safeParse(goal);
    if (dock === null || !parsed.success) {
      job.finish(GOAL.aborted, docked(false, 901));
      return;
    }
    const station = (parsed.data.use_dock_id ? undefined : parsed.data.dock_pose?.pose) ?? dock.station;
    const staging = compose(station, { x: -STAGING, y: 0, theta: 0 });
    let driver: PathDriver | null = null;
    let staged = !parsed.data.navigate_to_staging_pose;
    let waitedMs = 0;
    let ranMs = 0;
    const fail = (code: number) => {
      job.finish(GOAL.aborted, docked(false, code));
      return STILL;
    };
    const step = (): Speeds | null => {
      ranMs += STEP_MS;
      if (this.#world.contactsLive) {
        job.finish(GOAL.succeeded, docked(true, 0));
        return STILL;
      }
      if (ranMs > 90_000) return fail(NAV2_ERROR.failedToControl);
      const pose = this.localizer.pose();
      job.feedback({
        state: staged ? 3 : 1,
        docking_time: { sec: Math.floor(ranMs / 1000), nanosec: 0 },
        num_retries: 0,
      });
      if (!staged) {
        driver ??= this.#driverTo(pose, staging);
        if (driver === null) return fail(NAV2_ERROR.failedToStage);
        const speeds = driver.step(pose, MAX_SPEED);
        if (speeds !== null)
          return inTheWay(pose, this.#world.visitors.things, 0.15) === null ? speeds : STILL;
        staged = true;
      }
      const off = relativeTo(station, pose);
      if (off.x > -0.006) {
        waitedMs += STEP_MS;
        return waitedMs > CHARGE_WAIT_MS ? fail(NAV2_ERROR.failedToCharge) : STILL;
      }
      if (inTheWay(pose, this.#world.visitors.things, 0.1) !== null) return STILL;
      if (off.x < -0.3 && Math.abs(off.theta) > 0.3) return turnTo(pose, station.theta) ?? STILL;
      const v = Math.max(0.03, Math.min(0.12, -0.4 * off.x));
      return { v, w: -(4 * off.y + 2 * off.theta) * Math.min(1, v / 0.06) };
    };
    this.#work = { job, step };
  }

  #undock(job: Job): void {
    const from = this.localizer.pose();
    const step = (): Speeds | null => {
      const pose = this.localizer.pose();
      job.feedback({});
      const left = STAGING - distance(from, pose);
      if (left > 0.01) {
        const back = { ...pose, theta: pose.theta + Math.PI };
        const free = inTheWay(back, this.#world.visitors.things, 0.1) === null;
        return free ? { v: -Math.max(0.04, Math.min(0.15, left)), w: 0 } : STILL;
      }
      job.finish(GOAL.succeeded, docked(true, 0));
      return STILL;
    };
    this.#work = { job, step };
  }

  #driverTo(pose: Pose, goal: Pose): PathDriver | null {
    const plan = this.#planner.plan(pose, goal, this.#world.visitors.obstacles);
    return plan.ok ? new PathDriver(plan.path, goal.theta) : null;
  }

  #succeed(job: Job): Speeds {
    job.finish(GOAL.succeeded, this.#result(0, ''));
    return STILL;
  }

  /** Humble's results carry nothing. */
  #result(code: number, text: string): object {
    return this.#flavour === 'humble' ? {} : { error_code: code, error_msg: text };
  }

  #planResult(path: readonly Pose[], code: number): object {
    return {
      path: this.#path(path),
      planning_time: { sec: 0, nanosec: 0 },
      ...this.#result(code, code === 0 ? '' : 'no plan'),
    };
  }

  #publishPlan(path: readonly Pose[]): void {
    this.#robot.graph.publish(this.#robot.name('plan'), 'nav_msgs/msg/Path', this.#path(path));
  }

  #path(path: readonly Pose[]): object {
    const at = header(this.#robot.now(), 'map');
    return { header: at, poses: path.map((pose) => ({ header: at, pose: rosPose(pose) })) };
  }

  #progress(pose: Pose, remaining: number, recoveries: number, begunMs: number): object {
    const ms = this.#world.timeMs - begunMs;
    return {
      current_pose: { header: header(this.#robot.now(), 'map'), pose: rosPose(pose) },
      navigation_time: { sec: Math.floor(ms / 1000), nanosec: 0 },
      estimated_time_remaining: { sec: Math.round(remaining / MAX_SPEED), nanosec: 0 },
      number_of_recoveries: recoveries,
      distance_remaining: Math.fround(remaining),
    };
  }
}

/** The docking server's results have carried codes in every distribution. */
function docked(success: boolean, error_code: number): object {
  return { success, error_code, num_retries: 0 };
}

/** Points of a way as poses along it. */
function headed(points: readonly Point[], theta: number): Pose[] {
  return points.map((p, i) => {
    const next = points[i + 1];
    return { x: p.x, y: p.y, theta: next === undefined ? theta : Math.atan2(next.y - p.y, next.x - p.x) };
  });
}
