/** A TaskManager with schedules, on a clock that tests move and set. */
import { SimClock } from '../../../config/contracts/sim-clock.js';
import type { ScheduleSpec } from '../../../config/contracts/wire/schedule.js';
import { workflowSchema } from '../../../config/contracts/wire/workflow.js';
import type { AddSchedule } from '../../../daemon/task-manager/schedule/types.js';
import { filesAfterPowerCut, START_MS } from '../store/store-world.js';
import { openTaskWorld, type TaskWorldOptions } from '../task-manager/task-world.js';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export function openScheduleWorld(options: TaskWorldOptions = {}) {
  const world = openTaskWorld({ clock: new SimClock(START_MS), ...options });
  const { tasks, clock } = world;
  return {
    ...world,
    /** Every day at 8:00 UTC, unless `schedule` says otherwise; moves to a room. The clock starts at midnight. */
    add(schedule: Partial<ScheduleSpec> = {}, more: Partial<AddSchedule> = {}) {
      const rule =
        schedule.at === undefined && schedule.rrule === undefined && schedule.cron === undefined
          ? { cron: '0 8 * * *' }
          : {};
      return tasks.schedules.add({
        schedule: { schedule_id: 's-1', timezone: 'UTC', ...rule, ...schedule },
        target: { kind: 'task', method: 'move', params: { to: '2' }, task: {} },
        createdBy: 'CLOUD',
        correlationId: 'co-1',
        ...more,
      });
    },
    addWorkflow(steps: object[], schedule: Partial<ScheduleSpec> = {}) {
      const document = workflowSchema.parse({ workflow_id: 'wf-1', steps });
      return this.add(schedule, { target: { kind: 'workflow', document, traceId: null } });
    },
    async pass(ms: number) {
      await clock.advanceAsync(ms);
      await world.quiet();
    },
    /** Sets the clock; what waits for the time notices within half a minute. */
    async setClock(toMs: number) {
      clock.jump(toMs - clock.now());
      await this.pass(30_000);
    },
    /** `MISSED_RUN_EXPIRED 08:00`: what was told of runs themselves, by the time they were for. */
    reports(): string[] {
      return world
        .events()
        .filter(({ event }) => event === 'BLOCKED')
        .map((e) => `${e.reason_code} ${e.scheduled_for?.slice(11, 16)}`);
    },
    /** Times for which something was begun. */
    begun(): string[] {
      return world
        .events()
        .filter(({ event, schedule_id }) => event === 'STARTED' && schedule_id !== undefined)
        .map((e) => e.scheduled_for ?? '');
    },
    /** Dies as in a power cut, and starts again from what was durable. */
    async restart(more: TaskWorldOptions = {}) {
      await world.quiet();
      return this.crash(more);
    },
    /** The same in the middle of a turn. */
    crash(more: TaskWorldOptions = {}) {
      const file = filesAfterPowerCut(world.file);
      // Nobody hears of the one that is gone any more; its runs may go on as long as they like.
      void tasks.stop();
      world.timers.stop();
      return openScheduleWorld({ ...options, ...more, clock, file, seed: (options.seed ?? 1) + 1 });
    },
    async close() {
      const stopped = tasks.stop();
      world.timers.stop();
      await clock.advanceAsync(10_000);
      await stopped;
      await world.quiet();
      world.store.close();
    },
  };
}
export type ScheduleWorld = ReturnType<typeof openScheduleWorld>;
