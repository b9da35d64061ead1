import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../config/contracts/ids.js';
import { PersonTracker } from '../../../drivers/amr/tracking/person-tracker.js';
import { fourLegs, Scene } from './scene.js';

describe('somebody who walks', () => {
  it('is known as a person within a second and a half, where they are and how fast they go', () => {
    const scene = new Scene();
    const person = scene.person(0.8, 3, { walk: [{ x: 3.4, y: 3 }], speed: 0.7, again: false });
    scene.run(1_500);
    const track = scene.trackOf(person);
    expect(track?.confidence).toBeGreaterThan(0.8);
    scene.run(1_000);
    expect(scene.trackOf(person)?.vx).toBeGreaterThan(0.4);
    expect(scene.trackOf(person)?.vx).toBeLessThan(1.0);
    expect(Math.abs(scene.trackOf(person)?.vy ?? 9)).toBeLessThan(0.3);
    expect(scene.worst).toBeLessThan(0.25);
    expect(scene.said.size).toBe(1);
  });

  it.each([0.3, 0.5, 0.9, 1.3])('is one person all the time, there and back, at %s m/s', (speed) => {
    const scene = new Scene();
    const person = scene.person(0.8, 3.2, {
      walk: [
        { x: 3.3, y: 3.2 },
        { x: 3.3, y: 1 },
        { x: 0.8, y: 3.2 },
      ],
      speed,
    });
    scene.run(20_000);
    expect(scene.trackOf(person)).not.toBeNull();
    expect(scene.said.size).toBeLessThanOrEqual(2);
    expect(scene.worst).toBeLessThan(0.35);
  });

  it('stays a person after stopping, however long they stand', () => {
    const scene = new Scene();
    const person = scene.person(0.8, 3, { walk: [{ x: 2.6, y: 3 }], speed: 0.6, again: false });
    scene.run(6_000);
    const before = scene.trackOf(person)?.id;
    scene.run(20_000);
    expect(scene.trackOf(person)?.id).toBe(before);
    expect(Math.hypot(scene.trackOf(person)?.vx ?? 9, scene.trackOf(person)?.vy ?? 9)).toBeLessThan(0.1);
  });

  it('is still known while the robot drives and turns', () => {
    const scene = new Scene('', [1, 0.8, 0]);
    const person = scene.person(1.2, 3, {
      walk: [
        { x: 3.2, y: 3 },
        { x: 1.2, y: 3 },
      ],
      speed: 0.5,
    });
    scene.run(12_000, (t) => {
      scene.world.place({ x: 1 + 0.1 * (t / 1000), y: 0.8, theta: Math.sin(t / 700) });
    });
    expect(scene.trackOf(person)?.confidence).toBeGreaterThan(0.5);
    expect(scene.said.size).toBeLessThanOrEqual(2);
  });
});

describe('somebody who only stands there', () => {
  it('is taken for a person, less surely than one who walked', () => {
    const scene = new Scene();
    const person = scene.person(3.3, 2, { facing: Math.PI });
    scene.run(3_000);
    expect(scene.trackOf(person)?.confidence).toBeGreaterThan(0.4);
    expect(scene.trackOf(person)?.confidence).toBeLessThan(0.6);
  });
});

describe('furniture that the map does not have', () => {
  const things: [string, string][] = [
    ['a chair', fourLegs(3, 2, 0.4, 0.018)],
    ['a chair with thick legs', fourLegs(3, 2.2, 0.42, 0.03)],
    ['two chairs side by side', `${fourLegs(3, 1.6, 0.4, 0.02)}, ${fourLegs(3, 2.4, 0.4, 0.02)}`],
    ['a table', fourLegs(3, 2, 0.8, 0.035)],
    ['a stool', fourLegs(2.9, 2.1, 0.3, 0.02)],
    ['a box', '{id: box, at: [3, 2], size: [0.4, 0.3]}'],
    ['a post', '{id: post, at: [3, 2], radius: 0.06}'],
    ['a bin', '{id: bin, at: [3, 2], radius: 0.15}'],
    ['two lamps far apart', '{id: a, at: [3, 1.5], radius: 0.06}, {id: b, at: [3, 2.3], radius: 0.06}'],
  ];

  it.each(things)('%s is never a person, seen from a robot that stands', (_name, furniture) => {
    const scene = new Scene(`furniture: [${furniture}]`);
    scene.run(20_000);
    expect([...scene.said]).toEqual([]);
  });

  it.each(things)(
    '%s is never a person, seen from a robot that drives past and turns',
    (_name, furniture) => {
      const scene = new Scene(`furniture: [${furniture}]`, [0.6, 1, 0]);
      scene.run(20_000, (t) => {
        const s = t / 1000;
        scene.world.place({ x: 0.6 + 0.06 * s, y: 1 + 0.4 * Math.sin(s / 3), theta: Math.sin(s) });
      });
      expect([...scene.said]).toEqual([]);
    },
  );

  it('does not take over the track of a person who passes it', () => {
    const scene = new Scene(`furniture: [${fourLegs(2.5, 2.6, 0.4, 0.02)}]`, [2, 0.6, 0]);
    const person = scene.person(0.7, 3.2, { walk: [{ x: 3.4, y: 3.2 }], speed: 0.5, again: false });
    scene.run(8_000);
    expect(scene.trackOf(person)).not.toBeNull();
    for (const track of scene.people.filter((t) => t.unseenMs < 500)) {
      expect(Math.hypot(track.x - person.x, track.y - person.y)).toBeLessThan(0.4);
    }
  });
});

