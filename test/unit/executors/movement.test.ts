import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../config/contracts/errors.js';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import { createMethods } from '../../../executors/registry.js';
import { kill, testRobot } from '../../support/services.js';

type Robot = ReturnType<typeof testRobot>;

function refusal(act: () => unknown): { reason: string; message: string } {
  try {
    act();
  } catch (error) {
    if (isRefusal(error)) return { reason: error.reason, message: error.message };
    return { reason: 'INVALID_PARAMS', message: String(error) };
  }
  throw new Error('was not refused');
}
const refusedMove = (robot: Robot, params: unknown) => refusal(() => robot.start('setMoveTo', params)).reason;

const hall = { x: 2, y: 0, theta: 0 };

describe('setMoveTo', () => {
  it('ends with the room, the pose, still wheels and when that was seen', async () => {
    const robot = testRobot({ pose: hall });
    const run = robot.start('setMoveTo', { positionName: '거실' });
    await robot.clock.advanceAsync(60_000);
    expect(run.result).toMatchObject({
      evidence: { completion_target: 'movement.arrived', area_id: '2', idle: true },
      output: { area_id: '2', pose: { x: expect.closeTo(6, 0) } },
    });
    const { evidence } = run.result as { evidence: { observed_at_ms: number } };
    expect(evidence.observed_at_ms).toBeLessThanOrEqual(robot.clock.now());
    expect(robot.amr.moving).toBe(false);
  });

  it('leaves the station first, as a stage of its own', async () => {
    const robot = testRobot({ docked: true });
    const run = robot.start('setMoveTo', { areaId: '2' });
    await robot.clock.advanceAsync(60_000);
    expect(run.stages.slice(0, 2)).toEqual(['docking.undocking', 'navigation.planning']);
    expect(run.result).toMatchObject({ output: { area_id: '2' } });
  });

  it('takes every way of naming a room, and visits several in turn', async () => {
    for (const params of [
      { positionId: '2' },
      { areaId: '2' },
      { roomName: 'Living Room' },
      { targetRoom: ' 거실 ' },
      { position: { x: 6, y: 0, theta: 1 } },
    ]) {
      const robot = testRobot({ pose: hall });
      const run = robot.start('setMoveTo', params);
      await robot.clock.advanceAsync(60_000);
      expect(run.result, JSON.stringify(params)).toMatchObject({ output: { area_id: '2' } });
    }
    const robot = testRobot({ pose: hall });
    const run = robot.start('setMoveTo', { positionIds: ['2', '3', '1'] });
    await robot.clock.advanceAsync(120_000);
    expect(run.result).toMatchObject({ evidence: { visited: ['2', '3', '1'] }, output: { area_id: '1' } });
  });

  it('refuses bad targets by name, and nothing moves', () => {
    const robot = testRobot({ pose: hall });
    robot.rooms.blocked = [{ x: 10, y: 0 }];
    expect(refusedMove(robot, { roomName: '차고' })).toBe('UNKNOWN_TARGET');
    expect(refusedMove(robot, { areaId: '99' })).toBe('UNKNOWN_TARGET');
    expect(refusedMove(robot, { roomName: '작은방' })).toBe('AMBIGUOUS_TARGET');
    expect(refusedMove(robot, { position: { x: 99, y: 0, theta: 0 } })).toBe('INVALID_PARAMS');
    expect(refusedMove(robot, { position: { x: 10, y: 0, theta: 0 } })).toBe('TARGET_UNREACHABLE');
    expect(refusedMove(robot, { position: { x: '6', y: 0, theta: 0 } })).toBe('INVALID_PARAMS');
    expect(refusedMove(robot, { position: { x: Number.NaN, y: 0, theta: 0 } })).toBe('INVALID_PARAMS');
    expect(refusedMove(robot, { positionId: 2 })).toBe('INVALID_PARAMS');
    expect(refusedMove(robot, {})).toBe('INVALID_PARAMS');
    expect(refusedMove(robot, { areaId: '2', roomName: '거실' })).toBe('INVALID_PARAMS');
    expect(robot.amr.log).toEqual([]);
  });

  it('refuses while the map is edited, without a pose, when e-stopped, and below the reserve', async () => {
    const robot = testRobot({ pose: hall });
    const move = { areaId: '2' };
    robot.rooms.editable = true;
    expect(refusedMove(robot, move)).toBe('STATE_CONDITION_FAILED');
    robot.rooms.editable = false;
    robot.amr.localized = false;
    await robot.clock.advanceAsync(100);
    expect(refusedMove(robot, move)).toBe('LOCALIZATION_LOST');
    robot.amr.localized = true;
    robot.amr.battery = 5;
    await robot.clock.advanceAsync(100);
    expect(refusedMove(robot, move)).toBe('LOW_BATTERY');
    robot.amr.battery = 80;
    await robot.amr.estop('button');
    await robot.clock.advanceAsync(100);
    expect(refusedMove(robot, move)).toBe('EMERGENCY_STOP');
    await robot.amr.releaseEstop();
    robot.amr.lidarConnected = false;
    await robot.clock.advanceAsync(100);
    expect(refusedMove(robot, move)).toBe('CAPABILITY_UNAVAILABLE');
  });

  it('with blocked wheels never says that it arrived', async () => {
    const robot = testRobot({ pose: hall });
    robot.amr.wheelsBlocked = true;
    const run = robot.start('setMoveTo', { areaId: '2' });
    await robot.clock.advanceAsync(200_000);
    expect(run.result).toBeNull();
    expect(run.error).toMatchObject({ reason: 'OBSTRUCTED' });
    expect(robot.events.map((event) => event.type)).not.toContain('movement.arrived');
  });

  it('stops a stationary cleaning and waits for its fan before it drives', async () => {
    const robot = testRobot({ pose: hall });
    const cleaning = robot.start('startCleaning', {});
    await robot.clock.advanceAsync(10_000);
    const move = robot.start('setMoveTo', { areaId: '2' });
    await robot.clock.advanceAsync(1000);
    expect(move.stages).toEqual(['cleaning.stopping']);
    expect(robot.amr.moving).toBe(false);
    await robot.clock.advanceAsync(60_000);
    expect(cleaning.error).toBeInstanceOf(StoppedWithProof);
    expect(move.result).toMatchObject({ output: { area_id: '2' } });
  });

  it('cancelled while it waits for the fan shows that the wheels stand still', async () => {
    const robot = testRobot({ pose: hall });
    robot.start('startCleaning', {});
    await robot.clock.advanceAsync(10_000);
    const move = robot.start('setMoveTo', { areaId: '2' });
    await robot.clock.advanceAsync(500);
    move.signal.abort();
    await robot.clock.advanceAsync(2000);
    expect(move.error).toBeInstanceOf(StoppedWithProof);
    expect(robot.amr.log).not.toContain('followPath');
  });

  it('is already done after a restart when the robot stands at its goal, localised', async () => {
    const robot = testRobot({ pose: { x: 6, y: 0, theta: 0 } });
    await robot.clock.advanceAsync(1000);
    const spec = robot.method('setMoveTo');
    const done = (params: unknown) =>
      spec.alreadyDone?.({ params: spec.params.parse(params), nowMs: robot.clock.now() });
    expect(done({ areaId: '2' })).toMatchObject({ output: { area_id: '2' } });
    expect(done({ areaId: '3' })).toBeNull();
    robot.amr.localized = false;
    await robot.clock.advanceAsync(100);
    expect(done({ areaId: '2' })).toBeNull();
  });

  it('goes on after a kill with the rooms that are left', async () => {
    const first = testRobot({ pose: hall });
    first.start('setMoveTo', { positionIds: ['2', '3'] }, 't-1');
    await first.clock.advanceAsync(20_000);
    kill(first);
    const second = testRobot({ restart: first });
    const run = second.start('setMoveTo', { positionIds: ['2', '3'] }, 't-1');
    await second.clock.advanceAsync(60_000);
    expect(run.result).toMatchObject({ evidence: { visited: ['2', '3'] }, output: { area_id: '3' } });
    expect(second.events.map((event) => event.areaId)).toEqual(['3']);
  });
});

