/** A TaskManager that stores nothing durable and runs nothing: for tests of whoever calls it. */
import { Refusal } from '../../config/contracts/errors.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { WorkflowDocument } from '../../config/contracts/wire/workflow.js';
import type {
  Amendment,
  Canceller,
  SubmitTask,
  TaskManager,
  TaskRecord,
  WorkflowRecord,
} from '../../daemon/task-manager/types.js';
import type { MethodSpec } from '../../executors/method.js';
import { FakeSchedules } from './fake-schedules.js';

export class FakeTasks implements TaskManager {
  readonly schedules: FakeSchedules;
  readonly submitted: SubmitTask[] = [];
  readonly workflows: WorkflowDocument[] = [];
  readonly amendments: Amendment[] = [];
  readonly calls: string[] = [];
  readonly tasks = new Map<string, TaskRecord>();
  readonly workflowRecords = new Map<string, WorkflowRecord>();
  /** Thrown by the next submission. */
  refuse: Error | null = null;

  constructor(methods: readonly MethodSpec[] = []) {
    this.schedules = new FakeSchedules(methods);
  }

  submit(request: SubmitTask): TaskRecord {
    if (this.refuse !== null) throw this.refuse;
    this.submitted.push(request);
    const task = taskRecord(`t-${this.submitted.length}`, request);
    this.tasks.set(task.taskId, task);
    return task;
  }

  submitWorkflow(
    document: WorkflowDocument,
    options: Parameters<TaskManager['submitWorkflow']>[1],
  ): WorkflowRecord {
    if (this.refuse !== null) throw this.refuse;
    this.workflows.push(document);
    const record: WorkflowRecord = {
      workflowId: document.workflow_id,
      planId: document.plan_id ?? null,
      goal: document.goal ?? null,
      state: 'RUNNING',
      revision: 1,
      source: options.source,
      createdAt: 0,
      endedAt: null,
      reasonCode: null,
      message: null,
      replansLeft: 2,
      document,
      steps: [],
    };
    this.workflowRecords.set(record.workflowId, record);
    return record;
  }

  cancelTask(taskId: string, by: Canceller): void {
    this.#requireTask(taskId);
    this.calls.push(`cancelTask ${taskId} ${by}`);
  }

  pauseTask(taskId: string): void {
    this.#requireTask(taskId);
    this.calls.push(`pauseTask ${taskId}`);
  }

  resumeTask(taskId: string): void {
    this.#requireTask(taskId);
    this.calls.push(`resumeTask ${taskId}`);
  }

  cancelWorkflow(workflowId: string, by: Canceller): void {
    this.#requireWorkflow(workflowId);
    this.calls.push(`cancelWorkflow ${workflowId} ${by}`);
  }

  pauseWorkflow(workflowId: string): void {
    this.#requireWorkflow(workflowId);
    this.calls.push(`pauseWorkflow ${workflowId}`);
  }

  resumeWorkflow(workflowId: string): void {
    this.#requireWorkflow(workflowId);
    this.calls.push(`resumeWorkflow ${workflowId}`);
  }

  amendWorkflow(workflowId: string, amendment: Amendment, source: Source): WorkflowRecord {
    this.#requireWorkflow(workflowId);
    const before = this.workflowRecords.get(workflowId);
    if (before === undefined) throw new Refusal('NOT_FOUND', `there is no workflow ${workflowId}`);
    this.amendments.push(amendment);
    this.calls.push(`amendWorkflow ${workflowId} ${source}`);
    const record = { ...before, revision: before.revision + 1 };
    this.workflowRecords.set(workflowId, record);
    return record;
  }

  getTask(taskId: string): TaskRecord | null {
    return this.tasks.get(taskId) ?? null;
  }

  listTasks(filter: { limit?: number } = {}): TaskRecord[] {
    return [...this.tasks.values()].slice(0, filter.limit);
  }

  getWorkflow(workflowId: string): WorkflowRecord | null {
    return this.workflowRecords.get(workflowId) ?? null;
  }

  listWorkflows(): WorkflowRecord[] {
    return [...this.workflowRecords.values()];
  }

  onEvent(): () => void {
    return () => {};
  }

  leases(): { resource: string; owner: string | null; fence: number }[] {
    return [];
  }

  leaseBoard(): ReturnType<TaskManager['leaseBoard']> {
    return [];
  }

  summary(): { busy: boolean; running: string[]; queued: { queueKey: string; length: number }[] } {
    return { busy: false, running: [], queued: [] };
  }

  #requireTask(taskId: string): void {
    if (!this.tasks.has(taskId)) throw new Refusal('NOT_FOUND', `there is no task ${taskId}`);
  }

  #requireWorkflow(id: string): void {
    if (!this.workflowRecords.has(id)) throw new Refusal('NOT_FOUND', `there is no workflow ${id}`);
  }
}

export function taskRecord(taskId: string, request: SubmitTask): TaskRecord {
  return {
    taskId,
    method: request.method,
    params: request.params,
    state: 'PENDING',
    attempt: 1,
    source: request.source,
    decision: null,
    approvalId: null,
    legacy: request.legacy,
    priority: request.task.priority ?? 50,
    queueKey: request.task.queueKey ?? 'motion',
    executionMode: request.task.executionMode ?? 'QUEUED',
    workflowId: null,
    stepId: null,
    planId: null,
    createdAt: 0,
    startedAt: null,
    endedAt: null,
    reasonCode: null,
    message: null,
    stage: null,
    progress: null,
    evidence: null,
    output: null,
    correlationId: request.correlationId,
    traceId: request.task.traceId ?? null,
  };
}
