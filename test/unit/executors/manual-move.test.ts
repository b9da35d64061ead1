/** Driving by hand: a press drives while somebody is heard of, and never longer. */
import { describe, expect, it } from 'vitest';
import { isRefusal, TaskFailure } from '../../../config/contracts/errors.js';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import { kill, testRobot } from '../../support/services.js';

const at = { x: 2, y: 0, theta: 0 };

/** Signs of life every 100 ms for so long. */
async function hold(robot: ReturnType<typeof testRobot>, ms: number): Promise<void> {
  for (let t = 0; t < ms; t += 100) {
    robot.presses.keep('t-manualMove');
    await robot.clock.advanceAsync(100);
  }
}

describe('manualMove', () => {
  it('drives while it is held, and is over when the button is let go, with the wheels at rest', async () => {
    const robot = testRobot({ pose: at });
    const run = robot.start('manualMove', { v: 0.2, w: 0 });
    await hold(robot, 1_000);
    expect(robot.amr.moving).toBe(true);
    robot.presses.release('t-manualMove');
    await robot.clock.advanceAsync(1_000);
    expect(run.result).toMatchObject({
      evidence: { completion_target: 'movement.hand_drive_ended', ended: 'released', stopped: true },
      output: { ended: 'released' },
    });
    expect(robot.amr.moving).toBe(false);
    expect(robot.amr.pose.x).toBeGreaterThan(2.15);
  });

  it('is over after the duration that was asked for, however long it is held', async () => {
    const robot = testRobot({ pose: at });
    const run = robot.start('manualMove', { v: 0, w: 1, durationMs: 800 });
    await hold(robot, 2_000);
    expect(run.result).toMatchObject({ output: { ended: 'duration_over', driven_ms: 800 } });
    expect(robot.amr.moving).toBe(false);
    expect(robot.amr.pose.theta).toBeLessThan(1);
  });

  it('stops 300 ms after the last sign of life, and a late one sets nothing in motion', async () => {
    const robot = testRobot({ pose: at });
    const run = robot.start('manualMove', { v: 0.2, w: 0 });
    await hold(robot, 500);
    await robot.clock.advanceAsync(300);
    expect(robot.amr.moving).toBe(false);
    const stood = robot.amr.pose.x;
    await hold(robot, 1_500);
    expect(robot.amr.pose.x).toBe(stood);
    expect(run.result).toMatchObject({ output: { ended: 'no_keep_alive' } });
  });

  it('moves for no longer than 300 ms when nobody is ever heard of', async () => {
    const robot = testRobot({ pose: at });
    const run = robot.start('manualMove', { v: 0.2, w: 0 });
    await robot.clock.advanceAsync(2_000);
    // What it takes to come to rest is not driving.
    expect(run.result).toMatchObject({ output: { ended: 'no_keep_alive', driven_ms: 300 } });
    expect(robot.amr.pose.x - 2).toBeLessThan(0.08);
  });

  it('does not drive at all for a press that was let go before it began', async () => {
    const robot = testRobot({ pose: at });
    robot.presses.release('t-manualMove');
    const run = robot.start('manualMove', { v: 0.2, w: 0 });
    await robot.clock.advanceAsync(1_000);
    expect(run.error).toBeInstanceOf(TaskFailure);
    expect(run.error).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
    expect(robot.amr.pose.x).toBe(2);
  });

  it('cancelled, it proves the stop', async () => {
    const robot = testRobot({ pose: at });
    const run = robot.start('manualMove', { v: 0.2, w: 0 });
    await hold(robot, 400);
    run.signal.abort();
    await robot.clock.advanceAsync(1_000);
    expect(run.error).toBeInstanceOf(StoppedWithProof);
    expect(robot.amr.moving).toBe(false);
  });

  it('is stopped by stopMove, and cannot be held by pauseMove', async () => {
    const robot = testRobot({ pose: at });
    const run = robot.start('manualMove', { v: 0.2, w: 0 });
    await hold(robot, 300);
    const pause = robot.start('pauseMove');
    await hold(robot, 100);
    expect(pause.error).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
    const stop = robot.start('stopMove');
    await hold(robot, 1_000);
    expect(stop.result).toMatchObject({ output: { stopped: true, already: false } });
    expect(run.error).toBeInstanceOf(StoppedWithProof);
    expect(robot.amr.moving).toBe(false);
  });

  it('ends OBSTRUCTED at the bumper, EMERGENCY_STOP at the e-stop, HARDWARE_FAULT when the motion process is gone', async () => {
    const reasons: unknown[] = [];
    for (const disturb of [
      (robot: ReturnType<typeof testRobot>) => robot.amr.trip('bumper_left'),
      (robot: ReturnType<typeof testRobot>) => void robot.amr.estop('console'),
      (robot: ReturnType<typeof testRobot>) => robot.amr.killProcess(),
    ]) {
      const robot = testRobot({ pose: at });
      const run = robot.start('manualMove', { v: 0.2, w: 0 });
      await hold(robot, 300);
      disturb(robot);
      await hold(robot, 1_500);
      reasons.push((run.error as TaskFailure).reason);
      expect(robot.amr.moving).toBe(false);
    }
    expect(reasons).toEqual(['OBSTRUCTED', 'EMERGENCY_STOP', 'HARDWARE_FAULT']);
  });

  it('is refused on the station, below the reserve and while e-stopped; speeds and durations have bounds', () => {
    const refusalOf = (robot: ReturnType<typeof testRobot>, params: object = { v: 0.1, w: 0 }) => {
      try {
        robot.start('manualMove', params);
      } catch (error) {
        return isRefusal(error) ? error.reason : 'schema';
      }
      return null;
    };
    expect(refusalOf(testRobot({ docked: true }))).toBe('STATE_CONDITION_FAILED');
    const low = testRobot({ pose: at });
    low.amr.battery = 5;
    low.clock.advance(200);
    expect(refusalOf(low)).toBe('LOW_BATTERY');
    const stopped = testRobot({ pose: at });
    void stopped.amr.estop('x');
    stopped.clock.advance(200);
    expect(refusalOf(stopped)).toBe('EMERGENCY_STOP');
    for (const params of [
      { v: 2, w: 0 },
      { v: 0.1, w: 9 },
      { v: 0.1, w: 0, durationMs: 2001 },
      { v: 0.1, w: 0, durationMs: 0 },
      { v: Number.NaN, w: 0 },
      { v: 0.1 },
    ]) {
      expect(refusalOf(testRobot({ pose: at }), params)).toBe('schema');
    }
  });

  it('is not continued after a restart', async () => {
    const robot = testRobot({ pose: at });
    robot.start('manualMove', { v: 0.2, w: 0 });
    await hold(robot, 300);
    kill(robot);
    await robot.clock.advanceAsync(500);
    const stood = robot.amr.pose.x;
    testRobot({ restart: robot });
    await robot.clock.advanceAsync(2_000);
    expect(robot.amr.pose.x).toBe(stood);
    expect(robot.method('manualMove').idempotent).toBe(false);
  });
});
