import { describe, expect, it } from 'vitest';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import type { CleaningResult, CleanRequest } from '../../../state-machines/cleaning-types.js';
import { kill, testRobot } from '../../support/services.js';

type Robot = ReturnType<typeof testRobot>;

function operations(robot: Robot) {
  const { cleaning } = robot.machines;
  if (cleaning === null) throw new Error('no fan');
  return cleaning;
}

function clean(robot: Robot, more: Partial<CleanRequest> = {}) {
  const abort = new AbortController();
  const seen: { result: CleaningResult | null; error: unknown; stages: string[] } = {
    result: null,
    error: null,
    stages: [],
  };
  const request: CleanRequest = {
    operation: 't-1',
    mode: 'auto',
    dwellMs: 60_000,
    maxTimeMs: 600_000,
    untilGrade: null,
    areaId: '3',
    fence: 1,
    ...more,
  };
  operations(robot)
    .clean(request, abort.signal, (stage) => {
      if (seen.stages.at(-1) !== stage) seen.stages.push(stage);
    })
    .then(
      (result) => {
        seen.result = result;
      },
      (error: unknown) => {
        seen.error = error;
      },
    );
  return { abort, seen };
}
const forever = new AbortController().signal;

describe('a cleaning', () => {
  it('counts the dwell from the set-point speed on, and ends with the fan read back at rest', async () => {
    const robot = testRobot();
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(60_000);
    expect(seen.result).toBeNull();
    expect(robot.fan.rpm).toBeGreaterThan(1000);
    await robot.clock.advanceAsync(12_000);
    expect(seen.result).toMatchObject({ rpm: 0, gradeReached: null });
    expect(seen.result?.durationMs).toBeGreaterThanOrEqual(60_000);
    expect(seen.stages).toEqual(['cleaning.starting', 'cleaning.running', 'cleaning.stopping']);
    expect(robot.events).toMatchObject([
      { type: 'cleaning.stopped', areaId: '3', attributes: { reason: 'completed', grade_reached: null } },
    ]);
    expect(robot.timers.keys).toEqual([]);
  });

  it('does not count the time in which the fan is held, however short', async () => {
    const robot = testRobot();
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(10_000);
    for (let i = 0; i < 4; i++) {
      robot.fan.blocked = true;
      await robot.clock.advanceAsync(8000);
      robot.fan.blocked = false;
      await robot.clock.advanceAsync(7000);
    }
    // 70 s have passed; for about half of them it turned.
    await robot.clock.advanceAsync(15_000);
    expect(seen.result).toBeNull();
    await robot.clock.advanceAsync(30_000);
    expect(seen.result?.durationMs).toBeGreaterThanOrEqual(60_000);
    expect(seen.result?.durationMs).toBeLessThan(66_000);
  });

  it.each([3_600_000, -3_600_000])('takes as long as asked when the clock is set by %i ms', async (by) => {
    const robot = testRobot();
    const { seen } = clean(robot, { untilGrade: 'moderate' });
    await robot.clock.advanceAsync(20_000);
    robot.clock.jump(by);
    robot.air.pm2_5 = 20;
    await robot.clock.advanceAsync(35_000);
    expect(seen.result).toBeNull();
    await robot.clock.advanceAsync(20_000);
    expect(seen.result).toMatchObject({ rpm: 0, gradeReached: true });
    expect(seen.result?.durationMs).toBeGreaterThanOrEqual(60_000);
    expect(seen.result?.durationMs).toBeLessThan(66_000);
  });

  it('goes on after the dwell until the air is good enough', async () => {
    const robot = testRobot();
    const { seen } = clean(robot, { untilGrade: 'good' });
    await robot.clock.advanceAsync(120_000);
    expect(seen.stages.at(-1)).toBe('cleaning.extending');
    robot.air.pm2_5 = 10;
    await robot.clock.advanceAsync(10_000);
    expect(seen.result).toMatchObject({
      gradeReached: true,
      before: { grade: 'bad' },
      after: { grade: 'good' },
    });
  });

  it('does not take a reading that dips below the limit for good air', async () => {
    const robot = testRobot();
    robot.air.pm2_5 = 16;
    const { seen } = clean(robot, { untilGrade: 'good', maxTimeMs: 200_000 });
    await robot.clock.advanceAsync(90_000);
    for (let i = 0; i < 10; i++) {
      robot.air.pm2_5 = 15;
      await robot.clock.advanceAsync(2000);
      robot.air.pm2_5 = 16;
      await robot.clock.advanceAsync(2000);
    }
    expect(seen.result).toBeNull();
    robot.air.pm2_5 = 14;
    await robot.clock.advanceAsync(12_000);
    expect(seen.result).toMatchObject({ gradeReached: true, after: { grade: 'good' } });
  });

  it('does not take the last reading of a sensor that fell silent for the air of now', async () => {
    const robot = testRobot();
    robot.air.pm2_5 = 10;
    const { seen } = clean(robot, { untilGrade: 'good', maxTimeMs: 120_000 });
    await robot.clock.advanceAsync(20_000);
    robot.air.silent = true;
    await robot.clock.advanceAsync(120_000);
    expect(seen.result).toMatchObject({ gradeReached: false });
  });

  it('ends at its longest time, and says that the grade was not reached', async () => {
    const robot = testRobot();
    const { seen } = clean(robot, { untilGrade: 'good', maxTimeMs: 120_000 });
    await robot.clock.advanceAsync(140_000);
    expect(seen.result).toMatchObject({ gradeReached: false, rpm: 0 });
  });

  it('does not take air it cannot trust for good air', async () => {
    const robot = testRobot();
    robot.air.pm2_5 = 5;
    robot.air.usable = false;
    const { seen } = clean(robot, { untilGrade: 'good', maxTimeMs: 120_000 });
    await robot.clock.advanceAsync(140_000);
    expect(seen.result).toMatchObject({ gradeReached: false });
  });

  it('works harder in automatic mode the worse the air is, and never less within a run', async () => {
    const robot = testRobot();
    robot.air.pm2_5 = 10;
    clean(robot);
    await robot.clock.advanceAsync(5000);
    expect(robot.fan.percent).toBe(30);
    robot.air.pm2_5 = 90;
    await robot.clock.advanceAsync(5000);
    expect(robot.fan.percent).toBe(100);
    robot.air.pm2_5 = 10;
    await robot.clock.advanceAsync(5000);
    expect(robot.fan.percent).toBe(100);
  });

  it('tells the fan what the air asks for also while it comes up to speed', async () => {
    const robot = testRobot();
    robot.air.pm2_5 = 10;
    robot.fan.blocked = true;
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(3000);
    expect(robot.fan.percent).toBe(30);
    robot.air.pm2_5 = 90;
    await robot.clock.advanceAsync(3000);
    expect(robot.fan.percent).toBe(100);
    robot.fan.blocked = false;
    await robot.clock.advanceAsync(75_000);
    expect(seen.result).toMatchObject({ rpm: 0 });
  });
});

