/** What schedules do when something else goes wrong: the disk, policy, a defect. */
import { afterEach, describe, expect, it } from 'vitest';
import { OPEN_GATE } from '../../../daemon/task-manager/gate.js';
import type { TaskRequest } from '../../../daemon/task-manager/task.js';
import { removeTemporaryDirectories, START_MS } from '../store/store-world.js';
import { complete } from '../task-manager/task-world.js';
import { HOUR, MINUTE, openScheduleWorld } from './schedule-world.js';

afterEach(removeTemporaryDirectories);

describe('a disk that is full when the time comes', () => {
  it('makes the run wait, and there is still one', async () => {
    const world = openScheduleWorld();
    world.add();
    await world.quiet();
    world.store.faults.commitError = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    await world.pass(8 * HOUR + MINUTE);
    expect(world.tasks.listTasks()).toEqual([]);
    expect(world.runs).toEqual([]);
    world.store.faults.commitError = null;
    await world.pass(5_000);
    expect(world.begun()).toHaveLength(1);
    await complete(world, 'move');
    await world.pass(HOUR);
    expect(world.begun()).toHaveLength(1);
  });

  it('for longer than the grace makes it a missed one', async () => {
    const world = openScheduleWorld();
    world.add();
    await world.quiet();
    world.store.faults.commitError = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    await world.pass(8 * HOUR + 11 * MINUTE);
    world.store.faults.commitError = null;
    await world.pass(5_000);
    expect(world.reports()).toEqual(['MISSED_RUN_EXPIRED 08:00']);
    expect(world.tasks.schedules.get('s-1')?.nextAt).toBe(START_MS + 32 * HOUR);
  });
});

describe('policy', () => {
  it('is asked at each run, for the schedule and for whoever made it', async () => {
    const asked: Pick<TaskRequest, 'source' | 'origin'>[] = [];
    let deny = true;
    const world = openScheduleWorld({
      gate: () => ({
        ...OPEN_GATE,
        decide({ source, origin }) {
          asked.push({ source, origin });
          if (!deny) return { effect: 'allow', rule: 'none' };
          const message = 'method: found "move"; not now';
          return { effect: 'deny', rule: 'r', reason: 'PRIVACY_BLOCKED', field: 'method', message };
        },
      }),
    });
    world.add({ cron: '0 * * * *' });
    await world.pass(HOUR);
    expect(asked).toEqual([{ source: 'SCHEDULE', origin: 'CLOUD' }]);
    const [refused] = world.events();
    expect(refused).toMatchObject({
      event: 'FAILED',
      reason_code: 'PRIVACY_BLOCKED',
      task_id: null,
      schedule_id: 's-1',
      idempotency_key: `${refused?.run_id}:FAILED:1`,
    });
    deny = false;
    await world.pass(HOUR);
    expect(world.begun()).toHaveLength(1);
    await complete(world, 'move');
    world.addWorkflow([{ step_id: 'a', method: 'say' }], { schedule_id: 's-2', cron: '30 * * * *' });
    await world.pass(30 * MINUTE);
    expect(new Set(asked.map(({ source, origin }) => `${source} ${origin}`))).toEqual(
      new Set(['SCHEDULE CLOUD']),
    );
  });
});

describe('a defect', () => {
  it('in the start of a run costs that run, which says so, and not the schedule', async () => {
    const world = openScheduleWorld({ brokenEvent: ':BLOCKED:' });
    world.add({ cron: '0 * * * *' });
    world.submit('move', { timeoutMs: HOUR + MINUTE });
    await world.pass(HOUR + MINUTE);
    const [failed] = world.events().filter((e) => e.schedule_id === 's-1');
    expect(failed).toMatchObject({ event: 'FAILED', reason_code: 'INTERNAL_ERROR', task_id: null });
    expect(world.tasks.schedules.get('s-1')).toMatchObject({
      state: 'ACTIVE',
      nextAt: START_MS + 2 * HOUR,
      lastRun: { state: 'REFUSED', reason: 'INTERNAL_ERROR' },
    });
  });

  it('that does not even let a run end pauses its schedule, and lets the others go on', async () => {
    const world = openScheduleWorld({ brokenEvent: 'run-' });
    world.add({ cron: '0 * * * *' });
    world.add(
      { schedule_id: 's-2', cron: '0 * * * *' },
      { target: { kind: 'task', method: 'say', params: {}, task: {} } },
    );
    world.submit('move', { timeoutMs: 2 * HOUR });
    await world.pass(HOUR);
    expect(world.tasks.schedules.get('s-1')).toMatchObject({ state: 'PAUSED', nextAt: null });
    expect(world.run('say').over).toBe(false);
  });
});
