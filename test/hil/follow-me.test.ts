/** Following in a whole home: somebody on two legs walks through it, and the robot goes after them. */
import { describe, expect, it } from 'vitest';
import type { Point } from '../../config/contracts/geometry.js';
import type { Person } from '../../simulator/world/visitors.js';
import { type InHome, inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

/** From in front of the station, or from the entrance through its door, over the living room into the bedroom. */
const TO_BEDROOM: Point[] = [
  { x: 4.4, y: 2.9 },
  { x: 4.2, y: 3.9 },
  { x: 2.6, y: 4.0 },
  { x: 2.5, y: 4.9 },
];

const legsOf = (person: Person) => person.gait.legs;

/** Hull to the nearest leg, m. */
function gapTo({ home }: InHome, person: Person): number {
  const { pose } = home.world;
  return Math.min(
    ...legsOf(person).map((leg) => Math.hypot(leg.x - pose.x, leg.y - pose.y) - leg.radius - 0.17),
  );
}

async function facingTheRoom({ home, witness }: InHome, room: string | null = null): Promise<void> {
  const leave = room === null ? home.task('undock') : home.task('setMoveTo', { positionName: room });
  expect((await witness.end(await leave)).event).toBe('COMPLETED');
  expect((await witness.end(await home.task('rotate', { angleDeg: 180 }))).event).toBe('COMPLETED');
}

/** Somebody stands before the robot, and walks off once it follows them. */
async function followed(
  place: InHome,
  way: Point[],
  room: string | null = null,
): Promise<{ task: string; person: Person }> {
  const { home } = place;
  await facingTheRoom(place, room);
  const { pose } = home.world;
  const at = { x: pose.x + 1.1 * Math.cos(pose.theta), y: pose.y + 1.1 * Math.sin(pose.theta) };
  const person = home.session.world.visitors.addPerson(at, { facing: pose.theta + Math.PI, speed: 0.3 });
  const task = await home.task('startFollowMe', { maxDurationMs: 600_000 });
  await home.until(
    () => place.witness.progress.some((e) => e.task_id === task && e.domain_stage === 'follow.near'),
    20_000,
    'the robot has found the person',
  );
  person.again = false;
  person.walk = way;
  return { task, person };
}

const stages = ({ witness }: InHome, task: string) =>
  witness.progress.filter((e) => e.task_id === task).map((e) => e.domain_stage);

describe('following somebody', () => {
  it('goes after them through three rooms without a touch, stands about a metre behind, and stops for stopFollowMe', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const way = [{ x: 3, y: 2.2 }, ...TO_BEDROOM];
      const { task, person } = await followed(place, way, '현관');
      expect(home.world.room).toBe('1');
      let nearest = Number.POSITIVE_INFINITY;
      await home.until(
        () => {
          nearest = Math.min(nearest, gapTo(place, person));
          return person.next >= way.length;
        },
        90_000,
        'the person has come to the end of the way',
      );
      await home.run(12_000);
      nearest = Math.min(nearest, gapTo(place, person));
      expect(witness.diary.collisions).toBe(0);
      expect(nearest).toBeGreaterThan(0.2);
      expect(gapTo(place, person)).toBeLessThan(1.5);
      expect(home.world.room).toBe('4');
      const stop = await witness.end(await home.task('stopFollowMe'));
      expect(stop).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'follow.stopped', already: false },
      });
      const end = await witness.end(task);
      expect(end).toMatchObject({
        event: 'CANCELLED',
        reason_code: 'CANCELLED_BY_CLOUD',
        evidence: { stopped: true },
      });
      expect(turning(end.truth)).toBe(false);
      // Where people are never leaves the robot.
      expect(JSON.stringify(witness.messages.map(({ text }) => text))).not.toMatch(/person_track|"vx"/);
    }));

  it('looks for somebody who vanished, and ends in bounded time, standing', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const { task } = await followed(place, TO_BEDROOM);
      await home.run(6_000);
      await home.inject('remove-person');
      const gone = home.world.timeMs;
      const end = await witness.end(task);
      expect(end).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'follow.started', ended: 'person_lost', stopped: true },
      });
      expect(end.truth.timeMs - gone).toBeLessThan(30_000);
      expect(stages(place, task)).toContain('follow.looking');
      expect(turning(end.truth)).toBe(false);
      expect(witness.diary.collisions).toBe(0);
    }));

  it('ends when the time that was asked for is over', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await facingTheRoom(place);
      const { pose } = home.world;
      home.session.world.visitors.addPerson({ x: pose.x + 1.2, y: pose.y }, { facing: Math.PI });
      const end = await witness.end(await home.task('startFollowMe', { maxDurationMs: 8_000 }));
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { ended: 'time_over' } });
      expect(turning(end.truth)).toBe(false);
    }));

  it.each([
    ['cancelTask', 'CANCELLED', 'CANCELLED_BY_CLOUD'],
    ['stopMove', 'CANCELLED', 'CANCELLED_BY_CLOUD'],
    ['emergencyStop', 'FAILED', 'EMERGENCY_STOP'],
  ])('is over for %s, with the wheels at rest', (how, event, reason) =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const { task } = await followed(place, TO_BEDROOM);
      await home.until(() => turning(witness.diary.now), 20_000, 'the robot follows');
      if (how === 'stopMove') await home.task('stopMove');
      else
        await home.command({
          kind: 'control',
          method: how,
          params: how === 'cancelTask' ? { task_id: task } : {},
        });
      const end = await witness.end(task);
      expect(end).toMatchObject({ event, reason_code: reason });
      expect(turning(end.truth)).toBe(false);
      const stood = home.world.timeMs;
      await home.run(3_000);
      expect(witness.diary.travelled(stood)).toBeLessThan(0.01);
    }),
  );

  it('gives up for the way home when the battery runs low: FAILED LOW_BATTERY', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const { task } = await followed(place, TO_BEDROOM);
      await home.inject('battery', '12');
      expect(await witness.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'LOW_BATTERY' });
    }));

  it('with nobody there fails by itself and moves nothing; stopFollowMe is done then already', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await facingTheRoom(place);
      const from = home.world.timeMs;
      const end = await witness.end(await home.task('startFollowMe'));
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
      expect(witness.diary.travelled(from)).toBe(0);
      expect(await witness.end(await home.task('stopFollowMe'))).toMatchObject({
        event: 'COMPLETED',
        evidence: { already: true },
      });
    }));
});
