/** Every part of the daemon, wired. Nothing runs yet. */
import { join } from 'node:path';
import { DEFAULT_AIR_BANDS } from '../../config/contracts/air.js';
import type { AmrDriver, AmrEvent } from '../../config/contracts/amr.js';
import type { Capability } from '../../config/contracts/capability.js';
import { prefixed } from '../../config/contracts/counters.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Config } from '../../config/schema.js';
import { createMethods } from '../../executors/registry.js';
import { DEFAULT_EXECUTOR_SETTINGS } from '../../executors/services.js';
import { createMachines, type Machines } from '../../state-machines/machines.js';
import { DEFAULT_MACHINE_SETTINGS, type MachineSettings } from '../../state-machines/settings.js';
import type { TimerEvent } from '../../state-machines/types.js';
import { createCloud } from '../cloud/cloud.js';
import type { Cloud } from '../cloud/types.js';
import { BatteryGuard } from '../context/battery-guard.js';
import { buildContext } from '../context/build-context.js';
import { capabilitiesNow, loadCatalogue } from '../context/capabilities.js';
import { ContextTelemetry } from '../context/context-telemetry.js';
import { DeviceState } from '../context/device-state.js';
import { DomainBus } from '../context/domain-bus.js';
import { Observations } from '../context/observations.js';
import { DEFAULT_FRESHNESS } from '../context/types.js';
import { createIntake } from '../intake/intake.js';
import type { CommandIntake } from '../intake/types.js';
import { loadPolicy } from '../policy/load-policy.js';
import type { ConnectionFacts, Runtime } from '../runtime.js';
import { Outbox } from '../store/outbox.js';
import { CommandTable, Snapshots } from '../store/small-tables.js';
import { Store } from '../store/store.js';
import { Timers } from '../store/timers.js';
import type { TaskManagerHandle } from '../task-manager/deps.js';
import { createTaskManager } from '../task-manager/manager.js';
import { type Body, createBody } from './body.js';
import { BodyWatch } from './body-watch.js';
import { cloudOptionsOf, commandKeyOf } from './cloud-options.js';
import { createContextPublisher } from './context-publisher.js';
import { doctorOf } from './doctor.js';
import { importMap } from './import-map.js';
import { type MapInUse, readMap } from './map.js';
import { mapViewOf } from './map-view.js';
import type { DaemonOptions } from './options.js';
import { createPeripherals, type Peripherals } from './peripherals.js';
import { createSpeaker } from './speaker.js';

export interface Parts {
  runtime: Runtime;
  store: Store;
  timers: Timers;
  tasks: TaskManagerHandle;
  machines: Machines;
  /** Null without a broker. */
  cloud: Cloud | null;
  body: Body;
  bodyWatch: BodyWatch;
  peripherals: Peripherals;
  /** What listens and looks by itself; closed in this order. */
  watchers: readonly { close(): void }[];
  map: MapInUse;
}

const MACHINE_TIMER = 'machine';
const OFFLINE: ConnectionFacts = {
  transport_connected: false,
  subscription_ready: false,
  last_transition_at: null,
  last_publish_ack_at: null,
  last_publish_error: null,
};