describe('a fan that does not do what it is told', () => {
  it('and does not spin ends HARDWARE_FAULT, after it was told to stop', async () => {
    const robot = testRobot();
    robot.fan.blocked = true;
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(30_000);
    expect(seen.error).toMatchObject({ reason: 'HARDWARE_FAULT', evidence: { stopped: true } });
    expect(String(seen.error)).toContain('0 rpm');
    expect(robot.fan.percent).toBe(0);
  });

  it('and does not stop ends HARDWARE_FAULT, never as completed', async () => {
    const robot = testRobot();
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(30_000);
    robot.fan.runaway = true;
    await robot.clock.advanceAsync(90_000);
    expect(seen.result).toBeNull();
    expect(seen.error).toMatchObject({ reason: 'HARDWARE_FAULT', evidence: { stopped: false } });
  });

  it('unplugged for a while does not count as cleaning, and goes on when it is back', async () => {
    const robot = testRobot();
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(30_000);
    robot.fan.connected = false;
    await robot.clock.advanceAsync(10_000);
    robot.fan.connected = true;
    robot.fan.percent = 0;
    robot.fan.rpm = 0;
    await robot.clock.advanceAsync(35_000);
    expect(seen.result).toBeNull();
    await robot.clock.advanceAsync(30_000);
    expect(seen.result?.durationMs).toBeGreaterThanOrEqual(60_000);
  });

  it('unplugged for good ends HARDWARE_FAULT', async () => {
    const robot = testRobot();
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(20_000);
    robot.fan.connected = false;
    await robot.clock.advanceAsync(60_000);
    expect(seen.error).toMatchObject({ reason: 'HARDWARE_FAULT' });
  });
});

