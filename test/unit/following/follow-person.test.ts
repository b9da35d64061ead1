/** A simulated robot in a flat follows somebody on two legs. */
import { describe, expect, it } from 'vitest';
import type { MotionAction } from '../../../config/contracts/amr.js';
import type { Point } from '../../../config/contracts/geometry.js';
import { settled, standing, walked } from '../../../simulator/world/gait.js';
import { Drive } from '../amr/support/drive.js';
import { flat } from '../amr/support/grids.js';

const FOLLOW: MotionAction = { kind: 'follow', distance: 1, maxSpeed: 0.35, maxDurationMs: 600_000 };
const STEP_MS = 50;

/** Walks over the points and stays at the last; the robot sees the legs. */
class Walker {
  x: number;
  y: number;
  #gait;
  #way: Point[];
  readonly #speed: number;

  constructor(at: Point, way: Point[], speed: number) {
    this.x = at.x;
    this.y = at.y;
    this.#way = [...way];
    this.#speed = speed;
    this.#gait = standing(at, Math.PI);
  }

  get legs() {
    return this.#gait.legs;
  }

  step(): void {
    const [goal] = this.#way;
    if (goal === undefined) {
      this.#gait = settled(this.#gait, this, STEP_MS);
      return;
    }
    const left = Math.hypot(goal.x - this.x, goal.y - this.y);
    const metres = (this.#speed * STEP_MS) / 1000;
    if (left <= metres) {
      this.#way.shift();
      return;
    }
    const heading = Math.atan2(goal.y - this.y, goal.x - this.x);
    this.x += Math.cos(heading) * metres;
    this.y += Math.sin(heading) * metres;
    this.#gait = walked(this.#gait, this, heading, metres, STEP_MS);
  }
}

interface Scene {
  drive: Drive;
  people: Walker[];
  nearest: number;
}

async function scene(people: Walker[], pose = { x: 1, y: 1.6, theta: 0 }): Promise<Scene> {
  const drive = await new Drive(flat(), pose).settle();
  return { drive, people, nearest: Number.POSITIVE_INFINITY };
}

/** Lets time pass; the people walk once the robot has seen them for a second. */
async function follow(s: Scene, ms: number, waitMs = 1_500): Promise<void> {
  if (s.drive.navigator.state().action === null && s.drive.endOf('f') === null) {
    s.drive.navigator.start('f', FOLLOW);
  }
  let t = 0;
  await s.drive.run(ms, () => {
    t += STEP_MS;
    if (t > waitMs) for (const person of s.people) person.step();
    s.drive.robot.things = s.people.flatMap((person) => person.legs);
    const { pose } = s.drive.robot;
    for (const leg of s.drive.robot.things) {
      s.nearest = Math.min(s.nearest, Math.hypot(leg.x - pose.x, leg.y - pose.y) - leg.radius - 0.17);
    }
  });
}
const notes = ({ drive }: Scene) => drive.updates.flatMap((u) => (u.status === 'running' ? [u.note] : []));
const gap = ({ drive, people }: Scene) =>
  Math.hypot((people[0]?.x ?? 0) - drive.robot.pose.x, (people[0]?.y ?? 0) - drive.robot.pose.y);

describe('following somebody', () => {
  it('stands before them, goes after them at about a metre, and stands again when they do', async () => {
    const s = await scene([new Walker({ x: 2.2, y: 1.6 }, [{ x: 6, y: 1.6 }], 0.3)]);
    await follow(s, 25_000);
    expect(notes(s)).toContain('following');
    expect(notes(s).at(-1)).toBe('person_near');
    expect(gap(s)).toBeGreaterThan(0.7);
    expect(gap(s)).toBeLessThan(1.4);
    expect(s.nearest).toBeGreaterThan(0.3);
    expect(s.drive.robot.collisions).toBe(0);
    expect(s.drive.endOf('f')).toBeNull();
  });

  it('goes through a door after them, without a touch', async () => {
    const way = [
      { x: 3.6, y: 1.6 },
      { x: 5.4, y: 1.6 },
      { x: 5.6, y: 2.4 },
      { x: 7.4, y: 2.4 },
    ];
    const s = await scene([new Walker({ x: 2.2, y: 1.6 }, way, 0.28)]);
    await follow(s, 45_000);
    expect(gap(s)).toBeLessThan(1.6);
    expect(s.drive.robot.collisions).toBe(0);
    expect(s.nearest).toBeGreaterThan(0.2);
  });

  it('ends no_person when nobody is there', async () => {
    const s = await scene([]);
    await follow(s, 12_000);
    expect(s.drive.endOf('f')).toMatchObject({ status: 'failed', failure: 'no_person' });
    expect(s.drive.robot.pose.x).toBeCloseTo(1, 1);
  });

  it('looks for somebody who vanished, and gives up after a bounded wait, standing', async () => {
    const s = await scene([new Walker({ x: 2.2, y: 1.6 }, [{ x: 4, y: 1.6 }], 0.3)]);
    await follow(s, 6_000);
    s.people.length = 0;
    await follow(s, 30_000);
    expect(notes(s)).toContain('looking');
    expect(s.drive.endOf('f')).toMatchObject({ status: 'failed', failure: 'person_lost' });
    expect(s.drive.command).toEqual({ v: 0, w: 0 });
    expect(s.drive.robot.collisions).toBe(0);
  });

  it('ends succeeded when the time is over, at rest', async () => {
    const s = await scene([new Walker({ x: 2.2, y: 1.6 }, [{ x: 6, y: 1.6 }], 0.3)]);
    s.drive.robot.things = s.people.flatMap((person) => person.legs);
    const end = await s.drive.act({ ...FOLLOW, maxDurationMs: 4_000 }, 10_000, () => {
      for (const person of s.people) person.step();
      s.drive.robot.things = s.people.flatMap((person) => person.legs);
    });
    expect(end).toMatchObject({ status: 'succeeded', detail: { followed_ms: 4_000 } });
    expect(s.drive.command).toEqual({ v: 0, w: 0 });
  });

  it('is not misled by somebody who crosses between them', async () => {
    const one = new Walker({ x: 2.4, y: 1.6 }, [{ x: 6, y: 1.6 }], 0.25);
    const other = new Walker({ x: 2.2, y: 0.4 }, [{ x: 3.6, y: 2.8 }], 0.35);
    const s = await scene([one, other]);
    await follow(s, 25_000);
    expect(gap(s)).toBeLessThan(1.5);
    expect(s.drive.robot.collisions).toBe(0);
  });
});