export function assemble(options: DaemonOptions, ids: Ids, ready: () => boolean): Parts {
  const { loaded, stateDir, clock, log, wall } = options;
  const { config } = loaded;
  const bootId = ids.make('b');
  const body = createBody({ ...options, config });
  const { amr } = body;
  const peripherals = createPeripherals({ ...options, config });
  const map = readMap(config, log);
  const bodyWatch = new BodyWatch({ amr, map, clock, log });

  const { commits } = body;
  const store = Store.open({
    file: join(stateDir, 'deviceagent.db'),
    clock,
    ids,
    log,
    ...(commits === null
      ? {}
      : { onCommit: (phase) => (phase === 'begin' ? commits.began() : commits.ended()) }),
  });
  const outbox = new Outbox({ store, clock, ids, deviceId: config.device_id, bootId });
  const timers = new Timers({ store, clock, log });
  const bus = new DomainBus((error, event) =>
    log.error({ type: event.type, error: String(error) }, 'a listener failed on a domain event'),
  );
  const deviceState = new DeviceState({
    clock,
    amr,
    airSensor: peripherals.airSensor,
    fan: peripherals.fan,
    rooms: () => map.rooms,
    bus,
    bands: DEFAULT_AIR_BANDS,
    freshness: DEFAULT_FRESHNESS,
    batteryReserve: config.motion.battery_reserve,
  });

  const machines = createMachines({
    clock,
    log,
    amr,
    fan: peripherals.fan,
    air: deviceState.airSource,
    timers: {
      set: (key, atMs, event) => timers.set(MACHINE_TIMER, key, atMs, event),
      cancel: (key) => timers.cancel(MACHINE_TIMER, key),
    },
    snapshots: new Snapshots(store, log),
    settings: machineSettings(config),
    areaAt: (x, y) => map.rooms?.roomAt({ x, y })?.id ?? null,
    station: () => map.rooms?.station?.pose ?? null,
    newId: () => ids.make('a'),
    notify: ({ type, at, areaId, attributes, operation }) =>
      bus.emit({
        type,
        at,
        areaId,
        attributes,
        ...(operation === null ? {} : { correlation: { task_id: operation } }),
      }),
  });
  timers.on(MACHINE_TIMER, ({ key, payload }) => machines.onTimer(key, payload as TimerEvent));

  // Some parts need each other; what is read only once everything runs is read through these.
  const later: { tasks: TaskManagerHandle | null; cloud: Cloud | null; intake: CommandIntake | null } = {
    tasks: null,
    cloud: null,
    intake: null,
  };
  const tasksNow = () => need(later.tasks);
  const network = () => later.cloud?.facts() ?? OFFLINE;
  const context = (wanted: { version: 1 | 2; maxBytes?: number }) =>
    buildContext(
      {
        deviceId: config.device_id,
        clock,
        state: deviceState,
        rooms: () => map.rooms,
        motion: () => machines.motion.status(),
        cleaning: () => machines.cleaning?.status() ?? null,
        network,
        tasks: tasksNow(),
        capabilities: () => capabilities(),
        observations: () => observations.recent(),
      },
      wanted,
    );

  const cloudDeps = {
    clock,
    networkClock: wall,
    random: options.random,
    bootId,
    version: options.version,
    outbox,
    log,
    ...(options.openBroker === null ? {} : { openStream: options.openBroker }),
    onCommand: async (payload: Buffer, meta: { retained: boolean }) => {
      need(later.intake).handleBytes(payload, meta, { source: 'CLOUD', name: 'mqtt' });
      await store.committed();
    },
  };
  const url = config.cloud.url;
  later.cloud = url === null ? null : createCloud({ ...cloudDeps, options: cloudOptionsOf(loaded, url) });

  const methods = createMethods({
    clock,
    amr,
    motion: machines.motion,
    rooms: () => map.rooms,
    cleaning: machines.cleaning,
    air: deviceState.airSource,
    speaker: createSpeaker(config, clock),
    context: createContextPublisher({
      clock,
      store,
      outbox,
      cloud: later.cloud,
      context: () => context({ version: 1 }),
    }),
    settings: {
      ...DEFAULT_EXECUTOR_SETTINGS,
      language: config.language,
      batteryReserve: config.motion.battery_reserve,
    },
    emit: (event) => bus.emit(event),
  });
  const cards = loadCatalogue(methods);
  const capabilities = (): Capability[] => capabilitiesNow(cards, methods, clock.now());

  const tasks = createTaskManager({
    store,
    outbox,
    timers,
    clock,
    ids,
    log,
    methods,
    resolveCapability: (id, params) => cards.resolve(id, params),
    context: () => context({ version: 2 }),
    emergencyCut: (reason) => void amr.estop(`task-manager: ${reason}`),
  });
  later.tasks = tasks;
  const observations = new Observations({
    clock,
    log,
    bus,
    outbox,
    write: (fn) => store.write(fn),
    workflowOf: (taskId) => {
      const task = tasks.getTask(taskId);
      return task?.workflowId == null || task.stepId === null
        ? null
        : { workflow_id: task.workflowId, step_id: task.stepId };
    },
  });

  const intake = createIntake({
    deviceId: config.device_id,
    clock,
    ids,
    store,
    outbox,
    memory: new CommandTable(store),
    tasks,
    methods,
    resolveCapability: (id, params) => cards.resolve(id, params),
    policy: loadPolicy(),
    windowMs: config.cloud.command_window_ms,
    clockTrusted: () => config.clock_trusted,
    estop: (by) => amr.estop(by),
    context,
    capabilities,
    outboxStats: () => outbox.stats(),
    commandKey: commandKeyOf(loaded),
    log,
  });
  later.intake = intake;
  later.cloud?.onFacts((facts) => deviceState.noteNetwork(facts));

  const telemetry = new ContextTelemetry({
    clock,
    log,
    outbox,
    build: () => context({ version: 1 }),
    wanted: () => later.cloud !== null,
  });
  const batteryGuard = new BatteryGuard({
    clock,
    log,
    state: deviceState,
    goingHome: () => tasks.listTasks({ active: true }).some((task) => task.method === 'returnToStation'),
    goHome: () =>
      void tasks.submit({
        method: 'returnToStation',
        params: {},
        task: {},
        source: 'SUPERVISOR',
        legacy: false,
        correlationId: null,
      }),
  });
  watchSafety(amr, tasks);
  bus.on(() => tasks.contextChanged());

  const runtime: Runtime = {
    deviceId: config.device_id,
    bootId,
    version: options.version,
    stateDir,
    profile: config.profile,
    clock,
    methods,
    tasks,
    intake,
    outbox,
    amr,
    committed: () => store.committed(),
    ready,
    context,
    capabilities,
    map: () => (map.bundle === null ? null : mapViewOf(map.bundle)),
    mapFile: () => map.file,
    importMap: (file) => importMap({ map, amr, radius: config.motion.radius, log }, file),
    cloud: network,
    doctor: () =>
      doctorOf({
        config,
        amr,
        bodyUnavailable: body.unavailable(),
        map: map.bundle,
        mapProblem: map.problem,
        airSensor: peripherals.airSensor,
        fan: peripherals.fan,
        cloud: later.cloud?.facts() ?? null,
        databaseMovedTo: store.movedAside?.path ?? null,
        outboxDepth: outbox.stats().depth,
      }),
    counters: () => ({
      ...body.counters(),
      ...amr.state()?.counters,
      ...peripherals.counters(),
      ...prefixed('store', store.counters()),
      ...prefixed('tasks', tasks.counters()),
      ...prefixed('timers', timers.counters()),
      ...prefixed('observations', observations.counters()),
      ...prefixed('context', telemetry.counters()),
      ...intake.counters(),
      ...later.cloud?.counters(),
    }),
    onDomainEvent: (listener) => bus.on(listener),
    recentEvents: (since, limit) => outbox.recentEvents(since, limit),
    estop: (by) => amr.estop(by),
    releaseEstop: (by) => amr.releaseEstop(by),
  };
  return {
    runtime,
    store,
    timers,
    tasks,
    machines,
    cloud: later.cloud,
    body,
    bodyWatch,
    peripherals,
    watchers: [bodyWatch, batteryGuard, telemetry, machines, observations, deviceState],
    map,
  };
}

