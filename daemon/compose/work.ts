/**
 * What does the robot's work: methods and the cards that stand for them, the TaskManager, the gate for commands, the
 * cloud session, and the picture of the device that planners get.
 */
import type { Capability } from '../../config/contracts/capability.js';
import { errorText } from '../../config/contracts/errors.js';
import type { ContextOptions, DeviceContext } from '../../config/contracts/wire/context.js';
import type { MethodSpec } from '../../executors/method.js';
import { createMethods } from '../../executors/registry.js';
import { DEFAULT_EXECUTOR_SETTINGS } from '../../executors/services.js';
import { ClockTrust } from '../clock/clock-trust.js';
import { hostTime } from '../clock/host-time.js';
import { createCloud } from '../cloud/cloud.js';
import type { Cloud, CloudDeps } from '../cloud/types.js';
import { buildContext } from '../context/build-context.js';
import { capabilitiesNow, loadCatalogue } from '../context/capabilities.js';
import { Observations } from '../context/observations.js';
import { hostWifi, type WifiState } from '../context/wifi.js';
import { CommandTable } from '../intake/command-table.js';
import { commandsFromCloud } from '../intake/from-cloud.js';
import { createIntake } from '../intake/intake.js';
import type { CommandIntake, IntakeDeps } from '../intake/types.js';
import { roomsInUse } from '../maps/rooms-in-use.js';
import { capsPerSource, loadPolicyConfig } from '../policy/load-policy.js';
import type { ConnectionFacts } from '../runtime.js';
import type { TaskManagerHandle } from '../task-manager/deps.js';
import { createTaskManager } from '../task-manager/manager.js';
import type { TaskManager } from '../task-manager/types.js';
import { cloudOptionsOf, commandKeyOf } from './cloud-options.js';
import { createContextPublisher } from './context-publisher.js';
import type { Ground } from './ground.js';
import { createPolicyParts, type PolicyParts } from './policy.js';
import { createSpeaker } from './speaker.js';

export interface Work {
  clockTrust: ClockTrust;
  methods: readonly MethodSpec[];
  tasks: TaskManagerHandle;
  policy: PolicyParts;
  intake: CommandIntake;
  /** Null without a broker. */
  cloud: Cloud | null;
  observations: Observations;
  network(): ConnectionFacts;
  capabilities(): Capability[];
  context(wanted: ContextOptions): DeviceContext;
}

const OFFLINE: ConnectionFacts = {
  transport_connected: false,
  subscription_ready: false,
  last_transition_at: null,
  last_publish_ack_at: null,
  last_publish_error: null,
};

/** These parts need each other: what stands in a function here is read only once everything runs. */
export function createWork(ground: Ground): Work {
  const { clock } = ground.options;
  const clockTrust = createClockTrust(ground);
  const network = () => cloud?.facts() ?? OFFLINE;
  // A simulated robot has no radio.
  const wifi = ground.options.simulatedTime ? () => null : hostWifi(ground.options.wall);
  const capabilities = () => capabilitiesNow(cards, methods, clock.now());
  const context = (wanted: ContextOptions): DeviceContext =>
    buildContext(
      {
        ...contextSources(ground, wifi),
        network,
        tasks,
        capabilities,
        policyBlockers: () => policy.blockers(capabilities(), methods),
        observations: () => observations.recent(),
      },
      wanted,
    );

  const cloud = createCloudSession(
    ground,
    commandsFromCloud(() => intake, ground.storage.store),
  );
  const methods = createRobotMethods(ground, cloud, () => context({ version: 1 }));
  const cards = loadCatalogue(methods);
  const resolveCapability: IntakeDeps['resolveCapability'] = (id, params) => cards.resolve(id, params);
  const policy = createPolicyParts(ground, {
    tasks: () => tasks,
    titleOf: (method) => cards.cards.find((card) => card.runtime.task_methods[0] === method)?.title ?? null,
  });
  const tasks = createTaskManager({
    gate: policy.gate,
    ...common(ground),
    timers: ground.storage.timers,
    clockTrusted: () => clockTrust.trusted(),
    methods,
    resolveCapability,
    context: () => context({ version: 2 }),
    limits: {
      perSource: capsPerSource(loadPolicyConfig()),
      amendmentWaitMs: ground.robot.config.workflows.amendment_wait_ms,
    },
    emergencyCut: (reason) => {
      ground.robot.body.amr
        .estop(`task-manager: ${reason}`)
        .catch((error: unknown) =>
          ground.options.log.error(
            { error: errorText(error), reason },
            'an emergency stop was not confirmed',
          ),
        );
    },
  });
  clockTrust.onChange(() => tasks.clockTrustChanged());
  ground.robot.areaChanges.inUse = () => roomsInUse(tasks.schedules);
  const observations = createObservations(ground, tasks);
  const intake = createGate(ground, {
    policy: policy.policy,
    tasks,
    methods,
    resolveCapability,
    context,
    capabilities,
    clockTrusted: () => clockTrust.trusted(),
  });
  cloud?.onFacts((facts) => ground.robot.state.noteNetwork(facts));
  return { clockTrust, methods, tasks, policy, intake, cloud, observations, network, capabilities, context };
}

