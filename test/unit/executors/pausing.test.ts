import { describe, expect, it } from 'vitest';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import { type TestRun, testRobot } from '../../support/services.js';

type Robot = ReturnType<typeof testRobot>;

/** Stops a run as a pause does, and gives what its method wants to go on with, as the store gives it back. */
async function pause(
  robot: Robot,
  name: string,
  run: TestRun,
  carried: Record<string, unknown> | null = null,
) {
  run.signal.abort();
  await robot.clock.advanceAsync(10_000);
  expect(run.error).toBeInstanceOf(StoppedWithProof);
  const taskId = `t-${name}`;
  const context = { taskId, params: {}, nowMs: robot.clock.now(), carried };
  const kept = robot.method(name).pause?.carry(context) ?? null;
  return JSON.parse(JSON.stringify(kept));
}

describe('a journey over several rooms', () => {
  const params = { positionIds: ['2', '3', '1'] };

  it('goes on at the goal that was next, and knows which rooms were visited before', async () => {
    const robot = testRobot({ pose: { x: 2, y: 0, theta: 0 } });
    const first = robot.start('setMoveTo', params);
    await robot.clock.advanceAsync(17_000);
    const carried = await pause(robot, 'setMoveTo', first);
    expect(carried).toMatchObject({ index: 1, visited: ['2'], held: false });
    expect(robot.amr.moving).toBe(false);
    // Something else drives in between.
    robot.start('setMoveTo', { areaId: '1' }, 't-other');
    await robot.clock.advanceAsync(60_000);
    const second = robot.start('setMoveTo', params, 't-setMoveTo', carried);
    await robot.clock.advanceAsync(120_000);
    expect(second.result).toMatchObject({ evidence: { visited: ['2', '3', '1'] }, output: { area_id: '1' } });
  });

  it('keeps what it carried when it is paused again before it drove on', async () => {
    const robot = testRobot({ docked: true });
    const carried = { index: 2, visited: ['2', '3'], held: false };
    const run = robot.start('setMoveTo', params, 't-setMoveTo', carried);
    await robot.clock.advanceAsync(500);
    expect(run.stages).toEqual(['docking.undocking']);
    expect(await pause(robot, 'setMoveTo', run, carried)).toEqual(carried);
  });

  it('that was held by pauseMove is held when it goes on, until resumeMove', async () => {
    const robot = testRobot({ pose: { x: 2, y: 0, theta: 0 } });
    const first = robot.start('setMoveTo', { areaId: '3' });
    await robot.clock.advanceAsync(3_000);
    robot.start('pauseMove');
    await robot.clock.advanceAsync(5_000);
    const carried = await pause(robot, 'setMoveTo', first);
    const second = robot.start('setMoveTo', { areaId: '3' }, 't-setMoveTo', carried);
    await robot.clock.advanceAsync(60_000);
    expect(second.done).toBe(false);
    robot.start('resumeMove');
    await robot.clock.advanceAsync(90_000);
    expect(second.result).toMatchObject({ output: { area_id: '3' } });
  });
});

describe('a cleaning', () => {
  it('runs the rest of its dwell, and reports the air from before its first run', async () => {
    const robot = testRobot({ pose: { x: 6, y: 0, theta: 0 } });
    const params = { cleanMinTimeMs: 60_000 };
    robot.air.pm2_5 = 90;
    const first = robot.start('startCleaning', params);
    await robot.clock.advanceAsync(40_000);
    robot.air.pm2_5 = 5;
    const carried = await pause(robot, 'startCleaning', first);
    expect(carried).toMatchObject({ areaId: '2', before: { grade: 'very_bad' } });
    expect(carried.ranMs).toBeGreaterThan(30_000);
    expect(robot.fan.rpm).toBe(0);
    const from = robot.clock.now();
    const second = robot.start('startCleaning', params, 't-startCleaning', carried);
    await robot.clock.advanceAsync(60_000);
    expect(second.result).toMatchObject({
      output: { before: { grade: 'very_bad' }, after: { grade: 'good' } },
    });
    const { evidence } = second.result as { evidence: { observed_at_ms: number; duration_ms: number } };
    expect(evidence.duration_ms).toBeGreaterThanOrEqual(60_000);
    expect(evidence.observed_at_ms - from).toBeLessThan(40_000);
  });

  it('goes on only in the room it belongs to', async () => {
    const robot = testRobot({ pose: { x: 6, y: 0, theta: 0 } });
    const first = robot.start('startCleaning');
    await robot.clock.advanceAsync(20_000);
    const carried = await pause(robot, 'startCleaning', first);
    const outdated = (preempted: boolean) =>
      robot.method('startCleaning').pause?.outdated?.({
        taskId: 't-startCleaning',
        params: {},
        nowMs: robot.clock.now(),
        carried,
        preempted,
      });
    expect([outdated(true), outdated(false)]).toEqual([null, null]);
    robot.start('setMoveTo', { areaId: '3' });
    await robot.clock.advanceAsync(60_000);
    expect(outdated(true)).toContain('거실');
    expect(outdated(false)).toContain('거실');
  });
});

it('says of every method whether it can be paused', () => {
  const robot = testRobot();
  const pausable = robot.methods.filter((method) => method.pause !== undefined).map((method) => method.name);
  expect(pausable).toEqual(['setMoveTo', 'returnToStation', 'startCleaning']);
  // What goes on after a pause may be cut short by a restart, and has to be safe to continue then.
  for (const name of pausable) expect(robot.method(name)).toMatchObject({ idempotent: true });
});
