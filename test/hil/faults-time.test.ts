/** Clocks that are set, commands that come together, air that turns bad: the rest of what happens in the middle of a job. */
import { describe, expect, it } from 'vitest';
import { closeHome, contextOf, expectCleanLane, inHome, openHome } from './support/in-home.js';
import { turning } from './support/truth.js';
import type { SeenEvent } from './support/witness.js';

const GOAL = '거실로 갔다가 안방으로 이동해서 청정해줘';

describe("the robot's clock", () => {
  it.each([
    ['an hour ahead', '+3600'],
    ['an hour back', '-3600'],
  ])('set %s in the middle of a drive and again while purifying changes nothing about the job', (_name, by) =>
    inHome({}, async ({ home, witness }) => {
      const { document } = await home.goal(GOAL);
      await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
      await home.inject('clock', by);
      await home.run(300);
      expect(turning(witness.diary.now)).toBe(true);
      await home.until(() => home.world.fan.rpm > 1_000, 120_000, 'the fan turns');
      await home.run(10_000);
      await home.inject('clock', by);
      const from = home.world.timeMs;
      const end = await witness.end(document.workflow_id, 360_000);
      expect(end).toMatchObject({ event: 'COMPLETED' });
      expect(home.world.timeMs - from).toBeGreaterThan(45_000);
      expect(home.world.timeMs).toBeLessThan(360_000);
      const cleaned = witness.events.find((e) => e.event === 'COMPLETED' && e.step_id === 's4');
      const ran = witness.diary.between(0).filter((page) => page.rpm > 1_200).length * 15;
      expect(ran).toBeGreaterThanOrEqual(60_000);
      expect(Number(cleaned?.evidence?.duration_ms)).toBeLessThanOrEqual(ran + 5_000);
      expect(witness.diary.collisions).toBe(0);
    }),
  );

  it('set an hour back while a move waits behind an obstacle does not make it wait an hour', () =>
    inHome({}, async ({ home, witness }) => {
      const task = await home.task('setMoveTo', { positionName: '안방' });
      await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
      home.session.world.visitors.addPerson({ x: 3.4, y: 3.9 });
      await home.run(4_000);
      await home.until(() => !turning(witness.diary.now), 20_000, 'it waits');
      expect(witness.progress.at(-1)?.domain_stage).toBe('navigation.avoiding');
      await home.inject('clock', '-3600');
      await home.inject('remove-person');
      const end = await witness.end(task, 90_000);
      expect(end).toMatchObject({ event: 'COMPLETED' });
    }));
});

