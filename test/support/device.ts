/**
 * A device without hardware: the real store, outbox, intake, policy, TaskManager and cloud session, with methods
 * that end at once. For tests of the conversation over MQTT.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../config/contracts/clock.js';
import { Refusal } from '../../config/contracts/errors.js';
import { Ids, seededRandom } from '../../config/contracts/ids.js';
import { SILENT_LOG } from '../../config/contracts/log.js';
import { createCloud } from '../../daemon/cloud/cloud.js';
import type { Cloud, CloudDeps, CloudOptions } from '../../daemon/cloud/types.js';
import { CommandTable } from '../../daemon/intake/command-table.js';
import { commandsFromCloud } from '../../daemon/intake/from-cloud.js';
import { createIntake } from '../../daemon/intake/intake.js';
import type { CommandIntake } from '../../daemon/intake/types.js';
import { loadPolicy } from '../../daemon/policy/load-policy.js';
import { Outbox } from '../../daemon/store/outbox.js';
import { Store } from '../../daemon/store/store.js';
import { Timers } from '../../daemon/store/timers.js';
import type { TaskManagerHandle } from '../../daemon/task-manager/deps.js';
import { createTaskManager } from '../../daemon/task-manager/manager.js';
import { defineMethod, type MethodSpec, type Resource } from '../../executors/method.js';

export interface DeviceOptions {
  clock: Clock;
  networkClock: Clock;
  cloud: Partial<CloudOptions> & Pick<CloudOptions, 'url' | 'protocol'>;
  openStream?: CloudDeps['openStream'];
  deviceId?: string;
}

export const DEFAULT_CLOUD_OPTIONS: Omit<CloudOptions, 'url' | 'protocol' | 'deviceId'> = {
  username: null,
  password: null,
  ca: null,
  cert: null,
  key: null,
  keepaliveS: 30,
  sessionExpiryS: 600,
  connectTimeoutMs: 3000,
  ackTimeoutMs: 1000,
  backoff: { minMs: 20, maxMs: 200 },
  window: 200,
  maxPacketBytes: null,
  maxTries: 3,
  replay: { perS: null, burst: 200 },
};

const ROOMS = [
  { id: '2', name: '거실', aliases: ['living room'] },
  { id: '4', name: '안방', aliases: ['bedroom'] },
];

export class TestDevice {
  readonly stops: string[] = [];
  onStop: () => void = () => {};
  store: Store;
  outbox: Outbox;
  tasks: TaskManagerHandle;
  intake: CommandIntake;
  cloud: Cloud;
  readonly deviceId: string;
  readonly #options: DeviceOptions;
  readonly #directory = mkdtempSync(join(tmpdir(), 'device-'));
  readonly #ids: Ids;
  #boot = 0;

  constructor(options: DeviceOptions) {
    this.#options = options;
    this.deviceId = options.deviceId ?? 'da-test';
    this.#ids = new Ids(() => options.clock.now(), seededRandom(7));
    const parts = this.#build();
    this.store = parts.store;
    this.outbox = parts.outbox;
    this.tasks = parts.tasks;
    this.intake = parts.intake;
    this.cloud = parts.cloud;
  }

  start(): void {
    this.tasks.recover();
    this.cloud.start();
  }

  /** Ends without a word, as after `kill -9`, and starts again on the same database. */
  async crashAndRestart(): Promise<void> {
    await this.cloud.stop(0);
    this.store.close();
    Object.assign(this, this.#build());
    this.start();
  }

  async dispose(): Promise<void> {
    await this.cloud.stop(500);
    await this.tasks.stop();
    this.store.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #build() {
    const { clock, networkClock } = this.#options;
    const log = SILENT_LOG;
    const ids = this.#ids;
    const bootId = `b-${++this.#boot}`;
    const store = Store.open({ file: join(this.#directory, 'store.db'), clock, ids, log });
    const outbox = new Outbox({ store, clock, ids, deviceId: this.deviceId, bootId });
    const timers = new Timers({ store, clock, log });
    const methods = METHODS(clock);
    const resolveCapability = (id: string): never => {
      throw new Refusal('UNKNOWN_CAPABILITY', `capability: found "${id}"; there are none here`, 'capability');
    };
    const tasks = createTaskManager({
      store,
      outbox,
      timers,
      clock,
      ids,
      log,
      methods,
      resolveCapability,
      context: () => this.#context(),
      emergencyCut: () => {},
    });
    const intake = createIntake({
      deviceId: this.deviceId,
      clock,
      ids,
      store,
      outbox,
      memory: new CommandTable(store),
      tasks,
      methods,
      resolveCapability,
      policy: loadPolicy(),
      windowMs: 120_000,
      clockTrusted: () => true,
      estop: async (by) => {
        this.stops.push(by);
        this.onStop();
      },
      context: () => this.#context(),
      capabilities: () => [],
      outboxStats: () => outbox.stats(),
      commandKey: null,
      log,
    });
    const cloud = createCloud({
      clock,
      networkClock,
      random: Math.random,
      options: { ...DEFAULT_CLOUD_OPTIONS, deviceId: this.deviceId, ...this.#options.cloud },
      bootId,
      version: '0.0.0',
      outbox,
      ...commandsFromCloud(() => intake, store),
      log,
      ...(this.#options.openStream === undefined ? {} : { openStream: this.#options.openStream }),
    });
    return { store, outbox, tasks, intake, cloud };
  }

  #context(): object {
    return {
      contract_version: 'device_context.v1',
      device_id: this.deviceId,
      battery: { on_station: true },
      map: { available: true, rooms: ROOMS },
    };
  }
}

const METHODS = (clock: Clock): MethodSpec[] => [
  instant(clock, 'undock', 'dock.undocked', 'motion', { docked: false }),
  instant(clock, 'setMoveTo', 'movement.arrived', 'motion', { area_id: '2' }),
  instant(clock, 'startCleaning', 'cleaning.stopped', 'fan', { summary: '공기가 좋아졌어요.' }),
  instant(clock, 'setLlmTts', 'tts.playbackCompleted', 'speaker', { duration_ms: 1 }),
  instant(clock, 'returnToStation', 'dock.docked', 'motion', { docked: true }),
];

function instant(
  clock: Clock,
  name: string,
  target: string,
  resource: Resource,
  output: Record<string, unknown>,
): MethodSpec {
  return defineMethod({
    name,
    executor: 'test',
    summary: name,
    params: z.record(z.string(), z.unknown()),
    output: z.record(z.string(), z.unknown()),
    resources: [{ resource, mode: 'exclusive' }],
    completionTarget: target,
    preconditionText: '',
    cancel: null,
    compensation: null,
    timeoutMs: 60_000,
    stopGraceMs: 1000,
    risk: 'low',
    idempotent: true,
    run: async () => ({
      evidence: { completion_target: target, observed_at_ms: clock.now() },
      output,
      stage: target,
    }),
  });
}
