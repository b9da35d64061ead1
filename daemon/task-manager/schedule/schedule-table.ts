/**
 * Schedules and their runs as rows. Nothing is held in memory: what is due is found by an index, so that many schedules
 * cost no more than few. Every change runs inside a `write`.
 */
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';
import type { Store } from '../../store/store.js';
import type { Run, RunState, Schedule, ScheduleRequest, ScheduleState } from './types.js';

interface ScheduleDbRow {
  n: number;
  schedule_id: string;
  state: string;
  next_at: number | null;
  settled_at: number;
  blocked_run: string | null;
  request: string;
  created_at: number;
}

interface RunDbRow {
  run_id: string;
  schedule_n: number;
  scheduled_for: number;
  state: string;
  task_id: string | null;
  workflow_id: string | null;
  reason: string | null;
  message: string | null;
  at: number;
}

/** Of each schedule; the newest ones stay. */
const KEEP_RUNS = 20;
const KEEP_ENDED = 500;

export type ScheduleChange = Partial<Pick<Schedule, 'state' | 'nextAt' | 'settledAt' | 'blockedRun'>>;

export class ScheduleTable {
  readonly #sql;

  constructor({ db }: Store) {
    const read = (more: string) => db.prepare<number[], ScheduleDbRow>(`SELECT * FROM schedules ${more}`);
    this.#sql = {
      insert: db.prepare(
        `INSERT INTO schedules (schedule_id, state, next_at, settled_at, request, created_at)
         VALUES (?, 'ACTIVE', ?, ?, ?, ?)`,
      ),
      get: db.prepare<[string], ScheduleDbRow>('SELECT * FROM schedules WHERE schedule_id = ?'),
      newest: read('ORDER BY n DESC LIMIT ?'),
      due: read(
        "WHERE state = 'ACTIVE' AND blocked_run IS NULL AND next_at <= ? ORDER BY next_at, n LIMIT ?",
      ),
      nextDue: db
        .prepare<[], number | null>(
          "SELECT min(next_at) FROM schedules WHERE state = 'ACTIVE' AND blocked_run IS NULL",
        )
        .pluck(),
      blocked: read('WHERE blocked_run IS NOT NULL AND n > ? ORDER BY n LIMIT ?'),
      anyBlocked: db.prepare('SELECT 1 FROM schedules WHERE blocked_run IS NOT NULL LIMIT 1').pluck(),
      update: db.prepare(
        'UPDATE schedules SET state = ?, next_at = ?, settled_at = ?, blocked_run = ? WHERE n = ?',
      ),
      remove: db.prepare('DELETE FROM schedules WHERE n = ?'),
      open: db.prepare<[], number>("SELECT count(*) FROM schedules WHERE state <> 'ENDED'").pluck(),
      trimEnded: db.prepare(
        `DELETE FROM schedules WHERE n IN
         (SELECT n FROM schedules WHERE state = 'ENDED' ORDER BY n DESC LIMIT 10 OFFSET ?)`,
      ),
      insertRun: db.prepare(
        `INSERT OR IGNORE INTO schedule_runs
         (run_id, schedule_n, scheduled_for, state, task_id, workflow_id, reason, message, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      updateRun: db.prepare(
        `UPDATE schedule_runs SET state = ?, task_id = ?, workflow_id = ?, reason = ?, message = ?, at = ?
         WHERE run_id = ?`,
      ),
      getRun: db.prepare<[string], RunDbRow>('SELECT * FROM schedule_runs WHERE run_id = ?'),
      lastRun: db.prepare<[number], RunDbRow>(
        `SELECT * FROM schedule_runs WHERE schedule_n = ? AND state <> 'BLOCKED'
         ORDER BY scheduled_for DESC LIMIT 1`,
      ),
      trimRuns: db.prepare(
        `DELETE FROM schedule_runs WHERE run_id IN (SELECT run_id FROM schedule_runs
         WHERE schedule_n = ? ORDER BY scheduled_for DESC LIMIT 10 OFFSET ${KEEP_RUNS})`,
      ),
    };
  }

  insert(request: ScheduleRequest, nextAt: number, nowMs: number): void {
    const { schedule_id } = request.schedule;
    this.#sql.insert.run(schedule_id, nextAt, nowMs, JSON.stringify(request), nowMs);
  }

  get(scheduleId: string): Schedule | null {
    const row = this.#sql.get.get(scheduleId);
    return row === undefined ? null : scheduleOf(row);
  }

  newest(limit: number): Schedule[] {
    return this.#sql.newest.all(limit).map(scheduleOf);
  }

  /** Whose next occurrence has come and is not blocked, the oldest first. */
  due(nowMs: number, limit: number): Schedule[] {
    return this.#sql.due.all(nowMs, limit).map(scheduleOf);
  }

  nextDue(): number | null {
    return this.#sql.nextDue.get() ?? null;
  }

  /** Those with a blocked run, behind the one numbered `after`. */
  blocked(after: number, limit: number): Schedule[] {
    return this.#sql.blocked.all(after, limit).map(scheduleOf);
  }

  anyBlocked(): boolean {
    return this.#sql.anyBlocked.get() !== undefined;
  }

  /** How many have not ended. */
  open(): number {
    return this.#sql.open.get() ?? 0;
  }

  update(schedule: Schedule, change: ScheduleChange): Schedule {
    const next = { ...schedule, ...change };
    this.#sql.update.run(next.state, next.nextAt, next.settledAt, next.blockedRun, next.n);
    if (next.state === 'ENDED') this.#sql.trimEnded.run(KEEP_ENDED);
    return next;
  }

  remove({ n }: Schedule): void {
    this.#sql.remove.run(n);
  }

  /** False when this occurrence has a run already: nothing is written then. */
  insertRun(run: Run): boolean {
    const { runId, scheduleN, scheduledFor, state, taskId, workflowId, reason, message, at } = run;
    const values = [runId, scheduleN, scheduledFor, state, taskId, workflowId, reason, message, at];
    if (this.#sql.insertRun.run(...values).changes === 0) return false;
    this.#sql.trimRuns.run(scheduleN);
    return true;
  }

  updateRun(run: Run, change: Partial<Run>): Run {
    const next = { ...run, ...change };
    const { state, taskId, workflowId, reason, message, at, runId } = next;
    this.#sql.updateRun.run(state, taskId, workflowId, reason, message, at, runId);
    return next;
  }

  getRun(runId: string): Run | null {
    const row = this.#sql.getRun.get(runId);
    return row === undefined ? null : runOf(row);
  }

  lastRun(scheduleN: number): Run | null {
    const row = this.#sql.lastRun.get(scheduleN);
    return row === undefined ? null : runOf(row);
  }
}

function scheduleOf(row: ScheduleDbRow): Schedule {
  return {
    n: row.n,
    scheduleId: row.schedule_id,
    state: row.state as ScheduleState,
    nextAt: row.next_at,
    settledAt: row.settled_at,
    blockedRun: row.blocked_run,
    request: JSON.parse(row.request),
    createdAt: row.created_at,
  };
}

function runOf(row: RunDbRow): Run {
  return {
    runId: row.run_id,
    scheduleN: row.schedule_n,
    scheduledFor: row.scheduled_for,
    state: row.state as RunState,
    taskId: row.task_id,
    workflowId: row.workflow_id,
    reason: row.reason as ReasonCode | null,
    message: row.message,
    at: row.at,
  };
}
