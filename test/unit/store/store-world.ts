/** A real database file in a temporary directory, on a clock that tests move. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { type Log, SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { Outbox } from '../../../daemon/store/outbox.js';
import type { OutboxLimits } from '../../../daemon/store/outbox-limits.js';
import { type CommitPhase, Store } from '../../../daemon/store/store.js';
import { Timers } from '../../../daemon/store/timers.js';

export const START_MS = Date.UTC(2026, 10, 30, 0, 0, 0);

export interface StoreWorldOptions {
  file?: string;
  clock?: SimClock;
  seed?: number;
  log?: Log;
  limits?: Partial<OutboxLimits>;
  onCommit?: (phase: CommitPhase) => void;
  migrations?: readonly string[];
}

const directories: string[] = [];

export function temporaryDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'deviceagent-store-'));
  directories.push(directory);
  return directory;
}

/** For `afterEach`: the databases of this test are gone. */
export function removeTemporaryDirectories(): void {
  for (const directory of directories.splice(0)) fs.rmSync(directory, { recursive: true, force: true });
}

export function openStoreWorld(options: StoreWorldOptions = {}) {
  const file = options.file ?? path.join(temporaryDirectory(), 'deviceagent.db');
  const clock = options.clock ?? new SimClock(START_MS);
  const ids = new Ids(() => clock.now(), seededRandom(options.seed ?? 1));
  const log = options.log ?? SILENT_LOG;
  const { onCommit, migrations } = options;
  const store = Store.open({
    file,
    clock,
    ids,
    log,
    ...(onCommit === undefined ? {} : { onCommit }),
    ...(migrations === undefined ? {} : { migrations }),
  });
  const outbox = new Outbox({
    store,
    clock,
    ids,
    deviceId: 'da-test',
    bootId: `b-${options.seed ?? 1}`,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const timers = new Timers({ store, clock, log });
  return { file, clock, ids, log, store, outbox, timers };
}
export type StoreWorld = ReturnType<typeof openStoreWorld>;

/** Lets everything happen that can happen without the clock moving. */
export async function quiet(store: Store): Promise<void> {
  for (let calm = 0; calm < 3; ) {
    await settle(1);
    calm = store.pending ? 0 : calm + 1;
  }
}

/** What a power cut leaves: the files as they are now, copied elsewhere; the running instance is abandoned. */
export function filesAfterPowerCut(file: string): string {
  const copy = path.join(temporaryDirectory(), path.basename(file));
  for (const suffix of ['', '-wal', '-last']) {
    if (fs.existsSync(file + suffix)) fs.copyFileSync(file + suffix, copy + suffix);
  }
  return copy;
}

/** An ordered row with a payload of about `bytes`. */
export function appendEvent(world: StoreWorld, key: string, bytes = 10): void {
  world.outbox.appendOrdered('events/task', key, (stamp) => ({
    contract_version: 'device-task-event.v1',
    ...stamp,
    text: 'x'.repeat(bytes),
  }));
}
