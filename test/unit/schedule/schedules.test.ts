import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../config/contracts/errors.js';
import type { ScheduleSpec } from '../../../config/contracts/wire/schedule.js';
import { removeTemporaryDirectories, START_MS } from '../store/store-world.js';
import { complete } from '../task-manager/task-world.js';
import { HOUR, MINUTE, openScheduleWorld } from './schedule-world.js';

afterEach(removeTemporaryDirectories);

const at8 = '2026-11-30T08:00:00.000+00:00';

function refusal(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a schedule', () => {
  it('begins its task at its time, once, and says whose run it is', async () => {
    const world = openScheduleWorld();
    expect(world.add().nextAt).toBe(START_MS + 8 * HOUR);
    await world.pass(8 * HOUR - 1);
    expect(world.runs).toHaveLength(0);
    await world.pass(1);
    expect(world.runs.map((run) => run.method)).toEqual(['move']);
    const [started] = world.events();
    expect(started).toMatchObject({
      event: 'STARTED',
      source: 'SCHEDULE',
      schedule_id: 's-1',
      scheduled_for: at8,
      correlation_id: 'co-1',
    });
    expect(started?.run_id).toMatch(/^run-/);
    await complete(world, 'move');
    const record = world.tasks.schedules.get('s-1');
    expect(record).toMatchObject({
      state: 'ACTIVE',
      nextAt: START_MS + 32 * HOUR,
      lastRun: { state: 'COMPLETED', scheduledFor: START_MS + 8 * HOUR, taskId: started?.task_id },
    });
    await world.pass(HOUR);
    expect(world.runs).toHaveLength(1);
  });

  it('that runs once is over afterwards', async () => {
    const world = openScheduleWorld();
    world.add({ at: '2026-11-30T01:00:00+00:00' });
    await world.pass(HOUR);
    expect(world.begun()).toHaveLength(1);
    expect(world.tasks.schedules.get('s-1')).toMatchObject({ state: 'ENDED', nextAt: null });
  });

  it('of a workflow gives every run a workflow of its own, whose events all name the run', async () => {
    const world = openScheduleWorld();
    world.addWorkflow([
      { step_id: 'a', method: 'move', params: { to: '2' } },
      { step_id: 'b', method: 'say', depends_on: ['a'] },
    ]);
    await world.pass(8 * HOUR);
    await complete(world, 'move');
    await complete(world, 'say');
    const events = world.events();
    const [first] = events;
    expect(new Set(events.map((e) => e.run_id)).size).toBe(1);
    expect(new Set(events.map((e) => e.workflow_id))).toEqual(new Set([`wf-1.${first?.run_id}`]));
    expect(events.at(-1)).toMatchObject({ event: 'COMPLETED', task_id: null, step_id: null });
    expect(world.tasks.schedules.get('s-1')?.lastRun).toMatchObject({
      state: 'COMPLETED',
      workflowId: first?.workflow_id,
    });
    await world.pass(24 * HOUR - MINUTE);
    await world.pass(MINUTE);
    expect(world.tasks.listWorkflows()).toHaveLength(2);
  });

  it('says that it was refused when the time comes, and goes on with the next one', async () => {
    const world = openScheduleWorld();
    world.addWorkflow([{ step_id: 'a', method: 'move', params: { to: '2' } }]);
    world.add({ schedule_id: 's-2' }, { target: { kind: 'task', method: 'say', params: {}, task: {} } });
    const gone = await world.restart({ methods: [] });
    await gone.pass(8 * HOUR);
    const told = gone.events().filter(({ event }) => event === 'FAILED');
    expect(told.map((e) => [e.schedule_id, e.reason_code, e.task_id])).toEqual([
      ['s-1', 'CAPABILITY_UNAVAILABLE', null],
      ['s-2', 'CAPABILITY_UNAVAILABLE', null],
    ]);
    expect(gone.tasks.schedules.get('s-2')).toMatchObject({
      state: 'ACTIVE',
      lastRun: { state: 'REFUSED', reason: 'UNKNOWN_METHOD' },
    });
  });
});

