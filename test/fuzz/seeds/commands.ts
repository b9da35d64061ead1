/** Real commands of every kind, from which the nearly real ones are made. */
import { isoWithOffset } from '../../../config/contracts/clock.js';
import type { JsonObject } from '../mutate-json.js';
import { below, chance, pick } from '../pick.js';
import type { Random } from '../types.js';

/** Ids of what was accepted lately, so that controls find something to act on. */
export interface Known {
  tasks: readonly string[];
  workflows: readonly string[];
  schedules: readonly string[];
}

export const METHODS: readonly (readonly [method: string, params: readonly JsonObject[]])[] = [
  [
    'setMoveTo',
    [
      { positionName: '거실' },
      { positionId: '2' },
      { positionIds: ['2', '4'] },
      { areaId: '2' },
      { roomName: 'bedroom' },
      { targetRoom: '주방' },
      { position: { x: 3, y: 0.95, theta: 0 } },
    ],
  ],
  ['rotate', [{ angleDeg: 60 }, { angleDeg: -360 }]],
  ['undock', [{}]],
  ['returnToStation', [{}]],
  ['relocalizeAtStation', [{}]],
  ['pauseMove', [{}]],
  ['resumeMove', [{}]],
  ['stopMove', [{}]],
  [
    'startCleaning',
    [
      { mode: 'auto', cleanMinTimeMs: 2000 },
      { mode: 'quiet', cleanMinTimeMs: 1000, maxTimeMs: 5000, untilGrade: 'good' },
    ],
  ],
  ['pauseCleaning', [{}]],
  ['resumeCleaning', [{}]],
  ['stopCleaning', [{}]],
  ['setCleaningMode', [{ mode: 'turbo' }]],
  [
    'setLlmTts',
    [
      { text: '안녕하세요', language: 'ko' },
      { text: 'hello', interrupt: true },
    ],
  ],
  ['stopTts', [{}]],
  ['syncState', [{}]],
];
const CARDS: readonly (readonly [card: string, params: JsonObject])[] = [
  ['move_to_room', { positionName: '거실' }],
  ['visit_rooms', { positionIds: ['2', '4'] }],
  ['start_room_cleaning', { mode: 'auto', cleanMinTimeMs: 2000 }],
  ['stationary_purify', {}],
  ['speak', { text: '안녕하세요' }],
  ['return_to_station', {}],
  ['stop_movement', {}],
];
const QUERIES: readonly (readonly [method: string, params: JsonObject])[] = [
  ['getDevicePlanningContext', { version: 2, max_bytes: 4096 }],
  ['listTasks', { active: true, limit: 20 }],
  ['listCapabilities', {}],
  ['outboxStatus', {}],
  ['listSchedules', {}],
];
const STOPS = ['stopMove', 'stopCleaning', 'stopTts', 'stop_movement', 'stop_cleaning', 'stop_speaking'];
/** What may hold anything in a command that only ever stops. */
const TIMES = ['issued_at', 'expires_at'];
const REQUIRED = [
  'command_id',
  'issued_at',
  'kind',
  'workflow',
  'schedule',
  'workflow.workflow_id',
  'workflow.steps',
  'workflow.steps.*.step_id',
  'schedule.schedule_id',
];

let count = 0;

export function command(random: Random, known: Known, wall: number): JsonObject {
  const roll = random();
  if (roll < 0.35) return enveloped(random, wall, taskBody(random));
  if (roll < 0.42) return enveloped(random, wall, { kind: 'task', ...cardBody(random), task: {} });
  if (roll < 0.65) return workflowCommand(random, wall);
  if (roll < 0.75) return scheduleCommand(random, wall);
  if (roll < 0.9) return enveloped(random, wall, controlBody(random, known));
  if (roll < 0.91) return enveloped(random, wall, { kind: 'control', method: 'emergencyStop', params: {} });
  return enveloped(random, wall, queryBody(random, known));
}

export function workflowCommand(random: Random, wall: number): JsonObject {
  const body: JsonObject = { kind: 'workflow', workflow: workflow(random) };
  if (chance(random, 0.2)) body.task = { priority: 40, timeoutMs: 60_000 };
  return enveloped(random, wall, body);
}

export function scheduleCommand(random: Random, wall: number): JsonObject {
  const schedule: JsonObject = {
    schedule_id: id('sch'),
    timezone: pick(random, ['Asia/Seoul', 'Europe/Berlin', 'America/New_York', 'UTC']),
    ...pick<JsonObject>(random, [
      { at: isoWithOffset(wall + 86_400_000) },
      { cron: '0 8 * * *' },
      { cron: '*/15 6-22 * * 1-5' },
      { rrule: 'FREQ=DAILY;BYHOUR=8;BYMINUTE=0' },
      { rrule: 'FREQ=WEEKLY;BYDAY=MO,WE,FR;BYHOUR=18;BYMINUTE=30' },
    ]),
  };
  if (chance(random, 0.4)) schedule.missed_run_grace_ms = 600_000;
  if (chance(random, 0.4)) schedule.title = '아침 청정';
  if (chance(random, 0.4)) {
    return enveloped(random, wall, { kind: 'schedule_workflow', schedule, workflow: workflow(random) });
  }
  const { kind: _kind, ...task } = taskBody(random);
  return enveloped(random, wall, { kind: 'schedule_task', schedule, ...task });
}

