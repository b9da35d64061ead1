/** Publishes the context on meaningful change, at a bounded rate. */
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { DeviceContext } from '../../config/contracts/wire/context.js';
import type { OutboxWriter } from '../store/outbox-types.js';

export interface ContextTelemetryDeps {
  clock: Clock;
  log: Log;
  outbox: OutboxWriter;
  /** The whole context as it is now. */
  build(): DeviceContext;
  /** False without a broker: nobody would ever take the rows. */
  wanted(): boolean;
}

const TOPIC = 'context';
/** How often a change is looked for, and how far apart two publications are at least, ms. */
const LOOK_MS = 2000;
const APART_MS = 10_000;
/** Battery percent that count as one level. */
const BATTERY_BAND = 5;

export class ContextTelemetry {
  readonly #deps: ContextTelemetryDeps;
  readonly #off: () => void;
  readonly #counters = { published: 0, not_stored: 0 };
  #lastPrint = '';
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ContextTelemetryDeps) {
    this.#deps = deps;
    this.#off = deps.clock.every(LOOK_MS, () => this.#look());
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  close(): void {
    this.#off();
  }

  #look(): void {
    const now = this.#deps.clock.mono();
    if (now - this.#lastAt < APART_MS || !this.#deps.wanted()) return;
    const context = this.#deps.build();
    const print = meaning(context);
    if (print === this.#lastPrint || !this.#append(context)) return;
    this.#lastPrint = print;
    this.#lastAt = now;
  }

  /** A newer context replaces one that has not left yet. */
  #append(context: DeviceContext): boolean {
    try {
      this.#deps.outbox.appendTelemetry(TOPIC, TOPIC, (stamp) => {
        this.#counters.published++;
        return { ...context, ...stamp };
      });
      return true;
    } catch (error) {
      this.#counters.not_stored++;
      this.#deps.log.warn({ error: errorText(error) }, 'the context was not stored for publication');
      return false;
    }
  }
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