describe('commands that come at once', () => {
  const startsAndEnds = (events: SeenEvent[], ids: (string | null)[]) =>
    events
      .filter((e) => e.topic === 'events/task' && ids.includes(e.task_id) && e.event !== 'PROGRESS')
      .map((e) => `${e.event} ${ids.indexOf(e.task_id)}`);

  it('are carried out one after the other, by priority and then by age, each to its end', () =>
    inHome({}, async ({ home, witness }) => {
      const send = (positionName: string, priority?: number) =>
        home.cloud.sendCommand({
          kind: 'task',
          method: 'setMoveTo',
          params: { positionName },
          task: priority === undefined ? {} : { priority },
        });
      const asked = Promise.all([send('거실'), send('현관'), send('주방', 70), send('거실')]);
      const answers = await home.settled(asked, 10_000, 'all answers');
      const ids = answers.map((answer) => answer.task_id);
      for (const answer of answers) expect(answer).toMatchObject({ status: 'accepted' });
      for (const id of ids) expect((await witness.end(id ?? '', 400_000)).event).toBe('COMPLETED');
      expect(startsAndEnds(witness.events, ids)).toEqual(
        [0, 2, 1, 3].flatMap((i) => [`STARTED ${i}`, `COMPLETED ${i}`]),
      );
      const rooms = [0, 2, 1, 3].map((i) => witness.ended(ids[i] ?? '')?.truth.room);
      expect(rooms).toEqual(['2', '3', '1', '2']);
    }));

  it('and must start at once are refused RESOURCE_BUSY while the wheels are taken; a preempting one takes them', () =>
    inHome({}, async ({ home, witness }) => {
      const first = await home.task('setMoveTo', { positionName: '안방' });
      await home.until(() => witness.diary.travelled(0) > 1.5, 60_000, 'the robot is on its way');
      const at = { kind: 'task', method: 'setMoveTo', params: { positionName: '거실' } };
      expect(await home.command({ ...at, task: { executionMode: 'IMMEDIATE' } })).toMatchObject({
        status: 'rejected',
        reason_code: 'RESOURCE_BUSY',
      });
      expect(
        await home.command({ kind: 'legacy', method: 'setMoveTo', params: { positionName: '거실' } }),
      ).toMatchObject({
        status: 'rejected',
        reason_code: 'RESOURCE_BUSY',
        legacy: true,
      });
      const second = await home.task(
        'setMoveTo',
        { positionName: '거실' },
        { priority: 80, preemptPolicy: 'PREEMPT_LOWER' },
      );
      const end = await witness.end(second);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '2' } });
      expect(witness.endsOf(first)).toEqual([]);
      expect(await witness.end(first)).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
    }));

  it('by the legacy path reach the same methods: one task, one end, marked legacy', () =>
    inHome({}, async ({ home, witness }) => {
      const forms = [
        { kind: 'legacy', method: 'setMoveTo', params: { positionName: '거실' } },
        { kind: 'task', method: 'setMoveTo', params: { positionName: '현관' } },
        { kind: 'task', method: 'returnToStation', params: {}, task: { managed: false } },
      ];
      for (const form of forms) {
        const answer = await home.command(form);
        expect(answer).toMatchObject({ status: 'accepted', legacy: true });
        const end = await witness.end(answer.task_id ?? '');
        expect(end).toMatchObject({ event: 'COMPLETED', legacy: true, method: form.method });
        expect(witness.endsOf(answer.task_id ?? '')).toEqual(['COMPLETED']);
      }
      expect(home.world.docked).toBe(true);
    }));

  it('as a dry run are judged and end COMPLETED without a byte to the base, the fan or the speaker', () =>
    inHome({}, async ({ home, witness }) => {
      const bytes = () => [
        home.session.devices.base.received.length,
        home.session.devices.fan.last('write_register'),
      ];
      const before = bytes();
      const from = home.world.timeMs;
      for (const [method, params] of [
        ['setMoveTo', { positionName: '안방' }],
        ['undock', {}],
        ['startCleaning', {}],
        ['setLlmTts', { text: '안녕' }],
      ] as const) {
        const end = await witness.end(await home.task(method, params, { dryRun: true }));
        expect(end).toMatchObject({ event: 'COMPLETED', evidence: { dry_run: true } });
      }
      const refused = await home.command({
        kind: 'task',
        method: 'setMoveTo',
        params: { positionName: '서재' },
        task: { dryRun: true },
      });
      expect(refused).toMatchObject({ status: 'rejected', reason_code: 'UNKNOWN_TARGET' });
      expect(home.wheelCommands(from)).toEqual([]);
      expect(bytes()).toEqual(before);
      expect(witness.diary.travelled(from)).toBe(0);
    }));
});

describe('a move while the fan runs', () => {
  it('waits for the fan to stand before it drives; the cleaning goes on if it is still in its room', () =>
    inHome({}, async ({ home, witness }) => {
      const cleaning = await home.task('startCleaning', { cleanMinTimeMs: 120_000 });
      await home.until(() => home.world.fan.rpm > 1_000, 20_000, 'the fan turns');
      const move = await home.task('setMoveTo', { positionName: '거실' });
      await home.until(() => witness.diary.travelled(0) > 0.05, 60_000, 'the robot moves');
      expect(home.world.fan.rpm).toBe(0);
      expect((await witness.end(move)).event).toBe('COMPLETED');
      expect(witness.diary.now.room).toBe('2');
      expect((await witness.end(cleaning)).event).toBe('COMPLETED');
      expect(witness.diary.between(0).some((page) => page.rpm > 0 && turning(page))).toBe(false);
    }));
});

describe('air', () => {
  it('that turns bad while purifying is purified harder and longer, until it is good', async () => {
    const place = await openHome();
    const { home, witness } = place;
    const task = await home.task('startCleaning', { cleanMinTimeMs: 30_000, untilGrade: 'good' });
    await home.run(15_000);
    const calm = home.world.fan.setPointPercent;
    await home.inject('dirty-air', '거실', '38');
    await home.run(20_000);
    expect(home.world.fan.setPointPercent).toBeGreaterThan(calm);
    expect(witness.ended(task)).toBeNull();
    const end = await witness.end(task, 1_500_000);
    expect(end).toMatchObject({ event: 'COMPLETED', evidence: { grade_reached: true, rpm: 0 } });
    expect(home.world.airByRoom['2']?.pm2_5).toBeLessThan(16);
    const { air_quality } = await contextOf(home);
    expect(air_quality).toMatchObject({ usable: true, grade: 'good' });
    const told = () => witness.events.filter((e) => e.event === 'air.qualityChanged').length;
    await home.until(() => told() >= 2, 120_000, 'the cloud hears that the air was bad and is good again');
    expectCleanLane(place);
    await closeHome(place);
  });
});
