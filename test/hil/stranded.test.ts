/** A robot that cannot get onto its station is not left beside it: it stands back, says so, and tries again. */
import { describe, expect, it } from 'vitest';
import { compose, distance } from '../../config/contracts/geometry.js';
import { inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

describe('a station whose contacts do not conduct', () => {
  it('is left alone after three approaches, and docked on once it is mended, without anybody asking', () =>
    inHome({}, async ({ home, witness }) => {
      const { world } = home.session;
      const out = await home.task('setMoveTo', { positionName: '거실' });
      await witness.end(out);
      world.station.contacts = false;
      const back = await home.task('returnToStation');
      const end = await witness.end(back);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(turning(end.truth)).toBe(false);
      const station = world.layout.dock?.station ?? end.truth.pose;
      expect(distance(end.truth.pose, station)).toBeGreaterThan(0.5);
      expect(witness.diary.collisions).toBe(0);
      await home.run(20_000);
      const said = witness.events.find((e) => e.method === 'setLlmTts' && e.event === 'COMPLETED');
      expect(said).toMatchObject({ source: 'SUPERVISOR' });
      world.station.contacts = true;
      await home.until(() => home.world.docked && home.world.battery.charging, 180_000, 'the robot charges');
      const again = witness.events.filter((e) => e.method === 'returnToStation' && e.event === 'STARTED');
      expect(again.map((e) => e.source)).toEqual(['CLOUD', 'SUPERVISOR']);
    }));
});

describe('a robot that is pushed off its contacts', () => {
  it('goes back by itself and charges on', () =>
    inHome({}, async ({ home, witness }) => {
      const { world } = home.session;
      const station = world.layout.dock?.station;
      if (station === undefined) throw new Error('the home has no dock');
      world.place(compose(station, { x: -0.12, y: 0.03, theta: 0.1 }));
      await home.until(() => !home.world.docked, 1000, 'it is off its contacts');
      await home.until(() => home.world.docked && home.world.battery.charging, 120_000, 'it charges again');
      const back = witness.events.find((e) => e.method === 'returnToStation' && e.event === 'STARTED');
      expect(back).toMatchObject({ source: 'SUPERVISOR' });
    }));
});
