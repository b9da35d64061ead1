/**
 * A `Runtime` for tests of the local API and the CLI: a home, a robot half-way through its workflow, an intake
 * that judges the form of commands, and switches to put all of it into the states that matter.
 */

import type { AmrDriver, AmrEvent, RobotState } from '../../../config/contracts/amr.js';
import { type Clock, isoWithOffset } from '../../../config/contracts/clock.js';
import { describeZodError, Refusal, TaskFailure } from '../../../config/contracts/errors.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';
import { type CommandResponse, commandSchema } from '../../../config/contracts/wire/command.js';
import type { DomainEvent, TaskEvent } from '../../../config/contracts/wire/events.js';
import type { Principal } from '../../../daemon/intake/types.js';
import type { Capability, ConnectionFacts, DoctorCheck, MapView, Runtime } from '../../../daemon/runtime.js';
import type { DeadLetter, OutboxReader, OutboxStats } from '../../../daemon/store/outbox-types.js';
import type { StoreError } from '../../../daemon/store/store-error.js';
import type { ScheduleRecord } from '../../../daemon/task-manager/schedule/types.js';
import type { TaskManager, TaskRecord, WorkflowRecord } from '../../../daemon/task-manager/types.js';
import { onboardAbilities } from '../../../drivers/rt/abilities.js';
import { fakeMethods } from './fake-methods.js';
import { fakePolicy } from './fake-policy.js';
import { homeContext } from './home-context.js';
import { homeMap, PATH_TO_BEDROOM, scanAt } from './home-map.js';
import { sampleEvents, sampleTasks, sampleWorkflow, task } from './work.js';

interface StoredEvent {
  seq: number;
  topic: string;
  payload: object;
}

class Listeners<T> {
  readonly #all = new Set<(value: T) => void>();
  readonly add = (listener: (value: T) => void): (() => void) => {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  };
  emit(value: T): void {
    for (const listener of this.#all) listener(value);
  }
  get size(): number {
    return this.#all.size;
  }
}

export class FakeRuntime implements Runtime {
  readonly deviceId = 'da-sim';
  readonly bootId = 'b-01JTEST';
  readonly version = '0.1.0';
  readonly profile = 'sim';
  readonly methods = fakeMethods();
  readonly policy = fakePolicy();
  /** Signs of life and releases of presses, in order. */
  readonly held: string[] = [];
  readonly presses = {
    keep: (taskId: string) => {
      this.held.push(`keep ${taskId}`);
      return true;
    },
    release: (taskId: string) => {
      this.held.push(`release ${taskId}`);
    },
  };

  isReady = true;
  /** Resolves what waits for `committed()`; null: commits at once. */
  heldCommits: (() => void)[] | null = null;
  mapView: MapView | null = homeMap();
  mapFileInUse: string | null = null;
  robot: RobotState | null;
  path: Pose[] = PATH_TO_BEDROOM;
  air: { pm2_5: number | null; source_state: 'ok' | 'warming_up' | 'error' } = {
    pm2_5: 38,
    source_state: 'ok',
  };
  facts: ConnectionFacts;
  checks: DoctorCheck[] = [
    { part: 'base', state: 'ok', message: 'iRobot Create 2 on dev/base' },
    { part: 'lidar', state: 'ok', message: 'LD19 on dev/lidar, 10.0 scans/s' },
    { part: 'fan', state: 'missing', message: 'no answer on dev/fan; check the cable and the unit id' },
  ];
  letters: DeadLetter[] = [
    {
      id: 7,
      topic: 'events/task',
      seq: 3,
      reason: 'packet too large',
      attempts: 5,
      at: 0,
      payload: '{"event":"COMPLETED"}',
    },
  ];
  taskRecords: TaskRecord[] = sampleTasks();
  workflowRecords: WorkflowRecord[] = [sampleWorkflow()];
  scheduleRecords: ScheduleRecord[] = [];
  /** Commands that the intake saw, and how it answers one of a method (default: accepted). */
  readonly handled: { raw: unknown; principal: Principal }[] = [];
  /** `result` of the answer to an accepted method. */
  accept = new Map<string, object>();
  refuse = new Map<string, { reason: ReasonCode; message: string }>();
  /** Set while nothing can be stored. */
  notStored: StoreError | null = null;
  readonly estops: string[] = [];
  estopButtonHeld = false;
  /** Set to make the next context a defect. */
  broken = false;

  readonly events: StoredEvent[] = [];
  readonly appended = new Listeners<void>();
  readonly taskEvents = new Listeners<TaskEvent>();
  readonly domainEvents = new Listeners<DomainEvent>();
  #taskNumber = 1;

  constructor(
    readonly stateDir: string,
    readonly clock: Clock,
  ) {
    const now = clock.now();
    this.robot = drivingState(now, { x: 4.1, y: 3.15, theta: -0.1 });
    this.facts = {
      transport_connected: true,
      subscription_ready: true,
      last_transition_at: now - 120_000,
      last_publish_ack_at: now - 900,
      last_publish_error: null,
    };
    for (const { topic, payload } of sampleEvents()) this.append(topic, payload);
  }

