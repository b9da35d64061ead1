/** Callers who contradict each other within moments: what was stopped stays stopped, and no healthy part is blamed. */
import { describe, expect, it } from 'vitest';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import { testRobot } from '../../support/services.js';

const hall = { x: 2, y: 0, theta: 0 };

describe('contradictions about the wheels', () => {
  it('a second stop and the next move at one moment: the stop is proven, then the robot drives; nothing is cut', async () => {
    const robot = testRobot({ pose: hall });
    const first = robot.start('setMoveTo', { areaId: '2' }, 't-1');
    await robot.clock.advanceAsync(3000);
    const stop = robot.start('stopMove', {}, 't-2');
    await robot.clock.advanceAsync(1000);
    expect(first.error).toBeInstanceOf(StoppedWithProof);
    expect(stop.done).toBe(true);

    const again = robot.start('stopMove', {}, 't-3');
    const next = robot.start('setMoveTo', { areaId: '3' }, 't-4');
    await robot.clock.advanceAsync(60_000);
    expect(again.result).toMatchObject({ output: { stopped: true } });
    expect(next.result).toMatchObject({ output: { area_id: '3' } });
    expect(robot.amr.state()?.safety.estop.latched).toBe(false);
  });

  it('a stop is not proven by a report from before it, however long the robot has stood', async () => {
    const robot = testRobot({ pose: hall });
    await robot.clock.advanceAsync(5000);
    robot.amr.linked = false;
    const stop = robot.start('stopMove');
    await robot.clock.advanceAsync(20_000);
    expect(stop.error).toMatchObject({ reason: 'HARDWARE_FAULT' });
  });

  it('a stop right after a move began ends the move, whichever part of it has begun', async () => {
    for (const docked of [true, false]) {
      const robot = testRobot(docked ? { docked } : { pose: hall });
      const move = robot.start('setMoveTo', { areaId: '2' });
      const stop = robot.start('stopMove');
      await robot.clock.advanceAsync(20_000);
      expect(move.error).toBeInstanceOf(StoppedWithProof);
      expect(stop.result).toMatchObject({ output: { stopped: true } });
      expect(robot.amr.moving).toBe(false);
    }
  });

  it('a stop while a move waits for the fan ends the move: it does not drive off afterwards', async () => {
    for (const [method, params] of [
      ['setMoveTo', { areaId: '2' }],
      ['rotate', { angleDeg: 90 }],
      ['returnToStation', {}],
    ] as const) {
      const robot = testRobot({ pose: hall });
      robot.start('startCleaning', {});
      await robot.clock.advanceAsync(10_000);
      const move = robot.start(method, params);
      await robot.clock.advanceAsync(500);
      expect(move.stages).toEqual(['cleaning.stopping']);
      const stop = robot.start('stopMove');
      await robot.clock.advanceAsync(60_000);
      expect(stop.result, method).toMatchObject({ output: { stopped: true, already: false } });
      expect(move.error, method).toBeInstanceOf(StoppedWithProof);
      expect(
        robot.amr.log.filter((entry) => ['followPath', 'spin', 'dock'].includes(entry)),
        method,
      ).toEqual([]);
    }
  });

  it('a move that waits for a stop to be proven is ended by the next stop', async () => {
    const robot = testRobot({ pose: hall });
    robot.start('stopMove', {}, 't-1');
    const move = robot.start('setMoveTo', { areaId: '2' }, 't-2');
    robot.start('stopMove', {}, 't-3');
    await robot.clock.advanceAsync(20_000);
    expect(move.error).toBeInstanceOf(StoppedWithProof);
    expect(robot.amr.log).not.toContain('followPath');
  });

  it('a move that waits for a stop to be proven can be cancelled', async () => {
    const robot = testRobot({ pose: hall });
    robot.start('stopMove', {}, 't-1');
    const move = robot.start('setMoveTo', { areaId: '2' }, 't-2');
    move.signal.abort();
    await robot.clock.advanceAsync(2000);
    expect(move.error).toBeInstanceOf(StoppedWithProof);
    expect(robot.amr.log).not.toContain('followPath');
  });

  it('a pause and a resume at one moment: the pause is proven, then the journey goes on; nothing is cut', async () => {
    const robot = testRobot({ pose: hall });
    const move = robot.start('setMoveTo', { areaId: '3' });
    await robot.clock.advanceAsync(3000);
    const pause = robot.start('pauseMove');
    const resume = robot.start('resumeMove');
    await robot.clock.advanceAsync(60_000);
    expect(pause.result).toMatchObject({ output: { stopped: true } });
    expect(resume.result).toMatchObject({ output: { moving: true } });
    expect(move.result).toMatchObject({ output: { area_id: '3' } });
    expect(robot.amr.state()?.safety.estop.latched).toBe(false);
  });

  it('a resumption that is paused or stopped before the wheels turn says so at once, not that it moves', async () => {
    for (const method of ['pauseMove', 'stopMove']) {
      const robot = testRobot({ pose: hall });
      robot.start('setMoveTo', { areaId: '3' });
      await robot.clock.advanceAsync(3000);
      robot.start('pauseMove');
      await robot.clock.advanceAsync(2000);
      const resume = robot.start('resumeMove');
      robot.start(method, {}, 't-end');
      await robot.clock.advanceAsync(500);
      expect(resume.error, method).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
      await robot.clock.advanceAsync(5000);
      expect(robot.amr.moving).toBe(false);
    }
  });

  it('wheels that really run on after a stop are still cut', async () => {
    const robot = testRobot({ pose: hall });
    robot.start('setMoveTo', { areaId: '3' });
    await robot.clock.advanceAsync(3000);
    robot.amr.runaway = true;
    const stop = robot.start('stopMove');
    await robot.clock.advanceAsync(10_000);
    expect(stop.error).toMatchObject({ reason: 'HARDWARE_FAULT', evidence: { drive_cut: true } });
    expect(robot.amr.state()?.safety.estop.latched).toBe(true);
  });
});

