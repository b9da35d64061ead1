/** Every part of the daemon, wired. Nothing runs yet. */
import type { Ids } from '../../config/contracts/ids.js';
import type { Machines } from '../../state-machines/machines.js';
import { tolerantSnapshots } from '../../state-machines/tolerant-snapshots.js';
import type { ClockTrust } from '../clock/clock-trust.js';
import type { Cloud } from '../cloud/types.js';
import { Recorder } from '../recording/recorder.js';
import type { Runtime } from '../runtime.js';
import { Snapshots } from '../store/small-tables.js';
import type { Store } from '../store/store.js';
import type { Timers } from '../store/timers.js';
import type { TaskManagerHandle } from '../task-manager/deps.js';
import type { Body } from './body.js';
import type { BodyWatch } from './body-watch.js';
import { createRobotMachines } from './machines.js';
import type { DaemonOptions } from './options.js';
import type { Peripherals } from './peripherals.js';
import { createRobot, type Robot } from './robot.js';
import { createRuntime } from './runtime.js';
import { openStorage } from './storage.js';
import { createWatchers } from './watchers.js';
import { createWork } from './work.js';

export interface Parts {
  runtime: Runtime;
  store: Store;
  timers: Timers;
  tasks: TaskManagerHandle;
  clockTrust: ClockTrust;
  settings: { close(): Promise<void> };
  machines: Machines;
  /** Null without a broker. */
  cloud: Cloud | null;
  body: Body;
  bodyWatch: BodyWatch;
  peripherals: Peripherals;
  /** Null when runs are not recorded. */
  recorder: Recorder | null;
  /** What listens and looks by itself; closed in this order. */
  watchers: readonly { close(): void }[];
}

export function assemble(options: DaemonOptions, ids: Ids, ready: () => boolean): Parts {
  const bootId = ids.make('b');
  const robot = createRobot(options);
  const { body, bodyWatch, peripherals } = robot;
  const storage = openStorage(options, ids, bootId, body.commits);
  robot.reserve.keepIn(tolerantSnapshots(new Snapshots(storage.store, options.log), options.log));
  const machines = createRobotMachines(options, ids, robot, storage);
  const ground = { options, ids, bootId, robot, storage, machines };
  const work = createWork(ground);
  const watchers = createWatchers(ground, work);
  const { telemetry, homeKeeper } = watchers;
  return {
    runtime: createRuntime(ground, work, watchers, ready),
    store: storage.store,
    timers: storage.timers,
    tasks: work.tasks,
    clockTrust: work.clockTrust,
    settings: work.policy.settings,
    machines,
    cloud: work.cloud,
    body,
    bodyWatch,
    peripherals,
    recorder: createRecorder(options, robot),
    watchers: [
      work.clockTrust,
      bodyWatch,
      homeKeeper,
      robot.reserve,
      telemetry,
      machines,
      work.observations,
      robot.state,
    ],
  };
}

function createRecorder({ clock, log }: DaemonOptions, { config, body, map, bus }: Robot): Recorder | null {
  const { recording } = config;
  if (recording === null) return null;
  return new Recorder({
    folder: recording.folder,
    maxMb: recording.max_mb,
    maxFiles: recording.max_files,
    clock,
    log,
    amr: body.amr,
    map: () => map.bundle,
    onDomainEvent: (listener) => bus.on(listener),
  });
}
