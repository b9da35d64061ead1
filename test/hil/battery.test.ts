/** A battery that wears out: the robot turns back while the way home is still affordable. */
import { describe, expect, it } from 'vitest';
import { inHome } from './support/in-home.js';

const TOUR = { positionIds: ['4', '5', '4', '5', '4', '5', '4', '5'] };

describe('a battery that runs empty fifteen times faster than it did', () => {
  it('ends the tour LOW_BATTERY well above the reserve, and the robot is home before it is empty', () =>
    inHome({}, async ({ home, witness }) => {
      await home.inject('worn-battery', '15');
      await home.inject('battery', '34');
      const tour = await home.task('setMoveTo', TOUR);
      const end = await witness.end(tour);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'LOW_BATTERY' });
      const { percent } = home.world.battery;
      expect(percent).toBeGreaterThan(16.5);
      await home.until(() => home.world.docked, 180_000, 'the robot is home');
      expect(home.world.battery.percent).toBeGreaterThan(3);
      // It knows so after a restart too.
      await home.restartDaemon();
      await home.inject('battery', '24');
      const again = await home.task('setMoveTo', TOUR);
      const last = await witness.end(again);
      expect(last).toMatchObject({ event: 'FAILED', reason_code: 'LOW_BATTERY' });
      await home.until(() => home.world.docked, 180_000, 'the robot is home again');
      expect(home.world.battery.percent).toBeGreaterThan(3);
      expect(witness.diary.collisions).toBe(0);
    }));
});

describe('a new battery', () => {
  it('keeps the reserve that was configured: the way home costs less', () =>
    inHome({}, async ({ home, witness }) => {
      await home.inject('battery', '30');
      const tour = await home.task('setMoveTo', { positionIds: ['4', '5'] });
      const end = await witness.end(tour);
      expect(end.event).toBe('COMPLETED');
    }));
});
