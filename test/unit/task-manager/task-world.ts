/** A TaskManager on a real database, with methods whose runs the test drives by hand. */
import { z } from 'zod';
import { Refusal, TaskFailure } from '../../../config/contracts/errors.js';
import type { Log } from '../../../config/contracts/log.js';
import type { TaskReason } from '../../../config/contracts/reason-codes.js';
import type { TaskMetadata } from '../../../config/contracts/wire/command.js';
import { type TaskEvent, taskEventSchema } from '../../../config/contracts/wire/events.js';
import { type WorkflowDocument, workflowSchema } from '../../../config/contracts/wire/workflow.js';
import type { OutboxWriter } from '../../../daemon/store/outbox-types.js';
import type { TaskManagerLimits } from '../../../daemon/task-manager/deps.js';
import type { TaskGate } from '../../../daemon/task-manager/gate.js';
import { createTaskManager } from '../../../daemon/task-manager/manager.js';
import type { SubmitTask, TaskRecord } from '../../../daemon/task-manager/types.js';
import {
  type Completion,
  defineMethod,
  type MethodSpec,
  type ResourceClaim,
  type RunContext,
  StoppedWithProof,
} from '../../../executors/method.js';
import {
  filesAfterPowerCut,
  openStoreWorld,
  quiet,
  type StoreWorld,
  type StoreWorldOptions,
} from '../store/store-world.js';

/** One call of `run`, which ends when the test says so. */
export interface Run {
  taskId: string;
  method: string;
  context: RunContext<Record<string, unknown>>;
  over: boolean;
  complete(output?: Record<string, unknown> | null, evidence?: Record<string, unknown>): void;
  fail(reason: TaskReason, message?: string): void;
  /** The physical thing is proven to have stopped. */
  proveStop(): void;
  throw(error: unknown): void;
}

export interface TaskWorldOptions extends StoreWorldOptions {
  taskLimits?: Partial<TaskManagerLimits>;
  methods?: MethodSpec[];
  /** What `alreadyDone` says after a restart, by method. */
  done?: Record<string, boolean>;
  context?: () => object;
  /** Method names whose precondition refuses, and why (default: STATE_CONDITION_FAILED). */
  blocked?: Set<string>;
  blockedFor?: TaskReason;
  recover?: boolean;
  /** What stands between a request and its place in line. */
  gate?: (world: StoreWorld) => TaskGate;
  clockTrusted?: () => boolean;
  /** A defect: appending an event whose key has this in it throws. */
  brokenEvent?: string;
}

const exclusive = (...resources: ResourceClaim['resource'][]): ResourceClaim[] =>
  resources.map((resource) => ({ resource, mode: 'exclusive' }));

