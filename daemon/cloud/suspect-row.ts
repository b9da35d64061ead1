import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { OutboxRow } from '../store/outbox-types.js';
import type { DownCause } from './types.js';

/** Connections in a row that ended without one PUBACK, with the same row at the head, before it is suspected. */
const SUSPICION = 3;
/** A connection that stayed up this long with nothing sent is not what is broken. */
const QUIET_MS = 3000;

/**
 * Finds a row that the broker refuses by closing the connection (MQTT 3.1.1 knows no other way; AWS IoT Core does it
 * to packets over 128 KiB). After some fruitless connections rows are sent one at a time, each only after the
 * connection has proved quiet and sound: a peer that then closes on the one row under way has refused that row. A
 * network that flaps by itself is not mistaken for it.
 */
export class SuspectRow {
  readonly #clock: Clock;
  readonly #ready: () => void;
  #head: number | null = null;
  #fruitless = 0;
  #acked = false;
  /** Rows up to this id are sent one at a time; null: no suspicion. */
  #probeUpTo: number | null = null;
  #quiet = false;
  #timer: CancelTimer | null = null;

  /** `ready` is called when sending may go on. */
  constructor(clock: Clock, ready: () => void) {
    this.#clock = clock;
    this.#ready = ready;
  }

  dispose(): void {
    this.#timer?.();
    this.#timer = null;
  }

  /** How many rows may be under way. */
  window(usual: number): number {
    if (this.#probeUpTo === null) return usual;
    return this.#quiet ? 1 : 0;
  }

  connected(): void {
    this.#acked = false;
    this.#quiet = false;
    this.dispose();
    if (this.#probeUpTo === null) return;
    this.#timer = this.#clock.after(QUIET_MS, () => {
      this.#timer = null;
      this.#quiet = true;
      this.#ready();
    });
  }

  acknowledged(id: number): void {
    this.#acked = true;
    this.#fruitless = 0;
    if (this.#probeUpTo !== null && id >= this.#probeUpTo) this.#probeUpTo = null;
  }

  /** `flights`: rows without PUBACK, by id. Returns the row at fault, when that is proven. */
  disconnected(cause: DownCause, flights: ReadonlyMap<number, OutboxRow>): OutboxRow | null {
    this.dispose();
    if (this.#probeUpTo !== null && !this.#quiet) {
      // It ended with nothing sent: the network itself is what fails, and waiting for quiet would stop everything.
      this.#probeUpTo = null;
      this.#fruitless = 0;
    }
    const head = flights.get(Math.min(...flights.keys()));
    if (head === undefined || cause.by !== 'peer') return null;
    if (this.#probeUpTo !== null && this.#quiet && flights.size === 1) return head;
    if (this.#acked || head.id !== this.#head) this.#fruitless = 0;
    this.#head = head.id;
    this.#fruitless += 1;
    if (this.#fruitless >= SUSPICION) this.#probeUpTo = Math.max(...flights.keys());
    return null;
  }
}