/** Whether the times of a command are not looked at. */
export function spared(body: JsonObject): readonly string[] {
  const { kind, method, capability } = body;
  if (kind === 'control' && (method === 'cancelTask' || method === 'cancelWorkflow')) return TIMES;
  return STOPS.includes(String(method)) || STOPS.includes(String(capability)) ? TIMES : [];
}

export function required(body: JsonObject): readonly string[] {
  const free = spared(body);
  return REQUIRED.filter((path) => !free.includes(path));
}

function taskBody(random: Random): JsonObject {
  const [method, variants] = pick(random, METHODS);
  if (chance(random, 0.15)) return { kind: 'legacy', method, params: pick(random, variants) };
  const task: JsonObject = {};
  if (chance(random, 0.5)) {
    task.executionMode = pick(random, ['QUEUED', 'IMMEDIATE', 'PARALLEL']);
    task.priority = below(random, 101);
    task.timeoutMs = 30_000;
    task.failurePolicy = pick(random, ['ABORT', 'CONTINUE', 'RETRY']);
    task.preemptPolicy = pick(random, ['NONE', 'PREEMPT_LOWER']);
    task.dryRun = chance(random, 0.3);
    task.stateAware = true;
    task.traceId = 't-1';
    task.cloud_output_key = 'arrival';
  }
  return { kind: 'task', method, params: structuredClone(pick(random, variants)), task };
}

function cardBody(random: Random): JsonObject {
  const [capability, params] = pick(random, CARDS);
  return { capability, params: structuredClone(params) };
}

function controlBody(random: Random, known: Known): JsonObject {
  const any = (ids: readonly string[], kind: string) => (ids.length > 0 ? pick(random, ids) : id(kind));
  const task = { task_id: any(known.tasks, 't') };
  const ofWorkflow = { workflow_id: any(known.workflows, 'wf') };
  const ofSchedule = { schedule_id: any(known.schedules, 'sch') };
  const amendment: JsonObject = {
    ...ofWorkflow,
    base_revision: 1,
    add: [{ step_id: `x${below(random, 100)}`, method: 'syncState', params: {} }],
    replace: [],
    remove: chance(random, 0.5) ? [] : ['b'],
  };
  const [method, params] = pick<readonly [string, JsonObject]>(random, [
    ['cancelTask', task],
    ['pauseTask', task],
    ['resumeTask', task],
    ['cancelWorkflow', ofWorkflow],
    ['pauseWorkflow', ofWorkflow],
    ['resumeWorkflow', ofWorkflow],
    ['amendWorkflow', amendment],
    ['pauseSchedule', ofSchedule],
    ['resumeSchedule', ofSchedule],
    ['removeSchedule', ofSchedule],
  ]);
  return { kind: 'control', method, params };
}

function queryBody(random: Random, known: Known): JsonObject {
  const [method, params] = pick<readonly [string, JsonObject]>(random, [
    ...QUERIES,
    ['getTask', { task_id: known.tasks[0] ?? 't-none' }],
    ['getWorkflow', { workflow_id: known.workflows[0] ?? 'wf-none' }],
  ]);
  return { kind: 'query', method, params: structuredClone(params) };
}

function workflow(random: Random): JsonObject {
  const steps: JsonObject[] = Array.from({ length: 1 + below(random, 5) }, (_, i) => step(random, i));
  const document: JsonObject = { workflow_id: id('wf'), goal: '거실로 갔다가 청정', steps };
  if (chance(random, 0.5)) {
    document.replan_budget = { local_retries: 1, cloud_replans: 2, user_questions: 1 };
    document.on_cancel = pick(random, ['COMPENSATE', 'NONE']);
    document.plan_id = 'p-1';
  }
  return document;
}

function step(random: Random, i: number): JsonObject {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const [method, variants] = pick(random, METHODS);
  const one: JsonObject = {
    step_id: names[i] ?? 'z',
    ...(chance(random, 0.2) ? cardBody(random) : { method, params: structuredClone(pick(random, variants)) }),
  };
  const before = names[i - 1];
  if (before !== undefined && chance(random, 0.7)) one.depends_on = [before];
  if (before !== undefined && chance(random, 0.2)) one.after_step = { step_id: before, delay_ms: 500 };
  if (chance(random, 0.3)) {
    one.condition = pick(random, [
      'context.battery.level > 10',
      'context.air_quality.usable && context.air_quality.pm2_5 > 15',
      'context.battery.on_station == true',
    ]);
    one.on_condition_false = pick(random, ['FAIL', 'SKIP']);
  }
  if (chance(random, 0.2)) one.wait_until = { condition: 'context.battery.level > 10', timeout_ms: 1000 };
  if (chance(random, 0.3)) {
    one.failure_policy = pick(random, ['ABORT', 'CONTINUE', 'RETRY', 'COMPENSATE', 'REPLAN']);
    one.retry = { max: 2, backoff_ms: 500 };
    one.timeout_ms = 20_000;
  }
  if (chance(random, 0.15)) one.compensation = { method: 'syncState', params: {} };
  return one;
}

function enveloped(random: Random, wall: number, body: JsonObject): JsonObject {
  return {
    command_id: id('c'),
    correlation_id: chance(random, 0.5) ? 'co-1' : null,
    reply_to: chance(random, 0.1) ? 'deviceagent/da-sim/command/response/planner-1' : null,
    issued_at: isoWithOffset(wall),
    expires_at: chance(random, 0.2) ? isoWithOffset(wall + 600_000) : null,
    ...body,
  };
}

/** Never the same twice in a process, also for a case that is run again. */
function id(kind: string): string {
  count += 1;
  return `${kind}-${count}`;
}
