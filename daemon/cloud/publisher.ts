/**
 * Drains the outbox: many rows under way at once, and each is removed only after its PUBACK. Each lane leaves in order;
 * after a lost connection it goes back to its oldest row without one, so that first arrivals stay in order and later
 * ones are repeats. What is live, an answer or the state of now, does not wait behind a backlog of events.
 */
import type { Clock } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { OutboxFlow, OutboxLane, OutboxReader, OutboxRow } from '../store/outbox-types.js';
import { FlowMeter } from './flow-meter.js';
import { LaneFeed } from './lane-feed.js';
import { ReplayPace, TokenBucket } from './replay-pace.js';
import { StallWatch } from './stall-watch.js';
import { SuspectRow } from './suspect-row.js';
import { Turns } from './turns.js';
import type { CloudLink, CloudOptions, DownCause } from './types.js';

/** How long to wait for the commit that puts a tombstone in the place of a dead letter. */
const TOMBSTONE_WAIT_MS = 20;
/** Fixed header, topic length and packet id of a PUBLISH, and room for MQTT 5 properties. */
const PACKET_OVERHEAD = 24;
/** Telemetry says how things stand: older than this, robot time, it is of no use to anybody. */
const TELEMETRY_EXPIRY_MS = 600_000;
/** MQTT 5 §3.4.2.1: 0x97 is about the moment, not about the row. */
const QUOTA_EXCEEDED = 0x97;
/** Reasons that another try soon will not change: not authorised, topic invalid, too large, payload invalid. */
const SETTLED_CODES: readonly number[] = [0x87, 0x90, 0x95, 0x99];

interface Deps {
  clock: Clock;
  /** The time the network lives in: how fast the broker answers. */
  networkClock: Clock;
  outbox: OutboxReader;
  link: CloudLink & { noteError(text: string): void };
  options: Pick<
    CloudOptions,
    'deviceId' | 'window' | 'ackTimeoutMs' | 'maxPacketBytes' | 'maxTries' | 'replay'
  >;
  log: Log;
}

