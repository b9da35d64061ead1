/**
 * The daemon's share of motion as a process under load: the real client, supervisor, beat thread and store. It keeps
 * the robot turning, asks for plans all the time, and every so often a commit of its database takes half a second. Two
 * worker threads are as busy as hearing and seeing.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { MotionAction } from '../../../config/contracts/amr.js';
import { SystemClock } from '../../../config/contracts/clock.js';
import { entryPath } from '../../../config/contracts/entry.js';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { BeatSender } from '../../../daemon/rt-client/beat-sender.js';
import { RtClient } from '../../../daemon/rt-client/rt-client.js';
import { RtSupervisor } from '../../../daemon/rt-client/rt-supervisor.js';
import { Outbox } from '../../../daemon/store/outbox.js';
import { Store } from '../../../daemon/store/store.js';
import { heartbeatSocketPath } from '../../../drivers/rt/heartbeat-line.js';
import { updateSafetyFile } from '../../../drivers/rt/safety/safety-file.js';
import { sampleEvent } from '../outbox/messages.js';
import { childOptions, endWithParent, tell } from '../support/children.js';
import { loadedRobotOptions } from './messages.js';

/** Radians of one turning action: longer than the trials last. */
const TURN = 90;
const REPORT_EVERY_MS = 1000;

endWithParent();
const options = childOptions(loadedRobotOptions);
const { stateDir } = options.rt;
const clock = new SystemClock();
const log = SILENT_LOG;
const ids = new Ids(() => clock.now(), seededRandom(1));
const client = new RtClient({
  clock,
  log,
  heartbeat: 'thread',
  latchEstop: (by) =>
    updateSafetyFile(stateDir, clock, (content) => ({
      ...content,
      estop: { latched: true, by, at: clock.now() },
    })),
});
const beats = new BeatSender({ clock, socketPath: heartbeatSocketPath(stateDir), log });
const supervisor = new RtSupervisor({ client, config: options.rt, clock, log, env: process.env });
const store = Store.open({
  file: join(stateDir, 'bench.db'),
  clock,
  ids,
  log,
  onCommit: (phase) => (phase === 'begin' ? beats.commits.began() : beats.commits.ended()),
});
const outbox = new Outbox({ store, clock, ids, deviceId: 'da-bench', bootId: 'b-bench' });
const done = { plans: 0, planMs: 0, slowCommits: 0, spins: 0, heard: 0, seen: 0 };

supervisor.start();
beats.start();
await until(() => client.state()?.safety.level === 'OK');
await client.loadMap(options.mapYaml);
await client.relocalize(options.pose);
await until(() => client.state()?.localized !== null);

client.subscribe((event) => {
  if (event.type === 'action' && event.update.status !== 'running') void spin();
});
await spin();
for (let i = 0; i < options.plansAtOnce; i++) void planForEver(i);
perceive('voice', () => done.heard++);
perceive('vision', () => done.seen++);
store.faults.commitDelayMs = options.commitMs;
clock.every(options.commitEveryMs, commit);
clock.every(REPORT_EVERY_MS, report);
process.on('SIGTERM', () => void end());
await tell({ t: 'ready' });

/** The other way round each time, so that it stays where it is. */
async function spin(): Promise<void> {
  done.spins += 1;
  const action: MotionAction = { kind: 'spin', angle: done.spins % 2 === 0 ? TURN : -TURN, tolerance: 0.1 };
  // Refused while the base is being given back its power; the next end of an action, or the next second, tries again.
  await client.start(`spin-${done.spins}`, action, done.spins).catch(() => undefined);
}

async function planForEver(first: number): Promise<void> {
  for (let n = first; ; n++) {
    const wanted = options.plans[n % options.plans.length];
    if (wanted === undefined) return;
    const began = clock.mono();
    const plan = await client.plan(wanted).catch(() => null);
    if (plan?.ok === true) {
      done.plans += 1;
      done.planMs += clock.mono() - began;
    } else await new Promise<void>((resolve) => clock.after(100, resolve));
  }
}

/** Ends with this process. */
function perceive(kind: 'voice' | 'vision', round: () => void): void {
  const worker = new Worker(entryPath(import.meta.url, './perception-load.js'), { workerData: { kind } });
  worker.on('message', round);
}

function commit(): void {
  outbox.appendOrdered('events/task', null, (stamp) => sampleEvent(done.slowCommits, stamp));
  store.afterCommit(() => {
    done.slowCommits += 1;
  });
}

function report(): void {
  const state = client.state();
  if (state === null) return;
  if (state.action === null) void spin();
  const { plans, planMs, slowCommits, heard, seen } = done;
  const mean = plans === 0 ? null : planMs / plans;
  void tell({
    t: 'report',
    rt: state.counters,
    localized: state.localized,
    plans,
    planMs: mean,
    slowCommits,
    heard,
    seen,
  });
}

async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise<void>((resolve) => clock.after(5, resolve));
}

async function end(): Promise<void> {
  client.close();
  await supervisor.stop();
  await beats.stop();
  process.exit(0);
}
