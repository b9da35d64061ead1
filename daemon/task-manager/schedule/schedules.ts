/** Keeps schedules and runs them when their time comes. Only the next time of all is waited for. */
import type { Clock } from '../../../config/contracts/clock.js';
import { Refusal } from '../../../config/contracts/errors.js';
import { StoreError } from '../../store/store-error.js';
import type { Canceller } from '../canceller.js';
import { type AcceptDeps, accept } from './accept.js';
import { defectRefusal } from './admission.js';
import { nextOccurrence } from './occurrence.js';
import { ScheduleTable } from './schedule-table.js';
import { type SettleDeps, settleBlocked, settleBroken, settleDue, withdraw } from './settle.js';
import type { AddSchedule, Run, Schedule, ScheduleBook, ScheduleRecord } from './types.js';

export interface SchedulesDeps extends Omit<SettleDeps, 'table'>, AcceptDeps {
  clock: Clock;
  /** Whether the robot knows what time it is; until then nothing is due. */
  clockTrusted(): boolean;
}

const MAX_SCHEDULES = 10_000;
/** The clock can be set while we wait for the next time; it is looked at this often at least, ms. */
const LOOK_MS = 30_000;
/** How often a blocked run is tried again, ms; the end of a task is also an occasion. */
const RETRY_MS = 5_000;
/** When much ends at once, blocked runs are not tried at each of them, ms. */
const RETRY_AGAIN_MS = 200;
/** What one turn of the event loop settles at most, so that nothing else has to wait long. */
const SCHEDULES_PER_TURN = 50;
const OCCURRENCES_PER_TURN = 500;
/** After a failed commit, ms. */
const STORE_RETRY_MS = 1_000;

export class Schedules implements ScheduleBook {
  readonly #d: SettleDeps & SchedulesDeps;
  readonly #counters = { settled: 0, given_up: 0 };
  #running = false;
  #disarm: (() => void) | null = null;
  /** When the next look is due, `mono` ms. */
  #nextLook = Number.POSITIVE_INFINITY;
  /** When blocked runs are tried next, `mono` ms, and behind which schedule. */
  #nextRetry = 0;
  #retryAfter = 0;
  #lastRetry = Number.NEGATIVE_INFINITY;
  /** Whether there was a blocked run at the last look. */
  #blocked = false;

  constructor(deps: SchedulesDeps) {
    this.#d = { ...deps, table: new ScheduleTable(deps.store) };
    deps.store.participate({ failed: () => this.#lookWithin(STORE_RETRY_MS) });
    deps.events.watchRuns({
      ended: (runId, event, reason, message) => {
        const run = this.#d.table.getRun(runId);
        if (run === null) return;
        this.#d.table.updateRun(run, { state: event, reason, message, at: this.#now() });
      },
      somethingEnded: () => this.#retrySoon(),
    });
  }

  start(): void {
    this.#running = true;
    this.#lookWithin(0);
  }

  stop(): void {
    this.#running = false;
    this.#disarm?.();
    this.#disarm = null;
    this.#nextLook = Number.POSITIVE_INFINITY;
  }

  /** The robot knows the time now, or no longer. */
  trustChanged(): void {
    this.#lookWithin(0);
  }

  counters(): Record<string, number> {
    return { ...this.#counters, open: this.#d.table.open() };
  }

  add(add: AddSchedule): ScheduleRecord {
    const { table, store } = this.#d;
    return store.write(() => {
      const { schedule_id: id } = add.schedule;
      if (table.get(id) !== null) {
        const field = 'schedule.schedule_id';
        throw new Refusal('INVALID_PARAMS', `${field}: found "${id}"; there is a schedule of this id`, field);
      }
      if (table.open() >= MAX_SCHEDULES) {
        throw new Refusal('TASK_MANAGER_BUSY', `no further schedule is taken: there are ${MAX_SCHEDULES}`);
      }
      const { request, nextAt } = accept(add, this.#d, this.#now());
      table.insert(request, nextAt, this.#now());
      this.#arm();
      return this.#record(this.#mustGet(id));
    });
  }

  pause(scheduleId: string, by: Canceller): void {
    this.#d.store.write(() => {
      const schedule = this.#mustBe(this.#mustGet(scheduleId), 'ACTIVE', 'paused');
      const settled = withdraw(schedule, by, this.#now(), this.#d);
      this.#d.table.update(settled, { state: 'PAUSED', nextAt: null });
    });
  }

  resume(scheduleId: string): void {
    this.#d.store.write(() => {
      const schedule = this.#mustBe(this.#mustGet(scheduleId), 'PAUSED', 'resumed');
      const { rule, schedule: spec } = schedule.request;
      const nextAt = nextOccurrence(rule, spec.timezone, Math.max(schedule.settledAt, this.#now()));
      if (nextAt === null) {
        const message = `schedule ${scheduleId} cannot be resumed: its last time passed while it was paused`;
        throw new Refusal('ILLEGAL_STATE', message, 'schedule_id');
      }
      this.#d.table.update(schedule, { state: 'ACTIVE', nextAt });
      this.#arm();
    });
  }

  remove(scheduleId: string, by: Canceller): void {
    this.#d.store.write(() => {
      const schedule = this.#mustGet(scheduleId);
      this.#d.table.remove(withdraw(schedule, by, this.#now(), this.#d));
    });
  }

  get(scheduleId: string): ScheduleRecord | null {
    const schedule = this.#d.table.get(scheduleId);
    return schedule === null ? null : this.#record(schedule);
  }

  list(limit: number): ScheduleRecord[] {
    return this.#d.table.newest(limit).map((schedule) => this.#record(schedule));
  }

  #look(): void {
    if (!this.#running) return;
    if (!this.#d.clockTrusted()) {
      this.#lookWithin(RETRY_MS);
      return;
    }
    try {
      this.#retryBlocked();
      this.#settleDue();
      this.#arm();
    } catch (error) {
      // Nothing was stored, and nothing was run: it comes again.
      if (!(error instanceof StoreError)) throw error;
      this.#lookWithin(STORE_RETRY_MS);
    }
  }

  #settleDue(): void {
    let budget = OCCURRENCES_PER_TURN;
    for (const schedule of this.#d.table.due(this.#now(), SCHEDULES_PER_TURN)) {
      if (budget <= 0) return;
      this.#orBroken(schedule, () => {
        budget -= settleDue(schedule, this.#now(), this.#d).occurrences;
      });
    }
  }

