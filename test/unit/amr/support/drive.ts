import type {
  ActionUpdate,
  MotionAction,
  PlanResult,
  SafetyLevel,
} from '../../../../config/contracts/amr.js';
import { distance, type Pose, relativeTo } from '../../../../config/contracts/geometry.js';
import { seededRandom } from '../../../../config/contracts/ids.js';
import { OnboardNavigator } from '../../../../drivers/amr/navigator/navigator.js';
import { InlinePlanner } from '../../../../drivers/amr/planner/inline-planner.js';
import type { MapBundle, NavigatorInput } from '../../../../drivers/amr/types.js';
import { type RobotOptions, SimRobot } from './sim-robot.js';

const START = 1_800_000_000_000;
const STEP_MS = 50;

export type End = Exclude<ActionUpdate, { status: 'running' }>;

/** A navigator driving a simulated robot, step by step. */
export class Drive {
  readonly robot: SimRobot;
  readonly navigator: OnboardNavigator;
  readonly updates: ActionUpdate[] = [];
  safety: SafetyLevel = 'OK';
  /** Overrides what the robot would report. */
  input: Partial<NavigatorInput> = {};
  command = { v: 0, w: 0 };
  /** Largest change of command per step seen, m/s and rad/s. */
  readonly largest = { dv: 0, dw: 0, v: 0, w: 0 };
  readonly station: Pose | null;
  readonly bundle: MapBundle;
  #n = 0;

  constructor(bundle: MapBundle, pose: Pose, options: RobotOptions = {}) {
    this.station = options.station ?? null;
    this.bundle = bundle;
    this.robot = new SimRobot(bundle.grid, pose, options);
    this.navigator = new OnboardNavigator({ planner: new InlinePlanner(), random: seededRandom(7) });
    this.navigator.setMap(bundle);
    this.navigator.relocalize(pose);
  }

  /** One control step, with a turn of the event loop for promises. */
  async step(): Promise<void> {
    const scan = this.robot.run(this.command, STEP_MS);
    const out = this.navigator.step({
      mono: this.robot.timeMs,
      now: START + this.robot.timeMs,
      wheels: this.robot.wheels,
      scan: scan === null ? null : { ...scan, at: START + scan.at },
      ir: this.#infrared(),
      docked: this.robot.docked,
      bumps: { left: this.robot.bumped, right: this.robot.bumped },
      safety: this.safety,
      ...this.input,
    });
    this.largest.dv = Math.max(this.largest.dv, Math.abs(out.twist.v - this.command.v));
    this.largest.dw = Math.max(this.largest.dw, Math.abs(out.twist.w - this.command.w));
    this.largest.v = Math.max(this.largest.v, Math.abs(out.twist.v));
    this.largest.w = Math.max(this.largest.w, Math.abs(out.twist.w));
    this.command = out.twist;
    this.updates.push(...out.updates);
    await Promise.resolve();
  }

  async run(ms: number, each?: () => void): Promise<void> {
    for (let t = 0; t < ms; t += STEP_MS) {
      await this.step();
      each?.();
    }
  }

  /** Lets the pose settle on the first scans. */
  async settle(): Promise<this> {
    await this.run(1000);
    return this;
  }

  /** Runs an action to its end, or for `limitMs`. */
  async act(action: MotionAction, limitMs = 120_000, each?: () => void): Promise<End> {
    const id = `a${++this.#n}`;
    this.navigator.start(id, action);
    for (let t = 0; t < limitMs; t += STEP_MS) {
      await this.step();
      each?.();
      const end = this.endOf(id);
      if (end !== null) return end;
    }
    throw new Error(
      `${action.kind} did not end; last: ${JSON.stringify(this.updates[this.updates.length - 1])}`,
    );
  }

  endOf(id: string): End | null {
    for (const u of this.updates) if (u.id === id && u.status !== 'running') return u;
    return null;
  }

  /** Plans to a goal and follows the path there. */
  async goTo(goal: Pose, limitMs?: number, each?: () => void): Promise<End> {
    return this.act(await this.followTo(goal), limitMs, each);
  }

  async followTo(goal: Pose, maxSpeed = 0.35): Promise<MotionAction> {
    const plan = await this.plan(goal);
    if (!plan.ok) throw new Error(`${plan.reason}: ${plan.message}`);
    return { kind: 'followPath', path: plan.path, goal, tolerance: { xy: 0.1, theta: 0.15 }, maxSpeed };
  }

  plan(goal: Pose): Promise<PlanResult> {
    return this.navigator.plan({ from: null, goal });
  }

  /** How wrong the believed pose is, metres and radians. */
  error(): { xy: number; theta: number } {
    const pose = this.navigator.state().pose;
    if (pose === null) return { xy: Number.POSITIVE_INFINITY, theta: Number.POSITIVE_INFINITY };
    return { xy: distance(pose, this.robot.pose), theta: Math.abs(relativeTo(this.robot.pose, pose).theta) };
  }

  /** The home base's beams: green to the left and red to the right of a robot that faces it. */
  #infrared(): NavigatorInput['ir'] {
    if (this.station === null) return { omni: 0, left: 0, right: 0 };
    const at = relativeTo(this.station, this.robot.pose);
    const distanceToFace = 0.17 - (at.x + 0.15 * Math.cos(at.theta));
    const side = at.y + 0.15 * Math.sin(at.theta);
    if (distanceToFace <= 0 || distanceToFace > 2) return { omni: 0, left: 0, right: 0 };
    const azimuth = Math.atan2(side, distanceToFace);
    let char = 160;
    if (azimuth > -0.087 && azimuth < 0.44) char += 4;
    if (azimuth < 0.087 && azimuth > -0.44) char += 8;
    if (distanceToFace < 0.6) char += 1;
    if (char <= 160) return { omni: 0, left: 0, right: 0 };
    return { omni: char, left: at.theta < 0.26 ? char : 0, right: at.theta > -0.26 ? char : 0 };
  }
}
