/** Tasks, workflow and events of "거실로 갔다가 안방으로 이동해서 청정해줘", stopped half-way. */
import type { TaskEvent } from '../../../config/contracts/wire/events.js';
import type { WorkflowDocument } from '../../../config/contracts/wire/workflow.js';
import type { StepRecord, TaskRecord, WorkflowRecord } from '../../../daemon/task-manager/types.js';

export const T0 = Date.parse('2026-11-30T09:00:00+09:00');

export const DOCUMENT: WorkflowDocument = {
  workflow_id: 'wf-1',
  plan_id: 'p-1',
  goal: '거실로 갔다가 안방으로 이동해서 청정',
  steps: [
    { step_id: 's0', method: 'undock', params: {} },
    { step_id: 's1', method: 'setMoveTo', params: { positionName: '거실' }, depends_on: ['s0'] },
    { step_id: 's2', method: 'setMoveTo', params: { positionName: '안방' }, depends_on: ['s1'] },
    {
      step_id: 's3',
      method: 'startCleaning',
      params: { mode: 'auto', cleanMinTimeMs: 60_000, untilGrade: 'good' },
      depends_on: ['s2'],
    },
    { step_id: 's4', method: 'setLlmTts', params: { text: '{{s3.output.summary}}' }, depends_on: ['s3'] },
    { step_id: 's5', method: 'returnToStation', params: {}, depends_on: ['s4'] },
  ],
};

export function task(over: Partial<TaskRecord> & { taskId: string; method: string }): TaskRecord {
  return {
    params: {},
    state: 'PENDING',
    attempt: 1,
    source: 'CLOUD',
    decision: null,
    approvalId: null,
    legacy: false,
    priority: 50,
    queueKey: 'motion',
    executionMode: 'QUEUED',
    workflowId: null,
    stepId: null,
    planId: null,
    createdAt: T0,
    startedAt: null,
    endedAt: null,
    reasonCode: null,
    message: null,
    stage: null,
    progress: null,
    evidence: null,
    output: null,
    correlationId: 'co-1',
    traceId: 't-1',
    ...over,
  };
}

const ofWorkflow = { workflowId: 'wf-1', planId: 'p-1' };

export function sampleTasks(): TaskRecord[] {
  return [
    task({
      ...ofWorkflow,
      taskId: 't-s2',
      method: 'setMoveTo',
      stepId: 's2',
      params: { positionName: '안방' },
      state: 'STARTED',
      startedAt: T0 + 33_000,
      stage: 'navigation.driving',
      progress: { remaining_m: 3.1, area_id: '4' },
    }),
    task({
      ...ofWorkflow,
      taskId: 't-s1',
      method: 'setMoveTo',
      stepId: 's1',
      params: { positionName: '거실' },
      state: 'COMPLETED',
      startedAt: T0 + 6_000,
      endedAt: T0 + 32_400,
      stage: 'navigation.arrived',
      evidence: {
        completion_target: 'movement.arrived',
        observed_at_ms: T0 + 32_300,
        area_id: '2',
        pose: { x: 2.11, y: 3.39, theta: 0.02 },
        idle: true,
      },
      output: { area_id: '2', pose: { x: 2.11, y: 3.39, theta: 0.02 } },
    }),
    task({
      ...ofWorkflow,
      taskId: 't-s0',
      method: 'undock',
      stepId: 's0',
      state: 'COMPLETED',
      startedAt: T0 + 400,
      endedAt: T0 + 5_600,
      stage: 'docking.undocked',
      evidence: {
        completion_target: 'dock.undocked',
        observed_at_ms: T0 + 5_500,
        clearance_m: 0.41,
        docked: false,
      },
      output: { docked: false },
    }),
    task({
      taskId: 't-old',
      method: 'setMoveTo',
      params: { positionName: '주방' },
      source: 'VOICE',
      state: 'FAILED',
      createdAt: T0 - 600_000,
      startedAt: T0 - 599_000,
      endedAt: T0 - 540_000,
      reasonCode: 'OBSTRUCTED',
      message: 'a person stood in the doorway for longer than the robot waits',
      stage: 'navigation.avoiding',
    }),
  ];
}

