/**
 * A base with navigation that behaves physically, for tests above the driver: it moves over time, needs time to
 * stop, can be blocked, lost, lifted, unplugged and e-stopped. It knows nothing of tasks or machines.
 */
import type {
  ActionFailure,
  AmrAbilities,
  AmrDriver,
  AmrEvent,
  MotionAction,
  PlanRequest,
  PlanResult,
  RobotState,
  SafetyCondition,
} from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { TaskFailure } from '../../config/contracts/errors.js';
import { compose, distance, type Point, type Pose, wrapAngle } from '../../config/contracts/geometry.js';
import { onboardAbilities } from '../../drivers/rt/abilities.js';

const TICK_MS = 50;
const TURN_SPEED = 1.2;
const CLOSE = 0.35;
const PATIENCE_MS = 3000;

interface Job {
  id: string;
  action: MotionAction;
  startedAt: number;
  from: Pose;
  turned: number;
  blockedSince: number | null;
  stuckSince: number | null;
  note: string | null;
  lastReport: number;
}

export class FakeAmr implements AmrDriver {
  pose: Pose;
  localized = true;
  battery = 80;
  charging = false;
  docked = false;
  mapId: string | null = 'map-1';
  /** Things in the way; the follower stops before them. */
  obstacles: Point[] = [];
  /** The wheels are held: they are commanded and do not turn. */
  wheelsBlocked = false;
  /** The wheels turn on whatever is asked: a broken motor driver. */
  runaway = false;
  /** The driver says it arrived without having moved. */
  lies = false;
  /** Metres that the wheels count, and the robot does not move, while it leaves its station. */
  slip = 0;
  /** Approaches that end without contact before one succeeds. */
  missedContacts = 0;
  baseConnected = true;
  lidarConnected = true;
  linked = true;
  can: AmrAbilities | null = onboardAbilities(true);
  planner: ((request: PlanRequest) => PlanResult | Promise<PlanResult>) | null = null;
  station: Pose;
  /** Every request, for assertions on what reached the driver. */
  readonly log: string[] = [];
  readonly conditions = new Set<SafetyCondition>();

  readonly #clock: Clock;
  readonly #listeners = new Set<(event: AmrEvent) => void>();
  #estop: { by: string; at: number } | null = null;
  #job: Job | null = null;
  #v = 0;
  #w = 0;
  /** `mono` ms. */
  #stoppedSince: number | null;
  #state: RobotState | null = null;
  #maxFence = 0;

