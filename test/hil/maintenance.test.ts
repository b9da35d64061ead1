/** Diagnostics and calibration, judged against faults and mountings that only the world knows. */
import { describe, expect, it } from 'vitest';
import type { Config } from '../../config/schema.js';
import type { Body } from '../../simulator/world/body.js';
import type { Home, HomeOptions } from '../support/home.js';
import { inHome } from './support/in-home.js';

interface Side {
  motor: string;
  encoder: string;
  current: string;
}
interface Diagnosis {
  passed: boolean;
  parts: { left: Side; right: Side; brake: string; lidar: string };
  advice: string[];
}
interface Calibrated {
  applied: boolean;
  calibration: { wheel_scale: number; wheel_base_scale: number; lidar_yaw: number } | null;
  measured: { wheel_scale: number; wheel_base_scale: number; lidar_yaw: number; gyro_scale: number | null };
  cliff_signals: number[] | null;
}

/** Off the station, on the open floor of the living room. */
async function onTheFloor(home: Home): Promise<void> {
  const way = await home.task('setMoveTo', { positionName: '거실' });
  expect(await home.end(way)).toMatchObject({ event: 'COMPLETED' });
}

async function output<T>(home: Home, method: string, params = {}): Promise<T> {
  const end = await home.end(await home.task(method, params), 120_000);
  expect(end).toMatchObject({ event: 'COMPLETED', reasonCode: null });
  return end.output as T;
}

/** A diagnosis of a robot whose drive was broken on the open floor. */
async function diagnosed(options: HomeOptions, breakIt: (body: Body) => void): Promise<Diagnosis> {
  let found: Diagnosis | null = null;
  await inHome(options, async ({ home }) => {
    await onTheFloor(home);
    breakIt(home.session.world.body);
    const before = home.world.pose;
    found = await output<Diagnosis>(home, 'runMotorDiagnostics');
    const { pose } = home.world;
    expect(Math.hypot(pose.x - before.x, pose.y - before.y)).toBeLessThan(0.2);
    expect(home.wheelsTurn).toBe(false);
  });
  if (found === null) throw new Error('no diagnosis');
  return found;
}

describe('runMotorDiagnostics', () => {
  it.each([
    { base: 'create2', lidar: 'ld19' },
    { base: 'kobuki', lidar: 'rplidar_a1' },
  ] as const)('passes a sound drive ($base, $lidar)', async (chips) => {
    const { passed, parts, advice } = await diagnosed(chips, () => {});
    expect(parts).toEqual({
      left: { motor: 'ok', encoder: 'ok', current: 'ok' },
      right: { motor: 'ok', encoder: 'ok', current: 'ok' },
      brake: 'ok',
      lidar: 'ok',
    });
    expect({ passed, advice }).toEqual({ passed: true, advice: [] });
  });

  it.each<[string, (body: Body) => void, Partial<Diagnosis['parts']> | object, RegExp]>([
    [
      'swapped motor wires',
      (body) => {
        body.swapped.motors = true;
      },
      { left: { motor: 'swapped', encoder: 'ok' }, right: { motor: 'swapped', encoder: 'ok' } },
      /왼쪽과 오른쪽 모터선/,
    ],
    [
      'swapped encoder wires',
      (body) => {
        body.swapped.encoders = true;
      },
      { left: { motor: 'ok', encoder: 'swapped' }, right: { motor: 'ok', encoder: 'swapped' } },
      /왼쪽과 오른쪽 엔코더선/,
    ],
    [
      'a motor that turns backwards',
      (body) => {
        body.wheelStates.left.motor = 'reversed';
      },
      { left: { motor: 'reversed', encoder: 'ok' }, right: { motor: 'ok', encoder: 'ok' } },
      /왼쪽 바퀴가 반대로/,
    ],
    [
      'a dead encoder',
      (body) => {
        body.wheelStates.right.encoder = 'dead';
      },
      { left: { motor: 'ok', encoder: 'ok' }, right: { motor: 'ok', encoder: 'no_response' } },
      /오른쪽 엔코더가 세지/,
    ],
    [
      'an encoder that counts backwards',
      (body) => {
        body.wheelStates.right.encoder = 'reversed';
      },
      { right: { motor: 'ok', encoder: 'reversed' } },
      /오른쪽 엔코더가 반대로/,
    ],
    [
      'a motor without current',
      (body) => {
        body.wheelStates.left.motor = 'dead';
      },
      { left: { motor: 'no_response', current: 'none' }, right: { motor: 'ok', encoder: 'ok' } },
      /왼쪽 바퀴가 움직이지/,
    ],
    [
      'a wheel that slips',
      (body) => {
        body.wheelStates.left.slip = 0.6;
      },
      { left: { motor: 'slips', encoder: 'ok' }, right: { motor: 'ok', encoder: 'ok' } },
      /왼쪽 바퀴가 헛돌아요/,
    ],
  ])('names %s', async (_, breakIt, parts, advice) => {
    const found = await diagnosed({}, breakIt);
    expect(found.parts).toMatchObject(parts);
    expect(found.passed).toBe(false);
    expect(found.advice.join(' ')).toMatch(advice);
  });

  it('tells a lidar that hangs head down by the gyro of the base', async () => {
    const mounting = { x: 0, y: 0, yaw: 0, inverted: true, posts: [] };
    await inHome({ base: 'kobuki', lidarMounting: mounting }, async ({ home }) => {
      // Seen in a mirror, the home is another: it has to be put on the floor.
      home.session.world.place({ ...(home.session.world.layout.rooms[1]?.goal ?? home.world.pose) });
      await home.run(2000);
      const { parts, advice } = await output<Diagnosis>(home, 'runMotorDiagnostics');
      expect(parts.lidar).toBe('mirrored');
      expect(advice.join(' ')).toMatch(/lidar.inverted/);
    });
  });

  it('is refused on the station, and where it has no room it fails before anything moves', () =>
    inHome({}, async ({ home }) => {
      const docked = await home.command({
        kind: 'task',
        method: 'runMotorDiagnostics',
        params: {},
        task: { executionMode: 'IMMEDIATE' },
      });
      expect(docked).toMatchObject({ status: 'rejected', reason_code: 'STATE_CONDITION_FAILED' });
      await onTheFloor(home);
      const { x, y, theta } = home.world.pose;
      await home.inject(
        'obstacle',
        (x + 0.37 * Math.cos(theta)).toFixed(2),
        (y + 0.37 * Math.sin(theta)).toFixed(2),
      );
      await home.run(1000);
      const since = home.world.timeMs;
      const end = await home.end(await home.task('runMotorDiagnostics'), 60_000);
      expect(end).toMatchObject({ event: 'FAILED', reasonCode: 'OBSTRUCTED' });
      expect(home.wheelCommands(since).filter((c) => c.left !== 0 || c.right !== 0)).toEqual([]);
    }));

  it('ends CANCELLED only after the wheels have stopped', () =>
    inHome({}, async ({ home, witness }) => {
      await onTheFloor(home);
      const id = await home.task('runMotorDiagnostics');
      await home.until(() => home.wheelsTurn, 10_000, 'the wheels turn');
      await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: id } });
      const end = await home.end(id, 20_000);
      expect(end).toMatchObject({ event: 'CANCELLED' });
      expect(end.evidence).toMatchObject({ stopped: true });
      expect(home.wheelsTurn).toBe(false);
      expect(witness.events.filter((event) => event.task_id === id && event.event === 'COMPLETED')).toEqual(
        [],
      );
    }));
});