export function openTaskWorld(options: TaskWorldOptions = {}) {
  const world = openStoreWorld(options);
  const { clock, store, outbox, timers, ids } = world;
  const runs: Run[] = [];
  const cuts: string[] = [];
  const logged: { fields: Record<string, unknown>; message: string }[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn: (fields, message) => logged.push({ fields: { ...fields }, message }),
    error: (fields, message) => logged.push({ fields: { ...fields }, message }),
  };
  const blocked = options.blocked ?? new Set<string>();
  const done = options.done ?? {};

  const method = (name: string, more: Partial<MethodSpec<Record<string, unknown>>> = {}): MethodSpec => {
    const spec: MethodSpec<Record<string, unknown>> = {
      name,
      executor: 'test',
      summary: name,
      params: z.record(z.string(), z.unknown()),
      output: z.object({ area_id: z.string(), summary: z.string().nullable() }).nullable(),
      resources: [],
      completionTarget: `${name}.done`,
      preconditionText: '',
      precondition: () => {
        if (blocked.has(name))
          throw new Refusal(
            options.blockedFor ?? 'STATE_CONDITION_FAILED',
            `${name} cannot start`,
            undefined,
            7,
          );
      },
      cancel: { method: `stop ${name}`, proof: 'stopped' },
      compensation: null,
      timeoutMs: 60_000,
      stopGraceMs: 2_000,
      risk: 'low',
      idempotent: false,
      alreadyDone: ({ nowMs }) => (done[name] === true ? completion(name, nowMs) : null),
      run: (context) => startRun(name, context),
      ...more,
    };
    return defineMethod(spec);
  };

  const elsewhere = { area: '1' };
  const completion = (
    name: string,
    at: number,
    output: Record<string, unknown> | null = null,
  ): Completion => ({
    evidence: { completion_target: `${name}.done`, observed_at_ms: at },
    output,
    stage: `${name}.done`,
  });

  const startRun = (name: string, context: RunContext<Record<string, unknown>>): Promise<Completion> =>
    new Promise((resolve, reject) => {
      const run: Run = {
        taskId: context.taskId,
        method: name,
        context,
        over: false,
        complete(output = null, evidence = {}) {
          run.over = true;
          const { stage, ...rest } = completion(name, clock.now(), output);
          resolve({ ...rest, evidence: { ...rest.evidence, ...evidence }, stage });
        },
        fail: (reason, message = reason) => run.throw(new TaskFailure(reason, message)),
        proveStop: () => run.throw(new StoppedWithProof({ stopped: true, observed_at_ms: clock.now() })),
        throw(error) {
          run.over = true;
          reject(error);
        },
      };
      runs.push(run);
    });

  const methods: MethodSpec[] = options.methods ?? [
    method('move', {
      resources: exclusive('motion'),
      idempotent: true,
      params: z.strictObject({ to: z.string().optional(), speed: z.number().optional() }),
      admit: ({ params }) => {
        if (params.to === 'nowhere')
          throw new Refusal('UNKNOWN_TARGET', 'to: found "nowhere"; there is no such room', 'to');
      },
    }),
    // Can be paused, and carries over how often it was.
    method('drive', {
      resources: exclusive('motion'),
      idempotent: true,
      pause: { carry: ({ carried }) => ({ pauses: Number(carried?.pauses ?? 0) + 1 }) },
    }),
    // Can be paused, and goes on only where it was.
    method('dwell', {
      resources: exclusive('fan'),
      idempotent: true,
      pause: {
        carry: () => ({ area: elsewhere.area }),
        outdated: ({ carried }) => (carried?.area === elsewhere.area ? null : 'the robot is elsewhere'),
      },
    }),
    method('rotate', { resources: exclusive('motion') }),
    method('purify', {
      resources: exclusive('fan'),
      idempotent: true,
      compensation: { method: 'stop purify', params: {} },
      timeoutMs: (params) => Number(params.ms ?? 60_000),
    }),
    method('patrol clean', { resources: exclusive('motion', 'fan') }),
    method('say', { resources: exclusive('speaker') }),
    method('lead', { resources: exclusive('motion', 'speaker') }),
    method('guard', { resources: exclusive('security_session') }),
    method('watch', { resources: [...exclusive('live_view'), { resource: 'camera', mode: 'shared' }] }),
    method('look', { resources: [{ resource: 'camera', mode: 'shared' }] }),
    method('set', { cancel: null, idempotent: true }),
    method('stop purify', { cancel: null }),
    method('stop move', { cancel: null }),
    method('stop drive', { cancel: null }),
    method('note', { cancel: null }),
    method('reset', {
      cancel: null,
      risk: 'high',
      compensation: { method: 'restore', params: { from: 'before' } },
    }),
    method('restore', { cancel: null, risk: 'high' }),
    method('wipe', { cancel: null, risk: 'high' }),
  ];

  const fragile: OutboxWriter = {
    appendOrdered(topic, key, build, more) {
      if (options.brokenEvent !== undefined && key?.includes(options.brokenEvent))
        throw new TypeError('a defect');
      outbox.appendOrdered(topic, key, build, more);
    },
    appendResponse: (topic, payload) => outbox.appendResponse(topic, payload),
    appendTelemetry: (topic, key, build) => outbox.appendTelemetry(topic, key, build),
    hasRoom: () => outbox.hasRoom(),
  };

  const told: TaskEvent[] = [];
  let context: object = {};
  const tasks = createTaskManager({
    store,
    outbox: fragile,
    timers,
    clock,
    ids,
    log,
    methods,
    resolveCapability(id, params) {
      if (id !== 'move_to_room')
        throw new Refusal('UNKNOWN_CAPABILITY', `capability: found "${id}"`, 'capability');
      return { method: 'move', params };
    },
    context: options.context ?? (() => context),
    emergencyCut: (reason) => cuts.push(reason),
    ...(options.gate === undefined ? {} : { gate: options.gate(world) }),
    ...(options.clockTrusted === undefined ? {} : { clockTrusted: options.clockTrusted }),
    ...(options.taskLimits === undefined ? {} : { limits: options.taskLimits }),
  });
  tasks.onEvent((event) => {
    if (event.event === 'PROGRESS') told.push(event);
  });
  if (options.recover !== false) {
    tasks.recover();
    timers.start();
  }

  return {
    ...world,
    tasks,
    runs,
    cuts,
    methods,
    logged,
    blocked,
    done,
    /** Where the robot is, for `dwell`. */
    setArea(area: string) {
      elsewhere.area = area;
    },
    /** What PROGRESS said of a task, newest last, as far as it still waits to be sent or was published. */
    told,
    quiet: () => quiet(store),
    setContext(next: object) {
      context = next;
      tasks.contextChanged();
    },
    submit(name: string, task: TaskMetadata = {}, more: Partial<SubmitTask> = {}): TaskRecord {
      const base = {
        method: name,
        params: {},
        task,
        source: 'CLOUD',
        legacy: false,
        correlationId: null,
      } as const;
      return tasks.submit({ ...base, ...more });
    },
    submitWorkflow(
      steps: Partial<WorkflowDocument['steps'][number]>[],
      more: Partial<WorkflowDocument> = {},
    ) {
      const document = workflowSchema.parse({ workflow_id: 'wf-1', steps, ...more });
      return tasks.submitWorkflow(document, { source: 'CLOUD', correlationId: 'co-1', traceId: 'tr-1' });
    },
    /** The newest run of a method, or of a task. */
    run(what: string): Run {
      const run = runs.findLast((r) => r.method === what || r.taskId === what);
      if (run === undefined) throw new Error(`nothing ran that is called ${what}`);
      return run;
    },
    /** Everything the cloud would get on the ordered lane, in order. */
    events(): TaskEvent[] {
      const all = outbox.recentEvents(0, 100_000);
      const ofTasks = all.filter(({ topic }) => topic === 'events/task');
      return ofTasks.map(({ payload }) => taskEventSchema.parse(payload));
    },
    /** `COMPLETED move`, `WORKFLOW_STEP_STARTED s1`, `FAILED wf-1 TIMEOUT`: events in short. */
    story(): string[] {
      return this.events().map(inShort);
    },
    async powerCut(more: TaskWorldOptions = {}) {
      const file = filesAfterPowerCut(this.file);
      return openTaskWorld({ ...options, clock, ...more, file, seed: (more.seed ?? options.seed ?? 1) + 1 });
    },
  };
}
export type TaskWorld = ReturnType<typeof openTaskWorld>;