describe('contradictions about the fan', () => {
  it('a stop and a new cleaning at one moment: the fan is seen at rest, then the cleaning runs', async () => {
    const robot = testRobot({ pose: hall });
    robot.start('startCleaning', {}, 't-1');
    await robot.clock.advanceAsync(10_000);
    const stop = robot.start('stopCleaning', {}, 't-2');
    await robot.clock.advanceAsync(20_000);
    expect(stop.done).toBe(true);
    const again = robot.start('stopCleaning', {}, 't-3');
    const next = robot.start('startCleaning', { cleanMinTimeMs: 5000 }, 't-4');
    await robot.clock.advanceAsync(60_000);
    expect(again.result).toMatchObject({ output: { stopped: true } });
    expect(next.result).toMatchObject({ evidence: { completion_target: 'cleaning.stopped' } });
  });

  it('a cleaning that waits for a stop to be proven is ended by the next stop', async () => {
    const robot = testRobot({ pose: hall });
    robot.start('stopCleaning', {}, 't-1');
    const next = robot.start('startCleaning', {}, 't-2');
    const stop = robot.start('stopCleaning', {}, 't-3');
    await robot.clock.advanceAsync(30_000);
    expect(next.error).toBeInstanceOf(StoppedWithProof);
    expect(stop.result).toMatchObject({ output: { stopped: true } });
    expect(robot.fan.rpm).toBe(0);
  });

  it('a pause and a resume at one moment: the pause is proven, then the fan turns again', async () => {
    const robot = testRobot({ pose: hall });
    const cleaning = robot.start('startCleaning', { cleanMinTimeMs: 20_000 });
    await robot.clock.advanceAsync(10_000);
    const pause = robot.start('pauseCleaning');
    const resume = robot.start('resumeCleaning');
    await robot.clock.advanceAsync(60_000);
    expect(pause.result).toMatchObject({ output: { paused: true } });
    expect(resume.result).toMatchObject({ output: { running: true } });
    expect(cleaning.result).toMatchObject({ evidence: { completion_target: 'cleaning.stopped' } });
  });

  it('a resumption or a change of mode that is overtaken says so, and blames no healthy fan', async () => {
    for (const [asked, params] of [
      ['resumeCleaning', {}],
      ['setCleaningMode', { mode: 'turbo' }],
    ] as const) {
      for (const overtakes of ['pauseCleaning', 'stopCleaning']) {
        const robot = testRobot({ pose: hall });
        robot.start('startCleaning', {});
        await robot.clock.advanceAsync(10_000);
        if (asked === 'resumeCleaning') robot.start('pauseCleaning', {}, 't-first');
        await robot.clock.advanceAsync(15_000);
        const run = robot.start(asked, params);
        const last = robot.start(overtakes, {}, 't-last');
        await robot.clock.advanceAsync(40_000);
        expect(run.error, `${asked}, ${overtakes}`).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
        expect(last.result, `${asked}, ${overtakes}`).not.toBeNull();
        expect(robot.fan.rpm).toBe(0);
      }
    }
  });

  it('of two modes set at one moment only the one in force is reported as set', async () => {
    const robot = testRobot({ pose: hall });
    robot.start('startCleaning', {});
    await robot.clock.advanceAsync(10_000);
    const quiet = robot.start('setCleaningMode', { mode: 'quiet' }, 't-1');
    const turbo = robot.start('setCleaningMode', { mode: 'turbo' }, 't-2');
    await robot.clock.advanceAsync(20_000);
    expect(quiet.error).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
    expect(turbo.result).toMatchObject({ output: { percent: 100 } });
  });
});
