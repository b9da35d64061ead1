/**
 * The refusal table of the wire contract: each code, one request that brings it about, and how each channel asks. Where
 * a channel cannot ask so wrongly, the table says why instead.
 */
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';

/** A body for `POST path`, or its raw text. */
export interface HttpAsk {
  path: string;
  body?: object | string;
  headers?: Record<string, string>;
}

/** Arguments of `deviceagent`; `stdin` for commands that read a document. */
export interface CliAsk {
  argv: string[];
  stdin?: string;
}

/** What the home has to be like; the test knows how. */
export type Scene =
  | 'as it is'
  | 'clock not trusted'
  | 'a cleaning runs'
  | 'a workflow has ended'
  | 'store full';

export interface RefusalRow {
  code: ReasonCode;
  what: string;
  scene?: Scene;
  /** Fields of the envelope, or bytes; a text in brackets says why not. */
  mqtt: object | string | Buffer | { why: string };
  http: HttpAsk | { why: string };
  cli: CliAsk | { why: string };
  /** Names the field or the value. */
  says: string;
}

const TASKS = '/api/tasks';
const WORKFLOWS = '/api/workflows';
const SCHEDULES = '/api/schedules';
const NO_JSON = { why: 'the command line reads JSON itself and sends none that is not' };
const NO_TIMES = { why: 'the local API writes the times itself, at the moment of asking' };
const NO_OPTION = { why: 'the command line has no option for it' };
const NOT_A_PERSON = { why: 'whoever stands at the robot may' };

/** The same task over every channel. */
function task(method: string, params: object): Pick<RefusalRow, 'mqtt' | 'http' | 'cli'> {
  return {
    mqtt: { kind: 'task', method, params, task: {} },
    http: { path: TASKS, body: { method, params, task: {} } },
    cli: { argv: ['task', 'submit', method, JSON.stringify(params)] },
  };
}

function workflow(document: object): Pick<RefusalRow, 'mqtt' | 'http' | 'cli'> {
  return {
    mqtt: { kind: 'workflow', workflow: document },
    http: { path: WORKFLOWS, body: { workflow: document } },
    cli: { argv: ['workflow', 'submit', '-'], stdin: JSON.stringify(document) },
  };
}

function schedule(spec: object): Pick<RefusalRow, 'mqtt' | 'http' | 'cli'> {
  const body = { schedule: spec, method: 'syncState', params: {}, task: {} };
  return {
    mqtt: { kind: 'schedule_task', ...body },
    http: { path: SCHEDULES, body },
    cli: { argv: ['schedule', 'add', '-'], stdin: JSON.stringify(body) },
  };
}

function control(
  method: string,
  params: object,
  path: string,
  argv: string[],
): Pick<RefusalRow, 'mqtt' | 'http' | 'cli'> {
  return { mqtt: { kind: 'control', method, params }, http: { path }, cli: { argv } };
}

const DAILY = { schedule_id: 'sch-1', timezone: 'Asia/Seoul' };

/** `issued_at` an hour ago, as the test fills it in. */
export const AN_HOUR_AGO = '<an hour ago>';
export const A_SECOND_AGO = '<a second ago>';
/** A `command_id` that was used for something else. */
export const USED_ID = 'used-1';
/** Of a workflow that has ended. */
export const ENDED_WORKFLOW = 'wf-ended';