describe('pauseMove, resumeMove, stopMove', () => {
  it('hold, resume and end a journey, each with proof', async () => {
    const robot = testRobot({ pose: hall });
    const move = robot.start('setMoveTo', { areaId: '3' });
    await robot.clock.advanceAsync(5000);
    const pause = robot.start('pauseMove');
    await robot.clock.advanceAsync(20_000);
    expect(pause.result).toMatchObject({ output: { stopped: true, already: false } });
    expect(move.done).toBe(false);
    const again = robot.start('pauseMove');
    await robot.clock.advanceAsync(1000);
    expect(again.result).toMatchObject({ output: { already: true } });
    const resume = robot.start('resumeMove');
    await robot.clock.advanceAsync(2000);
    expect(resume.result).toMatchObject({ output: { moving: true } });
    const stop = robot.start('stopMove');
    await robot.clock.advanceAsync(2000);
    expect(stop.result).toMatchObject({ evidence: { completion_target: 'movement.stopped' } });
    expect(move.error).toBeInstanceOf(StoppedWithProof);
  });

  it('a pause is offered only while a journey goes on, and a resumption only while it is held', async () => {
    const robot = testRobot({ pose: hall });
    const methods = createMethods(robot.services);
    const offered = () =>
      ['pauseMove', 'resumeMove'].filter((name) => {
        const method = methods.find((candidate) => candidate.name === name);
        try {
          method?.available?.(robot.clock.now());
          return true;
        } catch (error) {
          expect(error).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
          return false;
        }
      });
    expect(offered()).toEqual([]);
    robot.start('setMoveTo', { areaId: '3' });
    await robot.clock.advanceAsync(5000);
    expect(offered()).toEqual(['pauseMove']);
    robot.start('pauseMove');
    await robot.clock.advanceAsync(5000);
    expect(offered()).toEqual(['resumeMove']);
  });

  it('pause and resume are refused when nothing moves; a stop never is', async () => {
    const robot = testRobot({ pose: hall });
    expect(refusal(() => robot.start('pauseMove')).reason).toBe('STATE_CONDITION_FAILED');
    expect(refusal(() => robot.start('resumeMove')).reason).toBe('STATE_CONDITION_FAILED');
    const stop = robot.start('stopMove');
    await robot.clock.advanceAsync(2000);
    expect(stop.result).toMatchObject({ output: { stopped: true, already: true } });
  });

  it('stopMove ends a rotation, and a journey that leaves the station', async () => {
    const robot = testRobot({ pose: hall });
    const turn = robot.start('rotate', { angleDeg: 360 });
    await robot.clock.advanceAsync(500);
    robot.start('stopMove');
    await robot.clock.advanceAsync(2000);
    expect(turn.error).toBeInstanceOf(StoppedWithProof);

    const docked = testRobot({ docked: true });
    const move = docked.start('setMoveTo', { areaId: '2' });
    await docked.clock.advanceAsync(1000);
    expect(docked.amr.acting).toBe('undock');
    docked.start('stopMove');
    await docked.clock.advanceAsync(3000);
    expect(move.error).toBeInstanceOf(StoppedWithProof);
    expect(docked.amr.log).not.toContain('followPath');
  });
});

