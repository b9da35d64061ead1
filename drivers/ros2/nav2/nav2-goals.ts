/** Which controller carries out an action, and what of it is asked of Nav2. */
import type { MotionAction, PlanRequest, PlanResult } from '../../../config/contracts/amr.js';
import type { Clock } from '../../../config/contracts/clock.js';
import { Refusal } from '../../../config/contracts/errors.js';
import { distance, insidePolygon, type Pose } from '../../../config/contracts/geometry.js';
import { type Ros2Config, rosName } from '../../../config/ros2.js';
import { DockController } from '../../amr/control/dock.js';
import { type ControlInput, type Controller, failed, STILL_MS } from '../../amr/control/types.js';
import type { NavigatorConfig } from '../../amr/navigator/config.js';
import { createController } from '../../amr/navigator/create-controller.js';
import type { MapBundle } from '../../amr/types.js';
import {
  dockFeedback,
  dockResult,
  navigateFeedback,
  navigateResult,
  noFeedback,
  pathType,
  planar,
  planResult,
  poseStampedOf,
} from '../messages.js';
import { type GoalEnd, type Publisher, QOS, type RosGoal, type RosPort } from '../types.js';
import { GoalController, type GoalEvents, type GoalResult, missingTo } from './goal-controller.js';
import { OpenGoals, TopicGoal } from './goal-watch.js';
import { planReason } from './outcome.js';
import type { Readiness } from './readiness.js';

export interface Nav2GoalsOptions {
  port: RosPort;
  clock: Clock;
  config: Ros2Config;
  navigator: NavigatorConfig;
  readiness: Readiness;
  log: (level: 'info' | 'warn', message: string) => void;
}

type Follow = Extract<MotionAction, { kind: 'followPath' }>;

/** Neither feedback nor result for so long, ms: the server is gone, or hangs. */
const SILENCE_MS = 10_000;
const PLAN_MS = 10_000;
/** For a goal: at this mean speed, m/s, and this much on top, ms. */
const SLOWEST = 0.05;
const GOAL_MS = 60_000;
const DOCK_MS = 120_000;
const UNDOCK_MS = 60_000;
/** Through poses: one of the way's poses every so many metres. */
const THROUGH_EVERY = 1.5;
const MAX_THROUGH = 50;

export class Nav2Goals {
  map: MapBundle | null = null;
  readonly open: OpenGoals;
  readonly #options: Nav2GoalsOptions;
  #speedLimit: Publisher | null = null;
  #goalPose: Publisher | null = null;
  #path: Pose[] = [];
  /** The bridge was found not to send goals. */
  #overTopics = false;

  constructor(options: Nav2GoalsOptions) {
    this.#options = options;
    const { port, clock, config } = options;
    const { actions } = config;
    const moving = [actions.navigate_to_pose, actions.navigate_through_poses, actions.dock, actions.undock];
    this.open = new OpenGoals(
      port,
      clock,
      moving.map((name) => rosName(config, name)),
    );
  }

  start(): void {
    const { port, config } = this.#options;
    const { topics } = config;
    const named = (name: string) => rosName(config, name);
    this.#speedLimit = port.advertise(named(topics.speed_limit), 'nav2_msgs/msg/SpeedLimit', QOS.reliable);
    this.#goalPose = port.advertise(named(topics.goal_pose), 'geometry_msgs/msg/PoseStamped', QOS.reliable);
    port.subscribe(named(topics.plan), pathType, QOS.reliable, ({ poses }) => {
      this.#path = poses.map(({ pose }) => planar(pose));
    });
  }

  /** What Nav2 plans to drive, for displays. */
  path(): Pose[] {
    return this.#path;
  }

  /** Null while Nav2 can be sent somewhere. */
  notReady(): string | null {
    const { port, readiness } = this.#options;
    if (!port.connected) return 'there is no connection to ROS';
    return readiness.missing('navigator') ?? readiness.missing('localizer');
  }

