/**
 * The simulated robot as its ROS 2 shows it: the topics of base, lidar, battery and dock, `/tf`, and a base that obeys
 * `/cmd_vel`. Times are ROS time; the odometry is that of the wheels, with their errors.
 */
import { compose, type Pose, wrapAngle } from '../../config/contracts/geometry.js';
import type { WorldPart } from '../types.js';
import { ROBOT } from '../world/layout.js';
import { LIDAR_MAX } from '../world/lidar.js';
import type { World } from '../world/world.js';
import type { RosGraph } from './graph.js';
import { header, rosPose, stamp, transform, twistOf, twistSchema, twistStampedSchema } from './messages.js';

export interface RosRobotOptions {
  graph: RosGraph;
  /** Before each topic: empty, or such as `/robot1`. */
  namespace: string;
  /** ROS time at the world's beginning, epoch ms. */
  startMs: number;
  /** Whether `/cmd_vel` is a `TwistStamped`, as it is by default from Kilted on. */
  stampedCommands?: boolean;
}

/** What stops coming, or comes late. */
export interface RosRobotFaults {
  odometry: boolean;
  scan: boolean;
  transforms: boolean;
  battery: boolean;
}

/** Ticks of 15 ms between messages. */
const ODOMETRY_EVERY_MS = 30;
const SCAN_EVERY_MS = 100;
const BATTERY_EVERY_MS = 500;
/** A base that hears no command for so long stops, ms. */
const COMMAND_MS = 500;
const RAYS = 360;
/** Of the lidar on the body: as on a TurtleBot, its front does not face forward. */
export const LIDAR_YAW = Math.PI / 2;

const BUMP = 1;
const CLIFF = 2;
const WHEEL_DROP = 4;
const CHARGING = 1;
const DISCHARGING = 2;

export class RosRobot implements WorldPart {
  readonly faults: RosRobotFaults = { odometry: false, scan: false, transforms: false, battery: false };
  /** What Nav2 wants, which goes where `/cmd_vel` would; null: it does not drive. */
  nav: { v: number; w: number } | null = null;
  /** Of the robot in `odom`. */
  odom: Pose = { x: 0, y: 0, theta: 0 };
  readonly #world: World;
  readonly #options: RosRobotOptions;
  readonly #due = { odometry: 0, scan: 0, battery: 0 };
  #turned: { left: number; right: number };
  #way = { forward: 0, heading: 0, ms: 0 };
  #command: { v: number; w: number; at: number } = { v: 0, w: 0, at: Number.NEGATIVE_INFINITY };
  #told: string | null = null;

  constructor(world: World, options: RosRobotOptions) {
    this.#world = world;
    this.#options = options;
    this.#turned = { ...world.body.turned };
    const { graph, stampedCommands = false } = options;
    graph.subscribe(this.name('cmd_vel'), null, (message) => {
      const parsed = stampedCommands ? twistStampedSchema.safeParse(message) : null;
      const plain = twistSchema.safeParse(parsed === null ? message : parsed.data?.twist);
      if (!plain.success) return;
      const { linear, angular } = plain.data;
      this.#command = { v: linear.x, w: angular.z, at: world.timeMs };
    });
    this.#publishFixed();
  }

  /** The robot's topic of that name. */
  name(topic: string): string {
    return `${this.#options.namespace}/${topic}`;
  }

  /** ROS time, epoch ms. */
  now(): number {
    return this.#options.startMs + this.#world.timeMs;
  }

  get graph(): RosGraph {
    return this.#options.graph;
  }

  before(dtMs: number): void {
    this.#measure(dtMs);
    const { v, w } = this.#wanted();
    const { command } = this.#world.body;
    const half = (w * ROBOT.wheelBase) / 2;
    command.left = limited(v - half);
    command.right = limited(v + half);
    this.#world.chargerWanted = true;
    this.#tell(v, w);
  }

  flush(): void {
    const { timeMs } = this.#world;
    const due = this.#due;
    this.graph.publish('/clock', 'rosgraph_msgs/msg/Clock', { clock: stamp(this.now()) });
    if (timeMs >= due.odometry) {
      due.odometry = timeMs + ODOMETRY_EVERY_MS;
      this.#publishOdometry();
      this.#publishHazards();
    }
    if (timeMs >= due.scan) {
      due.scan = timeMs + SCAN_EVERY_MS;
      if (!this.faults.scan) this.#publishScan();
    }
    if (timeMs >= due.battery) {
      due.battery = timeMs + BATTERY_EVERY_MS;
      if (!this.faults.battery) this.#publishBattery();
    }
  }

