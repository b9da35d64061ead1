/** The main job on other hardware: the same robot software, other bytes on its lines. */
import { describe, expect, it } from 'vitest';
import { RplidarDevice } from '../../simulator/devices/rplidar.js';
import { inHome } from './support/in-home.js';

const GOAL = '거실로 갔다가 안방으로 이동해서 청정해줘';
const STEPS = ['undock', 'setMoveTo', 'setMoveTo', 'startCleaning', 'setLlmTts', 'returnToStation'];
const CHIPS = [
  { base: 'kobuki', lidar: 'ld19' },
  { base: 'create2', lidar: 'rplidar_a1' },
  { base: 'kobuki', lidar: 'rplidar_a1' },
] as const;

describe.each(CHIPS)('a robot with a $base base and a $lidar lidar', (chips) => {
  it('does the main job from its station and back onto the contacts', () =>
    inHome(chips, async ({ home, witness }) => {
      const { document } = await home.goal(GOAL);
      const end = await witness.end(document.workflow_id, 420_000);
      expect(end).toMatchObject({ event: 'COMPLETED', reason_code: null });
      const done = witness.events.filter((event) => event.event === 'COMPLETED' && event.task_id !== null);
      expect(done.map((event) => event.method)).toEqual(STEPS);
      expect(home.world).toMatchObject({ docked: true, battery: { charging: true } });
      expect(home.session.world.trace().filter((line) => / bump/.test(line))).toEqual([]);
    }));

  it('stops when told to in the middle of a way, and says so only when the wheels stand still', () =>
    inHome(chips, async ({ home }) => {
      const id = await home.task('setMoveTo', { positionName: '안방' });
      await home.until(() => home.wheelsTurn && !home.world.docked, 60_000, 'the robot drives');
      await home.run(3_000);
      await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: id } });
      const end = await home.end(id, 20_000);
      expect(end).toMatchObject({ event: 'CANCELLED' });
      expect(home.wheelsTurn).toBe(false);
      expect(home.wheelCommands().at(-1)).toMatchObject({ left: 0, right: 0 });
    }));

  it('latches the emergency stop when its stop button is pressed', () =>
    inHome(chips, async ({ home }) => {
      const id = await home.task('setMoveTo', { positionName: '안방' });
      await home.until(() => home.wheelsTurn && !home.world.docked, 60_000, 'the robot drives');
      await home.inject('estop');
      expect(await home.end(id, 20_000)).toMatchObject({ event: 'FAILED', reasonCode: 'EMERGENCY_STOP' });
      expect(home.wheelsTurn).toBe(false);
    }));
});

describe('a lidar that fails its own self-test', () => {
  it('keeps the robot where it is, with a sentence that says so, until it passes', () =>
    inHome({ lidar: 'rplidar_a1' }, async ({ home }) => {
      const { lidar } = home.session.devices;
      if (!(lidar instanceof RplidarDevice)) throw new Error('the home has another lidar');
      lidar.health = 2;
      lidar.unplug();
      await home.run(1_000);
      lidar.plug();
      await home.until(
        () => home.daemon.runtime.amr.state()?.hardware?.lidar?.health === 'error',
        20_000,
        'the self-test is reported',
      );
      const refused = await home.command({
        kind: 'task',
        method: 'setMoveTo',
        params: { positionName: '거실' },
        task: { executionMode: 'IMMEDIATE' },
      });
      expect(refused).toMatchObject({ status: 'rejected', reason_code: 'CAPABILITY_UNAVAILABLE' });
      expect(refused.message).toMatch(/the lidar failed its own self-test/);
      expect(home.world.docked).toBe(true);
      lidar.health = 0;
      await home.until(
        () => home.daemon.runtime.amr.state()?.lidar.connected === true,
        20_000,
        'the lidar scans again',
      );
      const id = await home.task('setMoveTo', { positionName: '거실' });
      expect(await home.end(id)).toMatchObject({ event: 'COMPLETED' });
    }));
});
