/** Schedules that are kept in memory and never run: for tests of whoever calls them. */
import { Refusal } from '../../config/contracts/errors.js';
import { accept } from '../../daemon/task-manager/schedule/accept.js';
import type { AddSchedule, ScheduleBook, ScheduleRecord } from '../../daemon/task-manager/schedule/types.js';
import type { Canceller } from '../../daemon/task-manager/types.js';
import type { MethodSpec } from '../../executors/method.js';

const NOW = Date.parse('2026-11-30T00:00:00Z');

export class FakeSchedules implements ScheduleBook {
  readonly records = new Map<string, ScheduleRecord>();
  readonly calls: string[] = [];
  readonly #methods: ReadonlyMap<string, MethodSpec>;

  constructor(methods: readonly MethodSpec[] = []) {
    this.#methods = new Map(methods.map((spec) => [spec.name, spec]));
  }

  add(add: AddSchedule): ScheduleRecord {
    const { schedule_id: id } = add.schedule;
    if (this.records.has(id)) {
      throw new Refusal('INVALID_PARAMS', 'schedule.schedule_id: used', 'schedule.schedule_id');
    }
    const compile = { methods: this.#methods, resolveCapability: notHere };
    const { request, nextAt } = accept(add, { methods: this.#methods, compile }, NOW);
    const record: ScheduleRecord = {
      scheduleId: id,
      state: 'ACTIVE',
      nextAt,
      createdAt: NOW,
      request,
      blocked: null,
      lastRun: null,
    };
    this.records.set(id, record);
    return record;
  }

  pause(scheduleId: string, by: Canceller): void {
    this.#change(scheduleId, { state: 'PAUSED', nextAt: null });
    this.calls.push(`pause ${scheduleId} ${by}`);
  }

  resume(scheduleId: string): void {
    this.#change(scheduleId, { state: 'ACTIVE', nextAt: NOW });
    this.calls.push(`resume ${scheduleId}`);
  }

  remove(scheduleId: string, by: Canceller): void {
    this.#change(scheduleId, {});
    this.records.delete(scheduleId);
    this.calls.push(`remove ${scheduleId} ${by}`);
  }

  get(scheduleId: string): ScheduleRecord | null {
    return this.records.get(scheduleId) ?? null;
  }

  list(limit: number): ScheduleRecord[] {
    return [...this.records.values()].reverse().slice(0, limit);
  }

  #change(scheduleId: string, change: Partial<ScheduleRecord>): void {
    const record = this.records.get(scheduleId);
    if (record === undefined) throw new Refusal('NOT_FOUND', `there is no schedule ${scheduleId}`);
    this.records.set(scheduleId, { ...record, ...change });
  }
}

function notHere(id: string): never {
  throw new Refusal('UNKNOWN_CAPABILITY', `capability: found "${id}"`, 'capability');
}