describe('two people', () => {
  it('who cross each other keep their tracks', () => {
    const scene = new Scene('', [2, 0.5, 0]);
    const right = scene.person(0.7, 2.4, { walk: [{ x: 3.4, y: 2.4 }], speed: 0.6, again: false });
    const left = scene.person(3.4, 3.1, { walk: [{ x: 0.7, y: 3.1 }], speed: 0.6, again: false });
    scene.run(1_800);
    const before = [scene.trackOf(right)?.id, scene.trackOf(left)?.id];
    expect(new Set(before).size).toBe(2);
    scene.run(2_600);
    expect([scene.trackOf(right)?.id, scene.trackOf(left)?.id]).toEqual(before);
  });

  it('who walk side by side are two', () => {
    const scene = new Scene('', [0.5, 2, 0]);
    const a = scene.person(1.2, 1.5, { walk: [{ x: 3.4, y: 1.5 }], speed: 0.4, again: false });
    const b = scene.person(1.2, 2.5, { walk: [{ x: 3.4, y: 2.5 }], speed: 0.4, again: false });
    scene.run(3_000);
    expect(scene.trackOf(a)?.id).toBeDefined();
    expect(scene.trackOf(b)?.id).toBeDefined();
    expect(scene.trackOf(a)?.id).not.toBe(scene.trackOf(b)?.id);
  });
});

describe('somebody out of sight', () => {
  it('is expected behind a column, and the same person when they come out', () => {
    const scene = new Scene('furniture: [{id: column, at: [2, 1.5], size: [0.2, 0.2]}]', [2, 0.8, 0]);
    const person = scene.person(0.7, 3, { walk: [{ x: 3.4, y: 3 }], speed: 0.7, again: false });
    scene.run(1_400);
    const before = scene.trackOf(person)?.id;
    expect(before).toBeDefined();
    scene.run(2_000);
    expect(scene.trackOf(person)?.id).toBe(before);
  });

  it('is less sure from scan to scan, and forgotten after three seconds', () => {
    const scene = new Scene();
    scene.person(0.8, 3, { walk: [{ x: 3, y: 3 }], speed: 0.6, again: false });
    scene.run(2_500);
    const [before] = scene.people;
    scene.world.visitors.removePeople();
    scene.run(1_000);
    const [after] = scene.people;
    expect(after?.id).toBe(before?.id);
    expect(after?.confidence).toBeLessThan((before?.confidence ?? 0) * 0.8);
    expect(after?.unseenMs).toBeGreaterThan(800);
    scene.run(2_500);
    expect(scene.people).toEqual([]);
  });
});

describe('the tracker', () => {
  it('is bounded and finite whatever it is shown', () => {
    const coordinate = fc.double({ min: -6, max: 6, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.tuple(coordinate, coordinate, fc.boolean()), { maxLength: 120 }), {
          maxLength: 12,
        }),
        fc.array(fc.integer({ min: -50, max: 5_000 }), { minLength: 12, maxLength: 12 }),
        (scans, gaps) => {
          const tracker = new PersonTracker();
          let mono = 0;
          for (const [i, scan] of scans.entries()) {
            mono += gaps[i] ?? 100;
            const points = scan.map(([x, y, mapped]) => ({ x, y, range: Math.hypot(x, y), mapped }));
            tracker.add({ points, mono }, { x: 0, y: 0 });
            expect(tracker.counters().person_tracks).toBeLessThanOrEqual(16);
            for (const track of tracker.people()) {
              for (const value of [track.x, track.y, track.vx, track.vy, track.spread]) {
                expect(Number.isFinite(value)).toBe(true);
              }
              expect(track.confidence).toBeGreaterThanOrEqual(0);
              expect(track.confidence).toBeLessThanOrEqual(1);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('makes nobody out of noise', () => {
    const random = seededRandom(3);
    const tracker = new PersonTracker();
    for (let mono = 0; mono < 60_000; mono += 100) {
      const points = Array.from({ length: 40 }, () => {
        const x = 6 * random() - 3;
        const y = 6 * random() - 3;
        return { x, y, range: Math.hypot(x, y), mapped: false };
      });
      tracker.add({ points, mono }, { x: 0, y: 0 });
      expect(tracker.people()).toEqual([]);
    }
  });
});
