/** A schedule that has run once, for tests of those who show it. */
import type { ScheduleRecord } from '../../../daemon/task-manager/schedule/types.js';

export function sampleSchedule(): ScheduleRecord {
  const lastRun = Date.parse('2026-11-30T08:00:00+09:00');
  const schedule = {
    schedule_id: 's-1',
    cron: '0 8 * * *',
    timezone: 'Asia/Seoul',
    title: '아침 청정',
  };
  return {
    scheduleId: 's-1',
    state: 'ACTIVE',
    nextAt: lastRun + 24 * 3_600_000,
    createdAt: lastRun - 3_600_000,
    request: {
      schedule,
      rule: { kind: 'cron', pattern: schedule.cron },
      graceMs: 600_000,
      target: { kind: 'task', method: 'startCleaning', params: { mode: 'auto' }, task: {} },
      createdBy: 'CLOUD',
      correlationId: null,
    },
    blocked: null,
    lastRun: {
      runId: 'run-1',
      scheduleN: 1,
      scheduledFor: lastRun,
      state: 'COMPLETED',
      taskId: 't-1',
      workflowId: null,
      reason: null,
      message: null,
      at: lastRun + 90_000,
    },
  };
}
