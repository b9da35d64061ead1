/** Tasks as rows: the live ones also in memory, which follows the store's transactions. */
import type { Log } from '../../config/contracts/log.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { Store } from '../store/store.js';
import { assertTransition, isTerminal } from './lifecycle.js';
import type { TaskRequest, TaskRow } from './task.js';
import type { TaskState } from './types.js';

interface DbRow {
  n: number;
  task_id: string;
  state: string;
  attempt: number;
  stopping: string | null;
  pause: string | null;
  request: string;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  outcome: string | null;
}

interface SourceCount {
  live: number;
  queued: number;
}

export type TaskChange = Partial<
  Pick<TaskRow, 'attempt' | 'stopping' | 'pause' | 'startedAt' | 'endedAt' | 'outcome'>
>;

/** Ended tasks are forgotten in pieces of this size. */
const TRIM_EVERY = 256;

export class TaskTable {
  readonly #store: Store;
  readonly #log: Log;
  readonly #keepEnded: number;
  readonly #sql;
  readonly #live = new Map<string, TaskRow>();
  readonly #counts = new Map<Source, SourceCount>();
  /** Of them, those that are paused or about to be. */
  readonly #paused = new Set<string>();
  #nextN: number;
  #endedSinceTrim = 0;

  constructor(store: Store, log: Log, keepEnded: number) {
    this.#store = store;
    this.#log = log;
    this.#keepEnded = keepEnded;
    const { db } = store;
    this.#sql = {
      insert: db.prepare<[number, string, string, number, string, number]>(
        'INSERT INTO tasks (n, task_id, state, attempt, request, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      ),
      update: db.prepare<
        [string, number, string | null, string | null, number | null, number | null, string | null, number]
      >(
        `UPDATE tasks SET state = ?, attempt = ?, stopping = ?, pause = ?, started_at = ?, ended_at = ?,
         outcome = ?
         WHERE n = ?`,
      ),
      get: db.prepare<[string], DbRow>('SELECT * FROM tasks WHERE task_id = ?'),
      live: db.prepare<[], DbRow>('SELECT * FROM tasks WHERE ended_at IS NULL ORDER BY n'),
      newest: db.prepare<[number], DbRow>('SELECT * FROM tasks ORDER BY n DESC LIMIT ?'),
      trim: db.prepare<[number, number]>(
        `DELETE FROM tasks WHERE n IN
         (SELECT n FROM tasks WHERE n < ? AND ended_at IS NOT NULL ORDER BY n LIMIT ?)`,
      ),
    };
    const last = db.prepare<[], number>('SELECT max(n) FROM tasks').pluck().get();
    this.#nextN = (last ?? 0) + 1;
    for (const row of this.#sql.live.all()) this.#keep(row.task_id, fromDb(row));
  }

  /** Tasks that have not ended, in the order of their submission. */
  live(): TaskRow[] {
    return [...this.#live.values()];
  }

  /** Tasks that are paused or about to be, in the order of their submission. */
  paused(): TaskRow[] {
    const rows = [...this.#paused].flatMap((taskId) => this.#live.get(taskId) ?? []);
    return rows.sort((a, b) => a.n - b.n);
  }

  /** Tasks of a source that have not ended, and of them those that have not started. */
  countOf(source: Source): Readonly<SourceCount> {
    return this.#counts.get(source) ?? { live: 0, queued: 0 };
  }

  liveCount(): number {
    return this.#live.size;
  }

  getLive(taskId: string): TaskRow | null {
    return this.#live.get(taskId) ?? null;
  }

  get(taskId: string): TaskRow | null {
    const live = this.#live.get(taskId);
    if (live !== undefined) return live;
    const row = this.#sql.get.get(taskId);
    return row === undefined ? null : fromDb(row);
  }

  /** Newest first, ended ones included. */
  newest(limit: number): TaskRow[] {
    return this.#sql.newest.all(limit).map((row) => this.#live.get(row.task_id) ?? fromDb(row));
  }

  /** Runs inside a `write`, as do the following. */
  insert(taskId: string, request: TaskRequest, nowMs: number): TaskRow {
    const row: TaskRow = {
      n: this.#nextN++,
      taskId,
      state: 'PENDING',
      attempt: 1,
      stopping: null,
      pause: null,
      request,
      createdAt: nowMs,
      startedAt: null,
      endedAt: null,
      outcome: null,
    };
    this.#sql.insert.run(row.n, taskId, row.state, row.attempt, JSON.stringify(request), nowMs);
    this.#keep(taskId, row);
    this.#store.onUndo(() => this.#keep(taskId, null));
    return row;
  }

  /** The one place where a task's state changes. Refuses what may not follow. */
  transition(taskId: string, to: TaskState, change: TaskChange): TaskRow {
    const before = this.#live.get(taskId);
    if (before === undefined) throw new Error(`task ${taskId} is not live: it cannot become ${to}`);
    assertTransition(taskId, before.state, to);
    const row: TaskRow = { ...before, ...change, state: to };
    this.#save(row);
    this.#keep(taskId, isTerminal(to) ? null : row);
    this.#store.onUndo(() => this.#keep(taskId, before));
    this.#log.debug(
      { taskId, method: row.request.method, from: before.state, to, attempt: row.attempt },
      'task changed state',
    );
    if (isTerminal(to)) this.#trimSometimes();
    return row;
  }

  /** Changes what is not the state. */
  patch(taskId: string, change: TaskChange): TaskRow {
    const before = this.#live.get(taskId);
    if (before === undefined) throw new Error(`task ${taskId} is not live: nothing of it can change`);
    const row: TaskRow = { ...before, ...change };
    this.#save(row);
    this.#keep(taskId, row);
    this.#store.onUndo(() => this.#keep(taskId, before));
    return row;
  }

  #save(row: TaskRow): void {
    this.#sql.update.run(
      row.state,
      row.attempt,
      toJson(row.stopping),
      toJson(row.pause),
      row.startedAt,
      row.endedAt,
      toJson(row.outcome),
      row.n,
    );
  }

  #keep(taskId: string, row: TaskRow | null): void {
    this.#count(this.#live.get(taskId) ?? null, -1);
    this.#count(row, 1);
    if (row === null) this.#live.delete(taskId);
    else this.#live.set(taskId, row);
    if (row !== null && (row.state === 'PAUSED' || row.pause?.asked === true)) this.#paused.add(taskId);
    else this.#paused.delete(taskId);
  }

  #count(row: TaskRow | null, by: 1 | -1): void {
    if (row === null) return;
    const { source } = row.request;
    const count = this.#counts.get(source) ?? { live: 0, queued: 0 };
    count.live += by;
    if (row.state === 'PENDING') count.queued += by;
    this.#counts.set(source, count);
  }

  #trimSometimes(): void {
    if (++this.#endedSinceTrim < TRIM_EVERY) return;
    this.#endedSinceTrim = 0;
    this.#sql.trim.run(this.#nextN - this.#keepEnded, 2 * TRIM_EVERY);
  }
}

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Fields that came later stand for what they would have been when the row was written. */
function requestFromDb(json: string): TaskRequest {
  const request = JSON.parse(json);
  return { origin: request.source, undoes: null, decision: null, run: null, ...request };
}

function fromDb(row: DbRow): TaskRow {
  return {
    n: row.n,
    taskId: row.task_id,
    state: row.state as TaskState,
    attempt: row.attempt,
    stopping: row.stopping === null ? null : JSON.parse(row.stopping),
    pause: row.pause === null ? null : JSON.parse(row.pause),
    request: requestFromDb(row.request),
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome === null ? null : JSON.parse(row.outcome),
  };
}