  ready(): boolean {
    return this.isReady;
  }

  committed(): Promise<void> {
    const held = this.heldCommits;
    return held === null ? Promise.resolve() : new Promise((resolve) => held.push(resolve));
  }

  /** Adds a row to the ordered lane and tells, as the store does after its commit. */
  append(topic: string, payload: object): number {
    const seq = (this.events.at(-1)?.seq ?? 0) + 1;
    this.events.push({ seq, topic, payload: { ...payload, seq } });
    this.appended.emit();
    return seq;
  }

  context({ version }: { version: 1 | 2; maxBytes?: number }): object {
    if (this.broken) throw new TypeError('cannot read properties of undefined');
    return homeContext({
      version,
      now: this.clock.now(),
      state: this.robot,
      air: this.air,
      connected: this.facts.transport_connected,
    });
  }

  capabilities(): Capability[] {
    return [
      {
        id: 'move_to_room',
        cloudIds: ['move_to'],
        title: { ko: '방으로 이동', en: 'Go to a room' },
        built: true,
        available: true,
        reasonCode: null,
        reason: null,
        methods: ['setMoveTo'],
      },
      {
        id: 'start_room_cleaning',
        cloudIds: ['stationary_purify', 'air_cleaning.auto'],
        title: { ko: '공기 청정', en: 'Purify here' },
        built: true,
        available: false,
        reasonCode: 'HARDWARE_FAULT',
        reason: 'the fan does not answer; check its cable',
        methods: ['startCleaning', 'pauseCleaning', 'resumeCleaning', 'stopCleaning'],
      },
      {
        id: 'follow_me',
        cloudIds: ['follow_me'],
        title: { ko: '따라오기', en: 'Follow me' },
        built: false,
        available: false,
        reasonCode: 'CAPABILITY_UNAVAILABLE',
        reason: 'this version does not build startFollowMe yet',
        methods: ['startFollowMe'],
      },
    ];
  }

  map(): MapView | null {
    return this.mapView;
  }
  mapFile(): string | null {
    return this.mapFileInUse;
  }
  async importMap(mapYaml: string): Promise<void> {
    if (this.robot?.stoppedSince === null)
      throw new Refusal('ILLEGAL_STATE', 'the robot moves; stop it first');
    this.mapFileInUse = mapYaml;
  }
  cloud(): ConnectionFacts {
    return this.facts;
  }
  doctor(): DoctorCheck[] {
    return this.checks;
  }
  counters(): Record<string, number> {
    return { 'lidar.crc_errors': 3, 'intake.refused': 1, 'rt.control_late_p99_us': 900 };
  }
  onDomainEvent(listener: (event: DomainEvent) => void): () => void {
    return this.domainEvents.add(listener);
  }
  recentEvents(since: number, limit: number): StoredEvent[] {
    return this.events.filter((e) => e.seq > since).slice(0, limit);
  }

  async estop(by: string): Promise<void> {
    this.estops.push(by);
    if (this.robot === null) throw new TaskFailure('HARDWARE_FAULT', 'the motion process does not answer');
    const at = this.clock.now();
    this.robot.safety = { level: 'CUT', active: ['estop'], estop: { latched: true, by, at } };
    this.robot.twist = { v: 0, w: 0 };
    this.robot.stoppedSince = at;
  }

  async releaseEstop(_by: string): Promise<void> {
    if (this.estopButtonHeld) throw new Refusal('ILLEGAL_STATE', 'the e-stop button is still pressed');
    if (this.robot === null) throw new TaskFailure('HARDWARE_FAULT', 'the motion process does not answer');
    this.robot.safety = { level: 'OK', active: [], estop: { latched: false, by: null, at: null } };
  }

  readonly intake = {
    handle: (raw: unknown, principal: Principal): CommandResponse => {
      this.handled.push({ raw, principal });
      const parsed = commandSchema.safeParse(raw);
      if (!parsed.success)
        return this.#answer(raw, 'INVALID_PARAMS', describeZodError(parsed.error, raw).message);
      if (this.notStored !== null) throw this.notStored;
      const command = parsed.data;
      const name = 'method' in command ? command.method : command.kind;
      const refusal = this.refuse.get(name ?? '');
      if (refusal !== undefined) return this.#answer(raw, refusal.reason, refusal.message);
      const accepted = this.#answer(raw, null, null);
      accepted.result = this.accept.get(name ?? '') ?? null;
      if (command.kind === 'task') {
        const taskId = `t-${this.#taskNumber++}`;
        this.taskRecords.unshift(task({ taskId, method: name ?? command.capability ?? '?' }));
        accepted.task_id = taskId;
      }
      if (command.kind === 'workflow') accepted.workflow_id = command.workflow.workflow_id;
      return accepted;
    },
  };

  #answer(raw: unknown, reason: ReasonCode | null, message: string | null): CommandResponse {
    const id = (raw as { command_id?: unknown }).command_id;
    return {
      command_id: typeof id === 'string' ? id : null,
      correlation_id: null,
      status: reason === null ? 'accepted' : 'rejected',
      task_id: null,
      workflow_id: null,
      schedule_id: null,
      duplicate: false,
      legacy: false,
      reason_code: reason,
      message,
      result: null,
      at: isoWithOffset(this.clock.wall()),
    };
  }