describe('a run whose time passed while nobody was there', () => {
  it('begins when it is within its grace, and only once', async () => {
    const before = openScheduleWorld();
    before.add();
    await before.quiet();
    before.clock.jump(8 * HOUR + 9 * MINUTE);
    const world = await before.restart();
    await world.pass(0);
    expect(world.begun()).toEqual([at8]);
    const again = await world.restart();
    await again.pass(5 * MINUTE);
    expect(again.tasks.listTasks()).toHaveLength(1);
  });

  it('is BLOCKED with MISSED_RUN_EXPIRED when its grace is over', async () => {
    const before = openScheduleWorld();
    before.add({ missed_run_grace_ms: 5 * MINUTE });
    await before.quiet();
    before.clock.jump(8 * HOUR + 6 * MINUTE);
    const world = await before.restart();
    await world.pass(MINUTE);
    expect(world.begun()).toEqual([]);
    expect(world.reports()).toEqual(['MISSED_RUN_EXPIRED 08:00']);
    const [event] = world.events();
    expect(event).toMatchObject({
      task_id: null,
      source: 'SCHEDULE',
      idempotency_key: `${event?.run_id}:BLOCKED:1:1`,
    });
    expect(world.tasks.schedules.get('s-1')).toMatchObject({
      nextAt: START_MS + 32 * HOUR,
      lastRun: { state: 'MISSED', reason: 'MISSED_RUN_EXPIRED' },
    });
  });

  it('is reported with its number when there were many', async () => {
    const before = openScheduleWorld();
    before.add({ cron: '*/5 * * * *' });
    before.add({ schedule_id: 's-2', cron: '* * * * *' });
    before.add({ schedule_id: 's-3', cron: '0 * * * *' });
    await before.quiet();
    before.clock.jump(10 * HOUR + 2_000);
    const world = await before.restart();
    await world.pass(0);
    const told = world.events().filter(({ event }) => event === 'BLOCKED');
    const expired = (id: string) =>
      told.filter((e) => e.schedule_id === id && e.reason_code === 'MISSED_RUN_EXPIRED');
    expect(expired('s-1').map(({ evidence }) => evidence)).toEqual([
      {
        missed: 118,
        first_scheduled_for: '2026-11-30T00:05:00.000+00:00',
        last_scheduled_for: '2026-11-30T09:50:00.000+00:00',
        missed_until: '2026-11-30T09:50:00.000+00:00',
      },
    ]);
    expect(expired('s-2')[0]?.evidence).toMatchObject({ missed_at_least: 500, last_scheduled_for: null });
    expect(expired('s-3')).toHaveLength(9);
  });
});