  counters(): Record<string, number> {
    return { ...this.open.counters, ...this.#options.readiness.counters };
  }

  controllerFor(action: MotionAction): Controller | null {
    const { navigator, config } = this.#options;
    switch (action.kind) {
      case 'followPath':
        return this.#follow(action);
      case 'dock':
        return config.docking.with === 'server'
          ? this.#dock(action.station)
          : new DockController(action.station, navigator.inflation.robotRadius, navigator.dock);
      case 'undock':
        return config.docking.with === 'server' ? this.#undock(action.clearance) : this.#onBoard(action);
      case 'spin':
      case 'backUp':
      case 'drive':
        return this.#onBoard(action);
      default:
        // What else there is needs a base whose wheels and sensors are read one by one.
        return refusing(`a robot with Nav2 does not do ${action.kind} from here`);
    }
  }

  /** Rejects with a `Refusal` when the planner does not answer. */
  async plan(request: PlanRequest, pose: Pose | null): Promise<PlanResult> {
    const { config } = this.#options;
    const from = request.from ?? pose;
    const frame = config.frames.map;
    const goal = {
      goal: poseStampedOf(request.goal, frame),
      start: poseStampedOf(from ?? request.goal, frame),
      planner_id: '',
      use_start: request.from !== null,
    };
    const end = await new Promise<GoalEnd<ReturnType<typeof planResult.parse>>>((resolve) =>
      this.open.send({
        action: rosName(config, config.actions.compute_path),
        type: 'nav2_msgs/action/ComputePathToPose',
        goal,
        feedback: noFeedback,
        result: planResult,
        onEnd: resolve,
        silenceMs: PLAN_MS,
      }),
    );
    // Without actions nothing can be asked beforehand: Nav2 finds out while it drives.
    if (end.kind === 'unavailable' && this.#cannotSendGoals(end.message))
      return this.#straight(from, request.goal);
    if (end.kind !== 'result') throw new Refusal('HARDWARE_FAULT', `Nav2 did not plan: ${end.message}`);
    const { path, error_code: code, error_msg: text } = end.result;
    if (end.status !== 'succeeded' || path.poses.length === 0) {
      return {
        ok: false,
        reason: planReason(code),
        message: text === '' ? 'Nav2 found no way' : `Nav2: ${text}`,
      };
    }
    return this.#checked(path.poses.map(({ pose: p }) => planar(p)));
  }

  #straight(from: Pose | null, goal: Pose): PlanResult {
    if (from === null)
      return { ok: false, reason: 'no_pose', message: 'the robot does not know where it is' };
    return this.#checked([from, goal]);
  }

  /** Nav2 does not know what people drew on our map. */
  #checked(path: Pose[]): PlanResult {
    const closed = this.map?.areas.keepout ?? [];
    const [start] = path;
    for (const pose of path) {
      const area = closed.find(
        ({ polygon }) =>
          insidePolygon(pose, polygon) && !(start !== undefined && insidePolygon(start, polygon)),
      );
      if (area === undefined) continue;
      const message = `Nav2's way leads through ${area.id}, which is closed; close it in Nav2's keep-out filter as well`;
      return { ok: false, reason: 'unreachable', message };
    }
    let length = 0;
    path.forEach((pose, i) => {
      length += i === 0 ? 0 : distance(path[i - 1] ?? pose, pose);
    });
    return { ok: true, path, length };
  }

