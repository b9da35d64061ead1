/**
 * Trap 5 of the peers: undocking when not docked, which drives a robot backwards into whatever stands there; and docking
 * failures that strand the robot beside its charger, against it or without a way out.
 */
import { describe, expect, it } from 'vitest';
import { distance, type Pose } from '../../../config/contracts/geometry.js';
import { contextOf, type InHome, inHome } from '../support/in-home.js';

/** What undocking promises as well, m from the docked pose. */
const CLEAR_M = 0.4;
const PHYSICAL = ['HARDWARE_FAULT', 'OBSTRUCTED', 'LOCALIZATION_LOST'];

/** Where the robot stands when it is docked. */
function station({ home }: InHome): Pose {
  const { dock } = home.session.world.layout;
  if (dock === null) throw new Error('this home has no station');
  return dock.station;
}

/** From there, m. */
function toStation(place: InHome): number {
  return distance(place.home.world.pose, station(place));
}

async function driveOff({ home, witness }: InHome): Promise<void> {
  expect(await witness.end(await home.task('setMoveTo', { positionName: '거실' }))).toMatchObject({
    event: 'COMPLETED',
  });
}

describe('trap 5: undocking when not docked', () => {
  it('is FAILED STATE_CONDITION_FAILED, however it is asked for, and not a wheel turns', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await driveOff(place);
      const from = home.world.timeMs;
      const single = await witness.end(await home.task('undock'));
      expect(single).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
      const steps = [{ step_id: 'a', method: 'undock' }];
      const workflow = { workflow_id: 'wf-undock', steps };
      await witness.ask(witness.envelope({ kind: 'workflow', workflow }));
      expect(await witness.end('wf-undock')).toMatchObject({
        event: 'FAILED',
        reason_code: 'STATE_CONDITION_FAILED',
      });
      expect(witness.diary.travelled(from)).toBe(0);
      expect(home.wheelCommands(from).filter(({ left, right }) => left !== 0 || right !== 0)).toEqual([]);
    }));

  it('does not happen twice: a second undock behind the first finds it done and backs off no further', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const first = await home.task('undock');
      const second = await home.task('undock');
      expect(await witness.end(first)).toMatchObject({ event: 'COMPLETED', evidence: { docked: false } });
      const from = home.world.timeMs;
      expect(toStation(place)).toBeGreaterThanOrEqual(CLEAR_M - 0.02);
      await witness.end(second);
      expect(witness.diary.travelled(from)).toBeLessThan(0.02);
      expect(witness.diary.collisions).toBe(0);
    }));

  it('half-way off the contacts goes on until the robot is clear of them', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await home.task('undock');
      await home.until(() => !home.world.docked, 30_000, 'the contacts are open');
      await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: task } });
      expect(await witness.end(task)).toMatchObject({ event: 'CANCELLED' });
      expect(toStation(place)).toBeLessThan(CLEAR_M);
      expect(await witness.end(await home.task('undock'))).toMatchObject({ event: 'COMPLETED' });
      expect(toStation(place)).toBeGreaterThanOrEqual(CLEAR_M - 0.02);
    }));
});

describe('trap 5: docking that fails', () => {
  it.each([
    ['a station without power', 'powered'],
    ['contacts that are dirty', 'contacts'],
  ] as const)(
    'at %s leaves the robot clear of it, able to drive, and able to dock once that is mended',
    (_name, part) =>
      inHome({}, async (place) => {
        const { home, witness } = place;
        await driveOff(place);
        home.session.world.station[part] = false;
        const failed = await witness.end(await home.task('returnToStation'), 400_000);
        expect(failed.event).toBe('FAILED');
        expect(PHYSICAL).toContain(failed.reason_code);

        // It says that it could not dock, and then waits for its next try.
        await home.run(15_000);
        // Not pressed against the charger, not lost, not held by anything.
        expect(home.wheelsTurn).toBe(false);
        expect(witness.diary.now.touching).toBe(false);
        expect(toStation(place)).toBeGreaterThanOrEqual(CLEAR_M);
        const { main_state, location } = await contextOf(home);
        expect({ main_state, localized: location.localized }).toEqual({
          main_state: 'idle',
          localized: true,
        });
        await driveOff(place);

        home.session.world.station[part] = true;
        expect(await witness.end(await home.task('returnToStation'), 400_000)).toMatchObject({
          event: 'COMPLETED',
          evidence: { docked: true },
        });
        expect(home.world).toMatchObject({ docked: true, battery: { charging: true } });
      }),
  );

  it('because something stands before the station ends without a touch, and docks when it is gone', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await driveOff(place);
      const { x, y } = station(place);
      await home.inject('obstacle', (x + 0.35).toFixed(2), y.toFixed(2));
      const failed = await witness.end(await home.task('returnToStation'), 400_000);
      expect(failed.event).toBe('FAILED');
      expect(witness.diary.collisions).toBe(0);
      await home.inject('obstacle', 'clear');
      expect(await witness.end(await home.task('returnToStation'), 400_000)).toMatchObject({
        event: 'COMPLETED',
      });
      expect(home.world.docked).toBe(true);
    }));

  it('half-way because the daemon died goes on after the restart and ends on the contacts', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await driveOff(place);
      const task = await home.task('returnToStation');
      await home.until(() => toStation(place) < 0.35, 120_000, 'the robot is about to dock');
      home.killDaemon();
      await home.run(2_000);
      await home.startDaemon();
      expect(await witness.end(task, 400_000)).toMatchObject({
        event: 'COMPLETED',
        evidence: { docked: true },
      });
      expect(home.world.docked).toBe(true);
      expect(witness.endsOf(task)).toEqual(['COMPLETED']);
    }));
});
