/** A schedule begins a real cleaning; the daemon ends and comes back before its time and in the middle of it. */
import { describe, expect, it } from 'vitest';
import { inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

const ROUND = {
  workflow_id: 'bedroom',
  steps: [
    { method: 'undock' },
    { method: 'setMoveTo', params: { positionName: '거실' } },
    { method: 'startCleaning', params: { mode: 'auto', cleanMinTimeMs: 10_000 } },
    { method: 'returnToStation' },
  ].map((step, i) => ({ ...step, step_id: `s${i}`, depends_on: i === 0 ? [] : [`s${i - 1}`] })),
};

describe('a schedule', () => {
  it('cleans once, whatever is switched off and on meanwhile, and tells whose run it was', () =>
    inHome({}, async ({ home, witness }) => {
      const at = new Date(home.session.clock.now() + 20_000).toISOString();
      const added = await home.command({
        kind: 'schedule_workflow',
        schedule: { schedule_id: 'evening', at, timezone: 'Asia/Seoul' },
        workflow: ROUND,
      });
      expect(added).toMatchObject({ status: 'accepted', schedule_id: 'evening' });
      await home.run(1_000);
      home.killDaemon();
      await home.run(2_000);
      await home.startDaemon();
      expect(home.world.docked).toBe(true);
      await home.until(() => witness.diary.travelled(0) > 1, 60_000, 'the robot is on its way');
      expect(turning(witness.diary.now)).toBe(true);
      home.killDaemon();
      await home.run(3_000);
      await home.startDaemon();
      const ended = () =>
        witness.events.find((e) => e.event === 'COMPLETED' && e.task_id === null && e.step_id === null);
      await home.until(() => ended() !== undefined, 300_000, 'the end of the run');
      expect(home.world.docked).toBe(true);
      const run = witness.events.filter((e) => e.schedule_id === 'evening');
      expect(new Set(run.map((e) => `${e.run_id} ${e.workflow_id}`)).size).toBe(1);
      expect(ended()).toMatchObject({ source: 'SCHEDULE', workflow_id: `bedroom.${run[0]?.run_id}` });
      const list = await home.command({ kind: 'query', method: 'listSchedules', params: {} });
      expect(list.result).toMatchObject({
        schedules: [{ schedule_id: 'evening', state: 'ENDED', last_run: { state: 'COMPLETED' } }],
      });
    }));

  it("follows the robot's clock when that is set: ahead of its time it runs late, far ahead it is told as missed", () =>
    inHome({}, async ({ home, witness }) => {
      const add = (schedule_id: string, inMs: number) =>
        home.command({
          kind: 'schedule_task',
          schedule: {
            schedule_id,
            at: new Date(home.session.clock.now() + inMs).toISOString(),
            timezone: 'UTC',
          },
          method: 'setLlmTts',
          params: { text: '안녕하세요' },
        });
      await add('soon', 55 * 60_000);
      await add('sooner', 20 * 60_000);
      await home.inject('clock', '+3600');
      await home.run(40_000);
      const of = (id: string) => witness.events.filter((e) => e.schedule_id === id);
      expect(of('soon').map(({ event }) => event)).toEqual(['STARTED', 'COMPLETED']);
      expect(of('sooner').map((e) => [e.event, e.reason_code])).toEqual([['BLOCKED', 'MISSED_RUN_EXPIRED']]);
      await home.inject('clock', '-3600');
      await home.run(40_000);
      expect(of('soon')).toHaveLength(2);
    }));

  it('waits while the robot does not know the time, and runs late once it does', () => {
    let synchronised = true;
    const hostTime = async () => ({ synchronised, rtc: false });
    return inHome({ hostTime }, async ({ home, witness }) => {
      const say = { method: 'setLlmTts', params: { text: '안녕하세요' } };
      const at = new Date(home.session.clock.now() + 20_000).toISOString();
      const schedule = { schedule_id: 'hello', at, timezone: 'UTC' };
      expect((await home.command({ kind: 'schedule_task', schedule, ...say })).status).toBe('accepted');
      synchronised = false;
      await home.restartDaemon();
      await home.run(60_000);
      expect(await home.command({ kind: 'task', task: {}, ...say })).toMatchObject({
        status: 'rejected',
        reason_code: 'CLOCK_UNTRUSTED',
      });
      const of = () => witness.events.filter((e) => e.schedule_id === 'hello');
      expect(of()).toEqual([]);
      synchronised = true;
      await home.until(() => of().length === 2, 40_000, 'the run of the schedule');
      expect(of().map(({ event }) => event)).toEqual(['STARTED', 'COMPLETED']);
    });
  });
});
