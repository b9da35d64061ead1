/** A station that is not where or as the map says, and what stands before it: docked, or clear of it and told why. */
import { describe, expect, it } from 'vitest';
import { distance, type Pose } from '../../config/contracts/geometry.js';
import { type InHome, inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

/** Faster than this nothing of a station is touched, m/s. */
const TOUCH = 0.1;
/** From the middle of the robot that touches it to the docked pose, m. */
const AT_STATION = 0.35;

async function outside({ home, witness }: InHome): Promise<void> {
  const end = await witness.end(await home.task('setMoveTo', { positionName: '거실' }));
  expect(end.event).toBe('COMPLETED');
}

const stationOf = ({ home }: InHome): Pose => home.session.world.layout.dock?.station ?? home.world.pose;

/** A point in front of the station, as its docked robot would see it behind itself. */
function inFrontOf(place: InHome, metres: number): { x: number; y: number } {
  const { x, y, theta } = stationOf(place);
  return { x: x - metres * Math.cos(theta), y: y - metres * Math.sin(theta) };
}

const homeward = async ({ home, witness }: InHome) =>
  witness.end(await home.task('returnToStation'), 400_000);

/** Whatever was touched was the station, and slowly. */
function expectGentle({ witness }: InHome, station: Pose): void {
  for (const { timeMs } of witness.diary.told('collision')) {
    const { pose, wheels } = witness.diary.at(timeMs - 60);
    expect(distance(pose, station)).toBeLessThan(AT_STATION);
    expect(Math.max(wheels.left, wheels.right)).toBeLessThan(TOUCH);
  }
}

describe('a station', () => {
  it.each(['infrared off', 'infrared mirrored', 'move 0.1 0', 'move 0.25 0', 'move 0 0.1', 'move 0 -0.1'])(
    'with %s is docked on all the same',
    (fault) =>
      inHome({}, async (place) => {
        const { home } = place;
        await outside(place);
        await home.inject('station', ...fault.split(' '));
        const end = await homeward(place);
        expect(end).toMatchObject({ event: 'COMPLETED', evidence: { docked: true, charging: true } });
        expect(home.world).toMatchObject({ docked: true, battery: { charging: true } });
        expectGentle(place, stationOf(place));
      }),
  );

  it.each(['move 0 -0.2', 'move 0 0.3', 'move 0 0 15', 'move 0.05 0 30'])(
    'with %s is not charged on by a claim: docked in truth, or left with the reason, touched only slowly',
    (fault) =>
      inHome({}, async (place) => {
        const { home } = place;
        await outside(place);
        await home.inject('station', ...fault.split(' '));
        const end = await homeward(place);
        expectGentle(place, stationOf(place));
        if (end.event === 'COMPLETED') {
          expect(home.world.battery.charging).toBe(true);
          return;
        }
        expect(end).toMatchObject({
          reason_code: 'HARDWARE_FAULT',
          evidence: { docked: false, attempts: 3 },
        });
        expect(end.message).toContain('no charging contact after 3 attempts');
        expect(turning(end.truth)).toBe(false);
        expect(distance(end.truth.pose, stationOf(place))).toBeGreaterThan(0.5);
      }),
  );

  it('without mains is left with the reason; once it has them again the robot is sent home and charges', () =>
    inHome({}, async (place) => {
      const { home } = place;
      await outside(place);
      await home.inject('station', 'power', 'off');
      const end = await homeward(place);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(home.world.battery.charging).toBe(false);
      expect(distance(end.truth.pose, stationOf(place))).toBeGreaterThan(0.5);
      await home.inject('station', 'power', 'on');
      expect((await homeward(place)).event).toBe('COMPLETED');
      expect(home.world.battery.charging).toBe(true);
    }));
});

describe('a lidar of which a fifth of the frames is damaged', () => {
  it.each([1, 5])('does not keep the robot from its station (seed %i)', (seed) =>
    inHome({ seed }, async (place) => {
      const { home, witness } = place;
      await home.inject('noise', 'lidar', '0.2');
      await outside(place);
      expect(await homeward(place)).toMatchObject({ event: 'COMPLETED', evidence: { docked: true } });
      expect(home.world.battery.charging).toBe(true);
      expect(witness.diary.collisions).toBe(0);
    }),
  );
});

describe('before the station', () => {
  it.each([0.45, 0.7])('somebody %s m away from it is waited for or told of, and never touched', (metres) =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await outside(place);
      home.session.world.visitors.addPerson(inFrontOf(place, metres));
      const end = await homeward(place);
      expect(witness.diary.collisions).toBe(0);
      if (end.event !== 'COMPLETED') {
        expect(end.reason_code).toBe('OBSTRUCTED');
        expect(turning(end.truth)).toBe(false);
      }
      await home.inject('remove-person');
      if (end.event !== 'COMPLETED') expect((await homeward(place)).event).toBe('COMPLETED');
      expect(home.world.battery.charging).toBe(true);
    }),
  );

  it('a thing that leans on its contacts is met slowly or not at all, and told of', () =>
    inHome({}, async (place) => {
      const { home } = place;
      await outside(place);
      home.session.world.visitors.addObstacle(inFrontOf(place, -0.17 + 0.06), 0.05);
      const end = await homeward(place);
      expect(end.event).toBe('FAILED');
      expect(['OBSTRUCTED', 'HARDWARE_FAULT']).toContain(end.reason_code);
      expectGentle(place, stationOf(place));
      await home.inject('obstacle', 'clear');
      expect((await homeward(place)).event).toBe('COMPLETED');
    }));
});

describe('undock', () => {
  it('of a robot that is not docked is refused, and nothing turns', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await outside(place);
      const from = home.world.timeMs;
      const answer = await home.command({ kind: 'task', method: 'undock', params: {}, task: {} });
      const end = answer.task_id === null ? answer : await witness.end(answer.task_id);
      expect(end.reason_code).toBe('STATE_CONDITION_FAILED');
      await home.run(2000);
      expect(witness.diary.travelled(from)).toBeLessThan(0.005);
    }));
});
