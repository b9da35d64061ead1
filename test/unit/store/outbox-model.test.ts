/**
 * The outbox against a model of it that is a few arrays: whatever is appended, published, acknowledged in any order,
 * refused, requeued, dropped, compacted, undone or cut off by a power cut.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { OutboxLane, OutboxRow } from '../../../daemon/store/outbox-types.js';
import {
  appendEvent,
  filesAfterPowerCut,
  openStoreWorld,
  removeTemporaryDirectories,
  type StoreWorld,
} from './store-world.js';

afterEach(removeTemporaryDirectories);

const LIMITS = { maxRows: 40, maxTelemetryRows: 6, maxDeadRows: 5, historyRows: 3, reserve: 0.25 };

interface ModelRow {
  lane: OutboxLane;
  seq: number | null;
  /** What the row says: a key of its own, or of its subject. */
  name: string;
  tombstone: boolean;
  /** A newer one of it takes its place; a requeued one has none. */
  subject?: string | null;
}

interface Letter {
  name: string;
  seq: number | null;
  lane: OutboxLane;
}

/** What is promised, and nothing of how it is done. */
interface Model {
  /** Committed and not acknowledged, in the order of appending. */
  rows: ModelRow[];
  letters: Letter[];
  nextSeq: number;
  n: number;
}

interface Real {
  world: StoreWorld;
}

type Command = fc.AsyncCommand<Model, Real>;

const nameOf = (payload: string): string =>
  String(JSON.parse(payload).name ?? JSON.parse(payload).idempotency_key);

function waiting(world: StoreWorld) {
  return world.outbox.peek(0, 1000);
}

/** A requeued event shares its key with its tombstone, not its number. */
function isSame(known: ModelRow, row: OutboxRow): boolean {
  return known.lane === row.lane && known.seq === row.seq && known.name === nameOf(row.payload);
}

/** Memory, database and model say the same. */
function compare(m: Readonly<Model>, { world }: Real): void {
  for (const lane of ['ordered', 'response', 'telemetry'] as const) {
    const rows = world.outbox.peek(0, 1000, lane);
    const expected = m.rows.filter((row) => row.lane === lane);
    expect(rows.map((row) => nameOf(row.payload))).toEqual(expected.map((row) => row.name));
    expect(rows.map((row) => row.seq)).toEqual(expected.map((row) => row.seq));
    expect(rows.map((row) => row.payload.includes('DEAD_LETTERED'))).toEqual(
      expected.map((row) => row.tombstone),
    );
  }
  const stats = world.outbox.stats();
  const of = (lane: OutboxLane) => m.rows.filter((row) => row.lane === lane).length;
  expect(stats).toMatchObject({
    depth: m.rows.length,
    deadLetters: m.letters.length,
    nextSeq: m.nextSeq,
    lanes: { ordered: of('ordered'), response: of('response'), telemetry: of('telemetry') },
  });
  expect(stats.bytes === 0).toBe(m.rows.length === 0);
  expect(world.outbox.deadLetters(100).map(({ payload }) => nameOf(payload))).toEqual(
    m.letters.map(({ name }) => name),
  );
  // Refusing new work begins while there is still room for the end of what was accepted.
  expect(world.outbox.hasRoom()).toBe(
    m.rows.length < LIMITS.maxRows * (1 - LIMITS.reserve) && m.letters.length < LIMITS.maxDeadRows,
  );
}

function command(name: string, run: (m: Model, r: Real) => Promise<void> | void): Command {
  return {
    check: () => true,
    async run(m, r) {
      await run(m, r);
      await r.world.store.committed();
      compare(m, r);
    },
    toString: () => name,
  };
}

