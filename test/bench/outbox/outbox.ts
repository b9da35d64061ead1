/** The durable outbox against a broker in another process, and MQTT.js with a persistent store doing the same. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, BenchContext } from '../report.js';
import { Child } from '../support/children.js';
import { median, round, spread } from '../support/stats.js';
import { brokerCount, brokerReady, type ProducerOptions, produced } from './messages.js';

const PEER = 'mqtt 5 + mqtt-level-store, LevelDB sync on every stored packet';

/**
 * Accepted and not yet acknowledged. The outbox sends 200 at a time whatever waits; the peer sends all it has, and
 * was fastest with this many.
 */
const OURS = { outstanding: 2_000 };
const THEIRS = { outstanding: 1_000, threads: '16' };

export const outboxBench: Bench = {
  groups: ['outbox'],
  method:
    'Task events of about 800 bytes into the real store, outbox, publisher and session; broker: aedes in another process. ' +
    'An event counts when its PUBACK is in; each was committed with fsync (WAL, synchronous=FULL, one commit a turn) before ' +
    'it was sent. Peer: MQTT.js whose store writes each packet with fsync before it is sent, 1000 at once and 16 threads, ' +
    'so that LevelDB can put several into one sync. The broker counts what arrived.',
  async run(context) {
    const { quick, progress } = context;
    const size = quick ? { ours: 15_000, peer: 2_500 } : { ours: 60_000, peer: 8_000 };
    const ours: Run[] = [];
    const theirs: Run[] = [];
    for (let i = 0; i < (quick ? 2 : 3); i++) {
      const shape = { ...OURS, events: size.ours, warmUp: size.ours / 5 };
      ours.push(await produce(context, `ours-${i}`, './ours-process.js', shape, {}));
      const peerShape = { outstanding: THEIRS.outstanding, events: size.peer, warmUp: size.peer / 5 };
      const env = { UV_THREADPOOL_SIZE: THEIRS.threads };
      theirs.push(await produce(context, `peer-${i}`, './peer-process.js', peerShape, env));
      progress(`${shown(ours)} events/s; peer ${shown(theirs)}`);
    }
    const perS = median(ours.map((run) => run.perS));
    const peerPerS = median(theirs.map((run) => run.perS));
    return {
      figures: {
        outbox: {
          events_per_s: round(perS, 0),
          ratio_vs_mqttjs_store: round(perS / peerPerS, 1),
          peer: PEER,
        },
      },
      notes: [
        `runs ${spread(ours.map((run) => run.perS))} events/s, ${round(median(ours.flatMap((run) => run.eventsPerCommit ?? [])), 0)} to a commit; ` +
          `peer ${spread(theirs.map((run) => run.perS))} events/s`,
      ],
    };
  },
};

interface Run {
  perS: number;
  /** Null where it is not known. */
  eventsPerCommit: number | null;
}

async function produce(
  { dir }: BenchContext,
  name: string,
  entry: string,
  shape: Omit<ProducerOptions, 'url' | 'dir'>,
  env: NodeJS.ProcessEnv,
): Promise<Run> {
  const broker = Child.start(import.meta.url, './broker-process.js');
  try {
    const { url } = await broker.next(brokerReady, 'its address', 15_000);
    const own = join(dir, name);
    mkdirSync(own);
    const options: ProducerOptions = { ...shape, url, dir: own };
    const child = Child.start(import.meta.url, entry, {
      args: [JSON.stringify(options)],
      env: { ...process.env, ...env },
    });
    try {
      const { perS, commits } = await child.next(produced, 'its figure', 120_000);
      broker.send({ t: 'count' });
      const { publishes } = await broker.next(brokerCount, 'its count', 5_000);
      if (publishes < shape.events) {
        throw new Error(`${shape.events} events were acknowledged and ${publishes} arrived`);
      }
      return { perS, eventsPerCommit: commits === null ? null : (shape.events - shape.warmUp) / commits };
    } finally {
      await child.stop();
    }
  } finally {
    await broker.stop();
  }
}

function shown(runs: readonly Run[]): string {
  return runs.map((run) => run.perS.toFixed(0)).join(', ');
}
