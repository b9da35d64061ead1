/** People and things in the way, contact with the world, a robot that is carried off, and a battery that runs low. */
import { describe, expect, it } from 'vitest';
import { distance, type Point } from '../../config/contracts/geometry.js';
import { contextOf, type InHome, inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

const PHYSICAL = ['HARDWARE_FAULT', 'OBSTRUCTED', 'LOCALIZATION_LOST'];
/** In the doorway of the bedroom, which has no other. */
const BEDROOM_DOOR: Point = { x: 3.4, y: 3.9 };

async function onItsWay({ home, witness }: InHome, room = '안방', metres = 2): Promise<string> {
  const from = home.world.timeMs;
  const task = await home.task('setMoveTo', { positionName: room });
  await home.until(() => witness.diary.travelled(from) > metres, 60_000, 'the robot is on its way');
  return task;
}

/** A point so far ahead of where the robot is and looks. */
function ahead({ home }: InHome, metres: number): Point {
  const { x, y, theta } = home.world.pose;
  return { x: x + metres * Math.cos(theta), y: y + metres * Math.sin(theta) };
}

describe('a person', () => {
  it('who steps into the path is never touched: the robot goes round and arrives', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      const person = home.session.world.visitors.addPerson(ahead(place, 0.75));
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
      expect(end.truth.room).toBe('4');
      expect(witness.diary.collisions).toBe(0);
      const nearest = Math.min(
        ...witness.diary.between(0).map((page) => distance(page.pose, person) - 0.17 - person.radius),
      );
      expect(nearest).toBeGreaterThan(0.01);
    }));

  it('who stands right before the robot stops it before the touch', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await onItsWay(place);
      const { world } = home.session;
      // Hull to hull 0.25 m; at 0.35 m/s the robot is there in 0.7 s.
      world.visitors.addPerson(ahead(place, 0.17 + 0.16 + 0.25));
      await home.run(15_000);
      expect(witness.diary.collisions).toBe(0);
    }));

  it('who blocks the only door is waited for: the robot arrives once the way is free', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      home.session.world.visitors.addPerson(BEDROOM_DOOR);
      await home.run(14_000);
      expect(witness.ended(task)).toBeNull();
      expect(home.world.room).toBe('2');
      await home.inject('remove-person');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
      expect(witness.diary.collisions).toBe(0);
    }));

  it.each([11, 12])(
    'who walks up and down the living room all the time does not hinder the main job (seed %i)',
    (seed) =>
      inHome({ seed }, async ({ home, witness }) => {
        home.session.world.visitors.addPerson(
          { x: 4.4, y: 4.2 },
          {
            walk: [
              { x: 4.4, y: 4.2 },
              { x: 4.2, y: 1.2 },
            ],
            speed: 0.5,
          },
        );
        const { document } = await home.goal('거실로 갔다가 안방으로 이동해서 청정해줘');
        const end = await witness.end(document.workflow_id, 600_000);
        expect(end).toMatchObject({ event: 'COMPLETED' });
        expect(witness.diary.collisions).toBe(0);
        expect(home.world.docked).toBe(true);
      }),
  );
});

describe('an obstacle', () => {
  it('in the only door ends the move OBSTRUCTED, and says where; nothing is touched', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('obstacle', String(BEDROOM_DOOR.x), String(BEDROOM_DOOR.y));
      const end = await witness.end(task, 400_000);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'OBSTRUCTED' });
      const where = end.evidence?.where as Point;
      expect(distance(where, BEDROOM_DOOR)).toBeLessThan(0.6);
      expect(turning(end.truth)).toBe(false);
      expect(witness.diary.collisions).toBe(0);
      const told = witness.events.find((e) => e.event === 'movement.obstructed');
      expect(told).toBeDefined();
      // The way is cleared: it can be sent again.
      await home.inject('obstacle', 'clear');
      const again = await witness.end(await home.task('setMoveTo', { positionName: '안방' }));
      expect(again.event).toBe('COMPLETED');
    }));

  it('in an open room is driven round', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place, '거실', 1);
      const spot = ahead(place, 0.9);
      await home.inject('obstacle', spot.x.toFixed(2), spot.y.toFixed(2));
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '2' } });
      expect(witness.diary.collisions).toBe(0);
    }));

  it('behind a robot on its station keeps it there: undock FAILS OBSTRUCTED, without a touch', () =>
    inHome({}, async ({ home, witness }) => {
      const { x, y } = home.world.pose;
      await home.inject('obstacle', (x + 0.42).toFixed(2), y.toFixed(2));
      await home.run(1_000);
      const end = await witness.end(await home.task('undock'), 200_000);
      expect(end.event).toBe('FAILED');
      expect(PHYSICAL).toContain(end.reason_code);
      expect(witness.diary.collisions).toBe(0);
    }));

  it('on the goal ends the move OBSTRUCTED or TARGET_UNREACHABLE: being near is not being there', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('obstacle', '2.6', '4.3');
      const end = await witness.end(task, 400_000);
      expect(end).toMatchObject({ event: 'FAILED' });
      expect(['OBSTRUCTED', 'TARGET_UNREACHABLE']).toContain(end.reason_code);
      expect(witness.events.map((e) => e.event)).not.toContain('movement.arrived');
      expect(witness.diary.collisions).toBe(0);
    }));
});

