/**
 * Drains the outbox: rows leave in order, many under way at once, and each is removed only after its PUBACK. After
 * a lost connection it goes back to the oldest row without one, so that first arrivals stay in order and later ones
 * are repeats.
 */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { OutboxReader, OutboxRow } from '../store/outbox-types.js';
import { StallWatch } from './stall-watch.js';
import { SuspectRow } from './suspect-row.js';
import type { CloudLink, CloudOptions, DownCause } from './types.js';

/** Rows read from the store at a time. */
const PAGE = 256;
/** Wait before a refused row is tried again; doubled with each try. */
const RETRY_MS = 200;
const RETRY_MAX_MS = 30_000;
/** How long to wait for the commit that puts a tombstone in the place of a dead letter. */
const TOMBSTONE_WAIT_MS = 20;
/** Fixed header, topic length and packet id of a PUBLISH, and room for MQTT 5 properties. */
const PACKET_OVERHEAD = 16;
/** MQTT 5 §3.4.2.1: 0x97 is about the moment, not about the row. */
const QUOTA_EXCEEDED = 0x97;
/** Reasons that another try soon will not change: not authorised, topic invalid, too large, payload invalid. */
const SETTLED_CODES: readonly number[] = [0x87, 0x90, 0x95, 0x99];

interface Deps {
  clock: Clock;
  outbox: OutboxReader;
  link: CloudLink & { noteError(text: string): void };
  options: Pick<CloudOptions, 'deviceId' | 'window' | 'ackTimeoutMs' | 'maxPacketBytes' | 'maxTries'>;
  log: Log;
}

