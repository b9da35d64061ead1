/** The inbound half of one connection: commands, from the library to the gate, and their PUBACKs. */
import type { IPublishPacket } from 'mqtt';
import { errorText } from '../../config/contracts/errors.js';
import type { ActedStops } from './acted-stops.js';
import { type ArrivedCommand, CommandInbox, pubacks } from './command-inbox.js';
import type { CloudDeps } from './types.js';

/** Told to the library instead of success, so that it sends no PUBACK by itself. */
const LATER = new Error('acknowledged once it is durable');

export interface InboundCounters {
  mqtt_commands_total: number;
  mqtt_commands_not_stored_total: number;
  mqtt_unexpected_topics_total: number;
}

interface Deps extends Pick<CloudDeps, 'networkClock' | 'onArrival' | 'onCommand' | 'log'> {
  topic: string;
  stops: ActedStops;
  counters: InboundCounters;
  /** Something passed through. */
  active(): void;
  /** Whole packets, straight to the transport. */
  write(bytes: Buffer): void;
  drop(reason: string): void;
  /** A retained command would come back at every reconnect. */
  clearRetained(): void;
}

export class Inbound {
  readonly #deps: Deps;
  readonly #inbox: CommandInbox;
  #closed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#inbox = new CommandInbox({
      clock: deps.networkClock,
      take: deps.onCommand,
      done: (commands) => this.#done(commands),
      failed: (error) => this.#notStored(error),
    });
  }

  /** Commands without PUBACK. */
  get underWay(): number {
    return this.#inbox.size;
  }

  /** The connection ended: without PUBACK everything is delivered again. */
  close(): void {
    this.#closed = true;
    this.#inbox.close();
    this.#deps.stops.disconnected();
  }

  /** `next` asks for the next packet. With an error it sends no PUBACK: ours follows once the command is durable. */
  receive(packet: IPublishPacket, next: (error?: Error) => void): void {
    // Parsed before its connection ended.
    if (this.#closed) return;
    const { counters } = this.#deps;
    this.#deps.active();
    if (packet.topic !== this.#deps.topic) {
      counters.mqtt_unexpected_topics_total += 1;
      next();
      return;
    }
    counters.mqtt_commands_total += 1;
    const payload = typeof packet.payload === 'string' ? Buffer.from(packet.payload) : packet.payload;
    const packetId = packet.qos === 0 ? null : (packet.messageId ?? null);
    const meta = { retained: packet.retain, stopActed: this.#stopAtArrival(payload, packet, packetId) };
    this.#inbox.add({ payload, packetId, meta }, () => next(LATER));
  }

  /** Whether this message's emergency stop was carried out, now or at an earlier delivery. */
  #stopAtArrival(payload: Buffer, { dup, retain }: IPublishPacket, packetId: number | null): boolean {
    const { stops, onArrival } = this.#deps;
    if (packetId !== null && stops.isRedelivery({ dup, packetId, payload })) return true;
    const stop = onArrival?.(payload, { fresh: !dup && !retain, others: this.#inbox.size > 0 }) ?? null;
    if (stop === null) return false;
    stop.then(
      () => packetId !== null && stops.acted(packetId, payload),
      () => undefined,
    );
    return true;
  }

  #done(commands: readonly ArrivedCommand[]): void {
    if (this.#closed) return;
    this.#deps.active();
    this.#deps.write(pubacks(commands));
    this.#deps.stops.acknowledged(commands.flatMap(({ packetId }) => packetId ?? []));
    if (commands.some(({ meta, payload }) => meta.retained && payload.length > 0)) this.#deps.clearRetained();
  }

  #notStored(error: unknown): void {
    this.#deps.counters.mqtt_commands_not_stored_total += 1;
    this.#deps.log.error(
      { error: errorText(error) },
      'commands could not be stored; they will be delivered again',
    );
    if (!this.#closed) this.#deps.drop('commands could not be stored');
  }
}