function createClockTrust({ options, robot, storage }: Ground): ClockTrust {
  const { clock, log, simulatedTime } = options;
  const host = options.hostTime ?? (simulatedTime ? null : hostTime());
  return new ClockTrust({ mode: robot.config.clock_trusted, clock, log, store: storage.store, host });
}

function common({ options, ids, storage }: Ground) {
  const { clock, log } = options;
  const { store, outbox } = storage;
  return { clock, log, ids, store, outbox };
}

function contextSources({ options, robot, machines }: Ground, wifi: () => WifiState | null) {
  return {
    deviceId: robot.config.device_id,
    clock: options.clock,
    wifi,
    state: robot.state,
    rooms: () => robot.map.rooms,
    motion: () => machines.motion.status(),
    cleaning: () => machines.cleaning?.status() ?? null,
  };
}

function createCloudSession(
  { options, bootId, robot, storage }: Ground,
  commands: Pick<CloudDeps, 'onArrival' | 'onCommand'>,
): Cloud | null {
  const { url } = robot.config.cloud;
  if (url === null) return null;
  return createCloud({
    clock: options.clock,
    networkClock: options.wall,
    random: options.random,
    options: cloudOptionsOf(options.loaded, url),
    bootId,
    version: options.version,
    outbox: storage.outbox,
    log: options.log,
    ...commands,
    ...(options.openBroker === null ? {} : { openStream: options.openBroker }),
  });
}

function createRobotMethods(
  { options, robot, storage, machines }: Ground,
  cloud: Cloud | null,
  context: () => DeviceContext,
): readonly MethodSpec[] {
  const { clock } = options;
  const { config, body, map, bus, state } = robot;
  return createMethods({
    clock,
    amr: body.amr,
    motion: machines.motion,
    rooms: () => map.rooms,
    map: robot.mapChanges,
    areas: robot.areaChanges,
    mapping: machines.mapping,
    cleaning: machines.cleaning,
    air: state.airSource,
    speaker: createSpeaker(config, clock),
    context: createContextPublisher({ clock, ...storage, cloud, context }),
    presses: robot.presses,
    noteDiagnosis: (advice) => {
      robot.diagnosis.advice = advice;
    },
    settings: {
      ...DEFAULT_EXECUTOR_SETTINGS,
      language: config.language,
      batteryReserve: () => robot.reserve.value(),
    },
    emit: (event) => bus.emit(event),
  });
}

function createObservations({ options, robot, storage }: Ground, tasks: TaskManager): Observations {
  const { clock, log } = options;
  return new Observations({
    clock,
    log,
    bus: robot.bus,
    outbox: storage.outbox,
    write: (fn) => storage.store.write(fn),
    workflowOf: (taskId) => {
      const task = tasks.getTask(taskId);
      return task?.workflowId == null || task.stepId === null
        ? null
        : { workflow_id: task.workflowId, step_id: task.stepId };
    },
  });
}

function createGate(
  ground: Ground,
  work: Pick<
    IntakeDeps,
    'policy' | 'tasks' | 'methods' | 'resolveCapability' | 'context' | 'capabilities' | 'clockTrusted'
  >,
): CommandIntake {
  const { options, robot, storage } = ground;
  const { config, body } = robot;
  return createIntake({
    ...common(ground),
    ...work,
    deviceId: config.device_id,
    memory: new CommandTable(storage.store),
    windowMs: config.cloud.command_window_ms,
    estop: (by) => body.amr.estop(by),
    outboxStats: () => storage.outbox.stats(),
    commandKey: commandKeyOf(options.loaded),
  });
}
