/** The fuzzer in a short form, and whether it would see what it is there to see. */
import { describe, expect, it } from 'vitest';
import { caseRandom, fuzzTarget } from './fuzz-target.js';
import { type JsonObject, spoil, spoilText } from './mutate-json.js';
import { parseOptions } from './options.js';
import { isClean } from './report.js';
import { command, required, spared } from './seeds/commands.js';
import { TARGETS } from './targets/all.js';
import type { Target } from './types.js';

const NOBODY = { tasks: [], workflows: [], schedules: [] };
/** Documents of each target in this run: some seconds in all. */
const CASES = 800;

describe('documents that somebody else wrote', { timeout: 120_000 }, () => {
  it.each(TARGETS.map(({ name }) => name))(
    '%s: neither crash nor motion, nor one that is wrongly taken',
    async (name) => {
      const target = TARGETS.find((one) => one.name === name) as Target;
      const findings: string[] = [];
      const report = await fuzzTarget(target, {
        cases: Math.max(60, Math.round(CASES * target.share)),
        seed: 7,
        from: 0,
        onFinding: ({ kind, text }, n) => findings.push(`case ${n}: ${kind}: ${text}`),
      });
      expect(findings).toEqual([]);
      expect(report).toMatchObject({ crashes: 0, motions: 0, wrong: 0 });
    },
  );
});

describe('the fuzzer', () => {
  it('makes the same document of the same case', () => {
    const made = (seed: number) => {
      const random = caseRandom('commands', seed, 12);
      const { command_id: _id, ...body } = command(random, NOBODY, 0);
      return JSON.stringify(body).replaceAll(/"(wf|c|sch)-\d+"/g, '"id"');
    };
    expect(made(4)).toBe(made(4));
    expect(made(4)).not.toBe(made(5));
  });

  it('spoils a document in every case, and leaves the original alone', () => {
    for (let n = 0; n < 300; n++) {
      const random = caseRandom('spoil', 1, n);
      const body = command(random, NOBODY, 0);
      const before = JSON.stringify(body);
      const { value } = spoil(random, body, { spared: spared(body), required: required(body) });
      expect(JSON.stringify(value)).not.toBe(before);
      expect(JSON.stringify(body)).toBe(before);
      const { text } = spoilText(random, body);
      expect(text).not.toBe(before);
    }
  });

  it('does not call it spoiled when the times of a stop are odd', () => {
    const stop: JsonObject = { kind: 'legacy', method: 'stopMove', issued_at: 'yesterday' };
    expect(spared(stop)).toContain('issued_at');
    expect(required(stop)).not.toContain('issued_at');
  });

  it('counts what a target finds, throws and lets escape', async () => {
    const clumsy: Target = {
      name: 'clumsy',
      share: 1,
      open: async () => ({
        run: (random) => {
          if (random() < 0.3) throw new Error('oh');
          if (random() < 0.3) return [{ kind: 'motion', text: 'it moved' }];
          return [];
        },
        accepted: () => 0,
        close: async () => [{ kind: 'wrong', text: 'at the end' }],
      }),
    };
    const report = await fuzzTarget(clumsy, { cases: 50, seed: 1, from: 0 });
    expect(report.cases).toBe(50);
    expect(report.crashes).toBeGreaterThan(0);
    expect(report.motions).toBeGreaterThan(0);
    expect(report.wrong).toBe(1);
    expect(isClean({ clumsy: report })).toBe(false);
  });

  it('calls growth beyond the bound a failure', () => {
    const calm = { cases: 1, crashes: 0, motions: 0, growth_mb: 1, wrong: 0, accepted: 0, seconds: 0 };
    expect(isClean({ calm })).toBe(true);
    expect(isClean({ calm: { ...calm, growth_mb: 400 } })).toBe(false);
  });

  it.each([
    [['--cases', '0'], '--cases: found "0"'],
    [['--only', 'moon'], '--only: found "moon"; allowed are'],
    [['--seed', '-1'], '--seed'],
  ])('refuses the options %j by name', (argv, message) => {
    expect(() => parseOptions(argv, ['commands'])).toThrow(message);
  });
});