  constructor(clock: Clock, options: { pose?: Pose; station?: Pose; docked?: boolean } = {}) {
    this.#clock = clock;
    this.station = options.station ?? { x: 0, y: 0, theta: Math.PI };
    this.docked = options.docked ?? false;
    this.charging = this.docked;
    this.pose = options.pose ?? (this.docked ? this.station : { x: 1, y: 0, theta: 0 });
    this.#stoppedSince = clock.mono() - 10_000;
    clock.every(TICK_MS, () => this.#tick());
    this.#publish();
  }

  get moving(): boolean {
    return this.#v !== 0 || this.#w !== 0;
  }
  get acting(): string | null {
    return this.#job?.action.kind ?? null;
  }

  state(): RobotState | null {
    return this.#state;
  }
  abilities() {
    return this.can;
  }
  view() {
    return { scan: null, path: [] };
  }
  subscribe(listener: (event: AmrEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async plan(request: PlanRequest): Promise<PlanResult> {
    this.log.push('plan');
    if (!this.linked) throw new TaskFailure('HARDWARE_FAULT', 'no motion process');
    if (this.planner !== null) return this.planner(request);
    if (!this.localized)
      return { ok: false, reason: 'no_pose', message: 'the robot does not know where it is' };
    const from = request.from ?? this.pose;
    return { ok: true, path: [from, request.goal], length: distance(from, request.goal) };
  }

  async start(id: string, action: MotionAction, fence: number): Promise<void> {
    if (!this.linked) throw new TaskFailure('HARDWARE_FAULT', 'no motion process');
    if (!this.baseConnected) throw new TaskFailure('HARDWARE_FAULT', 'no base');
    if (this.#estop !== null) throw new TaskFailure('EMERGENCY_STOP', 'latched');
    if (fence < this.#maxFence) throw new TaskFailure('RESOURCE_BUSY', `fence ${fence} is old`);
    this.#maxFence = fence;
    this.log.push(action.kind);
    const running = this.#job;
    if (action.kind === 'drive' && running?.id === id) {
      this.#job = { ...running, action, startedAt: this.#clock.now() };
      return;
    }
    this.#endJob();
    this.#job = {
      id,
      action,
      startedAt: this.#clock.now(),
      from: this.pose,
      turned: 0,
      blockedSince: null,
      stuckSince: null,
      note: null,
      lastReport: 0,
    };
  }

  async stop(reason: string): Promise<void> {
    this.log.push(`stop: ${reason}`);
    if (!this.linked) throw new TaskFailure('HARDWARE_FAULT', 'no motion process');
    if (this.runaway) return;
    this.#endJob();
    this.#halt();
  }

  async estop(by: string): Promise<void> {
    this.log.push(`estop: ${by}`);
    this.#estop = { by, at: this.#clock.now() };
    this.runaway = false;
    this.#safetyStop('estop');
  }
  async releaseEstop(): Promise<void> {
    this.#estop = null;
  }
  async loadMap(): Promise<void> {
    this.mapId = 'map-1';
  }
  async clearMap(): Promise<void> {
    this.mapId = null;
  }
  async relocalize(pose: Pose): Promise<void> {
    this.log.push('relocalize');
    this.pose = pose;
    this.localized = true;
  }

  /** A condition of the safety layer comes up (and, by default, goes away at once): everything stops. */
  trip(condition: SafetyCondition, options: { lasting?: boolean } = {}): void {
    this.conditions.add(condition);
    this.#safetyStop(condition);
    if (options.lasting !== true) this.conditions.delete(condition);
  }

  /** The motion process dies; `back` starts a new one, which stops the base first. */
  killProcess(): void {
    this.linked = false;
    this.#job = null;
    this.#halt();
    this.#emit({ type: 'link', at: this.#clock.now(), connected: false, reason: 'killed' });
  }
  restartProcess(): void {
    this.linked = true;
    this.#emit({ type: 'link', at: this.#clock.now(), connected: true, reason: null });
  }

  putOnStation(docked: boolean): void {
    this.docked = docked;
    this.charging = docked;
    if (docked) this.pose = this.station;
    this.#emit({ type: 'docked', at: this.#clock.now(), docked });
  }

  fail(failure: ActionFailure, message: string = failure): void {
    this.#failJob(failure, message, null);
  }

  #tick(): void {
    if (!this.linked) return;
    if (this.#job !== null && this.baseConnected && this.#estop === null) this.#work(this.#job);
    this.#stoppedSince = this.moving ? null : (this.#stoppedSince ?? this.#clock.mono());
    this.#publish();
  }

  #work(job: Job): void {
    const { action } = job;
    if (this.lies) {
      this.#succeed(job);
      return;
    }
    if (action.kind === 'followPath') this.#follow(job, action);
    else if (action.kind === 'spin') this.#spin(job, action.angle);
    else if (action.kind === 'backUp') this.#straight(job, -action.distance, action.speed);
    else if (action.kind === 'undock') this.#undock(job, action.clearance);
    else if (action.kind === 'dock') this.#dock(job, action.station);
    else if (action.kind === 'drive') this.#drive(job, action.twist, action.ttlMs);
  }

  #follow(job: Job, action: Extract<MotionAction, { kind: 'followPath' }>): void {
    const goal = action.goal;
    const left = distance(this.pose, goal);
    const heading = Math.atan2(goal.y - this.pose.y, goal.x - this.pose.x);
    const obstacle = this.obstacles.find(
      (o) =>
        distance(o, this.pose) < CLOSE + 0.3 &&
        Math.abs(wrapAngle(Math.atan2(o.y - this.pose.y, o.x - this.pose.x) - heading)) < 1,
    );
    if (obstacle !== undefined && left > action.tolerance.xy) {
      this.#blocked(job, obstacle, left);
      return;
    }
    job.blockedSince = null;
    if (this.#stuck(job)) return;
    const step = (Math.min(action.maxSpeed, 0.35) * TICK_MS) / 1000;
    if (left > Math.max(action.tolerance.xy * 0.5, step)) {
      this.#v = action.maxSpeed;
      this.#w = 0;
      this.pose = {
        x: this.pose.x + step * Math.cos(heading),
        y: this.pose.y + step * Math.sin(heading),
        theta: heading,
      };
      this.#report(job, left, 'driving');
      return;
    }
    this.#turnTo(job, goal.theta, () => this.#succeed(job));
  }

  #turnTo(job: Job, theta: number, then: () => void): void {
    const error = wrapAngle(theta - this.pose.theta);
    const step = (TURN_SPEED * TICK_MS) / 1000;
    if (Math.abs(error) > step) {
      this.#v = 0;
      this.#w = Math.sign(error) * TURN_SPEED;
      this.pose = { ...this.pose, theta: wrapAngle(this.pose.theta + Math.sign(error) * step) };
      this.#report(job, 0, 'arriving');
      return;
    }
    if (this.moving) {
      this.#halt();
      return;
    }
    then();
  }

  #drive(job: Job, twist: { v: number; w: number }, ttlMs: number): void {
    if (this.#clock.now() - job.startedAt >= ttlMs) {
      if (this.moving) this.#halt();
      else if (this.#clock.mono() - (this.#stoppedSince ?? this.#clock.mono()) >= 300) this.#succeed(job);
      return;
    }
    const dt = TICK_MS / 1000;
    this.#v = twist.v;
    this.#w = twist.w;
    this.pose = compose(this.pose, { x: twist.v * dt, y: 0, theta: twist.w * dt });
  }

  #spin(job: Job, angle: number): void {
    if (this.#stuck(job)) return;
    const step = (TURN_SPEED * TICK_MS) / 1000;
    if (Math.abs(angle) - Math.abs(job.turned) > step) {
      this.#w = Math.sign(angle) * TURN_SPEED;
      job.turned += Math.sign(angle) * step;
      this.pose = { ...this.pose, theta: wrapAngle(this.pose.theta + Math.sign(angle) * step) };
      return;
    }
    if (this.moving) {
      this.#halt();
      return;
    }
    this.#succeed(job, { turned: job.turned });
  }

  #straight(job: Job, meters: number, speed: number): void {
    if (this.#stuck(job)) return;
    const moved = distance(job.from, this.pose);
    if (moved < Math.abs(meters) - 1e-6) {
      this.#v = Math.sign(meters) * speed;
      const step = Math.min((speed * TICK_MS) / 1000, Math.abs(meters) - moved);
      this.pose = compose(this.pose, { x: Math.sign(meters) * step, y: 0, theta: 0 });
      return;
    }
    if (this.moving) {
      this.#halt();
      return;
    }
    this.#succeed(job);
  }

  #undock(job: Job, clearance: number): void {
    if (!this.docked && job.from === this.pose) {
      this.#failJob('not_docked', 'not docked', null);
      return;
    }
    const behind = compose(this.pose, { x: -0.35, y: 0, theta: 0 });
    const obstacle = this.obstacles.find((o) => distance(o, behind) < 0.3);
    if (obstacle !== undefined) {
      this.#blocked(job, obstacle, null);
      return;
    }
    if (this.docked && !this.wheelsBlocked) this.putOnStation(false);
    this.#straight(job, this.slip - clearance, 0.1);
  }

  #dock(job: Job, station: Pose): void {
    if (this.#stuck(job)) return;
    if (distance(this.pose, station) > 0.02) {
      const heading = Math.atan2(station.y - this.pose.y, station.x - this.pose.x);
      const step = Math.min(0.005, distance(this.pose, station));
      this.#v = 0.1;
      this.pose = {
        x: this.pose.x + step * Math.cos(heading),
        y: this.pose.y + step * Math.sin(heading),
        theta: station.theta,
      };
      this.#report(job, distance(this.pose, station), null);
      return;
    }
    if (this.moving) {
      this.#halt();
      return;
    }
    if (this.missedContacts > 0) {
      this.missedContacts--;
      this.#failJob('no_contact', 'the contacts stayed dead', null);
      return;
    }
    this.putOnStation(true);
    this.#succeed(job);
  }

  #blocked(job: Job, obstacle: Point, left: number | null): void {
    this.#halt();
    job.blockedSince ??= this.#clock.now();
    if (this.#clock.now() - job.blockedSince >= PATIENCE_MS) {
      this.#failJob('blocked', 'something stands in the way', obstacle);
      return;
    }
    this.#report(job, left, 'waiting_for_obstacle');
  }

