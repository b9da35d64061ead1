/** The TaskManager's face: what the cloud intake, the local API, schedules and the CLI call. */
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { TaskMetadata } from '../../config/contracts/wire/command.js';
import type { Source, TaskEvent } from '../../config/contracts/wire/events.js';
import type { WorkflowDocument, WorkflowStep } from '../../config/contracts/wire/workflow.js';
import type { Decision } from '../policy/decide.js';
import type { Canceller } from './canceller.js';
import type { RunLabel, ScheduleBook } from './schedule/types.js';

export type { Canceller } from './canceller.js';

export const TASK_STATES = [
  'PENDING',
  'STARTED',
  'PAUSED',
  'CANCELLING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** Already validated and clamped by policy; the TaskManager applies its own defaults, not its own mercy. */
export interface SubmitTask {
  method: string;
  params: Record<string, unknown>;
  task: TaskMetadata;
  source: Source;
  /** Who wanted it, when that is not the source: whoever made the schedule, or began the goal. */
  origin?: Source;
  /** Takes back what an approval did: a person asked for just that. */
  undoes?: string;
  legacy: boolean;
  correlationId: string | null;
  workflow?: { workflowId: string; stepId: string; planId: string | null };
  /** The run of a schedule that it is. */
  run?: RunLabel;
}

export interface TaskRecord {
  taskId: string;
  method: string;
  params: Record<string, unknown>;
  state: TaskState;
  attempt: number;
  source: Source;
  /** What policy said of it, and by which rule; null where it was not asked. */
  decision: Decision | null;
  /** The approval it waits for or was let go by. */
  approvalId: string | null;
  legacy: boolean;
  priority: number;
  queueKey: string;
  executionMode: 'QUEUED' | 'IMMEDIATE' | 'PARALLEL';
  workflowId: string | null;
  stepId: string | null;
  planId: string | null;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
  reasonCode: TaskReason | null;
  message: string | null;
  stage: string | null;
  progress: Record<string, unknown> | null;
  evidence: Record<string, unknown> | null;
  output: unknown;
  correlationId: string | null;
  traceId: string | null;
}

export type WorkflowState = 'RUNNING' | 'PAUSED' | 'CANCELLING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
export type StepState = 'PENDING' | 'WAITING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'SKIPPED' | 'CANCELLED';

export interface StepRecord {
  stepId: string;
  method: string;
  state: StepState;
  taskId: string | null;
  attempt: number;
  startedAt: number | null;
  endedAt: number | null;
  /** What a WAITING step waits for; in words below. */
  hold: 'delay' | 'condition' | 'backoff' | 'queue' | 'amendment' | null;
  waitingFor: string | null;
  reasonCode: TaskReason | null;
  message: string | null;
  evidence: Record<string, unknown> | null;
  output: unknown;
}

export interface WorkflowRecord {
  workflowId: string;
  planId: string | null;
  goal: string | null;
  state: WorkflowState;
  revision: number;
  source: Source;
  createdAt: number;
  endedAt: number | null;
  reasonCode: TaskReason | null;
  message: string | null;
  /** Amendments that the cloud may still make. */
  replansLeft: number;
  document: WorkflowDocument;
  steps: StepRecord[];
}

/** What is to change in a live workflow, against the revision that the caller knows. Steps as policy left them. */
export interface Amendment {
  baseRevision: number;
  add: WorkflowStep[];
  replace: WorkflowStep[];
  remove: string[];
}

export interface LeaseEntry {
  resource: string;
  /** Task ids; several only when the lease is shared. Empty: it is free. */
  owners: string[];
  mode: 'exclusive' | 'shared' | null;
  /** The newest fencing token that was granted; 0: none ever was. */
  fence: number;
  waiting: { taskId: string; method: string; priority: number; why: string | null }[];
  /** How many wait in all. */
  waitingCount: number;
}

export interface TaskManager {
  readonly schedules: ScheduleBook;
  /**
   * Refuses (throws `Refusal`) or stores the task as PENDING; it is durable once `committed()` has resolved.
   * Must run inside the caller's store transaction when the caller's answer has to be atomic with it.
   */
  submit(request: SubmitTask): TaskRecord;
  submitWorkflow(
    document: WorkflowDocument,
    options: { source: Source; correlationId: string | null; traceId: string | null },
  ): WorkflowRecord;
  /** Throws `Refusal`: NOT_FOUND; ILLEGAL_STATE when it already ended. CANCELLED comes as an event, after proof. */
  cancelTask(taskId: string, by: Canceller): void;
  /**
   * Throws `Refusal`: NOT_FOUND; ILLEGAL_STATE when it ended, is paused already, or runs a method that cannot be
   * paused. PROGRESS `paused` comes after the proof of the stop; what waits for its turn is only held.
   */
  pauseTask(taskId: string): void;
  /** Throws `Refusal`: NOT_FOUND; ILLEGAL_STATE when it is not paused. It goes on when its turn comes. */
  resumeTask(taskId: string): void;
  cancelWorkflow(workflowId: string, by: Canceller): void;
  pauseWorkflow(workflowId: string): void;
  resumeWorkflow(workflowId: string): void;
  /**
   * Changes steps that have not begun. Throws `Refusal`: NOT_FOUND; ILLEGAL_STATE when it ended, is ending, or stands at
   * another revision than `baseRevision`; REPLAN_BUDGET_EXHAUSTED when the cloud has none left; INVALID_PARAMS with
   * everything that is wrong with the resulting document. Refused, it changes and costs nothing.
   */
  amendWorkflow(workflowId: string, amendment: Amendment, source: Source): WorkflowRecord;
  getTask(taskId: string): TaskRecord | null;
  listTasks(filter?: { active?: boolean; limit?: number }): TaskRecord[];
  getWorkflow(workflowId: string): WorkflowRecord | null;
  listWorkflows(filter?: { active?: boolean; limit?: number }): WorkflowRecord[];
  /** Every task event after its commit, PROGRESS included. */
  onEvent(listener: (event: TaskEvent) => void): () => void;
  /** Holder of each resource, for the context. */
  leases(): { resource: string; owner: string | null; fence: number }[];
  /** The same for people: every owner, and who waits for it and why, at most 20 of each, best first. */
  leaseBoard(): LeaseEntry[];
  summary(): { busy: boolean; running: string[]; queued: { queueKey: string; length: number }[] };
}