  readonly outbox: OutboxReader = {
    peek: () => [],
    acknowledged: () => {},
    countAttempt: () => 1,
    deadLetter: () => {},
    expired: () => {},
    reportFlow: () => {},
    onAppended: (listener) => this.appended.add(listener),
    stats: (): OutboxStats => ({
      depth: 2,
      bytes: 1830,
      oldestAgeMs: 420,
      deadLetters: this.letters.length,
      publishedTotal: this.events.length - 2,
      droppedTelemetryTotal: 4,
      nextSeq: (this.events.at(-1)?.seq ?? 0) + 1,
      storeEpoch: 'e-1',
      lanes: { ordered: 1, response: 1, telemetry: 0 },
      accepting: true,
      flow: { inFlight: 2, publishPerS: 3.5, ackPerS: 3 },
    }),
    deadLetters: (limit, after = 0) => this.letters.filter(({ id }) => id > after).slice(0, limit),
    requeue: (id) => this.#removeLetter(id),
    drop: (id) => this.#removeLetter(id),
  };

  #removeLetter(id: number): boolean {
    const before = this.letters.length;
    this.letters = this.letters.filter((letter) => letter.id !== id);
    return this.letters.length < before;
  }

  readonly tasks: TaskManager = {
    schedules: {
      add: () => refuseDirect(),
      pause: () => refuseDirect(),
      resume: () => refuseDirect(),
      remove: () => refuseDirect(),
      get: (id) => this.scheduleRecords.find((s) => s.scheduleId === id) ?? null,
      list: (limit) => this.scheduleRecords.slice(0, limit),
    },
    submit: () => refuseDirect(),
    submitWorkflow: () => refuseDirect(),
    cancelTask: () => refuseDirect(),
    pauseTask: () => refuseDirect(),
    resumeTask: () => refuseDirect(),
    cancelWorkflow: () => refuseDirect(),
    pauseWorkflow: () => refuseDirect(),
    resumeWorkflow: () => refuseDirect(),
    amendWorkflow: () => refuseDirect(),
    getTask: (id) => this.taskRecords.find((t) => t.taskId === id) ?? null,
    listTasks: ({ active, limit } = {}) =>
      this.taskRecords.filter((t) => active !== true || t.endedAt === null).slice(0, limit),
    getWorkflow: (id) => this.workflowRecords.find((w) => w.workflowId === id) ?? null,
    listWorkflows: ({ active, limit } = {}) =>
      this.workflowRecords.filter((w) => active !== true || w.endedAt === null).slice(0, limit),
    onEvent: (listener) => this.taskEvents.add(listener),
    leases: () => [{ resource: 'motion', owner: 't-s2', fence: 3 }],
    leaseBoard: () => [
      {
        resource: 'motion',
        owners: ['t-s2'],
        mode: 'exclusive',
        fence: 3,
        waiting: [
          { taskId: 't-s3', method: 'setMoveTo', priority: 50, why: 'motion is held by rotate t-s2' },
        ],
        waitingCount: 1,
      },
    ],
    summary: () => ({ busy: true, running: ['t-s2'], queued: [{ queueKey: 'motion', length: 1 }] }),
  };

  readonly amr: AmrDriver = {
    abilities: () => onboardAbilities(true),
    state: () => this.robot,
    view: () => {
      const { robot } = this;
      if (robot === null || robot.pose === null) return { scan: null, path: [] };
      return { scan: scanAt(robot.pose, robot.lidar.lastScanAt ?? robot.at), path: this.path };
    },
    subscribe: (_listener: (event: AmrEvent) => void) => () => {},
    plan: () => refuseDirect(),
    start: () => refuseDirect(),
    stop: () => refuseDirect(),
    estop: () => refuseDirect(),
    releaseEstop: () => refuseDirect(),
    loadMap: async () => {},
    clearMap: async () => {},
    relocalize: () => refuseDirect(),
  };
}

/** The API must not go past the intake: a direct call is a failure of the test that caused it. */
function refuseDirect(): never {
  throw new Error('called past the one gate');
}

export function drivingState(now: number, pose: Pose): RobotState {
  return {
    at: now,
    rtBootId: 'rt-1',
    pose,
    poseAt: now,
    localized: true,
    localizationScore: 0.91,
    twist: { v: 0.28, w: -0.05 },
    stoppedSince: null,
    base: {
      connected: true,
      lastFrameAt: now,
      battery: { percent: 83, at: now - 900 },
      charging: false,
      docked: false,
      bumpLeft: false,
      bumpRight: false,
      cliff: false,
      wheelDrop: false,
    },
    lidar: { connected: true, lastScanAt: now },
    safety: { level: 'OK', active: [], estop: { latched: false, by: null, at: null } },
    action: { id: 'a-1', kind: 'followPath' },
    mapId: 'home-1',
    counters: { 'base.checksum_errors': 2 },
  };
}
