/** What the TaskManager is made of, and the face that the composition root sees besides `TaskManager`. */
import type { Clock } from '../../config/contracts/clock.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { MethodSpec } from '../../executors/method.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import type { Store } from '../store/store.js';
import type { Timers } from '../store/timers.js';
import type { TaskGate } from './gate.js';
import type { TaskManager } from './types.js';

/** Tasks of one source that have not ended, and of them those that have not started. */
export interface SourceCap {
  maxLive: number;
  maxQueued: number;
}

export interface TaskManagerLimits {
  /** Waiting tasks per `queueKey`, and of all. */
  maxQueued: number;
  maxLive: number;
  /** What one source may take of that; absent: all. */
  perSource: Partial<Record<Source, SourceCap>>;
  maxLiveWorkflows: number;
  /** One point of priority is gained per this much waiting, ms, so that nobody starves. */
  ageingMsPerPoint: number;
  /** Between two PROGRESS events of one task at least, ms. */
  progressIntervalMs: number;
  /** How often one task is continued after restarts before it ends FAILED RESTARTED. */
  maxAttempts: number;
  /** Ended tasks and workflows that can still be asked for. */
  keepEndedTasks: number;
  keepEndedWorkflows: number;
  /** How often a `wait_until` is looked at, ms. */
  conditionPollMs: number;
  /** How long a failed step with policy REPLAN waits for an amendment, ms. */
  amendmentWaitMs: number;
  /** After a failed commit, what has to be stored is tried again this much later, ms. */
  storeRetryMs: number;
  /** A task that waited so long for leases keeps those behind it from taking them, ms. */
  reserveAfterMs: number;
}

export const DEFAULT_TASK_MANAGER_LIMITS: TaskManagerLimits = {
  maxQueued: 10_000,
  maxLive: 20_000,
  perSource: {},
  maxLiveWorkflows: 100,
  ageingMsPerPoint: 30_000,
  progressIntervalMs: 500,
  maxAttempts: 5,
  keepEndedTasks: 10_000,
  keepEndedWorkflows: 2_000,
  conditionPollMs: 1_000,
  amendmentWaitMs: 300_000,
  storeRetryMs: 1_000,
  reserveAfterMs: 60_000,
};

export interface TaskManagerDeps {
  store: Store;
  outbox: OutboxWriter;
  timers: Timers;
  clock: Clock;
  ids: Ids;
  log: Log;
  methods: readonly MethodSpec[];
  /** What a capability card or its cloud id stands for; throws `Refusal` UNKNOWN_CAPABILITY or INVALID_PARAMS. */
  resolveCapability(
    id: string,
    params: Record<string, unknown>,
  ): { method: string; params: Record<string, unknown> };
  /** `device_context` as conditions see it. */
  context(): object;
  /** A stop could not be proven: the drive has to be cut, whoever still believes in it. */
  emergencyCut(reason: string): void;
  /** Whether the robot knows what time it is; until then schedules wait. Default: it does. */
  clockTrusted?(): boolean;
  /** What policy says of each task; none: everything may run. */
  gate?: TaskGate;
  limits?: Partial<TaskManagerLimits>;
}

/** What became of the tasks that a restart found unfinished. */
export interface RecoveryReport {
  /** Waiting before, waiting again. */
  queued: number;
  /** Paused before, or about to be: they stay so for as long as what they wait for is not there. */
  paused: number;
  /** Found done: COMPLETED with the evidence seen. */
  completed: number;
  /** Safe to continue: attempt + 1. */
  continued: number;
  /** FAILED RESTARTED. */
  failed: number;
  workflows: number;
}

export interface TaskManagerHandle extends TaskManager {
  /**
   * Once, before anything is submitted and after the drivers know physical truth: reconciles what the last run
   * left unfinished, gets workflows and their timers going again, and accepts work from then on.
   */
  recover(): RecoveryReport;
  /** The e-stop is latched: whatever holds `motion` is stopped and ends FAILED EMERGENCY_STOP. */
  emergencyStop(message: string, observedAtMs: number): void;
  /** An approval was given: the task that waits for it takes its place in line. Inside a `write`. */
  letGo(taskId: string): void;
  /** An approval was refused: the task that waits for it ends FAILED APPROVAL_DENIED. Inside a `write`. */
  turnAway(taskId: string, message: string): void;
  /** A setting changed: what policy no longer lets run is stopped. */
  policyChanged(): void;
  /** The robot knows the time now, or no longer: schedules look at it. */
  clockTrustChanged(): void;
  /** Something that conditions look at has changed: waiting steps look again now. */
  contextChanged(): void;
  /**
   * Stops what runs, physically, without ending any task: the next start reconciles them. Accepts nothing more.
   * Resolves when everything has stopped, at the latest after the longest stop grace.
   */
  stop(): Promise<void>;
  /** Running methods: work that a lock-step simulation must not wait for, and its queue. */
  counters(): Record<string, number>;
}