  /** Somebody's `/cmd_vel` goes before Nav2's: this robot has no multiplexer that would say otherwise. */
  #wanted(): { v: number; w: number } {
    const fresh = this.#world.timeMs - this.#command.at <= COMMAND_MS;
    const moves = this.#command.v !== 0 || this.#command.w !== 0;
    if (fresh && (moves || this.nav === null)) return this.#command;
    return this.nav ?? { v: 0, w: 0 };
  }

  #measure(dtMs: number): void {
    const { turned } = this.#world.body;
    const left = turned.left - this.#turned.left;
    const right = turned.right - this.#turned.right;
    this.#turned = { ...turned };
    const way = (left + right) / 2;
    const turn = (right - left) / ROBOT.wheelBase;
    this.odom = compose(this.odom, { x: way * Math.cos(turn / 2), y: way * Math.sin(turn / 2), theta: turn });
    this.#way = {
      forward: this.#way.forward + way,
      heading: this.#way.heading + turn,
      ms: this.#way.ms + dtMs,
    };
  }

  #publishFixed(): void {
    const laser = transform(this.now(), 'base_link', 'laser_frame', { x: 0, y: 0, theta: LIDAR_YAW });
    this.graph.publish(this.name('tf_static'), 'tf2_msgs/msg/TFMessage', { transforms: [laser] }, true);
  }

  #publishOdometry(): void {
    const { forward, heading, ms } = this.#way;
    if (ms === 0) return;
    this.#way = { forward: 0, heading: 0, ms: 0 };
    const at = this.now();
    if (!this.faults.odometry) {
      this.graph.publish(this.name('odom'), 'nav_msgs/msg/Odometry', {
        header: header(at, 'odom'),
        child_frame_id: 'base_link',
        pose: { pose: rosPose(this.odom), covariance: new Array(36).fill(0) },
        twist: {
          twist: twistOf((forward / ms) * 1000, (heading / ms) * 1000),
          covariance: new Array(36).fill(0),
        },
      });
    }
    if (this.faults.transforms) return;
    this.graph.publish(this.name('tf'), 'tf2_msgs/msg/TFMessage', {
      transforms: [transform(at, 'odom', 'base_link', this.odom)],
    });
  }

  #publishHazards(): void {
    const { bump, cliff, wheelDrop } = this.#world.body;
    const detections: object[] = [];
    const found = (type: number, frame: string) =>
      detections.push({ header: header(this.now(), frame), type });
    if (bump.left) found(BUMP, 'bump_front_left');
    if (bump.right) found(BUMP, 'bump_front_right');
    if (cliff.left || cliff.frontLeft || cliff.frontRight || cliff.right) found(CLIFF, 'cliff_front_left');
    if (wheelDrop.left) found(WHEEL_DROP, 'wheel_drop_left');
    if (wheelDrop.right) found(WHEEL_DROP, 'wheel_drop_right');
    this.graph.publish(this.name('hazard_detection'), 'irobot_create_msgs/msg/HazardDetectionVector', {
      header: header(this.now(), 'base_link'),
      detections,
    });
  }

  #publishScan(): void {
    const { lidar, body, visitors } = this.#world;
    const ranges: (number | null)[] = [];
    for (let i = 0; i < RAYS; i++) {
      const bearing = wrapAngle(-Math.PI + (i * 2 * Math.PI) / RAYS + LIDAR_YAW);
      const { range } = lidar.measure(body.pose, bearing, visitors.things);
      // Infinity, as drivers report what they do not see; rosbridge makes null of it.
      ranges.push(range === 0 ? null : Math.fround(range));
    }
    this.graph.publish(this.name('scan'), 'sensor_msgs/msg/LaserScan', {
      header: header(this.now(), 'laser_frame'),
      angle_min: -Math.PI,
      angle_max: Math.PI - (2 * Math.PI) / RAYS,
      angle_increment: (2 * Math.PI) / RAYS,
      time_increment: 0,
      scan_time: SCAN_EVERY_MS / 1000,
      range_min: 0.03,
      range_max: LIDAR_MAX,
      ranges,
      intensities: [],
    });
  }

  #publishBattery(): void {
    const { battery, docked } = this.#world;
    this.graph.publish(this.name('battery_state'), 'sensor_msgs/msg/BatteryState', {
      header: header(this.now(), 'base_link'),
      voltage: battery.voltage / 1000,
      current: battery.current / 1000,
      percentage: battery.percent / 100,
      power_supply_status: battery.charging ? CHARGING : DISCHARGING,
      present: true,
    });
    this.graph.publish(this.name('dock_status'), 'irobot_create_msgs/msg/DockStatus', {
      header: header(this.now(), 'base_link'),
      is_docked: docked && this.#world.contactsLive,
    });
  }

  /** Starts and stops of the wheels stand on the world's trace. */
  #tell(v: number, w: number): void {
    const what = v === 0 && w === 0 ? 'ros base stands' : 'ros base drives';
    if (what !== this.#told && this.#told !== null) this.#world.tell(what);
    this.#told = what;
  }
}

function limited(speed: number): number {
  return Math.max(-ROBOT.maxWheelSpeed, Math.min(ROBOT.maxWheelSpeed, speed));
}