  /** True while the wheels are held; fails the action after a while. */
  #stuck(job: Job): boolean {
    if (!this.wheelsBlocked) {
      job.stuckSince = null;
      return false;
    }
    this.#halt();
    job.stuckSince ??= this.#clock.now();
    if (this.#clock.now() - job.stuckSince >= PATIENCE_MS) {
      this.#failJob('stuck', 'the wheels do not turn', null);
    }
    return true;
  }

  #report(job: Job, remaining: number | null, note: string | null): void {
    const now = this.#clock.now();
    if (note === job.note && now - job.lastReport < 200) return;
    job.note = note;
    job.lastReport = now;
    this.#emit({
      type: 'action',
      update: {
        id: job.id,
        kind: job.action.kind,
        at: now,
        status: 'running',
        pose: this.pose,
        remaining,
        note,
      },
    });
  }

  #succeed(job: Job, detail: Record<string, number> = {}): void {
    this.#job = null;
    this.#halt();
    this.#emit({
      type: 'action',
      update: {
        id: job.id,
        kind: job.action.kind,
        at: this.#clock.now(),
        status: 'succeeded',
        pose: this.pose,
        docked: this.docked,
        detail,
      },
    });
  }

  #failJob(failure: ActionFailure, message: string, where: Point | null): void {
    const job = this.#job;
    if (job === null) return;
    this.#job = null;
    this.#halt();
    this.#emit({
      type: 'action',
      update: {
        id: job.id,
        kind: job.action.kind,
        at: this.#clock.now(),
        status: 'failed',
        failure,
        message,
        where,
        pose: this.pose,
      },
    });
  }

  #endJob(): void {
    const job = this.#job;
    if (job === null) return;
    this.#job = null;
    this.#emit({
      type: 'action',
      update: {
        id: job.id,
        kind: job.action.kind,
        at: this.#clock.now(),
        status: 'stopped',
        pose: this.pose,
        stoppedForMs: 300,
      },
    });
  }

  #safetyStop(condition: SafetyCondition): void {
    this.#halt();
    this.#publish();
    this.#emit({
      type: 'safety',
      at: this.#clock.now(),
      safety: this.#safety(),
      cause: condition,
    });
    this.#failJob('safety_stop', `stopped by ${condition}`, null);
  }

  #halt(): void {
    this.#v = 0;
    this.#w = 0;
  }

  #safety() {
    const active: SafetyCondition[] = [...this.conditions];
    if (this.#estop !== null) active.push('estop');
    return {
      level: active.length > 0 ? ('SETTLE' as const) : ('OK' as const),
      active,
      estop: { latched: this.#estop !== null, by: this.#estop?.by ?? null, at: this.#estop?.at ?? null },
    };
  }

  /** In robot time as it stands now. */
  #stoppedAt(): number | null {
    if (this.#stoppedSince === null) return null;
    return this.#clock.now() - (this.#clock.mono() - this.#stoppedSince);
  }

  #publish(): void {
    const now = this.#clock.now();
    const known = this.baseConnected;
    const turning = this.runaway && this.#job !== null;
    this.#state = {
      at: now,
      rtBootId: 'rt-1',
      pose: this.pose,
      poseAt: now,
      localized: this.localized,
      localizationScore: this.localized ? 0.9 : 0.1,
      twist: known ? { v: this.#v, w: this.#w } : null,
      stoppedSince: this.moving || turning ? null : this.#stoppedAt(),
      base: {
        connected: known,
        lastFrameAt: known ? now : null,
        battery: { percent: this.battery, at: now },
        charging: known ? this.charging : null,
        docked: known ? this.docked : null,
        bumpLeft: false,
        bumpRight: false,
        cliff: false,
        wheelDrop: false,
      },
      lidar: { connected: this.lidarConnected, lastScanAt: this.lidarConnected ? now : null },
      safety: this.#safety(),
      action: this.#job === null ? null : { id: this.#job.id, kind: this.#job.action.kind },
      mapId: this.mapId,
      counters: {},
    };
    this.#emit({ type: 'state', state: this.#state });
  }

  #emit(event: AmrEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}
