/** The cloud connection: one MQTT session that carries commands in and drains the outbox. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { ConnectionFacts } from '../runtime.js';
import type { OutboxReader, OutboxRow } from '../store/outbox-types.js';
import type { ReplayRate } from './replay-pace.js';

/** Where the broker is and how patient the session is. Milliseconds unless a name says otherwise. */
export interface CloudOptions {
  /** mqtt://, mqtts://, ws:// or wss://. Ignored by a session with an injected stream. */
  url: string;
  protocol: '3.1.1' | '5';
  deviceId: string;
  username: string | null;
  password: string | null;
  /** PEM. */
  ca: Buffer | null;
  cert: Buffer | null;
  key: Buffer | null;
  keepaliveS: number;
  /** MQTT 5: how long the broker keeps the session of an absent robot. MQTT 3.1.1 brokers decide themselves. */
  sessionExpiryS: number;
  /** From opening the transport to CONNACK. */
  connectTimeoutMs: number;
  /** A link on which publishes are waiting and none was acknowledged for this long counts as half open. */
  ackTimeoutMs: number;
  backoff: { minMs: number; maxMs: number };
  /** Publishes on their way at once; the broker's receive maximum lowers it. */
  window: number;
  /** Largest packet this broker takes, bytes, where it does not say so itself (AWS IoT Core: 131072). */
  maxPacketBytes: number | null;
  /** Tries of a row that the broker refuses before it goes to the dead letters. */
  maxTries: number;
  /** For events that waited longer than 2 s. */
  replay: ReplayRate;
}

/** The three facts of a connection, each with the time it last changed (robot time, epoch ms). */
export interface SessionFacts extends ConnectionFacts {
  transport_transition_at: number | null;
  subscription_transition_at: number | null;
}

/** What the broker said to one publish. Silence, when the connection ends first, is no outcome. */
export type PublishOutcome = { kind: 'acknowledged' } | { kind: 'refused'; code: number; reason: string };

/** Why a connection ended. `code`: reason of a DISCONNECT packet (MQTT 5), or null. */
export interface DownCause {
  by: 'peer' | 'us';
  reason: string;
  code: number | null;
}

/** Limits that the broker named in its CONNACK. */
export interface LinkLimits {
  receiveMaximum: number;
  maximumPacketBytes: number | null;
}

/** The session as the publisher sees it. */
export interface CloudLink {
  /** Publishing is possible: connected, and the broker has acknowledged the `online` status. */
  readonly up: boolean;
  readonly limits: LinkLimits;
  /**
   * QoS 1; only while `up`. `topic` is below the device's root. `expiryS`: how long the broker may keep it for those
   * who are away (MQTT 5), null: as long as it likes. `done` is called at most once; not at all when the connection
   * ends first, see `onDown`.
   */
  publish(
    topic: string,
    payload: string,
    options: { dup: boolean; expiryS: number | null },
    done: (outcome: PublishOutcome) => void,
  ): void;
  /** Ends this connection; the session reconnects with back-off. */
  drop(reason: string): void;
  /** Called each time `up` becomes true. */
  onUp(listener: () => void): () => void;
  /** Called once per connection that was up. */
  onDown(listener: (cause: DownCause) => void): () => void;
}

/** `stopActed`: its emergency stop was carried out at its arrival, or at that of an earlier delivery. */
export interface CommandMeta {
  retained: boolean;
  stopActed: boolean;
}

/** Takes one message from `…/command`; resolves once whatever it led to is durable, rejects when it is not. */
export type CommandHandler = (payload: Buffer, meta: CommandMeta) => Promise<void>;

/**
 * Does what cannot wait for the message's turn; the promise of an emergency stop that was carried out, or null.
 * `fresh`: neither retained nor a redelivery. `others`: messages wait in front of it.
 */
export type ArrivalHandler = (
  payload: Buffer,
  meta: { fresh: boolean; others: boolean },
) => Promise<void> | null;

export interface CloudDeps {
  /** Robot time: back-off and time-outs. */
  clock: Clock;
  /** The time the network lives in, also when a simulation runs faster: keepalive. */
  networkClock: Clock;
  /** Numbers in [0, 1), for the jitter of the back-off. */
  random: () => number;
  options: CloudOptions;
  bootId: string;
  version: string;
  outbox: OutboxReader;
  onArrival?: ArrivalHandler;
  onCommand: CommandHandler;
  log: Log;
  /** Opens the transport instead of `options.url`: a simulation in one process. */
  openStream?: () => Duplex;
}

/** Session and publisher together, as the composition root uses them. */
export interface Cloud {
  start(): void;
  /** Says `offline`, disconnects, and resolves; bounded by `timeoutMs` (default 2 s). */
  stop(timeoutMs?: number): Promise<void>;
  facts(): SessionFacts;
  onFacts(listener: (facts: SessionFacts) => void): () => void;
  /** Called for every row that the broker acknowledged. */
  onAcknowledged(listener: (row: OutboxRow) => void): () => void;
  /** Jobs outside the event loop, for a lock-step simulation: connecting, publishes and commands under way. */
  busy(): number;
  /** Increases with everything that passes through. */
  activity(): number;
  counters(): Record<string, number>;
}