export const REFUSALS: readonly RefusalRow[] = [
  {
    code: 'MALFORMED',
    what: 'no JSON',
    mqtt: '{"kind":',
    http: { path: TASKS, body: '{"kind":' },
    cli: NO_JSON,
    says: 'not JSON',
  },
  {
    code: 'MALFORMED',
    what: 'a list',
    mqtt: '[]',
    http: { path: TASKS, body: '[]' },
    cli: NO_JSON,
    says: 'an array',
  },
  {
    code: 'MALFORMED',
    what: 'a key twice',
    mqtt: '{"method":"rotate","method":"stopMove"}',
    http: { path: TASKS, body: '{"method":"rotate","method":"stopMove"}' },
    cli: NO_JSON,
    says: 'method',
  },
  {
    code: 'MALFORMED',
    what: 'forty levels',
    mqtt: `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
    http: { path: TASKS, body: `${'{"a":'.repeat(40)}1${'}'.repeat(40)}` },
    cli: NO_JSON,
    says: '32',
  },
  {
    code: 'PAYLOAD_TOO_LARGE',
    what: 'more than 256 KiB',
    mqtt: Buffer.from(`{"a":"${'x'.repeat(300_000)}"}`),
    http: { path: TASKS, body: `{"a":"${'x'.repeat(300_000)}"}` },
    cli: { why: 'the command line reads no document that large, and an argument is shorter' },
    says: '256 KiB',
  },
  { code: 'UNKNOWN_METHOD', what: 'a method that does not exist', ...task('fly', {}), says: 'fly' },
  {
    code: 'UNKNOWN_METHOD',
    what: 'a method that does not exist in a step',
    ...workflow({ workflow_id: 'wf-r1', steps: [{ step_id: 'a', method: 'fly' }] }),
    says: 'fly',
  },
  {
    code: 'UNKNOWN_CAPABILITY',
    what: 'a card that does not exist',
    mqtt: { kind: 'task', capability: 'fly', params: {}, task: {} },
    http: { path: TASKS, body: { capability: 'fly', params: {}, task: {} } },
    cli: { argv: ['task', 'submit', '--capability', 'fly', '{}'] },
    says: 'fly',
  },
  {
    code: 'CAPABILITY_UNAVAILABLE',
    what: 'a card that is not built',
    mqtt: { kind: 'task', capability: 'people_check', params: {}, task: {} },
    http: { path: TASKS, body: { capability: 'people_check', params: {}, task: {} } },
    cli: { argv: ['task', 'submit', '--capability', 'people_check', '{}'] },
    says: 'scanForPeople',
  },
  {
    code: 'NOT_FOUND',
    what: 'cancelling a task that is not there',
    ...control('cancelTask', { task_id: 't-none' }, `${TASKS}/t-none/cancel`, ['task', 'cancel', 't-none']),
    says: 't-none',
  },
  {
    code: 'NOT_FOUND',
    what: 'pausing a task that is not there',
    ...control('pauseTask', { task_id: 't-none' }, `${TASKS}/t-none/pause`, ['task', 'pause', 't-none']),
    says: 't-none',
  },
  {
    code: 'NOT_FOUND',
    what: 'resuming a workflow that is not there',
    ...control('resumeWorkflow', { workflow_id: 'wf-none' }, `${WORKFLOWS}/wf-none/resume`, [
      'workflow',
      'resume',
      'wf-none',
    ]),
    says: 'wf-none',
  },
  {
    code: 'NOT_FOUND',
    what: 'pausing a schedule that is not there',
    ...control('pauseSchedule', { schedule_id: 'sch-none' }, `${SCHEDULES}/sch-none/pause`, [
      'schedule',
      'pause',
      'sch-none',
    ]),
    says: 'sch-none',
  },
  {
    code: 'TIMESTAMP_INVALID',
    what: 'a time without an offset',
    mqtt: { kind: 'task', method: 'syncState', params: {}, task: {}, issued_at: '2026-11-30T09:00:00' },
    http: NO_TIMES,
    cli: NO_TIMES,
    says: 'issued_at',
  },
  {
    code: 'STALE_COMMAND',
    what: 'an hour old',
    mqtt: { kind: 'task', method: 'syncState', params: {}, task: {}, issued_at: AN_HOUR_AGO },
    http: NO_TIMES,
    cli: NO_TIMES,
    says: 'issued_at',
  },
  {
    code: 'EXPIRED',
    what: 'expired',
    mqtt: { kind: 'task', method: 'syncState', params: {}, task: {}, expires_at: A_SECOND_AGO },
    http: NO_TIMES,
    cli: NO_TIMES,
    says: 'expires_at',
  },
  {
    code: 'COMMAND_ID_REUSED',
    what: 'an id that stood over something else',
    mqtt: { kind: 'task', method: 'undock', params: {}, task: {}, command_id: USED_ID },
    http: {
      path: TASKS,
      body: { method: 'undock', params: {}, task: {} },
      headers: { 'idempotency-key': USED_ID },
    },
    cli: { argv: ['task', 'submit', 'undock', '{}', '--key', USED_ID] },
    says: USED_ID,
  },
  {
    code: 'ILLEGAL_STATE',
    what: 'pausing what has ended',
    scene: 'a workflow has ended',
    ...control('pauseWorkflow', { workflow_id: ENDED_WORKFLOW }, `${WORKFLOWS}/${ENDED_WORKFLOW}/pause`, [
      'workflow',
      'pause',
      ENDED_WORKFLOW,
    ]),
    says: ENDED_WORKFLOW,
  },
  {
    code: 'INVALID_PARAMS',
    what: 'a number for a name',
    ...task('setMoveTo', { positionName: 2 }),
    says: 'positionName',
  },
  { code: 'INVALID_PARAMS', what: 'a stranger', ...task('rotate', { angleDeg: 9, speed: 9 }), says: 'speed' },
  {
    code: 'INVALID_PARAMS',
    what: 'a priority beyond all priorities',
    mqtt: { kind: 'task', method: 'syncState', params: {}, task: { priority: 101 } },
    http: { path: TASKS, body: { method: 'syncState', params: {}, task: { priority: 101 } } },
    cli: { why: 'the command line checks --priority itself' },
    says: 'task.priority',
  },
  {
    code: 'INVALID_PARAMS',
    what: 'steps that wait for each other',
    ...workflow({
      workflow_id: 'wf-r2',
      steps: [
        { step_id: 'a', method: 'syncState', depends_on: ['b'] },
        { step_id: 'b', method: 'syncState', depends_on: ['a'] },
      ],
    }),
    says: 'a',
  },
  {
    code: 'INVALID_PARAMS',
    what: 'a condition that does not parse',
    ...workflow({ workflow_id: 'wf-r3', steps: [{ step_id: 'a', method: 'syncState', condition: '1 +' }] }),
    says: 'condition',
  },
  {
    code: 'INVALID_PARAMS',
    what: 'a workflow that was there before',
    scene: 'a workflow has ended',
    ...workflow({ workflow_id: ENDED_WORKFLOW, steps: [{ step_id: 'a', method: 'syncState' }] }),
    says: ENDED_WORKFLOW,
  },
  {
    code: 'INVALID_PARAMS',
    what: 'a cron that does not parse',
    ...schedule({ ...DAILY, cron: '61 * * * *' }),
    says: 'cron',
  },
  {
    code: 'INVALID_PARAMS',
    what: 'a zone that does not exist',
    ...schedule({ ...DAILY, cron: '0 8 * * *', timezone: 'Mars/Base' }),
    says: 'timezone',
  },
  {
    code: 'AMBIGUOUS_TARGET',
    what: 'a name of two rooms',
    ...task('setMoveTo', { positionName: 'lounge' }),
    says: 'positionName',
  },
  {
    code: 'UNKNOWN_TARGET',
    what: 'a room that does not exist',
    ...task('setMoveTo', { positionName: '서재' }),
    says: 'positionName',
  },
  {
    code: 'UNKNOWN_TARGET',
    what: 'a room that does not exist in a step',
    ...workflow({
      workflow_id: 'wf-r4',
      steps: [{ step_id: 'a', method: 'setMoveTo', params: { positionName: '서재' } }],
    }),
    says: '서재',
  },
  {
    code: 'TARGET_UNREACHABLE',
    what: 'a place in a wall',
    ...task('setMoveTo', { position: { x: 3.4, y: 6, theta: 0 } }),
    says: 'position',
  },
  {
    code: 'STATE_CONDITION_FAILED',
    what: 'what must start at once and cannot: no journey is held',
    mqtt: { kind: 'task', method: 'resumeMove', params: {}, task: { executionMode: 'IMMEDIATE' } },
    http: { path: TASKS, body: { method: 'resumeMove', params: {}, task: { executionMode: 'IMMEDIATE' } } },
    cli: NO_OPTION,
    says: 'no journey is held',
  },
  {
    code: 'APPROVAL_REQUIRED',
    what: 'a high risk that cannot wait for a person',
    mqtt: { kind: 'task', method: 'resetMap', params: {}, task: { executionMode: 'IMMEDIATE' } },
    http: { path: TASKS, body: { method: 'resetMap', params: {}, task: { executionMode: 'IMMEDIATE' } } },
    cli: NO_OPTION,
    says: 'resetMap',
  },
  {
    code: 'RESOURCE_BUSY',
    what: 'at once, and somebody else has it',
    scene: 'a cleaning runs',
    mqtt: { kind: 'task', method: 'startCleaning', params: {}, task: { executionMode: 'IMMEDIATE' } },
    http: {
      path: TASKS,
      body: { method: 'startCleaning', params: {}, task: { executionMode: 'IMMEDIATE' } },
    },
    cli: NO_OPTION,
    says: 'fan',
  },
  {
    code: 'POLICY_DENIED',
    what: 'a source in the payload',
    mqtt: { kind: 'task', method: 'syncState', params: {}, task: {}, source: 'LOCAL' },
    http: { path: TASKS, body: { method: 'syncState', params: {}, task: {}, source: 'LOCAL' } },
    cli: NO_OPTION,
    says: 'source',
  },
  {
    code: 'POLICY_DENIED',
    what: 'a task that nobody may cancel',
    mqtt: { kind: 'task', method: 'syncState', params: {}, task: { cancellable: false } },
    http: { path: TASKS, body: { method: 'syncState', params: {}, task: { cancellable: false } } },
    cli: NO_OPTION,
    says: 'cancellable',
  },
  {
    code: 'POLICY_DENIED',
    what: 'an act of a person',
    mqtt: { kind: 'task', method: 'releaseEmergencyStop', params: {}, task: {} },
    http: NOT_A_PERSON,
    cli: NOT_A_PERSON,
    says: 'releaseEmergencyStop',
  },
  {
    code: 'CLOCK_UNTRUSTED',
    what: 'while the clock is not trusted',
    scene: 'clock not trusted',
    ...task('syncState', {}),
    says: 'time',
  },
  {
    code: 'TASK_MANAGER_BUSY',
    what: 'while nothing more can be kept',
    scene: 'store full',
    ...task('syncState', {}),
    says: 'store',
  },
];

/** Codes that end tasks and refuse nothing, or whose part is not built: why they have no row. */
export const NOT_HERE: Readonly<Partial<Record<ReasonCode, string>>> = {
  TIMEOUT: 'ends tasks',
  PREEMPTED: 'ends tasks',
  APPROVAL_DENIED: 'ends tasks',
  PRIVACY_BLOCKED: 'settings: test/unit/policy',
  OBSTRUCTED: 'ends tasks',
  LOCALIZATION_LOST: 'ends tasks',
  HARDWARE_FAULT: 'ends tasks',
  LOW_BATTERY: 'ends tasks',
  EMERGENCY_STOP: 'ends tasks',
  CANCELLED_BY_USER: 'ends tasks',
  CANCELLED_BY_CLOUD: 'ends tasks',
  CANCELLED_BY_SYSTEM: 'ends tasks',
  RESTARTED: 'ends tasks',
  DEPENDENCY_FAILED: 'ends steps',
  REPLAN_BUDGET_EXHAUSTED: 'ends workflows; an amendment beyond the budget is held in test/unit/task-manager',
  MISSED_RUN_EXPIRED: 'ends runs',
  MANUAL_HANDOFF: 'filings',
  BUDGET_EXCEEDED: 'errands',
  INTERNAL_ERROR: 'a defect; nobody can ask for one',
};