describe('a run that finds its queue occupied', () => {
  it('is BLOCKED with TASK_MANAGER_BUSY once, and begins as soon as what was in its way ended', async () => {
    const world = openScheduleWorld();
    world.add();
    world.submit('move', { timeoutMs: 20 * HOUR });
    await world.pass(8 * HOUR);
    await world.pass(2 * MINUTE);
    expect(world.reports()).toEqual(['TASK_MANAGER_BUSY 08:00']);
    expect(world.tasks.schedules.get('s-1')?.blocked).toMatchObject({ reason: 'TASK_MANAGER_BUSY' });
    expect(world.tasks.listTasks()).toHaveLength(1);
    await complete(world, 'move');
    await world.pass(200);
    expect(world.begun()).toEqual([at8]);
    expect(world.tasks.schedules.get('s-1')).toMatchObject({ blocked: null, nextAt: START_MS + 32 * HOUR });
  });

  it('is given up when its grace ends', async () => {
    const world = openScheduleWorld();
    world.add();
    world.submit('move', { timeoutMs: 20 * HOUR });
    await world.pass(8 * HOUR);
    await world.pass(11 * MINUTE);
    expect(world.reports()).toEqual(['TASK_MANAGER_BUSY 08:00', 'MISSED_RUN_EXPIRED 08:00']);
    const keys = world.events().map((e) => e.idempotency_key);
    expect(new Set(keys).size).toBe(keys.length);
    await complete(world, 'move');
    await world.pass(MINUTE);
    expect(world.begun()).toEqual([]);
  });

  it('is BLOCKED as well when the TaskManager is full, and for the first steps of a workflow', async () => {
    const world = openScheduleWorld({ taskLimits: { maxLive: 1 } });
    world.add({ schedule_id: 's-task' });
    world.addWorkflow([{ step_id: 'a', method: 'say' }], { schedule_id: 's-flow' });
    world.submit('say', { timeoutMs: 20 * HOUR });
    await world.pass(8 * HOUR);
    expect(world.reports()).toEqual(['TASK_MANAGER_BUSY 08:00', 'TASK_MANAGER_BUSY 08:00']);
    await complete(world, 'say');
    await world.pass(10_000);
    expect(world.begun()).toHaveLength(2);
  });

  it('goes on waiting after a restart, and keeps the run it has', async () => {
    const before = openScheduleWorld();
    before.add();
    before.submit('move', { timeoutMs: 20 * HOUR });
    await before.pass(8 * HOUR);
    const runId = before.tasks.schedules.get('s-1')?.blocked?.runId;
    const world = await before.restart();
    await world.pass(10_000);
    expect(world.reports()).toHaveLength(1);
    await complete(world, 'move');
    await world.pass(200);
    const begun = world.events().find((e) => e.event === 'STARTED' && e.schedule_id === 's-1');
    expect(begun?.run_id).toBe(runId);
  });
});

describe('a clock that is set', () => {
  it('forward over a time runs what is within its grace and reports the rest', async () => {
    const world = openScheduleWorld();
    world.add();
    world.add({ schedule_id: 's-2', cron: '0 5 * * *' });
    await world.setClock(START_MS + 8 * HOUR + 2 * MINUTE);
    expect(world.begun()).toEqual([at8]);
    expect(world.reports()).toEqual(['MISSED_RUN_EXPIRED 05:00']);
  });

  it('back runs nothing twice', async () => {
    const world = openScheduleWorld();
    world.add();
    await world.pass(8 * HOUR);
    await complete(world, 'move');
    await world.setClock(START_MS + 7 * HOUR);
    await world.pass(2 * HOUR);
    expect(world.begun()).toEqual([at8]);
    await world.pass(24 * HOUR - HOUR);
    expect(world.begun()).toHaveLength(2);
  });

  it('back while a run is blocked does not begin it before its time', async () => {
    const world = openScheduleWorld();
    world.add();
    world.submit('move', { timeoutMs: 20 * HOUR });
    await world.pass(8 * HOUR);
    await world.setClock(START_MS + 7 * HOUR);
    await complete(world, 'move');
    await world.pass(30 * MINUTE);
    expect(world.begun()).toEqual([]);
    await world.pass(30 * MINUTE);
    expect(world.begun()).toEqual([at8]);
  });
});

