/** Stopping: by a cancelled task, a stop, an emergency stop, a pause; each is over only when the wheels are. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeHome, expectCleanLane, type InHome, openHome } from './support/in-home.js';
import { turning } from './support/truth.js';

/** From a command at the broker to wheels that stand still: deceleration from full speed and one control cycle. */
const STOP_MS = 1500;
/** An emergency stop cuts the drive; what is left is the wheels' own run-down. */
const CUT_MS = 400;

it('an emergency stop ends at once whatever holds the wheels, also while it only waits', async () => {
  const place = await openHome();
  const { home, witness } = place;
  await home.inject('block-lidar', '360');
  await home.run(5_000);
  const task = await home.task('relocalizeAtStation');
  await home.run(1_500);
  expect(witness.endsOf(task)).toEqual([]);
  const from = home.world.timeMs;
  await home.command({ kind: 'control', method: 'emergencyStop', params: {} });
  const end = await witness.end(task);
  expect(end).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
  expect(end.truth.timeMs - from).toBeLessThan(1_000);
  expectCleanLane(place);
  await closeHome(place);
});

describe('a robot on its way', () => {
  let place: InHome;
  let move: string;
  beforeEach(async () => {
    place = await openHome();
    move = await place.home.task('setMoveTo', { positionName: '안방' });
    await place.home.until(() => place.witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
    expect(turning(place.witness.diary.now)).toBe(true);
  });
  afterEach(async () => {
    const ends = place.witness.endsOf(move);
    expectCleanLane(place);
    await closeHome(place);
    expect(ends.length).toBeLessThan(2);
  });

  /** World time at which the wheels came to rest after `fromMs`. */
  const restAfter = async (fromMs: number): Promise<number> => {
    await place.home.until(() => !turning(place.witness.diary.now), 5_000, 'the wheels stand still');
    await place.home.run(1_000);
    const still = place.witness.diary.stillSince();
    if (still === null) throw new Error('the wheels turn again');
    return still - fromMs;
  };
  const control = (method: string, params: object = {}) =>
    place.home.command({ kind: 'control', method, params });

  it('ends CANCELLED only after the wheels have stopped', async () => {
    const { home, witness } = place;
    const from = home.world.timeMs;
    expect(await control('cancelTask', { task_id: move })).toMatchObject({ status: 'accepted' });
    const end = await witness.end(move);
    expect(end).toMatchObject({
      event: 'CANCELLED',
      reason_code: 'CANCELLED_BY_CLOUD',
      evidence: { stopped: true },
    });
    expect(turning(end.truth)).toBe(false);
    expect(await restAfter(from)).toBeLessThan(STOP_MS);
    expect(witness.diary.collisions).toBe(0);
  });

  it('takes a cancel twice without a second end, and says that it is over', async () => {
    const { witness } = place;
    await control('cancelTask', { task_id: move });
    await control('cancelTask', { task_id: move });
    await witness.end(move);
    expect(await control('cancelTask', { task_id: move })).toMatchObject({
      status: 'rejected',
      reason_code: 'ILLEGAL_STATE',
    });
    expect(witness.endsOf(move)).toEqual(['CANCELLED']);
  });

  it('stops for stopMove, which is done only once the wheels are at rest', async () => {
    const { home, witness } = place;
    const from = home.world.timeMs;
    const stop = await home.task('stopMove');
    const stopped = await witness.end(stop);
    expect(stopped).toMatchObject({
      event: 'COMPLETED',
      evidence: { completion_target: 'movement.stopped' },
    });
    expect(turning(stopped.truth)).toBe(false);
    expect(await restAfter(from)).toBeLessThan(STOP_MS);
    expect((await witness.end(move)).event).toBe('CANCELLED');
  });

  it('cuts the drive for an emergency stop, latches, and refuses to move until somebody releases it there', async () => {
    const { home, witness } = place;
    const from = home.world.timeMs;
    expect(await control('emergencyStop')).toMatchObject({ status: 'accepted' });
    expect(await restAfter(from)).toBeLessThan(CUT_MS);
    expect(await witness.end(move)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });

    const again = home.world.timeMs;
    const refused = await home.command({
      kind: 'task',
      method: 'setMoveTo',
      params: { positionName: '거실' },
      task: {},
    });
    expect(refused).toMatchObject({ status: 'rejected', reason_code: 'EMERGENCY_STOP' });
    for (const method of ['releaseEmergencyStop', 'releaseEstop']) {
      expect((await control(method)).status).toBe('rejected');
    }
    await home.run(3_000);
    expect(witness.diary.travelled(again)).toBe(0);

    await home.daemon.runtime.releaseEstop('console');
    const later = await witness.end(await home.task('setMoveTo', { positionName: '거실' }));
    expect(later.event).toBe('COMPLETED');
  });

  it.each([
    ['a time stamp of last year', { issued_at: '2025-11-30T09:00:00+09:00' }],
    ['a time stamp without an offset', { issued_at: '2026-11-30T09:00:00' }],
    ['no time stamp at all', { issued_at: undefined }],
    ['a field nobody knows', { urgency: 'very' }],
    ['a source in the payload', { source: 'LOCAL' }],
    ['an id that is none', { command_id: '?? ??' }],
    ['a wrong reply_to', { reply_to: 'elsewhere/response' }],
    ['params that are none', { params: 'now' }],
  ])('cuts the drive for an emergency stop with %s, and answers once', async (_name, fields) => {
    const { home, witness } = place;
    const from = home.world.timeMs;
    await witness.ask(witness.envelope({ kind: 'control', method: 'emergencyStop', params: {}, ...fields }));
    expect(await restAfter(from)).toBeLessThan(CUT_MS + 300);
    expect(await witness.end(move)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
  });

  it('cuts the drive for an emergency stop whose id was used before, as a repeat and with another body', async () => {
    const { home, witness } = place;
    const first = witness.envelope({ kind: 'control', method: 'emergencyStop', params: {} });
    await witness.ask(first);
    await witness.end(move);
    for (const repeat of [first, { ...first, params: { why: 'again' } }]) {
      await home.daemon.runtime.releaseEstop('console');
      const next = await home.task('setMoveTo', { positionName: '거실' });
      const moved = home.world.timeMs;
      await home.until(() => witness.diary.travelled(moved) > 0.3, 30_000, 'the robot moves again');
      const from = home.world.timeMs;
      await witness.ask(repeat);
      expect(await restAfter(from)).toBeLessThan(CUT_MS + 300);
      expect(await witness.end(next)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
    }
  });

  it('cuts the drive when the button on the robot is pressed', async () => {
    const { home, witness } = place;
    const from = home.world.timeMs;
    await home.inject('estop');
    expect(await restAfter(from)).toBeLessThan(CUT_MS);
    expect(await witness.end(move)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
    await home.run(1_000);
    await home.daemon.runtime.releaseEstop('console');
    expect((await witness.end(await home.task('returnToStation'))).event).toBe('COMPLETED');
  });

  it('stands still while paused, however long, and then goes on to where it was going', async () => {
    const { home, witness } = place;
    const from = home.world.timeMs;
    const paused = await witness.end(await home.task('pauseMove'));
    expect(paused).toMatchObject({ event: 'COMPLETED', evidence: { completion_target: 'movement.paused' } });
    expect(turning(paused.truth)).toBe(false);
    expect(await restAfter(from)).toBeLessThan(STOP_MS);
    const still = home.world.timeMs;
    await home.run(30_000);
    expect(witness.diary.travelled(still)).toBe(0);
    expect(witness.ended(move)).toBeNull();
    const resumed = await witness.end(await home.task('resumeMove'));
    expect(resumed).toMatchObject({
      event: 'COMPLETED',
      evidence: { completion_target: 'movement.resumed' },
    });
    const end = await witness.end(move);
    expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
    expect(end.truth.room).toBe('4');
  });
});

describe('a workflow', () => {
  it('that is cancelled stops the running step, and none of the later ones begins', async () => {
    const place = await openHome();
    const { home, witness } = place;
    const { document } = await home.goal('거실로 갔다가 안방으로 이동해서 청정해줘');
    await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
    const from = home.world.timeMs;
    const params = { workflow_id: document.workflow_id };
    expect(await home.command({ kind: 'control', method: 'cancelWorkflow', params })).toMatchObject({
      status: 'accepted',
    });
    const end = await witness.end(document.workflow_id);
    expect(end).toMatchObject({ event: 'CANCELLED', reason_code: 'CANCELLED_BY_CLOUD' });
    expect(turning(end.truth)).toBe(false);
    expect(end.truth.timeMs - from).toBeLessThan(3_000);
    await home.run(20_000);
    const began = witness.events.filter((e) => e.event === 'STARTED').map((e) => e.method);
    expect(began).toEqual(['undock', 'setMoveTo']);
    expect(witness.diary.travelled(end.truth.timeMs)).toBe(0);
    expect(witness.diary.between(0).every((page) => page.rpm === 0)).toBe(true);
    expectCleanLane(place);
    await closeHome(place);
  });

  it('that is paused finishes its running step, begins none, and goes on when it is resumed', async () => {
    const place = await openHome();
    const { home, witness } = place;
    const steps = [
      { step_id: 'a', method: 'setMoveTo', params: { positionName: '거실' }, depends_on: [] },
      { step_id: 'b', method: 'setMoveTo', params: { positionName: '현관' }, depends_on: ['a'] },
    ];
    const workflow = { workflow_id: 'wf-pause', steps };
    expect(await home.command({ kind: 'workflow', workflow })).toMatchObject({ status: 'accepted' });
    await home.until(() => witness.diary.travelled(0) > 1, 60_000, 'the robot is on its way');
    const params = { workflow_id: 'wf-pause' };
    await home.command({ kind: 'control', method: 'pauseWorkflow', params });
    await home.until(
      () => witness.events.some((e) => e.event === 'COMPLETED' && e.step_id === 'a'),
      60_000,
      'a',
    );
    const arrived = home.world.timeMs;
    await home.run(15_000);
    expect(witness.diary.travelled(arrived)).toBeLessThan(0.01);
    expect(witness.progress.map((e) => e.domain_stage)).toContain('paused');
    await home.command({ kind: 'control', method: 'resumeWorkflow', params });
    expect((await witness.end('wf-pause')).event).toBe('COMPLETED');
    expect(home.world.room).toBe('1');
    expectCleanLane(place);
    await closeHome(place);
  });
});

it('a move that takes longer than it was given ends FAILED TIMEOUT, after it has stopped', async () => {
  const place = await openHome();
  const { home, witness } = place;
  const task = await home.task('setMoveTo', { positionName: '안방' }, { timeoutMs: 12_000 });
  const end = await witness.end(task);
  expect(end).toMatchObject({ event: 'FAILED', reason_code: 'TIMEOUT' });
  expect(turning(end.truth)).toBe(false);
  expect(end.truth.timeMs).toBeGreaterThan(12_000);
  expect(end.truth.timeMs).toBeLessThan(18_000);
  await home.run(2_000);
  expect(witness.diary.travelled(end.truth.timeMs)).toBe(0);
  expectCleanLane(place);
  await closeHome(place);
});

it('a cleaning that is cancelled ends only with the fan at rest', async () => {
  const place = await openHome();
  const { home, witness } = place;
  const task = await home.task('startCleaning');
  await home.until(() => home.world.fan.rpm > 500, 20_000, 'the fan turns');
  await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: task } });
  const end = await witness.end(task);
  expect(end).toMatchObject({ event: 'CANCELLED', evidence: { stopped: true } });
  expect(end.truth.rpm).toBe(0);
  expectCleanLane(place);
  await closeHome(place);
});
