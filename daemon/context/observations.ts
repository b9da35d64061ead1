/**
 * Domain events that the cloud may know of, as `device-semantic-observation.v1`. A burst is held back and its last
 * word told at the end of the debounce, so that what the cloud believes in the end is true.
 */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import {
  type DomainEvent,
  OBSERVATION_TYPES,
  type Observation,
  type ObservationType,
} from '../../config/contracts/wire/events.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import type { DomainBus } from './domain-bus.js';
import { type AttributeKind, OBSERVATION_RULES } from './observation-types.js';

export interface ObservationDeps {
  clock: Clock;
  log: Log;
  bus: DomainBus;
  outbox: OutboxWriter;
  /** Runs `fn` as one store transaction. */
  write(fn: () => void): void;
  /** The workflow and step of a task; null when it is not part of one. */
  workflowOf(taskId: string): { workflow_id: string; step_id: string } | null;
}

/** Kept for the context. */
const KEEP = 6;
/** Debounces of things that no longer happen are forgotten. */
const MAX_KEYS = 200;

interface Channel {
  lastAt: number;
  lastPrint: string;
  pending: DomainEvent | null;
  cancel: CancelTimer | null;
}

export class Observations {
  readonly #deps: ObservationDeps;
  readonly #channels = new Map<string, Channel>();
  readonly #recent: Observation[] = [];
  readonly #off: () => void;
  readonly #counters = { emitted: 0, held_back: 0, not_stored: 0 };

  constructor(deps: ObservationDeps) {
    this.#deps = deps;
    this.#off = deps.bus.on((event) => this.#take(event));
  }

  /** Not stale, newest first, and how many there were since the start. */
  recent(): { recent: Observation[]; count: number } {
    const now = this.#deps.clock.now();
    const fresh = this.#recent.filter((one) => now - one.observed_at_ms <= one.ttl_ms);
    return { recent: fresh.reverse(), count: this.#counters.emitted };
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  close(): void {
    this.#off();
    for (const channel of this.#channels.values()) channel.cancel?.();
    this.#channels.clear();
  }

  #take(event: DomainEvent): void {
    const type = OBSERVATION_TYPES.find((known) => known === event.type);
    if (type === undefined) return;
    const rule = OBSERVATION_RULES[type];
    const attributes = allowed(event.attributes, rule.attributes);
    const key = keyOf(type, event, rule.identity, rule.kind);
    const channel = this.#channel(key);
    const now = this.#deps.clock.mono();
    const since = now - channel.lastAt;
    if (since < rule.debounceMs) {
      this.#counters.held_back++;
      channel.pending = event;
      channel.cancel ??= this.#deps.clock.after(rule.debounceMs - since, () => this.#release(channel));
      return;
    }
    const print = JSON.stringify(attributes);
    if (rule.kind === 'state' && print === channel.lastPrint) return;
    channel.lastAt = now;
    channel.lastPrint = print;
    this.#emit(type, event, attributes);
  }

  #release(channel: Channel): void {
    const event = channel.pending;
    channel.pending = null;
    channel.cancel = null;
    if (event !== null) this.#take(event);
  }

  #channel(key: string): Channel {
    const known = this.#channels.get(key);
    if (known !== undefined) return known;
    if (this.#channels.size >= MAX_KEYS) this.#forgetOldest();
    const fresh: Channel = {
      lastAt: Number.NEGATIVE_INFINITY,
      lastPrint: '',
      pending: null,
      cancel: null,
    };
    this.#channels.set(key, fresh);
    return fresh;
  }

  #forgetOldest(): void {
    for (const [key, channel] of this.#channels) {
      if (channel.cancel !== null) continue;
      this.#channels.delete(key);
      return;
    }
  }

  #emit(type: ObservationType, event: DomainEvent, attributes: Observation['attributes']): void {
    const { outbox, write, log } = this.#deps;
    const rule = OBSERVATION_RULES[type];
    try {
      write(() => {
        outbox.appendOrdered(
          'events/observation',
          null,
          (stamp) => {
            const observation: Observation = {
              contract_version: 'device-semantic-observation.v1',
              ...stamp,
              type,
              observed_at_ms: event.at,
              ttl_ms: rule.ttlMs,
              area_id: event.areaId,
              confidence_band: null,
              attributes,
              correlation: this.#correlation(event),
              requires_cloud_decision: false,
            };
            this.#remember(observation);
            return observation;
          },
          { droppable: rule.droppable },
        );
      });
    } catch (error) {
      this.#counters.not_stored++;
      log.error({ type, error: errorText(error) }, 'an observation was not stored; the robot goes on');
    }
  }

  #remember(observation: Observation): void {
    this.#counters.emitted++;
    this.#recent.push(observation);
    if (this.#recent.length > KEEP) this.#recent.shift();
  }

  #correlation({ correlation }: DomainEvent): Observation['correlation'] {
    const { task_id, session_id, workflow_id, step_id } = correlation ?? {};
    const found = task_id === undefined ? null : this.#deps.workflowOf(task_id);
    return {
      ...(session_id === undefined ? {} : { session_id }),
      ...(workflow_id === undefined ? {} : { workflow_id }),
      ...(step_id === undefined ? {} : { step_id }),
      ...(found ?? {}),
    };
  }
}

/** Takes over what the rule names, if it is of the kind the rule names. */
function allowed(
  attributes: DomainEvent['attributes'],
  rule: Record<string, AttributeKind>,
): Observation['attributes'] {
  const result: Observation['attributes'] = {};
  for (const [name, kind] of Object.entries(rule)) {
    const value = attributes[name];
    if (value === null || typeof value === kind) result[name] = value ?? null;
  }
  return result;
}

function keyOf(
  type: ObservationType,
  event: DomainEvent,
  identity: readonly string[],
  kind: 'state' | 'occurrence',
): string {
  // Arriving in the next room is not a repetition of arriving in the last one.
  const place = kind === 'occurrence' ? event.areaId : null;
  return JSON.stringify([type, place, ...identity.map((name) => event.attributes[name] ?? null)]);
}