describe('pausing, resuming and removing', () => {
  it('runs nothing while paused, and nothing of that time afterwards', async () => {
    const world = openScheduleWorld();
    world.add({ cron: '0 * * * *' });
    world.tasks.schedules.pause('s-1', 'CLOUD');
    await world.pass(2 * HOUR + MINUTE);
    world.tasks.schedules.resume('s-1');
    await world.pass(58 * MINUTE);
    expect(world.events()).toEqual([]);
    await world.pass(MINUTE);
    expect(world.begun()).toEqual(['2026-11-30T03:00:00.000+00:00']);
  });

  it('ends a blocked run CANCELLED', async () => {
    const world = openScheduleWorld();
    world.add();
    world.submit('move', { timeoutMs: 20 * HOUR });
    await world.pass(8 * HOUR);
    world.tasks.schedules.remove('s-1', 'USER');
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({
      event: 'CANCELLED',
      reason_code: 'CANCELLED_BY_USER',
      schedule_id: 's-1',
      evidence: { stopped: true, never_started: true },
    });
    await complete(world, 'move');
    await world.pass(30 * HOUR);
    expect(world.begun()).toEqual([]);
    expect(world.tasks.schedules.get('s-1')).toBeNull();
  });

  it('tells what cannot be', () => {
    const world = openScheduleWorld();
    const { schedules } = world.tasks;
    world.add({ at: '2026-11-30T01:00:00Z' });
    expect(refusal(() => schedules.resume('s-1')).reason).toBe('ILLEGAL_STATE');
    schedules.pause('s-1', 'USER');
    expect(refusal(() => schedules.pause('s-1', 'USER')).reason).toBe('ILLEGAL_STATE');
    world.clock.jump(2 * HOUR);
    expect(refusal(() => schedules.resume('s-1')).message).toContain('its last time passed');
    expect(refusal(() => schedules.remove('s-2', 'USER')).reason).toBe('NOT_FOUND');
  });
});

describe('what is refused when it is made', () => {
  const cases: [string, Partial<ScheduleSpec>, string][] = [
    ['a zone that nobody knows', { timezone: 'Mars/Olympus' }, 'schedule.timezone'],
    ['a zone that is an offset', { timezone: '+09:00' }, 'schedule.timezone'],
    ['a pattern that cannot be read', { cron: '61 * * * *' }, 'schedule.cron'],
    ['a pattern with seconds', { cron: '0 0 8 * * *' }, 'schedule.cron'],
    ['a day that no year has', { cron: '0 0 31 2 *' }, 'schedule.cron'],
    ['a rule that cannot be read', { rrule: 'FREQ=SOMETIMES' }, 'schedule.rrule'],
    ['a rule that is over', { rrule: 'FREQ=DAILY;UNTIL=20200101T000000Z' }, 'schedule.rrule'],
    ['a time that has passed', { at: '2026-11-29T08:00:00Z' }, 'schedule.at'],
    ['a time without an offset', { at: '2026-12-29T08:00:00' }, 'schedule.at'],
  ];
  it.each(cases)('%s', (_what, schedule, field) => {
    const world = openScheduleWorld();
    const found = refusal(() => world.add(schedule));
    expect(found).toMatchObject({ reason: 'INVALID_PARAMS', field });
    expect(found.message).toMatch(/^schedule\.\w+: found .+; /);
    expect(world.tasks.schedules.list(10)).toEqual([]);
  });

  it('an id that is there already, a room that is not, and a workflow that could not run', () => {
    const world = openScheduleWorld();
    world.add();
    expect(refusal(() => world.add()).field).toBe('schedule.schedule_id');
    const target = { kind: 'task', method: 'move', params: { to: 'nowhere' }, task: {} } as const;
    expect(refusal(() => world.add({ schedule_id: 's-2' }, { target })).reason).toBe('UNKNOWN_TARGET');
    const steps = [{ step_id: 'a', method: 'move', depends_on: ['b'] }];
    expect(refusal(() => world.addWorkflow(steps, { schedule_id: 's-3' })).message).toContain('no such step');
  });
});

describe('before the robot knows the time', () => {
  it('nothing is due, and what came due meanwhile runs once the time is trusted', async () => {
    let trusted = false;
    const world = openScheduleWorld({ clockTrusted: () => trusted });
    world.add();
    await world.pass(8 * HOUR + MINUTE);
    expect(world.events()).toEqual([]);
    trusted = true;
    world.tasks.clockTrustChanged();
    await world.pass(0);
    expect(world.begun()).toEqual([at8]);
  });
});