  #onBoard(action: MotionAction): Controller | null {
    const { config, navigator } = this.#options;
    if (config.topics.cmd_vel === null) {
      const message = 'the robot cannot be driven from here: ros2.topics.cmd_vel is null';
      return refusing(message);
    }
    return createController(action, { config: navigator, ground: null });
  }

  #follow(action: Follow): GoalController {
    const { readiness } = this.#options;
    const length = action.path.reduce((sum, p, i) => sum + distance(action.path[i - 1] ?? p, p), 0);
    return new GoalController({
      send: (events) => {
        this.#path = [...action.path];
        this.#limitSpeed(action.maxSpeed);
        return this.#overTopics ? this.#overTopic(action.goal, events) : this.#navigate(action, events);
      },
      refused: () => readiness.missing('navigator') ?? readiness.missing('localizer'),
      missing: ({ pose }) => missingTo(action.goal, action.tolerance, pose),
      missed: 'stuck',
      detail: ({ pose }) => ({ off: pose === null ? 0 : distance(pose, action.goal) }),
      timeoutMs: GOAL_MS + (length / SLOWEST) * 1000,
    });
  }

  #navigate(action: Follow, events: GoalEvents): RosGoal {
    const { config } = this.#options;
    const frame = config.frames.map;
    const through = config.follow === 'through_poses';
    const { navigate_to_pose: toPose, navigate_through_poses: throughPoses } = config.actions;
    return this.open.send({
      action: rosName(config, through ? throughPoses : toPose),
      type: `nav2_msgs/action/${through ? 'NavigateThroughPoses' : 'NavigateToPose'}`,
      goal: through
        ? { poses: viaPoses(action).map((pose) => poseStampedOf(pose, frame)), behavior_tree: '' }
        : { pose: poseStampedOf(action.goal, frame), behavior_tree: '' },
      feedback: navigateFeedback,
      result: navigateResult,
      onFeedback: ({ distance_remaining, number_of_recoveries }) =>
        events.onProgress(distance_remaining, number_of_recoveries > 0 ? 'recovering' : null),
      onEnd: (end) => {
        if (end.kind === 'unavailable') this.#cannotSendGoals(end.message);
        events.onEnd(end);
      },
      silenceMs: SILENCE_MS,
    });
  }

  #overTopic(goal: Pose, events: GoalEvents): RosGoal {
    const { port, clock, config } = this.#options;
    const publisher = this.#goalPose ?? { publish: () => false, close: () => {} };
    return new TopicGoal(port, clock, {
      action: rosName(config, config.actions.navigate_to_pose),
      publisher,
      goal: poseStampedOf(goal, config.frames.map),
      cancel: () => this.open.cancelAll(),
      onEnd: (end) => events.onEnd(end),
    });
  }

  #dock(station: Pose): GoalController {
    const { config, readiness } = this.#options;
    const { dock_id, dock_type } = config.docking;
    let sinceMono: number | null = null;
    return new GoalController({
      send: (events) =>
        this.open.send({
          action: rosName(config, config.actions.dock),
          type: this.#dockingType('DockRobot'),
          goal: {
            use_dock_id: dock_id !== null,
            dock_id: dock_id ?? '',
            dock_pose: poseStampedOf(station, config.frames.map),
            dock_type,
            max_staging_time: 60,
            navigate_to_staging_pose: true,
          },
          feedback: dockFeedback,
          result: dockResult,
          onFeedback: ({ num_retries }) =>
            events.onProgress(null, num_retries > 0 ? 'retrying' : 'approaching'),
          onEnd: (end) => events.onEnd(end),
          silenceMs: SILENCE_MS,
        }),
      refused: () => readiness.missing('docking'),
      missing: ({ docked, mono }) => {
        if (docked !== true) sinceMono = null;
        else sinceMono ??= mono;
        if (sinceMono === null) return 'the charging contacts are not live';
        return mono - sinceMono < STILL_MS ? 'the contacts are not live for long enough' : null;
      },
      missed: 'no_contact',
      detail: () => ({}),
      timeoutMs: DOCK_MS,
    });
  }

  #undock(clearance: number): Controller {
    const { config, readiness } = this.#options;
    let from: number | null = null;
    const goal = new GoalController({
      send: (events) =>
        this.open.send({
          action: rosName(config, config.actions.undock),
          type: this.#dockingType('UndockRobot'),
          goal: { dock_type: config.docking.dock_type, max_undocking_time: 30 },
          feedback: noFeedback,
          result: dockResult,
          onEnd: (end: GoalEnd<GoalResult>) => events.onEnd(end),
          silenceMs: UNDOCK_MS,
        }),
      refused: () => readiness.missing('docking'),
      missing: ({ docked, odometry }) => {
        if (docked === true) return 'the charging contacts are still live';
        const way = Math.abs(odometry.forward - (from ?? odometry.forward));
        return way < clearance - 0.03 ? `it moved ${way.toFixed(2)} m instead of ${clearance} m` : null;
      },
      missed: 'stuck',
      detail: ({ odometry }) => ({ moved: Math.abs(odometry.forward - (from ?? odometry.forward)) }),
      timeoutMs: UNDOCK_MS,
    });
    const begin = goal.step.bind(goal);
    goal.step = (input: ControlInput) => {
      if (from === null) {
        if (input.docked !== true) return failed('not_docked', 'the robot does not stand on its contacts');
        from = input.odometry.forward;
      }
      return begin(input);
    };
    return goal;
  }

  /** Docking has been part of nav2_msgs since Jazzy; for Humble it is a package of its own. */
  #dockingType(name: string): string {
    const own = ['humble', 'iron'].includes(this.#options.config.distro);
    return `${own ? 'opennav_docking_msgs' : 'nav2_msgs'}/action/${name}`;
  }

  #limitSpeed(maxSpeed: number): void {
    this.#speedLimit?.publish({
      header: { stamp: { sec: 0, nanosec: 0 }, frame_id: this.#options.config.frames.map },
      percentage: false,
      speed_limit: maxSpeed,
    });
  }

  #cannotSendGoals(message: string): boolean {
    if (!/send_action_goal/.test(message)) return false;
    if (!this.#overTopics) {
      this.#options.log(
        'warn',
        `${message}: goals go over topics, without feedback and without planning ahead`,
      );
    }
    this.#overTopics = true;
    return true;
  }
}

/** A controller that fails at once. */
function refusing(message: string): Controller {
  return { step: () => failed('hardware', message) };
}

/** Poses of the way, evenly, ending with the goal. */
function viaPoses({ path, goal }: Follow): Pose[] {
  const via: Pose[] = [];
  let since = 0;
  path.forEach((pose, i) => {
    since += i === 0 ? 0 : distance(path[i - 1] ?? pose, pose);
    if (since < THROUGH_EVERY || via.length >= MAX_THROUGH || distance(pose, goal) < THROUGH_EVERY / 2)
      return;
    since = 0;
    via.push(pose);
  });
  return [...via, goal];
}
