/** A door of 0.62 m and a robot of 0.34 m: through it both ways, from whatever side it comes. */
import { expect, it } from 'vitest';
import { distance, type Point } from '../../config/contracts/geometry.js';
import { inHome } from './support/in-home.js';

/** The middle of the door between living room (west of it) and small room. */
const DOOR: Point = { x: 6.4, y: 4.81 };
const FAR = 0.8;

function beside(degrees: number, side: 'west' | 'east'): Point {
  const a = (degrees * Math.PI) / 180;
  const out = side === 'east' ? FAR : -FAR;
  return { x: DOOR.x + out * Math.cos(a), y: DOOR.y + FAR * Math.sin(a) };
}

it.each([
  ['steeply from below', -60, 35],
  ['from below', -30, -35],
  ['straight', 0, 0],
  ['from above', 30, 60],
  ['steeply from above', 60, -35],
])('passes the narrow door %s, in and out again, without a touch', (_how, west, east) =>
  inHome({}, async ({ home, witness }) => {
    const [outside, inside] = [beside(west, 'west'), beside(east, 'east')];
    const heading = Math.atan2(inside.y - outside.y, inside.x - outside.x);
    const legs = [
      { ...outside, theta: heading + Math.PI / 2 },
      { ...inside, theta: heading },
      // Turned away from the door: it has to turn round and go back.
      { ...outside, theta: heading },
      { ...inside, theta: heading + Math.PI },
    ];
    for (const position of legs) {
      const end = await witness.end(await home.task('setMoveTo', { position }));
      expect(end).toMatchObject({ event: 'COMPLETED' });
      expect(distance(end.truth.pose, position)).toBeLessThan(0.16);
    }
    expect(home.world.room).toBe('5');
    expect(witness.diary.collisions).toBe(0);
  }),
);