describe('a sensor of the base', () => {
  it.each(['left', 'right'])(
    'a bump on the %s stops the wheels at once; the robot backs off and still arrives',
    (side) =>
      inHome({}, async (place) => {
        const { home, witness } = place;
        const task = await onItsWay(place);
        const from = home.world.timeMs;
        await home.inject('bump', side);
        await home.until(() => !turning(witness.diary.now), 1_000, 'the wheels stand still');
        expect(home.world.timeMs - from).toBeLessThan(400);
        const end = await witness.end(task);
        expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
      }),
  );

  it('a drop in front stops the wheels at once, and nothing drives forward while it is there', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      const from = home.world.timeMs;
      await home.inject('cliff');
      await home.run(950);
      const stop = witness.diary.between(from).find((page) => !turning(page))?.timeMs ?? from + 9_999;
      expect(stop - from).toBeLessThan(400);
      const forward = witness.diary
        .between(stop, from + 1_000)
        .filter(({ command }) => command.left + command.right > 0.001);
      expect(forward).toEqual([]);
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
    }));

  it('hanging wheels stop the robot at once and end the move FAILED HARDWARE_FAULT, asking whether it was lifted', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      const { body } = home.session.world;
      const from = home.world.timeMs;
      body.lifted = true;
      await home.until(() => !turning(witness.diary.now), 2_000, 'the wheels stand still');
      expect(home.world.timeMs - from).toBeLessThan(400);
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(end.message).toMatch(/lifted/);
      body.lifted = false;
      await home.run(3_000);
      const again = await witness.end(await home.task('setMoveTo', { positionName: '안방' }));
      expect(again.event).toBe('COMPLETED');
    }));
});

describe('a robot that is carried off', () => {
  it.each<[string, { x: number; y: number; theta: number }]>([
    ['into another room', { x: 7.6, y: 5.4, theta: 2 }],
    ['within the room', { x: 5.4, y: 1.4, theta: -2.5 }],
  ])('lifted and put down %s, never arrives where it is not', (_where, spot) =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const { world } = home.session;
      const task = await onItsWay(place);
      world.body.lifted = true;
      await home.run(1_500);
      world.place(spot);
      await home.run(1_500);
      world.body.lifted = false;
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED' });
      const next = await home.command({
        kind: 'task',
        method: 'setMoveTo',
        params: { positionName: '주방' },
        task: {},
      });
      const after = next.task_id === null ? null : await witness.end(next.task_id, 400_000);
      if (after?.event === 'COMPLETED') {
        expect(after.truth.room).toBe('3');
        expect(distance(after.truth.pose, { x: 7.4, y: 1.9 })).toBeLessThan(0.25);
      } else expect(PHYSICAL).toContain(after?.reason_code ?? next.reason_code);
      expect(witness.diary.collisions).toBe(0);
    }),
  );

  it('without noticing it finds out from what it sees: lost is told, or it ends where it was sent', () =>
    inHome({ seed: 3 }, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place, '안방', 3);
      home.session.world.place({ x: 7.6, y: 5.4, theta: 2 });
      const end = await witness.end(task, 400_000);
      const lost = witness.events.some((e) => e.event === 'movement.localizationLost');
      if (end.event === 'COMPLETED') expect(distance(end.truth.pose, { x: 2.6, y: 4.3 })).toBeLessThan(0.25);
      else {
        expect(PHYSICAL).toContain(end.reason_code);
        expect(lost || end.reason_code !== 'LOCALIZATION_LOST').toBe(true);
      }
      // The robot's own idea of where it is is right, or it says that it has none.
      const { location } = await contextOf(home);
      if (location.usable && location.x !== null && location.y !== null) {
        expect(distance({ x: location.x, y: location.y }, home.world.pose)).toBeLessThan(0.3);
      }
    }));
});

describe('the battery', () => {
  it('running low in a drive ends it LOW_BATTERY; the robot goes home by itself, and charges', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('battery', '12');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'LOW_BATTERY' });
      expect(turning(end.truth)).toBe(false);
      expect(end.reason_observed_at_ms).not.toBeNull();
      await home.until(() => home.world.docked, 180_000, 'the robot is back on its station');
      await home.run(5_000);
      expect(home.world.battery.charging).toBe(true);
      const going = witness.events.find((e) => e.event === 'COMPLETED' && e.method === 'returnToStation');
      expect(going).toMatchObject({ source: 'SUPERVISOR', evidence: { completion_target: 'dock.docked' } });
      expect(witness.events.map((e) => e.event)).toContain('battery.low');
      const refused = await home.command({
        kind: 'task',
        method: 'setMoveTo',
        params: { positionName: '거실' },
        task: {},
      });
      const after = refused.task_id === null ? refused : await witness.end(refused.task_id);
      expect(after.reason_code).toBe('LOW_BATTERY');
    }));

  it('running low in the main job ends the workflow LOW_BATTERY, with no step after it but the way home', () =>
    inHome({}, async ({ home, witness }) => {
      const { document } = await home.goal('거실로 갔다가 안방으로 이동해서 청정해줘');
      await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
      await home.inject('battery', '10');
      const end = await witness.end(document.workflow_id);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'LOW_BATTERY' });
      await home.until(() => home.world.docked, 180_000, 'the robot is back on its station');
      expect(witness.diary.between(0).every((page) => page.rpm === 0)).toBe(true);
    }));

  it('almost empty stops the robot where it is, and says so', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('battery', '2');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'LOW_BATTERY' });
      expect(turning(end.truth)).toBe(false);
    }));
});
