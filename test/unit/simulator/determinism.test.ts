import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFaults } from '../../../simulator/faults/faults.js';
import { createWorld } from '../../../simulator/world/index.js';
import { hostOn, rigOf } from './homes.js';

interface Outcome {
  trace: string[];
  bytes: string;
  pose: { x: number; y: number; theta: number };
}

type Step =
  | { kind: 'drive'; right: number; left: number }
  | { kind: 'fan'; percent: number }
  | { kind: 'inject'; words: readonly string[] }
  | { kind: 'wait'; ticks: number };

/** Runs a script against a home, with hosts on base, lidar and air, and hashes all bytes they received. */
async function play(script: readonly Step[], seed: number): Promise<Outcome> {
  const rig = rigOf(createWorld(undefined, { seed }));
  const faults = createFaults(rig.world, rig.devices);
  const hosts = {
    base: await hostOn(rig, 'base'),
    lidar: await hostOn(rig, 'lidar'),
    air: await hostOn(rig, 'air'),
  };
  hosts.base.write(128, 132, 148, 4, 7, 43, 44, 52);
  for (const step of script) {
    if (step.kind === 'drive') hosts.base.write(145, ...word(step.right), ...word(step.left));
    if (step.kind === 'fan') rig.world.fan.setPointPercent = step.percent;
    if (step.kind === 'inject') await faults.apply(step.words);
    if (step.kind === 'wait') for (let i = 0; i < step.ticks; i++) rig.world.step(15);
    hosts.air.write(0xff, 0x01, 0x86, 0, 0, 0, 0, 0, 0x79);
  }
  const hash = createHash('sha256');
  for (const host of Object.values(hosts)) hash.update(Uint8Array.from(host.received));
  return { trace: rig.world.trace(), bytes: hash.digest('hex'), pose: rig.world.body.pose };
}

function word(value: number): [number, number] {
  return [(value >> 8) & 0xff, value & 0xff];
}

const speed = fc.integer({ min: -300, max: 300 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('drive' as const), right: speed, left: speed }),
  fc.record({ kind: fc.constant('fan' as const), percent: fc.integer({ min: 0, max: 100 }) }),
  fc.record({
    kind: fc.constant('inject' as const),
    words: fc.constantFrom(
      ['person', '거실'],
      ['dirty-air', '안방', '90'],
      ['noise', 'lidar', '0.1'],
      ['noise', 'base', '0.2'],
      ['bump', 'left'],
      ['block-wheels', 'on'],
      ['block-wheels', 'off'],
      ['remove-person'],
    ),
  }),
  fc.record({ kind: fc.constant('wait' as const), ticks: fc.integer({ min: 1, max: 120 }) }),
);

describe('the world', () => {
  it('is the same to the last byte and line for the same seed and the same calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 15 }),
        fc.integer({ min: 1, max: 1000 }),
        async (script, seed) => {
          expect(await play(script, seed)).toEqual(await play(script, seed));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('differs in its noise from seed to seed', async () => {
    const script: Step[] = [
      { kind: 'drive', right: -100, left: -100 },
      { kind: 'wait', ticks: 200 },
    ];
    const one = await play(script, 1);
    const two = await play(script, 2);
    expect(one.bytes).not.toBe(two.bytes);
    expect(one.pose).not.toEqual(two.pose);
  });

  it('tells drive commands, rooms, docking, charging, mode, fan and air, without wall times', async () => {
    const { trace } = await play(
      [
        { kind: 'wait', ticks: 2 },
        { kind: 'drive', right: -150, left: -150 },
        { kind: 'wait', ticks: 100 },
        { kind: 'drive', right: 0, left: 0 },
        { kind: 'fan', percent: 50 },
        { kind: 'inject', words: ['dirty-air', '거실', '90'] },
        { kind: 'wait', ticks: 600 },
      ],
      1,
    );
    for (const line of trace) expect(line).toMatch(/^\d+ \S/);
    const texts = trace.map((l) => l.replace(/^\d+ /, ''));
    for (const text of ['mode full', 'drive -150 -150', 'undocked', 'drive 0 0', 'fan 50', 'fan turns']) {
      expect(texts).toContain(text);
    }
    expect(texts).toContain('charging off');
    expect(texts).toContain('room 거실');
    expect(texts).toContain('air 거실 very_bad');
  });

  it('refuses a step that is no time', () => {
    const world = createWorld();
    for (const dt of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => world.step(dt)).toThrow(RangeError);
    expect(world.tick).toBe(0);
  });
});
