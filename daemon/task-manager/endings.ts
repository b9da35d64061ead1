/** From the end of a run to the end, or the pause, of its task: what happened is stored until it is stored. */

import { StoreError } from '../store/store-error.js';
import type { Candidates } from './candidates.js';
import type { Defects } from './defects.js';
import type { TaskManagerDeps, TaskManagerLimits } from './deps.js';
import { conclude, isAtRest, type RunResult } from './lifecycle.js';
import { type Pauses, restOutcome } from './pauses.js';
import type { StopSources } from './stop-sources.js';
import type { Outcome, Stopping, TaskRow } from './task.js';
import type { TaskTable } from './task-table.js';

interface EndingsDeps extends Pick<TaskManagerDeps, 'store' | 'clock' | 'log' | 'emergencyCut'> {
  defects: Defects;
  limits: Pick<TaskManagerLimits, 'storeRetryMs'>;
  table: TaskTable;
  candidates: Candidates;
  stops: StopSources;
  pauses: Pauses;
  closing(): boolean;
  /** Ends a task. Inside a `write`. */
  settle(row: TaskRow, outcome: Outcome): void;
  pump(): void;
}

export class Endings {
  readonly #d: EndingsDeps;
  readonly #counters = { emergency_cuts: 0, end_retries: 0 };

  constructor(deps: EndingsDeps) {
    this.#d = deps;
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  /** A run came back. */
  ended(taskId: string, result: RunResult, stopping: Stopping | null, ranMs: number): void {
    const row = this.#d.table.getLive(taskId);
    const candidate = this.#d.candidates.get(taskId);
    if (row === null || candidate === null) return;
    const wanted = stopping ?? row.stopping;
    const { spec } = candidate;
    if (wanted === null && row.pause?.asked === true && isAtRest(result, spec)) {
      const proof = result.kind === 'stopped' ? result.evidence : this.stillness();
      this.pausedUntilStored(row, proof, ranMs);
      return;
    }
    // Stopped because the daemon stops: the next start decides what becomes of it.
    if (this.#d.closing() && wanted === null && result.kind !== 'completed') return;
    const reason = this.#d.stops.reasonFor(row, spec);
    const { completionAreaId } = row.request;
    const { outcome, cut } = conclude(result, wanted, spec, reason, this.#now(), completionAreaId);
    if (cut) this.#cut(outcome.message ?? 'a stop was not proven');
    this.settleUntilStored(row, outcome);
  }

  /** Of what has nothing that could go on. */
  stillness(): Record<string, unknown> {
    return { stopped: true, observed_at_ms: this.#now() };
  }

  /** How it ended is a fact that no rolled back transaction undoes: it is stored again until it is. */
  settleUntilStored(row: TaskRow, outcome: Outcome): void {
    this.#untilStored(row, (current) => this.#d.settle(current, outcome));
  }

  /** The same for a pause; whoever asked for its end meanwhile gets it, with the proof that is there. */
  pausedUntilStored(row: TaskRow, proof: Record<string, unknown> | null, ranMs: number): void {
    this.#untilStored(row, (current) => {
      if (current.stopping !== null) this.#d.settle(current, restOutcome(current, current.stopping, proof));
      else if (current.pause?.asked === true) this.#d.pauses.stopped(current, proof, ranMs);
      this.#d.pump();
    });
  }

  #untilStored({ taskId, attempt }: TaskRow, store: (current: TaskRow) => void): void {
    const row = this.#d.table.getLive(taskId);
    if (row === null || row.attempt !== attempt || row.state === 'PENDING' || row.state === 'PAUSED') return;
    const { clock, limits, defects } = this.#d;
    try {
      this.#d.store.write(() => {
        this.#d.store.onUndo(() => {
          this.#counters.end_retries++;
          clock.after(limits.storeRetryMs, () => this.#untilStored(row, store));
        });
        store(row);
      });
    } catch (error) {
      // The way back above has armed the next try.
      if (!(error instanceof StoreError)) defects.record(error, { taskId, where: 'end of a task' });
    }
  }

  #cut(why: string): void {
    this.#counters.emergency_cuts++;
    this.#d.log.error({ why }, 'a stop was not proven: the drive is cut');
    try {
      this.#d.emergencyCut(why);
    } catch (error) {
      this.#d.defects.record(error, { where: 'emergencyCut' });
    }
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}
