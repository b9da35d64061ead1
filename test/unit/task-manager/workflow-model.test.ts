/**
 * The engine against a reference: random workflows, and anything that can happen to them in any order. A failure names its
 * seed and path: `FC_SEED=… FC_PATH=… npx vitest run …` plays it again; `FC_RUNS` asks for more than the usual number.
 */
import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { Driven } from './workflow-model/driven.js';
import { type Plan, Tie } from './workflow-model/reference.js';

vi.setConfig({ testTimeout: 240_000 });
afterEach(removeTemporaryDirectories);

/** A plan whose references to other steps are numbers still. */
type Draft = Omit<Plan, 'id' | 'after' | 'delay'> & {
  after: number[];
  delay: { after: number; ms: number } | null;
};

type Action =
  | { do: 'outcome'; pick: number; how: 'ok' | 'fail' | 'prove' }
  | { do: 'time'; ms: number }
  | { do: 'set'; name: 'flag' | 'gate'; value: boolean }
  | { do: 'pause' | 'resume' | 'cancel' }
  | { do: 'amend'; what: 'add' | 'replace' | 'remove'; pick: number; draft: Draft }
  | { do: 'cut'; pick: number | null };

const pick = fc.nat(20);

const draft: fc.Arbitrary<Draft> = fc.record({
  method: fc.constantFrom(
    'work' as const,
    'roam' as const,
    'once' as const,
    'fan' as const,
    'drive' as const,
  ),
  after: fc.uniqueArray(pick, { maxLength: 2 }),
  wait: fc.constantFrom('COMPLETION' as const, 'COMPLETION' as const, 'ACCEPTED' as const, 'NONE' as const),
  delay: fc.option(fc.record({ after: pick, ms: fc.constantFrom(1_000, 15_000) }), { freq: 4 }),
  gate: fc.option(fc.constantFrom(5_000, 30_000), { freq: 2 }),
  condition: fc.option(fc.constantFrom('FAIL' as const, 'SKIP' as const), { freq: 2 }),
  // Mostly those after which a workflow goes on: there is more to see.
  policy: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom('ABORT' as const, 'RETRY' as const, 'COMPENSATE' as const) },
    { weight: 2, arbitrary: fc.constantFrom('CONTINUE' as const, 'REPLAN' as const) },
  ),
  retries: fc.constantFrom(0, 0, 1, 2),
  backoff: fc.constantFrom(0, 2_000, 9_000),
  undo: fc.boolean(),
});

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('outcome' as const),
      pick,
      how: fc.constantFrom('ok' as const, 'fail' as const, 'prove' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(1, 1_500, 6_000, 25_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      name: fc.constantFrom('flag' as const, 'gate' as const),
      value: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('amend' as const),
      what: fc.constantFrom('add' as const, 'replace' as const, 'remove' as const),
      pick,
      draft,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cut' as const), pick: fc.option(pick) }) },
);

/** Only earlier steps are waited for, so there is no circle; times differ, so that hardly two are due at once. */
function planOf(draft: Draft, id: string, n: number, earlier: readonly string[]): Plan {
  const named = (ref: number) => earlier[ref % Math.max(1, earlier.length)];
  const after = new Set(draft.after.flatMap((ref) => named(ref) ?? []));
  const before = draft.delay === null ? undefined : named(draft.delay.after);
  return {
    ...draft,
    id,
    after: [...after],
    delay:
      before === undefined || draft.delay === null
        ? null
        : { after: before, ms: draft.delay.ms + ((n * 211) % 997) },
    gate: draft.gate === null ? null : draft.gate + ((n * 373) % 991),
    // What `RETRY` means alone is said in the document's own terms.
    retries: draft.policy === 'RETRY' ? Math.max(1, draft.retries) : draft.retries,
    backoff: draft.backoff === 0 ? 0 : draft.backoff + ((n * 509) % 983),
  };
}

/** A restart is an attempt, and five are allowed. */
const MAX_CUTS = 3;

async function play(drafts: Draft[], actions: Action[], budget: number, onCancel: 'COMPENSATE' | 'NONE') {
  const ids = drafts.map((_, i) => `s${i}`);
  const driven = await Driven.begin(
    drafts.map((one, i) => planOf(one, `s${i}`, i, ids.slice(0, i))),
    budget,
    onCancel,
  );
  let cuts = 0;
  for (const [i, step] of actions.entries()) {
    if (step.do === 'outcome') await driven.outcome(step.pick, step.how);
    else if (step.do === 'time') await driven.pass(step.ms);
    else if (step.do === 'set') await driven.set(step.name, step.value);
    else if (step.do === 'cut') {
      if (++cuts <= MAX_CUTS) await driven.cut(step.pick);
    } else if (step.do === 'amend') await amend(driven, step, i);
    else await driven.control(step.do);
  }
  await driven.finish();
}

async function amend(driven: Driven, { what, pick, draft }: Extract<Action, { do: 'amend' }>, i: number) {
  const { steps } = driven.model;
  const ids = steps.map((s) => s.plan.id);
  const at = pick % steps.length;
  const target = ids[at];
  if (target === undefined) return;
  if (what === 'add') await driven.amend({ add: planOf(draft, `n${i}`, 20 + i, ids) });
  else if (what === 'replace') {
    await driven.amend({ replace: planOf(draft, target, 100 + i, ids.slice(0, at)) });
  } else {
    const isNeeded = steps.some(({ plan }) => plan.after.includes(target) || plan.delay?.after === target);
    if (!isNeeded && steps.length > 1) await driven.amend({ remove: target });
  }
}

it('a workflow does what the reference says, whatever happens to it and whenever the power goes', async () => {
  const { FC_SEED, FC_PATH, FC_RUNS } = process.env;
  await fc.assert(
    fc.asyncProperty(
      fc.array(draft, { minLength: 2, maxLength: 7 }),
      fc.array(action, { maxLength: 40, size: 'max' }),
      fc.constantFrom(0, 2, 6),
      fc.constantFrom('COMPENSATE' as const, 'NONE' as const),
      async (...args) => {
        try {
          await play(...args);
        } catch (error) {
          if (!(error instanceof Tie)) throw error;
          fc.pre(false);
        } finally {
          removeTemporaryDirectories();
        }
      },
    ),
    {
      endOnFailure: process.env.FC_FIRST !== undefined,
      numRuns: Number(FC_RUNS ?? 60),
      ...(FC_SEED === undefined ? {} : { seed: Number(FC_SEED) }),
      ...(FC_PATH === undefined ? {} : { path: FC_PATH }),
    },
  );
  expect.hasAssertions();
});