function step(over: Partial<StepRecord> & { stepId: string; method: string }): StepRecord {
  return {
    state: 'PENDING',
    taskId: null,
    attempt: 1,
    startedAt: null,
    endedAt: null,
    hold: null,
    waitingFor: null,
    reasonCode: null,
    message: null,
    evidence: null,
    output: null,
    ...over,
  };
}

export function sampleWorkflow(): WorkflowRecord {
  const tasks = new Map(sampleTasks().map((t) => [t.stepId, t]));
  const steps = DOCUMENT.steps.map(({ step_id: stepId, method = '' }) => {
    const run = tasks.get(stepId);
    if (run === undefined) return step({ stepId, method });
    const { taskId, startedAt, endedAt, evidence, output } = run;
    const state = run.state === 'COMPLETED' ? 'COMPLETED' : 'RUNNING';
    return step({ stepId, method, state, taskId, startedAt, endedAt, evidence, output });
  });
  return {
    workflowId: 'wf-1',
    planId: 'p-1',
    goal: DOCUMENT.goal ?? null,
    state: 'RUNNING',
    revision: 1,
    source: 'CLOUD',
    createdAt: T0,
    endedAt: null,
    reasonCode: null,
    message: null,
    replansLeft: 2,
    document: DOCUMENT,
    steps: steps.map((s) =>
      s.stepId === 's3' ? { ...s, state: 'WAITING', hold: 'queue', waitingFor: 's2' } : s,
    ),
  };
}

export function taskEvent(over: Partial<TaskEvent> & Pick<TaskEvent, 'event'>): TaskEvent {
  return {
    contract_version: 'device-task-event.v1',
    event_id: '01JEXAMPLE',
    store_epoch: 'e-1',
    device_id: 'da-sim',
    boot_id: 'b-1',
    idempotency_key: 'k',
    task_id: 't-s2',
    method: 'setMoveTo',
    attempt: 1,
    workflow_id: 'wf-1',
    step_id: 's2',
    plan_id: 'p-1',
    cloud_output_key: null,
    source: 'CLOUD',
    reason_code: null,
    message: null,
    domain_stage: null,
    progress: null,
    evidence: null,
    output: null,
    correlation_id: 'co-1',
    trace_id: 't-1',
    occurred_at: '2026-11-30T09:00:33.000+09:00',
    ...over,
  };
}

/** The ordered lane as far as the workflow has come. */
export function sampleEvents(): { topic: string; payload: object }[] {
  const tasks = [
    taskEvent({ event: 'WORKFLOW_STEP_STARTED', step_id: 's0', task_id: 't-s0', method: 'undock' }),
    taskEvent({ event: 'STARTED', step_id: 's0', task_id: 't-s0', method: 'undock' }),
    taskEvent({
      event: 'COMPLETED',
      step_id: 's0',
      task_id: 't-s0',
      method: 'undock',
      domain_stage: 'docking.undocked',
      evidence: { completion_target: 'dock.undocked', observed_at_ms: T0 + 5_500 },
      occurred_at: '2026-11-30T09:00:05.600+09:00',
    }),
    taskEvent({
      event: 'STARTED',
      step_id: 's1',
      task_id: 't-s1',
      occurred_at: '2026-11-30T09:00:06.000+09:00',
    }),
    taskEvent({
      event: 'COMPLETED',
      step_id: 's1',
      task_id: 't-s1',
      domain_stage: 'navigation.arrived',
      evidence: { completion_target: 'movement.arrived', observed_at_ms: T0 + 32_300, idle: true },
      occurred_at: '2026-11-30T09:00:32.400+09:00',
    }),
    taskEvent({ event: 'STARTED' }),
  ];
  const observation = {
    contract_version: 'device-semantic-observation.v1',
    type: 'movement.arrived',
    observed_at_ms: T0 + 32_300,
    ttl_ms: 60_000,
    area_id: '2',
    confidence_band: null,
    attributes: {},
    correlation: { workflow_id: 'wf-1', step_id: 's1' },
    requires_cloud_decision: false,
  };
  return [
    ...tasks.slice(0, 5).map((payload) => ({ topic: 'events/task', payload })),
    { topic: 'events/observation', payload: observation },
    ...tasks.slice(5).map((payload) => ({ topic: 'events/task', payload })),
  ];
}