function inShort(event: TaskEvent): string {
  const { event: name, step_id, workflow_id, method, task_id, reason_code, skipped } = event;
  const isStep = name.startsWith('WORKFLOW_STEP_') || task_id === null;
  const who = isStep ? (step_id ?? workflow_id) : method;
  return [
    name,
    who,
    ...(skipped === true ? ['skipped'] : []),
    ...(reason_code === null ? [] : [reason_code]),
  ].join(' ');
}

export function isTerminal(event: TaskEvent): boolean {
  return event.event === 'COMPLETED' || event.event === 'FAILED' || event.event === 'CANCELLED';
}

/** Ends the newest run of a method well, and lets what follows happen. */
export async function complete(
  world: TaskWorld,
  method: string,
  output: Record<string, unknown> | null = null,
) {
  await world.quiet();
  world.run(method).complete(output);
  await world.quiet();
}

/** A step of the only workflow. */
export function step(world: TaskWorld, stepId: string) {
  return world.tasks.getWorkflow('wf-1')?.steps.find((s) => s.stepId === stepId);
}

/** A context in which the air is known, unless `more` says otherwise. */
export function air(pm: number | null, more: object = {}) {
  const observed = { observed_at_ms: 1, source_valid: true, stale: false, usable: true, source_state: 'ok' };
  return { air_quality: { ...observed, pm2_5: pm, ...more }, cleaning: { mode: null } };
}