describe('control', () => {
  it('a cancelled cleaning ends with proof only at rpm 0', async () => {
    const robot = testRobot();
    const { abort, seen } = clean(robot);
    await robot.clock.advanceAsync(20_000);
    abort.abort();
    await robot.clock.advanceAsync(1000);
    expect(robot.fan.rpm).toBeGreaterThan(0);
    expect(seen.error).toBeNull();
    await robot.clock.advanceAsync(5000);
    expect(seen.error).toBeInstanceOf(StoppedWithProof);
    expect(seen.error).toMatchObject({ evidence: { stopped: true, rpm: 0 } });
  });

  it('a pause stops the fan and the dwell; resuming finishes it', async () => {
    const robot = testRobot();
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(30_000);
    const pause = operations(robot).pause(forever);
    await robot.clock.advanceAsync(60_000);
    expect(await pause).toMatchObject({ stopped: true, already: false });
    expect(robot.fan.rpm).toBe(0);
    expect(seen.result).toBeNull();
    const resume = operations(robot).resume(forever);
    await robot.clock.advanceAsync(10_000);
    expect((await resume).rpm).toBeGreaterThan(1000);
    await robot.clock.advanceAsync(40_000);
    expect(seen.result?.durationMs).toBeGreaterThanOrEqual(60_000);
  });

  it('stopping from elsewhere ends the cleaning as stopped', async () => {
    const robot = testRobot();
    const { seen } = clean(robot);
    await robot.clock.advanceAsync(20_000);
    const stop = operations(robot).stop('test', forever);
    await robot.clock.advanceAsync(10_000);
    expect(await stop).toMatchObject({ stopped: true, already: false });
    expect(seen.error).toBeInstanceOf(StoppedWithProof);
  });

  it('a new mode is in force once the fan follows', async () => {
    const robot = testRobot();
    clean(robot);
    await robot.clock.advanceAsync(20_000);
    const change = operations(robot).setMode('quiet', forever);
    await robot.clock.advanceAsync(10_000);
    expect(await change).toMatchObject({ percent: 30, rpm: 720 });
  });
});

describe('a restart', () => {
  it('runs only the rest of the dwell, and remembers the air before', async () => {
    const first = testRobot();
    first.air.pm2_5 = 90;
    clean(first);
    await first.clock.advanceAsync(45_000);
    kill(first);
    first.air.pm2_5 = 20;
    const second = testRobot({ restart: first });
    expect(operations(second).remaining('t-1')).toBeLessThan(25_000);
    const { seen } = clean(second);
    await second.clock.advanceAsync(30_000);
    expect(seen.result).toMatchObject({ before: { pm2_5: 90 }, after: { pm2_5: 20 } });
  });

  it('blames no fan when the air sensor has yet to report after it', async () => {
    const first = testRobot();
    first.air.pm2_5 = 10;
    clean(first);
    await first.clock.advanceAsync(20_000);
    expect(first.fan.percent).toBe(30);
    kill(first);
    first.air.usable = false;
    const second = testRobot({ restart: first });
    const { seen } = clean(second);
    await second.clock.advanceAsync(5000);
    second.air.usable = true;
    await second.clock.advanceAsync(60_000);
    expect(seen).toMatchObject({ error: null, result: { rpm: 0 } });
  });

  it('in good order too runs only the rest, held when it was held', async () => {
    const first = testRobot();
    const running = clean(first);
    await first.clock.advanceAsync(30_000);
    const pause = operations(first).pause(forever);
    await first.clock.advanceAsync(8000);
    await pause;
    running.abort.abort();
    await first.clock.advanceAsync(8000);
    expect(running.seen.error).toBeInstanceOf(StoppedWithProof);
    kill(first);
    const second = testRobot({ restart: first });
    const { seen } = clean(second);
    await second.clock.advanceAsync(20_000);
    expect(second.fan.rpm).toBe(0);
    void operations(second).resume(forever);
    await second.clock.advanceAsync(45_000);
    expect(seen.result?.durationMs).toBeGreaterThanOrEqual(60_000);
  });

  it('forgets a cleaning that came to its end', async () => {
    const first = testRobot();
    clean(first);
    await first.clock.advanceAsync(80_000);
    kill(first);
    expect(operations(testRobot({ restart: first })).remaining('t-1')).toBeNull();
  });

  it('stops a fan that nobody goes on with', async () => {
    const first = testRobot();
    clean(first);
    await first.clock.advanceAsync(30_000);
    kill(first);
    const second = testRobot({ restart: first });
    await second.clock.advanceAsync(30_000);
    expect(second.fan.rpm).toBe(0);
  });
});
