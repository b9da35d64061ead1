/** Emergency stops that were carried out and that the broker may deliver a second time. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../config/contracts/clock.js';

/** A PUBACK sent this long before the end of its connection has arrived, ms. */
const PUBACK_TRAVEL_MS = 10_000;
const MAX_STOPS = 64;

interface ActedStop {
  packetId: number;
  digest: string;
  /** When PUBACK was sent, `mono` ms; null: it was not. */
  acknowledgedAt: number | null;
}

/**
 * An emergency stop acts every time it is sent, but a *redelivery* is no second stop: a stop that could not be stored
 * stays with the broker, and would latch again after each reconnect however often a person releases it at the robot.
 * Recognised by everything MQTT says about a redelivery: the DUP flag, the same packet id, the same payload, in a kept
 * session, without a PUBACK that has arrived. In doubt it is a new stop.
 */
export class ActedStops {
  readonly #clock: Pick<Clock, 'mono'>;
  #stops: ActedStop[] = [];

  constructor(clock: Pick<Clock, 'mono'>) {
    this.#clock = clock;
  }

  /** The stop of this message was carried out. */
  acted(packetId: number, payload: Buffer): void {
    this.#stops.push({ packetId, digest: digestOf(payload), acknowledgedAt: null });
    if (this.#stops.length > MAX_STOPS) this.#stops.shift();
  }

  isRedelivery(packet: { dup: boolean; packetId: number; payload: Buffer }): boolean {
    if (!packet.dup || this.#stops.length === 0) return false;
    const digest = digestOf(packet.payload);
    return this.#stops.some((stop) => stop.packetId === packet.packetId && stop.digest === digest);
  }

  /** PUBACK was sent. */
  acknowledged(packetIds: readonly number[]): void {
    if (this.#stops.length === 0) return;
    const now = this.#clock.mono();
    for (const stop of this.#stops) if (packetIds.includes(stop.packetId)) stop.acknowledgedAt ??= now;
  }

  /** What the broker has the PUBACK of, it does not deliver again: the same packet id is another message then. */
  disconnected(): void {
    const now = this.#clock.mono();
    this.#stops = this.#stops.filter(
      ({ acknowledgedAt }) => acknowledgedAt === null || now - acknowledgedAt < PUBACK_TRAVEL_MS,
    );
  }

  /** The broker has forgotten what it delivered. */
  sessionLost(): void {
    this.#stops = [];
  }
}

function digestOf(payload: Buffer): string {
  return createHash('sha256').update(payload).digest('hex');
}