/** A profile whose figures are not those of this robot. */
const wrongFigures = ({ base, ...rest }: Config): Config => ({
  ...rest,
  base:
    base?.driver === 'create2' ? { ...base, wheel_base: 0.235 * 1.05, wheel_diameter: 0.072 * 1.03 } : base,
});

describe('calibrateSensors', () => {
  it('finds wheels, wheel base and lidar of the robot, uses them, keeps them, and takes them back', () => {
    const lidarMounting = { x: 0, y: 0, yaw: 0.06, inverted: false, posts: [] };
    return inHome({ editConfig: wrongFigures, lidarMounting }, async ({ home }) => {
      await onTheFloor(home);
      const found = await output<Calibrated>(home, 'calibrateSensors');
      expect(found.applied).toBe(true);
      expect(found.calibration?.wheel_scale).toBeCloseTo(1 / 1.03, 1.9);
      expect(found.calibration?.wheel_base_scale).toBeCloseTo(1 / 1.05, 1.9);
      expect(found.calibration?.lidar_yaw).toBeCloseTo(0.06, 1.7);
      expect(found.cliff_signals).toHaveLength(4);
      // With it in force there is little left to find.
      const again = await output<Calibrated>(home, 'calibrateSensors', { mode: 'measure' });
      expect(again.applied).toBe(false);
      expect(Math.abs(again.measured.wheel_scale - 1)).toBeLessThan(0.01);
      expect(Math.abs(again.measured.wheel_base_scale - 1)).toBeLessThan(0.01);
      expect(Math.abs(again.measured.lidar_yaw)).toBeLessThan(0.015);
      await home.restartDaemon();
      expect(home.daemon.runtime.amr.state()?.hardware?.calibration?.lidarYaw).toBeCloseTo(0.06, 1.7);
      const undone = await output<Calibrated>(home, 'calibrateSensors', { mode: 'undo' });
      expect(undone).toMatchObject({ applied: true, calibration: null });
    });
  });

  it('changes nothing on a robot whose figures are right', () =>
    inHome({ base: 'kobuki', lidar: 'rplidar_a1' }, async ({ home }) => {
      await onTheFloor(home);
      const { calibration, measured } = await output<Calibrated>(home, 'calibrateSensors');
      expect(calibration).toMatchObject({ wheel_scale: 1, lidar_yaw: 0 });
      expect(Math.abs((calibration?.wheel_base_scale ?? 0) - 1)).toBeLessThan(0.02);
      expect(measured.gyro_scale).toBeCloseTo(1, 1.7);
    }));

  it('ends CANCELLED only after the wheels have stopped, and then nothing has changed', () =>
    inHome({}, async ({ home }) => {
      await onTheFloor(home);
      const id = await home.task('calibrateSensors');
      await home.until(() => home.wheelsTurn, 10_000, 'the wheels turn');
      await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: id } });
      expect(await home.end(id, 20_000)).toMatchObject({ event: 'CANCELLED' });
      expect(home.wheelsTurn).toBe(false);
      expect(home.daemon.runtime.amr.state()?.hardware?.calibration).toBeNull();
    }));
});
