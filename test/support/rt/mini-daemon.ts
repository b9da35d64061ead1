/**
 * The daemon's share of motion alone, as a process that a test can kill: client, supervisor and beat thread. It
 * takes orders over IPC from the test that forked it.
 */
import type { MotionAction } from '../../../config/contracts/amr.js';
import { SystemClock } from '../../../config/contracts/clock.js';
import { BeatSender } from '../../../daemon/rt-client/beat-sender.js';
import { RtClient } from '../../../daemon/rt-client/rt-client.js';
import { RtSupervisor } from '../../../daemon/rt-client/rt-supervisor.js';
import { rtConfigSchema } from '../../../drivers/rt/config.js';
import { heartbeatSocketPath } from '../../../drivers/rt/heartbeat-line.js';
import { updateSafetyFile } from '../../../drivers/rt/safety/safety-file.js';

export type Order =
  | { do: 'start'; id: string; action: MotionAction }
  | { do: 'estop' }
  /** Blocks the main loop for so long, with or without the excuse of a commit. */
  | { do: 'block'; ms: number; commit: boolean }
  | { do: 'stop' };

const clock = new SystemClock();
const config = rtConfigSchema.parse(JSON.parse(process.argv[2] ?? ''));
/** To a test that may be gone already. */
const tell = (message: object) => process.send?.(message, undefined, {}, () => {});
const log = {
  debug() {},
  info: (fields: object, message: string) => tell({ t: 'log', message, fields }),
  warn: (fields: object, message: string) => tell({ t: 'log', message, fields }),
  error: (fields: object, message: string) => tell({ t: 'log', message, fields }),
};
const client = new RtClient({
  clock,
  log,
  heartbeat: 'thread',
  latchEstop: (by) =>
    updateSafetyFile(config.stateDir, clock, (content) => ({
      ...content,
      estop: { latched: true, by, at: clock.now() },
    })),
});
const beats = new BeatSender({ clock, socketPath: heartbeatSocketPath(config.stateDir), log });
const supervisor = new RtSupervisor({ client, config, clock, log, env: process.env });
client.subscribe((event) => tell({ t: 'event', event }));
supervisor.start();
beats.start();

process.on('message', (order: Order) => void obey(order));

async function obey(order: Order): Promise<void> {
  switch (order.do) {
    case 'start':
      await client.start(order.id, order.action, 1).then(
        () => tell({ t: 'accepted', id: order.id }),
        (error: unknown) => tell({ t: 'refused', id: order.id, error: String(error) }),
      );
      return;
    case 'estop':
      await client.estop('test');
      tell({ t: 'latched' });
      return;
    case 'block': {
      if (order.commit) beats.commits.began();
      const until = performance.now() + order.ms;
      while (performance.now() < until);
      if (order.commit) beats.commits.ended();
      return;
    }
    case 'stop':
      client.close();
      await supervisor.stop();
      await beats.stop();
      process.exit(0);
  }
}
