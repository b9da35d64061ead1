/** Running methods: starts `run`, watches its time, asks it to stop, and tells once how it came back. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { MethodSpec, Resource, RunContext } from '../../executors/method.js';
import type { Defects } from './defects.js';
import { classifyThrown, type RunResult } from './lifecycle.js';
import type { Stopping, TaskStage } from './task.js';

/** What a `run` finds in its signal's `reason`. */
class StopRequested extends Error {
  override readonly name = 'StopRequested';
  constructor(readonly why: string) {
    super(`asked to stop: ${why}`);
  }
}

export interface ExecutionHost {
  /** Once per execution. `stopping`: the request to stop it that it was given, if any; `ranMs`: until it was asked to. */
  ended(taskId: string, result: RunResult, stopping: Stopping | null, ranMs: number): void;
  timedOut(taskId: string): void;
  progressed(taskId: string, stage: TaskStage): void;
}

export interface ExecutionStart {
  taskId: string;
  attempt: number;
  spec: MethodSpec;
  params: unknown;
  askedAtMs: number;
  carried: Record<string, unknown> | null;
  timeoutMs: number;
  fence(resource: Resource): number | null;
}

interface ExecutionsDeps {
  clock: Clock;
  defects: Defects;
  host: ExecutionHost;
  progressIntervalMs: number;
}

interface Execution {
  spec: MethodSpec;
  controller: AbortController;
  /** The intention to stop it; stands here, and not only in the row, because stopping must not wait for a disk. */
  stopping: Stopping | null;
  /** Monotonic: when it began, and when it was first asked to stop, for whatever reason. */
  beganAt: number;
  askedAt: number | null;
  cancelTimeout: CancelTimer;
  cancelGrace: CancelTimer;
  stage: TaskStage | null;
  progress: { lastAt: number; cancel: CancelTimer; waiting: boolean };
  over: boolean;
}

/** A change of stage may follow the last report this soon, ms. */
const STAGE_INTERVAL_MS = 100;
const NOTHING: CancelTimer = () => {};

export class Executions {
  readonly #deps: ExecutionsDeps;
  readonly #running = new Map<string, Execution>();
  readonly #counters = { runs: 0, late_results: 0, unproven_stops: 0 };
  #onIdle: (() => void)[] = [];

  constructor(deps: ExecutionsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#running.size;
  }

  counters(): Record<string, number> {
    return { ...this.#counters, running: this.#running.size };
  }

  stage(taskId: string): TaskStage | null {
    return this.#running.get(taskId)?.stage ?? null;
  }

  /** Calls `run` now. */
  begin(start: ExecutionStart): void {
    const { clock, host } = this.#deps;
    const execution: Execution = {
      spec: start.spec,
      controller: new AbortController(),
      stopping: null,
      beganAt: clock.mono(),
      askedAt: null,
      cancelTimeout: clock.after(start.timeoutMs, () => host.timedOut(start.taskId)),
      cancelGrace: NOTHING,
      stage: null,
      progress: { lastAt: Number.NEGATIVE_INFINITY, cancel: NOTHING, waiting: false },
      over: false,
    };
    this.#running.set(start.taskId, execution);
    this.#counters.runs++;
    this.#run(start, execution);
  }

  /**
   * Asks the running method to stop, and gives it `stopGraceMs` to prove it. `stopping` null: it is paused, or the
   * daemon ends; a request with a reason comes before that, otherwise the first counts. False when it changes
   * nothing. The signal is aborted in a microtask: never inside the caller's transaction, and without waiting for
   * its commit.
   */
  requestStop(taskId: string, why: string, stopping: Stopping | null): boolean {
    const execution = this.#running.get(taskId);
    if (execution === undefined || execution.stopping !== null) return false;
    execution.stopping = stopping;
    if (execution.askedAt !== null) return stopping !== null;
    execution.askedAt = this.#deps.clock.mono();
    execution.cancelTimeout();
    const graceMs = execution.spec.stopGraceMs;
    execution.cancelGrace = this.#deps.clock.after(graceMs, () => {
      this.#counters.unproven_stops++;
      this.#end(taskId, execution, { kind: 'unproven', graceMs });
    });
    queueMicrotask(() => execution.controller.abort(new StopRequested(why)));
    return true;
  }

  /** Resolves once nothing runs any more. */
  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  taskIds(): string[] {
    return [...this.#running.keys()];
  }

  #run(start: ExecutionStart, execution: Execution): void {
    const { spec, taskId } = start;
    let promise: ReturnType<MethodSpec['run']>;
    try {
      promise = spec.run(this.#context(start, execution));
    } catch (error) {
      this.#end(taskId, execution, this.#thrown(taskId, execution, error));
      return;
    }
    promise.then(
      (completion) => this.#end(taskId, execution, { kind: 'completed', completion }),
      (error) => this.#end(taskId, execution, this.#thrown(taskId, execution, error)),
    );
  }

  #context(start: ExecutionStart, execution: Execution): RunContext<unknown> {
    return {
      taskId: start.taskId,
      attempt: start.attempt,
      params: start.params,
      signal: execution.controller.signal,
      clock: this.#deps.clock,
      askedAtMs: start.askedAtMs,
      carried: start.carried,
      fence: (resource) => {
        const fence = start.fence(resource);
        if (fence === null) throw new Error(`${start.spec.name} does not hold ${resource}`);
        return fence;
      },
      progress: (stage, data) => this.#progress(start.taskId, execution, { stage, progress: data ?? null }),
    };
  }

  #thrown(taskId: string, execution: Execution, error: unknown): RunResult {
    const { signal } = execution.controller;
    return classifyThrown(error, signal.aborted ? signal.reason : undefined, () =>
      this.#deps.defects.record(error, { taskId, method: execution.spec.name, where: 'run' }),
    );
  }

  #end(taskId: string, execution: Execution, result: RunResult): void {
    if (execution.over) {
      this.#counters.late_results++;
      return;
    }
    execution.over = true;
    execution.cancelTimeout();
    execution.cancelGrace();
    execution.progress.cancel();
    this.#running.delete(taskId);
    // Whatever still hangs on the signal of a run that failed lets go as well.
    if (result.kind !== 'completed' && !execution.controller.signal.aborted) {
      execution.controller.abort(new StopRequested('its task is over'));
    }
    const ranMs = Math.round((execution.askedAt ?? this.#deps.clock.mono()) - execution.beganAt);
    this.#deps.host.ended(taskId, result, execution.stopping, ranMs);
    if (this.#running.size > 0) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }

  /** At most one report per interval; the newest is never held back for longer. */
  #progress(taskId: string, execution: Execution, stage: TaskStage): void {
    if (execution.over) return;
    const changed = execution.stage?.stage !== stage.stage;
    execution.stage = stage;
    const { progress } = execution;
    if (progress.waiting && !changed) return;
    const { clock, progressIntervalMs, host } = this.#deps;
    const interval = changed ? Math.min(STAGE_INTERVAL_MS, progressIntervalMs) : progressIntervalMs;
    const wait = progress.lastAt + interval - clock.mono();
    const report = () => {
      progress.waiting = false;
      progress.lastAt = clock.mono();
      if (execution.stage !== null) host.progressed(taskId, execution.stage);
    };
    progress.cancel();
    if (wait <= 0) {
      report();
      return;
    }
    progress.waiting = true;
    progress.cancel = clock.after(wait, report);
  }
}