export class OutboxPublisher {
  readonly #deps: Deps;
  readonly #watch: StallWatch;
  readonly #suspect: SuspectRow;
  /** Rows on their way by id; in ascending order unless a tombstone is among them. */
  readonly #flights = new Map<number, OutboxRow>();
  /** Refused rows by id; while there is one, only the first of them is tried. */
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
  /** Distinguishes answers of this connection from those of earlier ones. */
  #connection = 0;
  readonly #unsubscribe: (() => void)[];
  readonly #ackListeners = new Set<(row: OutboxRow) => void>();
  readonly #counters = {
    outbox_published_total: 0,
    outbox_acknowledged_total: 0,
    outbox_resent_total: 0,
    outbox_refused_total: 0,
    outbox_dead_lettered_total: 0,
    outbox_ack_timeouts_total: 0,
  };

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#watch = new StallWatch(deps.clock, deps.options.ackTimeoutMs, () => this.#stalled());
    this.#suspect = new SuspectRow(deps.clock, () => this.#pump());
    this.#unsubscribe = [
      deps.link.onUp(() => this.#up()),
      deps.link.onDown((cause) => this.#down(cause)),
      deps.outbox.onAppended(() => this.#appended()),
    ];
    if (deps.link.up) this.#up();
  }

  /** Stops sending for good; rows on their way stay in the outbox. */
  dispose(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#connection += 1;
    this.#flights.clear();
    this.#watch.dispose();
    this.#suspect.dispose();
    this.#resume();
  }

  onAcknowledged(listener: (row: OutboxRow) => void): () => void {
    this.#ackListeners.add(listener);
    return () => this.#ackListeners.delete(listener);
  }

  /** Rows sent and not yet acknowledged. */
  inFlight(): number {
    return this.#flights.size;
  }

  /** As `inFlight`, but 0 once the broker has been silent for so long that waiting for it makes no sense. */
  busy(): number {
    return this.#watch.hopeful ? this.#flights.size : 0;
  }

  counters(): Record<string, number> {
    return { ...this.#counters, outbox_in_flight: this.#flights.size };
  }

  #up(): void {
    this.#connection += 1;
    this.#drained = false;
    this.#suspect.connected();
    this.#pump();
  }

  #down(cause: DownCause): void {
    this.#connection += 1;
    const oldest = Math.min(...this.#flights.keys());
    const refused = this.#refused[0]?.id ?? Number.POSITIVE_INFINITY;
    const blamed = this.#suspect.disconnected(cause, this.#flights);
    for (const id of this.#flights.keys()) this.#sentBefore = Math.max(this.#sentBefore, id);
    this.#cursor = Math.min(this.#cursor, oldest - 1, refused - 1);
    this.#flights.clear();
    this.#refused = [];
    this.#page = [];
    this.#drained = false;
    this.#watch.stop();
    this.#resume();
    if (blamed !== null) this.#judgeBlamed(blamed, cause);
  }

  /** A row after which the peer closes the connection, each time, is refused for good as much as by a code. */
  #judgeBlamed(row: OutboxRow, cause: DownCause): void {
    const tries = this.#deps.outbox.countAttempt(row.id);
    this.#counters.outbox_refused_total += 1;
    if (tries < this.#deps.options.maxTries) return;
    const code = cause.code === null ? '' : `, reason 0x${cause.code.toString(16)}`;
    this.#bury(row, `the connection ends on this row (${cause.reason}${code}), ${tries} times`);
  }

  #appended(): void {
    this.#drained = false;
    this.#pump();
  }

  #pump(): void {
    if (!this.#deps.link.up || this.#pause !== null) return;
    if (this.#refused.length > 0) {
      this.#retryRefused();
      return;
    }
    const window = this.#suspect.window(this.#windowOfLink());
    while (this.#flights.size < window) {
      const row = this.#next();
      if (row === undefined) return;
      const tooLarge = this.#tooLarge(row);
      if (tooLarge === null) this.#send(row);
      else if (this.#flights.size > 0) {
        // Rows before it first: a tombstone takes its place in the order.
        this.#page.unshift(row);
        return;
      } else {
        this.#deps.outbox.countAttempt(row.id);
        this.#bury(row, tooLarge);
        return;
      }
    }
  }

  #next(): OutboxRow | undefined {
    if (this.#page.length === 0 && !this.#drained) {
      const rows = this.#deps.outbox.peek(this.#cursor, PAGE);
      this.#drained = rows.length < PAGE;
      this.#page = rows.filter((row) => !this.#flights.has(row.id));
    }
    return this.#page.shift();
  }

  #send(row: OutboxRow): void {
    const connection = this.#connection;
    const dup = row.id <= this.#sentBefore;
    this.#cursor = Math.max(this.#cursor, row.id);
    this.#flights.set(row.id, row);
    this.#watch.start();
    this.#counters.outbox_published_total += 1;
    if (dup) this.#counters.outbox_resent_total += 1;
    this.#deps.link.publish(row.topic, row.payload, { dup }, (outcome) => {
      if (connection !== this.#connection) return;
      this.#flights.delete(row.id);
      this.#watch.progress();
      if (this.#flights.size === 0) this.#watch.stop();
      if (outcome.kind === 'acknowledged') this.#acknowledged(row);
      else this.#refusedBy(row, outcome.code, outcome.reason);
    });
  }

  #acknowledged(row: OutboxRow): void {
    this.#counters.outbox_acknowledged_total += 1;
    this.#suspect.acknowledged(row.id);
    if (this.#refused[0]?.id === row.id) {
      this.#refused.shift();
      this.#retryDelay = RETRY_MS;
    }
    this.#deps.outbox.acknowledged(row.id);
    for (const listener of this.#ackListeners) listener(row);
    this.#pump();
  }

  #refusedBy(row: OutboxRow, code: number, reason: string): void {
    this.#counters.outbox_refused_total += 1;
    if (this.#refused[0]?.id !== row.id) {
      this.#refused.push(row);
      this.#refused.sort((a, b) => a.id - b.id);
    }
    const counted = code !== QUOTA_EXCEEDED;
    const tries = counted ? this.#deps.outbox.countAttempt(row.id) : 0;
    if (counted && tries >= this.#deps.options.maxTries) {
      this.#bury(row, `${reason} (reason 0x${code.toString(16)}), ${tries} tries`);
    } else if (SETTLED_CODES.includes(code)) this.#pump();
    else {
      this.#pauseFor(this.#retryDelay);
      this.#retryDelay = Math.min(RETRY_MAX_MS, this.#retryDelay * 2);
    }
  }

  /** One refused row at a time, and nothing else meanwhile: rows behind it must not overtake it further. */
  #retryRefused(): void {
    const row = this.#refused[0];
    if (row !== undefined && this.#flights.size === 0) this.#send(row);
  }

  #bury(row: OutboxRow, reason: string): void {
    this.#counters.outbox_dead_lettered_total += 1;
    this.#deps.link.noteError(`${row.topic}: ${reason}`);
    this.#deps.log.error(
      { id: row.id, topic: row.topic, seq: row.seq, reason },
      'moved a row to the dead letters',
    );
    this.#retryDelay = RETRY_MS;
    // Other refused rows are read again, in order, behind the tombstone.
    const first = Math.min(row.id, this.#refused[0]?.id ?? row.id);
    this.#refused = [];
    this.#cursor = Math.min(this.#cursor, first - 1);
    this.#page = [];
    this.#drained = false;
    this.#pauseFor(TOMBSTONE_WAIT_MS);
    const unsubscribe = this.#deps.outbox.onAppended(() => {
      unsubscribe();
      this.#resume();
      this.#pump();
    });
    this.#deps.outbox.deadLetter(row.id, reason);
  }

  #pauseFor(ms: number): void {
    this.#pause?.();
    this.#pause = this.#deps.clock.after(ms, () => {
      this.#pause = null;
      this.#pump();
    });
  }

  #resume(): void {
    this.#pause?.();
    this.#pause = null;
  }

  #windowOfLink(): number {
    // One place is left for the session's own packets.
    return Math.max(1, Math.min(this.#deps.options.window, this.#deps.link.limits.receiveMaximum - 1));
  }

  /** Why the broker would not take this row, or null. */
  #tooLarge(row: OutboxRow): string | null {
    const limits = [this.#deps.options.maxPacketBytes, this.#deps.link.limits.maximumPacketBytes];
    const limit = Math.min(...limits.map((value) => value ?? Number.POSITIVE_INFINITY));
    if (row.payload.length * 3 + row.topic.length * 3 < limit - 256) return null;
    const topic = `deviceagent/${this.#deps.options.deviceId}/${row.topic}`;
    const size = Buffer.byteLength(row.payload) + Buffer.byteLength(topic) + PACKET_OVERHEAD;
    return size <= limit ? null : `packet of ${size} bytes; the broker takes at most ${limit}`;
  }

  #stalled(): void {
    this.#counters.outbox_ack_timeouts_total += 1;
    this.#deps.link.drop(
      `no PUBACK for ${this.#deps.options.ackTimeoutMs} ms with ${this.#flights.size} waiting`,
    );
  }
}
