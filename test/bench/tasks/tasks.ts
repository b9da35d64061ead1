/** Durable tasks: how many a second, against a queue on SQLite, and how soon one starts while thousands wait. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import type { Bench } from '../report.js';
import { Child } from '../support/children.js';
import { median, percentile, round, spread } from '../support/stats.js';
import { lastingMeasured, startsMeasured, tasksMeasured } from './messages.js';

const WINDOWS = 20;
const LASTING_MS = 600_000;
const PEER = 'plainjob (better-sqlite3, WAL, synchronous=FULL)';

export const tasksBench: Bench = {
  groups: ['tasks'],
  method:
    'A no-op method through the real TaskManager and store (WAL, synchronous=FULL): submitted, STARTED and COMPLETED ' +
    'durable, both events in the outbox; 64 lines, at most 512 under way. Peer: plainjob at the same sync setting, jobs in ' +
    'batches of 64 with its own batch call, one worker. Start: submit to durable STARTED on an idle line, one at a time, ' +
    'while 10 000 tasks wait in 100 others. Memory: so many tasks in one process, their events acknowledged; the lowest ' +
    'resident memory of the last three of twenty windows less that of the third to fifth.',
  async run({ quick, dir, progress }) {
    const size = quick
      ? { tasks: 10_000, peer: 1_500, trials: 400, lasting: 100_000 }
      : { tasks: 30_000, peer: 4_000, trials: 1_000, lasting: 1_000_000 };
    const ours: number[] = [];
    const oneLine: number[] = [];
    const theirs: number[] = [];
    for (let i = 0; i < (quick ? 2 : 3); i++) {
      const own = makeDir(dir, `ours-${i}`);
      const run = await measure('./throughput-process.js', tasksMeasured, {
        dir: own,
        tasks: size.tasks,
        warmUp: size.tasks / 5,
      });
      ours.push(run.perS);
      if (run.oneLinePerS !== null) oneLine.push(run.oneLinePerS);
      const peerOptions = { dir: makeDir(dir, `peer-${i}`), tasks: size.peer, warmUp: size.peer / 5 };
      theirs.push((await measure('./peer-process.js', tasksMeasured, peerOptions)).perS);
      progress(`${ours.map(Math.round).join(', ')} tasks/s; peer ${theirs.map(Math.round).join(', ')}`);
    }
    const startOptions = { dir: makeDir(dir, 'starts'), waiting: 10_000, trials: size.trials };
    const starts = await measure('./starts-process.js', startsMeasured, startOptions);
    const lastingOptions = { dir: makeDir(dir, 'lasting'), tasks: size.lasting, windows: WINDOWS };
    const lasting = await measure('./lasting-process.js', lastingMeasured, lastingOptions, LASTING_MS);
    return {
      figures: {
        tasks: {
          per_s: round(median(ours), 0),
          ratio_vs_sqlite_queue: round(median(ours) / median(theirs), 1),
          peer: PEER,
          start_p50_ms: round(median(starts.ms), 2),
          start_p99_ms: round(percentile(starts.ms, 0.99), 2),
          lasting_tasks: size.lasting,
          rss_growth_mb: round(growthOf(lasting.rssMb), 1),
        },
      },
      notes: [
        `runs ${spread(ours)} tasks/s in 64 lines, ${spread(oneLine)} in a single line (each waits for the one before it); peer ${spread(theirs)}`,
        `${starts.ms.length} starts while ${starts.waiting} tasks waited, slowest ${Math.max(...starts.ms).toFixed(1)} ms`,
        `${size.lasting} tasks in a row: resident memory ${spread(lasting.rssMb)} MB, database at the end ${lasting.fileMb.toFixed(1)} MB`,
      ],
    };
  },
};

/** Settled memory at the end less settled memory after the first tenth, MB. */
function growthOf(rssMb: readonly number[]): number {
  return median(rssMb.slice(-3)) - median(rssMb.slice(2, 5));
}

function makeDir(dir: string, name: string): string {
  const own = join(dir, name);
  mkdirSync(own);
  return own;
}

async function measure<T>(
  entry: string,
  schema: z.ZodType<T>,
  options: object,
  withinMs = 120_000,
): Promise<T> {
  const child = Child.start(import.meta.url, entry, { args: [JSON.stringify(options)] });
  try {
    return await child.next(schema, 'its figures', withinMs);
  } finally {
    await child.stop();
  }
}
