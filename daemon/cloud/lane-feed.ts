/** What one lane of the outbox has to send next on this connection, and what of it is on its way. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { OutboxLane, OutboxReader, OutboxRow } from '../store/outbox-types.js';

/** Rows read from the store at a time. */
const PAGE = 256;
/** Wait before a refused row is tried again; doubled with each try. */
const RETRY_MS = 200;
const RETRY_MAX_MS = 30_000;

/**
 * Rows leave a lane in the order of their ids. A refused row is tried again alone, before any row behind it: those
 * must not overtake it further. Lanes know nothing of each other, so a row refused in one holds up no other.
 */
export class LaneFeed {
  readonly lane: OutboxLane;
  /** Rows on their way by id; in ascending order unless a tombstone is among them. */
  readonly flights = new Map<number, OutboxRow>();
  readonly #outbox: Pick<OutboxReader, 'peek'>;
  readonly #clock: Clock;
  readonly #ready: () => void;
  /** Refused rows, oldest first; while there is one, only the first of them is tried. */
  #refused: OutboxRow[] = [];
  #retryDelay = RETRY_MS;
  /** While set, nothing is sent: a refused row waits for its next try, or a tombstone for its commit. */
  #pause: CancelTimer | null = null;
  #page: OutboxRow[] = [];
  /** Every row up to this id was sent on this connection, or left. */
  #cursor = 0;
  /** Rows up to this id may have been sent on an earlier connection. */
  #sentBefore = 0;
  /** The store had nothing more at the last look. */
  #drained = false;

  /** `ready` is called when a pause is over. */
  constructor(lane: OutboxLane, outbox: Pick<OutboxReader, 'peek'>, clock: Clock, ready: () => void) {
    this.lane = lane;
    this.#outbox = outbox;
    this.#clock = clock;
    this.#ready = ready;
  }

  /** The row to send next; undefined while there is none or it has to wait. */
  head(): OutboxRow | undefined {
    if (this.#pause !== null) return undefined;
    const refused = this.#refused[0];
    if (refused !== undefined) return this.flights.size === 0 ? refused : undefined;
    if (this.#page.length === 0 && !this.#drained) {
      const rows = this.#outbox.peek(this.#cursor, PAGE, this.lane);
      this.#drained = rows.length < PAGE;
      this.#page = rows.filter((row) => !this.flights.has(row.id));
    }
    return this.#page[0];
  }

  /** True when the lane holds nothing, sent or unsent, at the last look. */
  get empty(): boolean {
    return this.#drained && this.#page.length === 0 && this.flights.size === 0 && this.#refused.length === 0;
  }

  /** The head goes out. Returns whether it may have gone out before, on an earlier connection. */
  sent(row: OutboxRow): boolean {
    if (this.#page[0] === row) this.#page.shift();
    this.#cursor = Math.max(this.#cursor, row.id);
    this.flights.set(row.id, row);
    return row.id <= this.#sentBefore;
  }

  /** The head is not sent but left out. */
  skip(row: OutboxRow): void {
    if (this.#page[0] === row) this.#page.shift();
    this.#cursor = Math.max(this.#cursor, row.id);
  }

  /** The store has new rows. */
  appended(): void {
    this.#drained = false;
  }

  acknowledged(row: OutboxRow): void {
    if (this.#refused[0]?.id !== row.id) return;
    this.#refused.shift();
    this.#retryDelay = RETRY_MS;
  }

  refused(row: OutboxRow): void {
    if (this.#refused[0]?.id === row.id) return;
    this.#refused.push(row);
    this.#refused.sort((a, b) => a.id - b.id);
  }

  /** Waits before the next try of a refused row, longer each time. */
  backOff(): void {
    this.pauseFor(this.#retryDelay);
    this.#retryDelay = Math.min(RETRY_MAX_MS, this.#retryDelay * 2);
  }

  /** The row is dead. Other refused rows are read again, in order, behind what takes its place. */
  buried(row: OutboxRow): void {
    this.#retryDelay = RETRY_MS;
    const first = Math.min(row.id, this.#refused[0]?.id ?? row.id);
    this.#refused = [];
    this.#cursor = Math.min(this.#cursor, first - 1);
    this.#page = [];
    this.#drained = false;
  }

  /** The connection ended: back to the oldest row without PUBACK. */
  disconnected(): void {
    const oldest = Math.min(...this.flights.keys());
    const refused = this.#refused[0]?.id ?? Number.POSITIVE_INFINITY;
    for (const id of this.flights.keys()) this.#sentBefore = Math.max(this.#sentBefore, id);
    this.#cursor = Math.min(this.#cursor, oldest - 1, refused - 1);
    this.flights.clear();
    this.#refused = [];
    this.#page = [];
    this.#drained = false;
    this.resume();
  }

  pauseFor(ms: number): void {
    this.resume();
    this.#pause = this.#clock.after(ms, () => {
      this.#pause = null;
      this.#ready();
    });
  }

  resume(): void {
    this.#pause?.();
    this.#pause = null;
  }
}