function machineSettings({ motion, fan }: Config): MachineSettings {
  const defaults = DEFAULT_MACHINE_SETTINGS;
  const cleaning =
    fan === null ? defaults.cleaning : { ...defaults.cleaning, percent: fan.modes, fullRpm: fan.full_rpm };
  return {
    ...defaults,
    maxSpeed: motion.max_speed,
    batteryReserve: motion.battery_reserve,
    cleaning,
  };
}

/** A latched e-stop ends whatever holds the wheels; each change of safety is news to waiting conditions. */
function watchSafety(amr: AmrDriver, tasks: TaskManagerHandle): void {
  let latched = false;
  amr.subscribe((event: AmrEvent) => {
    const estop =
      event.type === 'safety' ? event.safety.estop : event.type === 'state' ? event.state.safety.estop : null;
    if (estop === null || estop.latched === latched) return;
    latched = estop.latched;
    if (latched) tasks.emergencyStop('the emergency stop was pressed', estop.at ?? timeOf(event));
    tasks.contextChanged();
  });
}

function timeOf(event: AmrEvent): number {
  return event.type === 'state' ? event.state.at : event.type === 'action' ? event.update.at : event.at;
}

function need<T>(part: T | null): T {
  if (part === null) throw new Error('the daemon is still being put together');
  return part;
}
