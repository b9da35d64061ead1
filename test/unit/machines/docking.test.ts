import { describe, expect, it } from 'vitest';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import { testRobot } from '../../support/services.js';

function dock(robot: ReturnType<typeof testRobot>, operation = 't-1') {
  return follow(robot, (signal, stage) => robot.machines.motion.dock({ operation, fence: 1 }, signal, stage));
}
function undock(robot: ReturnType<typeof testRobot>, operation = 't-1') {
  return follow(robot, (signal, stage) =>
    robot.machines.motion.undock({ operation, fence: 1 }, signal, stage),
  );
}
function follow<T>(
  _robot: ReturnType<typeof testRobot>,
  run: (signal: AbortSignal, stage: (stage: string) => void) => Promise<T>,
) {
  const abort = new AbortController();
  const seen: { result: T | null; error: unknown; stages: string[] } = {
    result: null,
    error: null,
    stages: [],
  };
  run(abort.signal, (stage) => {
    if (seen.stages.at(-1) !== stage) seen.stages.push(stage);
  }).then(
    (result) => {
      seen.result = result;
    },
    (error: unknown) => {
      seen.error = error;
    },
  );
  return { abort, seen };
}

const away = { x: 5, y: 0, theta: 0 };

describe('docking', () => {
  it('drives in front of the station, aligns, and ends with live contacts and still wheels', async () => {
    const robot = testRobot({ pose: away });
    const { seen } = dock(robot);
    await robot.clock.advanceAsync(60_000);
    expect(seen.result).toMatchObject({ docked: true, charging: true, attempts: 1, already: false });
    expect(seen.stages.filter((stage) => stage.startsWith('docking'))).toEqual([
      'docking.staging',
      'docking.aligning',
      'docking.confirming',
    ]);
    expect(robot.events.map((event) => event.type)).not.toContain('movement.arrived');
  });

  it('backs off and tries again from another pose after a missed contact', async () => {
    const robot = testRobot({ pose: away });
    robot.amr.missedContacts = 2;
    const { seen } = dock(robot);
    await robot.clock.advanceAsync(120_000);
    expect(seen.result).toMatchObject({ docked: true, attempts: 3 });
    expect(robot.amr.log.filter((entry) => entry === 'backUp')).toHaveLength(2);
  });

  it('fails after its attempts and waits clear of the station', async () => {
    const robot = testRobot({ pose: away });
    robot.amr.missedContacts = 99;
    const { seen } = dock(robot);
    await robot.clock.advanceAsync(170_000);
    expect(seen.error).toMatchObject({ reason: 'HARDWARE_FAULT', evidence: { attempts: 3, docked: false } });
    expect(String(seen.error)).toContain('no charging contact after 3 attempts');
    const { x, y } = robot.amr.pose;
    expect(Math.hypot(x - 1, y)).toBeGreaterThan(0.4);
    expect(robot.amr.moving).toBe(false);
  });

  it('is not done while the contacts are dead, whatever the driver says', async () => {
    const robot = testRobot({ pose: away });
    const { seen } = dock(robot);
    robot.amr.subscribe((event) => {
      if (event.type === 'action' && event.update.kind === 'dock') robot.amr.docked = false;
    });
    await robot.clock.advanceAsync(170_000);
    expect(seen.result).toBeNull();
    expect(seen.error).toMatchObject({ reason: 'HARDWARE_FAULT' });
  });

  it('on the contacts already is done without moving', async () => {
    const robot = testRobot({ docked: true });
    const { seen } = dock(robot);
    await robot.clock.advanceAsync(2000);
    expect(seen.result).toMatchObject({ docked: true, already: true, attempts: 0 });
    expect(robot.amr.log.filter((entry) => !entry.startsWith('stop'))).toEqual([]);
  });

  it('cancelled on the way and cancelled while aligning both end with proof', async () => {
    for (const after of [3000, 16_000]) {
      const robot = testRobot({ pose: away });
      const { abort, seen } = dock(robot);
      await robot.clock.advanceAsync(after);
      abort.abort();
      await robot.clock.advanceAsync(2000);
      expect(seen.error).toBeInstanceOf(StoppedWithProof);
      expect(robot.amr.moving).toBe(false);
      expect(robot.machines.motion.status().activity).toBe('idle');
    }
  });

  it('can be held and resumed while aligning', async () => {
    const robot = testRobot({ pose: away });
    const { seen } = dock(robot);
    const forever = new AbortController().signal;
    while (robot.amr.acting !== 'dock') await robot.clock.advanceAsync(100);
    const paused = robot.machines.motion.pause(forever);
    await robot.clock.advanceAsync(30_000);
    await paused;
    expect(robot.amr.docked).toBe(false);
    void robot.machines.motion.resume(forever);
    await robot.clock.advanceAsync(60_000);
    expect(seen.result).toMatchObject({ docked: true });
  });

  it('ends EMERGENCY_STOP when the e-stop is pressed', async () => {
    const robot = testRobot({ pose: away });
    const { seen } = dock(robot);
    await robot.clock.advanceAsync(3000);
    await robot.amr.estop('button');
    await robot.clock.advanceAsync(2000);
    expect(seen.error).toMatchObject({ reason: 'EMERGENCY_STOP' });
  });
});

describe('undocking', () => {
  it('ends off the contacts and clear of the station', async () => {
    const robot = testRobot({ docked: true });
    const { seen } = undock(robot);
    await robot.clock.advanceAsync(20_000);
    expect(seen.result).toMatchObject({ docked: false });
    expect(seen.result?.clearance).toBeGreaterThanOrEqual(0.4);
  });

  it('goes a little further when the pose shows less than the wheels counted', async () => {
    const robot = testRobot({ docked: true });
    robot.amr.slip = 0.1;
    const { seen } = undock(robot);
    await robot.clock.advanceAsync(20_000);
    expect(robot.amr.log).toContain('backUp');
    expect(seen.result?.clearance).toBeGreaterThanOrEqual(0.4);
  });

  it('is refused when the robot is not docked', async () => {
    const robot = testRobot({ pose: away });
    const { seen } = undock(robot);
    await robot.clock.advanceAsync(1000);
    expect(seen.error).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
    expect(robot.amr.log).toEqual([]);
  });

  it('finishes when it was interrupted off the contacts and not yet clear', async () => {
    const robot = testRobot({ pose: { x: 1.2, y: 0, theta: Math.PI } });
    const { seen } = undock(robot);
    await robot.clock.advanceAsync(20_000);
    expect(robot.amr.log).toContain('backUp');
    expect(seen.result?.clearance).toBeGreaterThanOrEqual(0.4);
  });

  it('waits for what stands behind the robot, and ends OBSTRUCTED when it stays', async () => {
    const robot = testRobot({ docked: true });
    robot.amr.obstacles = [{ x: 1.4, y: 0 }];
    const first = undock(robot);
    await robot.clock.advanceAsync(6000);
    robot.amr.obstacles = [];
    await robot.clock.advanceAsync(20_000);
    expect(first.seen.result).toMatchObject({ docked: false });

    const blocked = testRobot({ docked: true });
    blocked.amr.obstacles = [{ x: 1.4, y: 0 }];
    const second = undock(blocked);
    await blocked.clock.advanceAsync(60_000);
    expect(second.seen.error).toMatchObject({ reason: 'OBSTRUCTED' });
    expect(blocked.amr.docked).toBe(true);
  });
});
