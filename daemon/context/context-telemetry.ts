/** Publishes the context: on meaningful change, rate-limited; and on request, until the broker has it. */
import type { Clock } from '../../config/contracts/clock.js';
import { TaskFailure } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { DeviceContext } from '../../config/contracts/wire/context.js';
import type { ContextPublisher } from '../../executors/services.js';
import type { ConnectionFacts } from '../runtime.js';
import type { OutboxRow, OutboxWriter } from '../store/outbox-types.js';

export interface ContextTelemetryDeps {
  clock: Clock;
  log: Log;
  outbox: OutboxWriter;
  /** The whole context as it is now. */
  build(): DeviceContext;
  /** Null: no cloud is configured. */
  network(): ConnectionFacts | null;
  onAcknowledged(listener: (row: OutboxRow) => void): () => void;
}

const TOPIC = 'context';
/** How often a change is looked for, and how far apart two publications are at least, ms. */
const LOOK_MS = 2000;
const APART_MS = 10_000;
/** Battery percent that count as one level. */
const BATTERY_BAND = 5;

export class ContextTelemetry implements ContextPublisher {
  readonly #deps: ContextTelemetryDeps;
  readonly #off: () => void;
  readonly #counters = { published: 0, not_stored: 0 };
  #lastPrint = '';
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ContextTelemetryDeps) {
    this.#deps = deps;
    this.#off = deps.clock.every(LOOK_MS, () => this.#look());
  }

  unavailable(): string | null {
    const facts = this.#deps.network();
    if (facts === null) return 'no cloud is configured: set cloud.url in the profile';
    return facts.transport_connected ? null : 'the cloud is not connected';
  }

  publish(signal: AbortSignal): Promise<{ ackedAtMs: number; bytes: number }> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      // A row of its own: a newer context must not replace the one whose arrival is waited for.
      const eventId = this.#append(null);
      if (eventId === null) return reject(new TaskFailure('TASK_MANAGER_BUSY', 'the outbox is full'));
      const onAbort = () => end(() => reject(signal.reason));
      const off = this.#deps.onAcknowledged((row) => {
        if (row.topic !== TOPIC || eventIdOf(row.payload) !== eventId) return;
        const bytes = Buffer.byteLength(row.payload, 'utf8');
        end(() => resolve({ ackedAtMs: this.#deps.clock.now(), bytes }));
      });
      const end = (tell: () => void) => {
        off();
        signal.removeEventListener('abort', onAbort);
        tell();
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  close(): void {
    this.#off();
  }

  #look(): void {
    if (this.#deps.network() === null) return;
    const now = this.#deps.clock.mono();
    if (now - this.#lastAt < APART_MS) return;
    const context = this.#deps.build();
    const print = meaning(context);
    if (print === this.#lastPrint) return;
    if (this.#append(TOPIC, context) === null) return;
    this.#lastPrint = print;
    this.#lastAt = now;
  }

  /** The id of the row, or null when it was not taken. */
  #append(compactKey: string | null, context: DeviceContext = this.#deps.build()): string | null {
    let eventId: string | null = null;
    try {
      this.#deps.outbox.appendTelemetry(TOPIC, compactKey, (stamp) => {
        const { event_id, telemetry_seq, store_epoch, boot_id } = stamp;
        eventId = event_id;
        return { ...context, event_id, telemetry_seq, store_epoch, boot_id };
      });
      if (eventId !== null) this.#counters.published++;
    } catch (error) {
      this.#counters.not_stored++;
      this.#deps.log.warn({ error: String(error) }, 'the context was not stored for publication');
      return null;
    }
    return eventId;
  }
}

function eventIdOf(payload: string): unknown {
  return (JSON.parse(payload) as { event_id?: unknown }).event_id;
}

/** What of a context is worth telling when it changes: no ages, no centimetres. */
function meaning(context: DeviceContext): string {
  const { battery, location, air_quality, cleaning, movement, network, task_manager } = context;
  return JSON.stringify([
    context.main_state,
    battery.level === null ? null : Math.floor(battery.level / BATTERY_BAND),
    [battery.charging, battery.on_station, battery.low],
    [context.map.available, context.map.editable, context.map.room_count],
    [location.current_room_id, location.localized, location.usable],
    [air_quality.grade, air_quality.source_state, air_quality.usable],
    [cleaning.running, cleaning.paused, cleaning.mode, cleaning.area_id],
    [movement.moving_status, movement.target_room_id],
    [network.transport_connected, network.subscription_ready],
    task_manager.running_tasks,
    Object.entries(context.capabilities ?? {}).map(([id, { available }]) => [id, available]),
  ]);
}
