/** The one database and what is kept in it: rows on their way to the cloud, and timers that outlive a restart. */
import { join } from 'node:path';
import type { Ids } from '../../config/contracts/ids.js';
import type { CommitWatch } from '../rt-client/liveness.js';
import { Outbox } from '../store/outbox.js';
import { Store } from '../store/store.js';
import { Timers } from '../store/timers.js';
import type { DaemonOptions } from './options.js';

export interface Storage {
  store: Store;
  outbox: Outbox;
  timers: Timers;
}

/** `commits`: to be told around each commit, so that a slow disk does not look like a dead daemon. */
export function openStorage(
  { loaded, stateDir, clock, log }: Pick<DaemonOptions, 'loaded' | 'stateDir' | 'clock' | 'log'>,
  ids: Ids,
  bootId: string,
  commits: CommitWatch | null,
): Storage {
  const store = Store.open({
    file: join(stateDir, 'deviceagent.db'),
    clock,
    ids,
    log,
    ...(commits === null
      ? {}
      : { onCommit: (phase) => (phase === 'begin' ? commits.began() : commits.ended()) }),
  });
  return {
    store,
    outbox: new Outbox({ store, clock, ids, deviceId: loaded.config.device_id, bootId }),
    timers: new Timers({ store, clock, log }),
  };
}