export class OutboxPublisher {
  readonly #deps: Deps;
  readonly #watch: StallWatch;
  readonly #suspect: SuspectRow;
  readonly #feeds: Record<OutboxLane, LaneFeed>;
  readonly #turns: Turns;
  readonly #pace: ReplayPace;
  readonly #bucket: TokenBucket;
  readonly #sentPerS: FlowMeter;
  readonly #ackedPerS: FlowMeter;
  /** Distinguishes answers of this connection from those of earlier ones. */
  #connection = 0;
  #pumping = false;
  /** Rows sent and not yet in the rate. */
  #sentSince = 0;
  readonly #unsubscribe: (() => void)[];
  readonly #ackListeners = new Set<(row: OutboxRow) => void>();
  readonly #counters = {
    outbox_published_total: 0,
    outbox_acknowledged_total: 0,
    outbox_resent_total: 0,
    outbox_refused_total: 0,
    outbox_dead_lettered_total: 0,
    outbox_ack_timeouts_total: 0,
    outbox_expired_telemetry_total: 0,
  };

  constructor(deps: Deps) {
    this.#deps = deps;
    const { clock, networkClock, outbox, options, link } = deps;
    const pump = () => this.#pump();
    const feed = (lane: OutboxLane) => new LaneFeed(lane, outbox, clock, pump);
    this.#feeds = { ordered: feed('ordered'), response: feed('response'), telemetry: feed('telemetry') };
    this.#turns = new Turns(clock);
    this.#pace = new ReplayPace(networkClock);
    this.#bucket = new TokenBucket(networkClock, options.replay, pump);
    this.#sentPerS = new FlowMeter(networkClock);
    this.#ackedPerS = new FlowMeter(networkClock);
    this.#watch = new StallWatch(clock, options.ackTimeoutMs, () => this.#stalled());
    this.#suspect = new SuspectRow(clock, pump);
    this.#unsubscribe = [
      link.onUp(() => this.#up()),
      link.onDown((cause) => this.#down(cause)),
      outbox.onAppended(() => this.#appended()),
    ];
    outbox.reportFlow(() => this.flow());
    if (link.up) this.#up();
  }

  /** Stops sending for good; rows on their way stay in the outbox. */
  dispose(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#connection += 1;
    for (const feed of this.#lanes()) feed.disconnected();
    this.#watch.dispose();
    this.#suspect.dispose();
    this.#bucket.dispose();
  }

  onAcknowledged(listener: (row: OutboxRow) => void): () => void {
    this.#ackListeners.add(listener);
    return () => this.#ackListeners.delete(listener);
  }

  /** Rows sent and not yet acknowledged. */
  inFlight(): number {
    const { ordered, response, telemetry } = this.#feeds;
    return ordered.flights.size + response.flights.size + telemetry.flights.size;
  }

  flow(): OutboxFlow {
    this.#countSent(this.#deps.networkClock.mono());
    return {
      inFlight: this.inFlight(),
      publishPerS: this.#sentPerS.perS(),
      ackPerS: this.#ackedPerS.perS(),
    };
  }

  /** As `inFlight`, but 0 once the broker has been silent for so long that waiting for it makes no sense. */
  busy(): number {
    return this.#watch.hopeful ? this.inFlight() : 0;
  }

  counters(): Record<string, number> {
    return { ...this.#counters, outbox_in_flight: this.inFlight() };
  }

  #countSent(mono: number): void {
    this.#sentPerS.add(this.#sentSince, mono);
    this.#sentSince = 0;
  }

  #lanes(): LaneFeed[] {
    return Object.values(this.#feeds);
  }

  #up(): void {
    this.#connection += 1;
    for (const feed of this.#lanes()) feed.appended();
    this.#suspect.connected();
    this.#pump();
  }

  #down(cause: DownCause): void {
    this.#connection += 1;
    const blamed = this.#suspect.disconnected(
      cause,
      this.#lanes().map((feed) => feed.flights),
    );
    for (const feed of this.#lanes()) feed.disconnected();
    this.#pace.disconnected();
    this.#watch.stop();
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
    for (const feed of this.#lanes()) feed.appended();
    this.#pump();
  }

  /** Sends what may be sent now. What happens meanwhile that asks for another round is in this one. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#deps.link.up && this.inFlight() < this.#suspect.window(this.#windowOfLink())) {
        const row = this.#next();
        if (row === null) return;
        this.#takeOut(row);
      }
    } finally {
      this.#pumping = false;
    }
  }

  #next(): OutboxRow | null {
    const { ordered, response, telemetry } = this.#feeds;
    const mayReplay = ordered.flights.size < this.#pace.window(this.#windowOfLink());
    const row = this.#turns.choose({
      response: this.#fit(response),
      ordered: mayReplay ? this.#fit(ordered) : undefined,
      telemetry: this.#fit(telemetry),
      mayReplay: this.#bucket.limited ? () => this.#bucket.ready : null,
    });
    if (row === null && this.#suspect.probing)
      for (const feed of this.#lanes()) if (feed.empty) this.#suspect.emptied(feed.lane);
    return row;
  }

  /** The lane's next row; one that is too large waits for those before it, as a tombstone takes its place. */
  #fit(feed: LaneFeed): OutboxRow | undefined {
    const row = feed.head();
    return row !== undefined && feed.flights.size > 0 && this.#tooLarge(row) !== null ? undefined : row;
  }

  #takeOut(row: OutboxRow): void {
    const tooLarge = this.#tooLarge(row);
    if (tooLarge !== null) {
      this.#deps.outbox.countAttempt(row.id);
      this.#bury(row, tooLarge);
    } else if (row.lane === 'telemetry' && this.#leftOf(row) <= 0) {
      this.#counters.outbox_expired_telemetry_total += 1;
      this.#feeds.telemetry.skip(row);
      this.#deps.outbox.expired(row.id);
    } else this.#send(row);
  }

  #send(row: OutboxRow): void {
    const connection = this.#connection;
    const feed = this.#feeds[row.lane];
    const dup = feed.sent(row);
    if (row.lane === 'ordered') {
      this.#pace.sent(row.id);
      if (this.#bucket.limited && this.#turns.isOld(row)) this.#bucket.take();
    }
    this.#watch.start();
    this.#sentSince += 1;
    this.#counters.outbox_published_total += 1;
    if (dup) this.#counters.outbox_resent_total += 1;
    // Events and answers are never given up; how things stood a while ago may be.
    const expiryS = row.lane === 'telemetry' ? Math.ceil(this.#leftOf(row) / 1000) : null;
    this.#deps.link.publish(row.topic, row.payload, { dup, expiryS }, (outcome) => {
      if (connection !== this.#connection) return;
      feed.flights.delete(row.id);
      this.#watch.progress();
      if (this.inFlight() === 0) this.#watch.stop();
      if (outcome.kind === 'acknowledged') this.#acknowledged(row);
      else this.#refusedBy(row, outcome.code, outcome.reason);
    });
  }

  #acknowledged(row: OutboxRow): void {
    this.#counters.outbox_acknowledged_total += 1;
    const mono = this.#deps.networkClock.mono();
    this.#ackedPerS.add(1, mono);
    this.#countSent(mono);
    if (row.lane === 'ordered') this.#pace.acknowledged(row.id, this.#windowOfLink());
    this.#suspect.acknowledged(row);
    this.#feeds[row.lane].acknowledged(row);
    this.#deps.outbox.acknowledged(row.id);
    for (const listener of this.#ackListeners) listener(row);
    this.#pump();
  }

  #refusedBy(row: OutboxRow, code: number, reason: string): void {
    this.#counters.outbox_refused_total += 1;
    const feed = this.#feeds[row.lane];
    feed.refused(row);
    const counted = code !== QUOTA_EXCEEDED;
    const tries = counted ? this.#deps.outbox.countAttempt(row.id) : 0;
    if (counted && tries >= this.#deps.options.maxTries) {
      this.#bury(row, `${reason} (reason 0x${code.toString(16)}), ${tries} tries`);
    } else if (!SETTLED_CODES.includes(code)) feed.backOff();
    this.#pump();
  }

  #bury(row: OutboxRow, reason: string): void {
    this.#counters.outbox_dead_lettered_total += 1;
    this.#deps.link.noteError(`${row.topic}: ${reason}`);
    this.#deps.log.error(
      { id: row.id, topic: row.topic, seq: row.seq, reason },
      'moved a row to the dead letters',
    );
    const feed = this.#feeds[row.lane];
    feed.buried(row);
    feed.pauseFor(TOMBSTONE_WAIT_MS);
    const unsubscribe = this.#deps.outbox.onAppended(() => {
      unsubscribe();
      feed.resume();
      this.#pump();
    });
    this.#deps.outbox.deadLetter(row.id, reason);
  }

  /** How long telemetry is still of use, ms. */
  #leftOf(row: OutboxRow): number {
    return TELEMETRY_EXPIRY_MS - (this.#deps.clock.now() - row.createdAt);
  }

  #windowOfLink(): number {
    // One place is left for the session's own packets.
    return Math.max(1, Math.min(this.#deps.options.window, this.#deps.link.limits.receiveMaximum - 1));
  }

  /** Why the broker would not take this row, or null. */
  #tooLarge(row: OutboxRow): string | null {
    const ours = this.#deps.options.maxPacketBytes ?? Number.POSITIVE_INFINITY;
    const limit = Math.min(ours, this.#deps.link.limits.maximumPacketBytes ?? Number.POSITIVE_INFINITY);
    if (row.payload.length * 3 + row.topic.length * 3 < limit - 256) return null;
    const topic = `deviceagent/${this.#deps.options.deviceId}/${row.topic}`;
    const size = Buffer.byteLength(row.payload) + Buffer.byteLength(topic) + PACKET_OVERHEAD;
    return size <= limit ? null : `packet of ${size} bytes; the broker takes at most ${limit}`;
  }

  #stalled(): void {
    this.#counters.outbox_ack_timeouts_total += 1;
    this.#deps.link.drop(
      `no PUBACK for ${this.#deps.options.ackTimeoutMs} ms with ${this.inFlight()} waiting`,
    );
  }
}