const appendOrdered = fc.constant(
  command('append an event', (m, { world }) => {
    const name = `k${m.n++}`;
    // The end of a task always fits.
    appendEvent(world, name);
    m.rows.push({ lane: 'ordered', seq: m.nextSeq++, name, tombstone: false });
  }),
);
const appendResponse = fc.constant(
  command('append an answer', (m, { world }) => {
    const name = `r${m.n++}`;
    world.outbox.appendResponse('command/response', { name });
    m.rows.push({ lane: 'response', seq: null, name, tombstone: false });
  }),
);
const appendTelemetry = fc.option(fc.nat(2)).map((subject) =>
  command(`append telemetry of ${subject}`, (m, { world }) => {
    const name = subject === null ? `p${m.n++}` : `s${subject}:${m.n++}`;
    const key = subject === null ? null : `s${subject}`;
    world.outbox.appendTelemetry('context', key, (stamp) => ({ ...stamp, name }));
    const isTelemetry = (row: ModelRow) => row.lane === 'telemetry';
    if (key !== null) m.rows = m.rows.filter(({ subject }) => subject !== key);
    const full =
      m.rows.length >= LIMITS.maxRows * (1 - LIMITS.reserve) || m.letters.length >= LIMITS.maxDeadRows;
    let excess = m.rows.filter(isTelemetry).length + (full ? 0 : 1 - LIMITS.maxTelemetryRows);
    m.rows = m.rows.filter((row) => !(isTelemetry(row) && excess-- > 0));
    if (m.rows.length < LIMITS.maxRows)
      m.rows.push({ lane: 'telemetry', seq: null, name, tombstone: false, subject: key });
  }),
);
const undone = fc.constant(
  command('append and undo', (_m, { world }) => {
    const write = () =>
      world.store.write(() => {
        appendEvent(world, 'undone');
        world.outbox.appendResponse('command/response', { name: 'undone' });
        throw new Error('no');
      });
    expect(write).toThrow('no');
  }),
);
const lostCommit = fc.constant(
  command('a commit fails', async (_m, { world }) => {
    await world.store.committed();
    appendEvent(world, 'lost');
    world.store.faults.commitError = new Error('disk');
    await expect(world.store.committed()).rejects.toThrow('disk');
    world.store.faults.commitError = null;
  }),
);
const acknowledge = fc.nat(50).map((pick) =>
  command(`acknowledge ${pick}`, (m, { world }) => {
    const row = waiting(world)[pick % Math.max(1, m.rows.length)];
    if (row === undefined) return;
    world.outbox.acknowledged(row.id);
    m.rows = m.rows.filter((known) => !isSame(known, row));
  }),
);
const acknowledgeTwice = fc.constant(
  command('acknowledge the first twice', (m, { world }) => {
    const row = waiting(world)[0];
    if (row === undefined) return;
    world.outbox.acknowledged(row.id);
    world.outbox.acknowledged(row.id);
    m.rows = m.rows.filter((known) => !isSame(known, row));
  }),
);
const refuse = fc.nat(50).map((pick) =>
  command(`refuse ${pick}`, (m, { world }) => {
    const row = waiting(world)[pick % Math.max(1, m.rows.length)];
    if (row === undefined) return;
    world.outbox.countAttempt(row.id);
    world.outbox.deadLetter(row.id, 'refused');
    const known = m.rows.find((other) => isSame(other, row));
    if (known === undefined) throw new Error('the model does not know this row');
    // A tombstone that is refused as well leaves a gap; the rows behind it go on.
    if (!known.tombstone) m.letters.push({ name: known.name, seq: known.seq, lane: known.lane });
    if (known.lane === 'ordered' && !known.tombstone) known.tombstone = true;
    else m.rows = m.rows.filter((other) => other !== known);
  }),
);
const requeue = fc.nat(5).map((pick) =>
  command(`requeue ${pick}`, (m, { world }) => {
    const letter = world.outbox.deadLetters(100)[pick % Math.max(1, m.letters.length)];
    if (letter === undefined) return;
    const [known] = m.letters.splice(pick % m.letters.length, 1);
    if (known === undefined) return;
    // In hand at a publisher, its tombstone counts as on its way.
    expect(world.outbox.requeue(letter.id)).toBe(true);
    m.rows.push({
      lane: known.lane,
      seq: known.lane === 'ordered' ? m.nextSeq++ : null,
      name: known.name,
      tombstone: false,
    });
  }),
);
const drop = fc.nat(5).map((pick) =>
  command(`drop ${pick}`, (m, { world }) => {
    const at = pick % Math.max(1, m.letters.length);
    const letter = world.outbox.deadLetters(100)[at];
    if (letter === undefined) return;
    expect(world.outbox.drop(letter.id)).toBe(true);
    expect(world.outbox.drop(letter.id)).toBe(false);
    m.letters.splice(at, 1);
  }),
);
const powerCut = fc.constant(
  command('power cut', async (m, r) => {
    await r.world.store.committed();
    appendEvent(r.world, 'never committed');
    const file = filesAfterPowerCut(r.world.file);
    await r.world.store.committed().catch(() => undefined);
    r.world = openStoreWorld({ file, seed: m.n + 2, limits: LIMITS });
  }),
);

describe('the outbox and a model of it', () => {
  it('say the same after whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(
          [
            appendOrdered,
            appendOrdered,
            appendResponse,
            appendTelemetry,
            undone,
            lostCommit,
            acknowledge,
            acknowledge,
            acknowledgeTwice,
            refuse,
            requeue,
            drop,
            powerCut,
          ],
          { maxCommands: 60, size: 'max' },
        ),
        async (commands) => {
          const setup = () => ({
            model: { rows: [], letters: [], nextSeq: 1, n: 0 } satisfies Model as Model,
            real: { world: openStoreWorld({ limits: LIMITS }) },
          });
          await fc.asyncModelRun(setup, commands);
        },
      ),
      { numRuns: 50 },
    );
  }, 60_000);
});