  #retryBlocked(): void {
    const { clock, table } = this.#d;
    if (clock.mono() < this.#nextRetry) return;
    this.#lastRetry = clock.mono();
    this.#nextRetry = clock.mono() + RETRY_MS;
    const blocked = table.blocked(this.#retryAfter, SCHEDULES_PER_TURN);
    // Round and round, so that the first ones do not keep the others from being tried.
    this.#retryAfter = blocked.length < SCHEDULES_PER_TURN ? 0 : (blocked.at(-1)?.n ?? 0);
    for (const schedule of blocked) {
      this.#orBroken(schedule, () => {
        settleBlocked(schedule, this.#now(), this.#d);
      });
    }
  }

  /** A schedule that meets a defect loses this run; one that cannot even do that is paused, loudly. */
  #orBroken(schedule: Schedule, settle: () => void): void {
    const { store, table, defects } = this.#d;
    try {
      store.write(settle);
      this.#counters.settled++;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.#counters.given_up++;
      const refusal = defectRefusal(error, schedule.scheduleId, defects);
      try {
        store.write(() => settleBroken(schedule, refusal, this.#now(), this.#d));
      } catch (again) {
        if (again instanceof StoreError) throw again;
        defectRefusal(again, schedule.scheduleId, defects);
        store.write(() => table.update(schedule, { state: 'PAUSED', nextAt: null, blockedRun: null }));
      }
    }
  }

  #retrySoon(): void {
    if (!this.#running || !this.#blocked) return;
    this.#nextRetry = Math.min(this.#nextRetry, this.#lastRetry + RETRY_AGAIN_MS);
    this.#lookWithin(this.#nextRetry - this.#d.clock.mono());
  }

  #arm(): void {
    if (!this.#running) return;
    const next = this.#d.table.nextDue();
    if (next !== null) this.#lookWithin(Math.min(LOOK_MS, next - this.#now()));
    this.#blocked = this.#d.table.anyBlocked();
    if (this.#blocked) this.#lookWithin(this.#nextRetry - this.#d.clock.mono());
  }

  #lookWithin(ms: number): void {
    if (!this.#running) return;
    const { clock } = this.#d;
    const wait = Math.max(0, ms);
    if (clock.mono() + wait >= this.#nextLook) return;
    this.#disarm?.();
    this.#nextLook = clock.mono() + wait;
    this.#disarm = clock.after(wait, () => {
      this.#nextLook = Number.POSITIVE_INFINITY;
      this.#look();
    });
  }

  #record(schedule: Schedule): ScheduleRecord {
    const { scheduleId, state, nextAt, createdAt, request, blockedRun, n } = schedule;
    const blocked: Run | null = blockedRun === null ? null : this.#d.table.getRun(blockedRun);
    const lastRun = this.#d.table.lastRun(n);
    return { scheduleId, state, nextAt, createdAt, request, blocked, lastRun };
  }

  #mustGet(scheduleId: string): Schedule {
    const schedule = this.#d.table.get(scheduleId);
    if (schedule !== null) return schedule;
    throw new Refusal('NOT_FOUND', `there is no schedule ${scheduleId}`, 'schedule_id');
  }

  #mustBe(schedule: Schedule, state: 'ACTIVE' | 'PAUSED', what: string): Schedule {
    if (schedule.state === state) return schedule;
    const message = `schedule ${schedule.scheduleId} is ${schedule.state}: it cannot be ${what}`;
    throw new Refusal('ILLEGAL_STATE', message, 'schedule_id');
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}
