/** Tasks that are paused: on request, by something more urgent, over a restart; and a stop that nobody can prove. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { VirtualSpeaker } from '../../drivers/audio/virtual-speaker.js';
import { type InHome, inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

const control = ({ home }: InHome, method: string, taskId: string) =>
  home.command({ kind: 'control', method, params: { task_id: taskId } });
const stateOf = ({ home }: InHome, taskId: string) => home.daemon.runtime.tasks.getTask(taskId)?.state;
const stages = ({ witness }: InHome, taskId: string) =>
  witness.progress
    .filter((event) => event.task_id === taskId && /^(paused|resumed)$/.test(event.domain_stage ?? ''))
    .map((event) => event.domain_stage);

async function onTheWay(place: InHome, task: string): Promise<void> {
  await place.home.until(() => place.witness.diary.travelled(0) > 1.5, 60_000, 'the robot is on its way');
  expect(place.witness.ended(task)).toBeNull();
}

describe('a journey that is paused', () => {
  it('stands still, gives the wheels to others, and goes on to the goals that are left', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await home.task('setMoveTo', { positionIds: ['2', '3'] });
      await home.until(() => witness.diary.now.room === '3', 120_000, 'the robot is past its first room');
      expect(await control(place, 'pauseTask', task)).toMatchObject({ status: 'accepted', task_id: task });
      await home.until(() => stateOf(place, task) === 'PAUSED', 10_000, 'it is paused');
      expect(turning(witness.diary.now)).toBe(false);
      const from = home.world.timeMs;
      await home.run(20_000);
      expect(witness.diary.travelled(from)).toBe(0);
      const other = await home.task('rotate', { angleDeg: 90 });
      expect(await witness.end(other)).toMatchObject({ event: 'COMPLETED' });
      expect(await control(place, 'resumeTask', task)).toMatchObject({ status: 'accepted' });
      expect(await witness.end(task)).toMatchObject({
        event: 'COMPLETED',
        evidence: { area_id: '3', visited: ['2', '3'] },
      });
      expect(stages(place, task)).toEqual(['paused', 'resumed']);
    }));

  it('is still paused after the computer was gone, and goes on when it is resumed', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await home.task('setMoveTo', { positionName: '안방' });
      await onTheWay(place, task);
      await control(place, 'pauseTask', task);
      await home.until(() => stateOf(place, task) === 'PAUSED', 10_000, 'it is paused');
      home.killDaemon();
      await home.run(1_000);
      await home.startDaemon();
      const from = home.world.timeMs;
      await home.run(5_000);
      expect(stateOf(place, task)).toBe('PAUSED');
      expect(witness.diary.travelled(from)).toBeLessThan(0.01);
      await control(place, 'resumeTask', task);
      expect(await witness.end(task)).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
      expect(witness.endsOf(task)).toEqual(['COMPLETED']);
    }));

  it('does not drive off by itself after an emergency stop', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await home.task('setMoveTo', { positionName: '안방' });
      await onTheWay(place, task);
      await control(place, 'pauseTask', task);
      await home.until(() => stateOf(place, task) === 'PAUSED', 10_000, 'it is paused');
      await home.command({ kind: 'control', method: 'emergencyStop', params: {} });
      expect(await witness.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
    }));
});

describe('a cleaning that a drive takes the place of', () => {
  it('ends CANCELLED PREEMPTED when the robot is in another room afterwards', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const cleaning = await home.task('startCleaning', { cleanMinTimeMs: 120_000 });
      await home.until(() => home.world.fan.rpm > 1_000, 20_000, 'the fan turns');
      const move = await home.task('setMoveTo', { positionName: '안방' });
      expect((await witness.end(move)).event).toBe('COMPLETED');
      expect(await witness.end(cleaning)).toMatchObject({
        event: 'CANCELLED',
        reason_code: 'PREEMPTED',
        evidence: { stopped: true, rpm: 0 },
      });
      await home.run(10_000);
      expect(home.world.fan.rpm).toBe(0);
    }));
});

describe('a person at home', () => {
  it('who asks for something gets it before the cloud, whose journey goes on afterwards', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await home.task('setMoveTo', { positionName: '안방' });
      await onTheWay(place, task);
      const asked = home.daemon.runtime.intake.handle(
        {
          command_id: 'person-1',
          issued_at: new Date(home.session.clock.wall()).toISOString(),
          kind: 'task',
          method: 'setMoveTo',
          params: { positionName: '거실' },
          task: {},
        },
        { source: 'VOICE', name: 'somebody' },
      );
      expect(asked).toMatchObject({ status: 'accepted' });
      const mine = asked.task_id ?? '';
      expect(await witness.end(mine)).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '2' } });
      expect(witness.ended(task)).toBeNull();
      expect(await witness.end(task)).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
    }));
});

describe('a stop that is not proven', () => {
  afterEach(() => vi.restoreAllMocks());

  it('cuts the drive of the whole robot, and the task ends FAILED HARDWARE_FAULT', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      // A speaker that neither ends nor falls silent.
      vi.spyOn(VirtualSpeaker.prototype, 'speak').mockReturnValue(new Promise(() => undefined));
      vi.spyOn(VirtualSpeaker.prototype, 'stop').mockReturnValue(new Promise(() => undefined));
      const move = await home.task('setMoveTo', { positionName: '안방' });
      await onTheWay(place, move);
      const speech = await home.task('setLlmTts', { text: '안녕하세요' });
      await control(place, 'cancelTask', speech);
      expect(await witness.end(speech)).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(await witness.end(move)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
      await home.run(500);
      expect(turning(witness.diary.now)).toBe(false);
      expect(home.daemon.runtime.amr.state()?.safety.estop.latched).toBe(true);
    }));
});

describe('a fencing token', () => {
  it('that a preemption or a restart made old is refused by the motion process', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const spin = { kind: 'spin', angle: 1, tolerance: 0.1 } as const;
      const fence = () =>
        home.daemon.runtime.tasks.leases().find(({ resource }) => resource === 'motion')?.fence ?? 0;
      const first = await home.task('setMoveTo', { positionName: '안방' });
      await onTheWay(place, first);
      const old = fence();
      const urgent = { priority: 80, preemptPolicy: 'PREEMPT_LOWER' };
      const second = await home.task('rotate', { angleDeg: 90 }, urgent);
      await home.until(() => fence() > old && home.wheelsTurn, 20_000, 'the other one turns');
      const late = (token: number) => home.daemon.runtime.amr.start('late', spin, token);
      await expect(home.settled(late(old), 5_000, 'an answer')).rejects.toMatchObject({
        reason: 'RESOURCE_BUSY',
        message: expect.stringContaining('older'),
      });
      await witness.end(second);
      home.killDaemon();
      await home.run(1_000);
      await home.startDaemon();
      const again = await home.task('rotate', { angleDeg: 45 }, urgent);
      await home.until(() => stateOf(place, again) === 'STARTED' && home.wheelsTurn, 30_000, 'it turns');
      await expect(home.settled(late(old + 1), 5_000, 'an answer')).rejects.toMatchObject({
        reason: 'RESOURCE_BUSY',
      });
      await witness.end(again);
      expect(home.daemon.runtime.counters().stale_fences).toBe(1);
    }));
});