describe('rotate', () => {
  it('turns within three degrees and says how far', async () => {
    const robot = testRobot({ pose: hall });
    for (const angleDeg of [90, -180, 360]) {
      const run = robot.start('rotate', { angleDeg });
      await robot.clock.advanceAsync(30_000);
      const { output } = run.result as { output: { turned_deg: number } };
      expect(Math.abs(output.turned_deg - angleDeg)).toBeLessThanOrEqual(3);
    }
  });

  it('is open to a robot that does not know where it is: turning is how it finds out', async () => {
    const robot = testRobot({ pose: hall });
    robot.amr.localized = false;
    const run = robot.start('rotate', { angleDeg: 180 });
    await robot.clock.advanceAsync(30_000);
    expect(run.result).toMatchObject({ evidence: { completion_target: 'movement.rotated', idle: true } });
  });

  it('refuses more than a full turn, and ends OBSTRUCTED when the wheels do not turn', async () => {
    const robot = testRobot({ pose: hall });
    expect(refusal(() => robot.start('rotate', { angleDeg: 400 })).reason).toBe('INVALID_PARAMS');
    robot.amr.wheelsBlocked = true;
    const run = robot.start('rotate', { angleDeg: 90 });
    await robot.clock.advanceAsync(10_000);
    expect(run.error).toMatchObject({ reason: 'OBSTRUCTED' });
  });
});

describe('returnToStation, undock, relocalizeAtStation', () => {
  it('go home even on a low battery, and prove live contacts', async () => {
    const robot = testRobot({ pose: { x: 8, y: 0, theta: 0 } });
    robot.amr.battery = 8;
    const run = robot.start('returnToStation');
    await robot.clock.advanceAsync(120_000);
    expect(run.result).toMatchObject({
      evidence: { completion_target: 'dock.docked', docked: true, charging: true },
      output: { docked: true },
    });
    const spec = robot.method('returnToStation');
    expect(spec.alreadyDone?.({ params: {}, nowMs: robot.clock.now() })).toMatchObject({
      output: { docked: true },
    });
  });

  it('undock leaves the contacts and is refused off them', async () => {
    const robot = testRobot({ docked: true });
    const run = robot.start('undock');
    await robot.clock.advanceAsync(20_000);
    expect(run.result).toMatchObject({ output: { docked: false } });
    expect(refusal(() => robot.start('undock')).reason).toBe('STATE_CONDITION_FAILED');
    const spec = robot.method('undock');
    expect(spec.alreadyDone?.({ params: {}, nowMs: robot.clock.now() })).not.toBeNull();
  });

  it('relocalizeAtStation finds a lost robot that stands on its station', async () => {
    const robot = testRobot({ docked: true });
    robot.amr.localized = false;
    await robot.clock.advanceAsync(100);
    const run = robot.start('relocalizeAtStation');
    await robot.clock.advanceAsync(2000);
    expect(run.result).toMatchObject({ output: { pose: { x: 1 } } });
  });

  it('a map without a station says what is missing', () => {
    const robot = testRobot({ pose: hall });
    robot.rooms.station = null;
    const { reason, message } = refusal(() => robot.start('returnToStation'));
    expect(reason).toBe('CAPABILITY_UNAVAILABLE');
    expect(message).toContain('areas.yaml');
  });
});
