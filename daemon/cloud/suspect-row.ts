import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { OutboxLane, OutboxRow } from '../store/outbox-types.js';
import type { DownCause } from './types.js';

/** Connections in a row that ended with the same row at the head of its lane, before it is suspected. */
const SUSPICION = 3;
/** A connection that stayed up this long with nothing sent is not what is broken. */
const QUIET_MS = 3000;

/** The oldest row of a lane that was without PUBACK when a connection ended, and how often in a row it was that one. */
interface Head {
  id: number;
  fruitless: number;
}

/**
 * Finds a row that the broker refuses by closing the connection (MQTT 3.1.1 knows no other way; AWS IoT Core does it
 * to packets over 128 KiB). After some fruitless connections rows are sent one at a time, each only after the
 * connection has proved quiet and sound: a peer that then closes on the one row under way has refused that row. A
 * network that flaps by itself is not mistaken for it. Lanes are judged apart: answers that get through do not clear
 * an event that never does.
 */
export class SuspectRow {
  readonly #clock: Clock;
  readonly #ready: () => void;
  readonly #heads = new Map<OutboxLane, Head>();
  /** Up to these ids rows are sent one at a time; empty: no suspicion. */
  readonly #probes = new Map<OutboxLane, number>();
  #quiet = false;
  #timer: CancelTimer | null = null;

  /** `ready` is called when sending may go on. */
  constructor(clock: Clock, ready: () => void) {
    this.#clock = clock;
    this.#ready = ready;
  }

  /** Rows go one at a time now. */
  get probing(): boolean {
    return this.#probes.size > 0;
  }

  dispose(): void {
    this.#timer?.();
    this.#timer = null;
  }

  /** How many rows may be under way. */
  window(usual: number): number {
    if (this.#probes.size === 0) return usual;
    return this.#quiet ? 1 : 0;
  }

  connected(): void {
    this.#quiet = false;
    this.dispose();
    if (this.#probes.size === 0) return;
    this.#timer = this.#clock.after(QUIET_MS, () => {
      this.#timer = null;
      this.#quiet = true;
      this.#ready();
    });
  }

  acknowledged({ lane, id }: OutboxRow): void {
    this.#heads.delete(lane);
    const upTo = this.#probes.get(lane);
    if (upTo !== undefined && id >= upTo) this.#probes.delete(lane);
  }

  /** Nothing of this lane is left: what was suspected in it has gone by itself. */
  emptied(lane: OutboxLane): void {
    this.#probes.delete(lane);
  }

  /** `flights`: rows without PUBACK of each lane, by id. Returns the row at fault, when that is proven. */
  disconnected(cause: DownCause, flights: readonly ReadonlyMap<number, OutboxRow>[]): OutboxRow | null {
    this.dispose();
    if (this.#probes.size > 0 && !this.#quiet) {
      // It ended with nothing sent: the network itself is what fails, and waiting for quiet would stop everything.
      this.#probes.clear();
      this.#heads.clear();
    }
    if (cause.by !== 'peer') return null;
    const proven = this.#probes.size > 0 && this.#quiet && sum(flights) === 1;
    for (const lane of flights) {
      const head = lane.get(Math.min(...lane.keys()));
      if (head === undefined) continue;
      if (proven) return head;
      this.#fruitless(head, Math.max(...lane.keys()));
    }
    return null;
  }

  #fruitless(row: OutboxRow, last: number): void {
    const known = this.#heads.get(row.lane);
    const fruitless = known?.id === row.id ? known.fruitless + 1 : 1;
    this.#heads.set(row.lane, { id: row.id, fruitless });
    if (fruitless >= SUSPICION) this.#probes.set(row.lane, last);
  }
}

function sum(flights: readonly ReadonlyMap<number, OutboxRow>[]): number {
  return flights.reduce((total, lane) => total + lane.size, 0);
}
