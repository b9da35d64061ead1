/** Device state, bus and context over the test robot, with an air sensor and a network that tests set. */
import { DEFAULT_AIR_BANDS } from '../../config/contracts/air.js';
import { SILENT_LOG } from '../../config/contracts/log.js';
import type { SimClock } from '../../config/contracts/sim-clock.js';
import type { ContextOptions } from '../../config/contracts/wire/context.js';
import type { DomainEvent, Observation } from '../../config/contracts/wire/events.js';
import { buildContext } from '../../daemon/context/build-context.js';
import { capabilitiesNow, loadCatalogue } from '../../daemon/context/capabilities.js';
import { DeviceState } from '../../daemon/context/device-state.js';
import { DomainBus } from '../../daemon/context/domain-bus.js';
import { Observations } from '../../daemon/context/observations.js';
import { DEFAULT_FRESHNESS } from '../../daemon/context/types.js';
import type { WifiState } from '../../daemon/context/wifi.js';
import type { OutboxWriter } from '../../daemon/store/outbox-types.js';
import type { AirReading, AirSensorDriver } from '../../drivers/serial/types.js';
import { testRobot } from './services.js';

export class FakeAirSensor implements AirSensorDriver {
  connected = true;
  readonly opening = false;
  warmingUp = false;
  silent = false;
  pm2_5 = 10;
  readonly #listeners: ((reading: AirReading) => void)[] = [];

  constructor(clock: SimClock) {
    clock.every(1000, () => {
      if (this.silent || !this.connected) return;
      const reading: AirReading = {
        at: clock.now(),
        warmingUp: this.warmingUp,
        pm1_0: 5,
        pm2_5: this.pm2_5,
        pm10: 20,
        co2: 600,
        vocLevel: 1,
        hcho: 0.02,
        temperature: 22.5,
        humidity: 41,
      };
      for (const listener of this.#listeners) listener(reading);
    });
  }
  start(): void {}
  async stop(): Promise<void> {}
  onLink(): void {}
  counters() {
    return {};
  }
  portCounts() {
    return { rx: 0, tx: 0, opens: 1 };
  }
  onReading(listener: (reading: AirReading) => void): void {
    this.#listeners.push(listener);
  }
}

/** Keeps what would be published. */
export class RecordingOutbox implements OutboxWriter {
  readonly ordered: { topic: string; payload: object }[] = [];
  readonly telemetry: { topic: string; compactKey: string | null; payload: object }[] = [];
  full = false;
  #seq = 0;

  appendOrdered: OutboxWriter['appendOrdered'] = (topic, key, build) => {
    if (this.full) throw new Error('disk full');
    const stamp = this.#stamp();
    this.ordered.push({
      topic,
      payload: build({ ...stamp, idempotency_key: key ?? stamp.event_id }),
    });
  };
  appendResponse(): void {}
  appendTelemetry: OutboxWriter['appendTelemetry'] = (topic, compactKey, build) => {
    if (this.full) throw new Error('disk full');
    const { seq, ...stamp } = this.#stamp();
    this.telemetry.push({
      topic,
      compactKey,
      payload: build({ ...stamp, telemetry_seq: seq, idempotency_key: stamp.event_id }),
    });
  };
  hasRoom(): boolean {
    return !this.full;
  }

  #stamp() {
    const seq = ++this.#seq;
    return { event_id: `e-${seq}`, seq, store_epoch: 'ep-1', device_id: 'da-test', boot_id: 'b-1' };
  }
}

export function testContext(options: Parameters<typeof testRobot>[0] = {}) {
  const robot = testRobot(options);
  const { clock, amr, fan, rooms, machines, methods } = robot;
  const air = new FakeAirSensor(clock);
  const outbox = new RecordingOutbox();
  const events: DomainEvent[] = [];
  const bus = new DomainBus((error) => {
    throw error;
  });
  bus.on((event) => events.push(event));
  const state = new DeviceState({
    clock,
    amr,
    airSensor: air,
    fan,
    rooms: () => rooms,
    bus,
    bands: DEFAULT_AIR_BANDS,
    freshness: DEFAULT_FRESHNESS,
    batteryReserve: () => 15,
  });
  const observations = new Observations({
    clock,
    log: SILENT_LOG,
    bus,
    outbox,
    write: (fn) => fn(),
    workflowOf: (taskId) => (taskId === 't-1' ? { workflow_id: 'wf-1', step_id: 's1' } : null),
  });
  const catalogue = loadCatalogue(methods);
  const network = {
    transport_connected: false,
    subscription_ready: false,
    last_transition_at: null,
    last_publish_ack_at: null,
    last_publish_error: null,
  };
  const sources = {
    deviceId: 'da-test',
    clock,
    state,
    rooms: () => rooms,
    motion: () => machines.motion.status(),
    cleaning: () => machines.cleaning?.status() ?? null,
    network: () => network,
    wifi: (): WifiState | null => null,
    tasks: {
      summary: () => ({ busy: false, running: [] as string[], queued: [] }),
      leases: () => [{ resource: 'motion', owner: null, fence: 0 }],
    },
    capabilities: () => capabilitiesNow(catalogue, methods, clock.now()),
    observations: () => observations.recent(),
  };
  const build = (wanted: ContextOptions = { version: 1 }) => buildContext(sources, wanted);
  const published = () => outbox.ordered.map(({ payload }) => payload as Observation);
  return {
    ...robot,
    airSensor: air,
    outbox,
    bus,
    state,
    observations,
    network,
    sources,
    build,
    published,
    events,
  };
}
