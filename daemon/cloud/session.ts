/**
 * One MQTT session, kept up. The library carries packets; everything that has to survive or to be judged is here
 * or in the outbox: each connection is a fresh client with empty stores, so that nothing is queued, replayed or
 * reordered behind the outbox's back (`reconnectPeriod: 0`, `clean: false`).
 */
import type { Duplex } from 'node:stream';
import { MqttClient } from 'mqtt';
import { type CancelTimer, type Clock, isoWithOffset } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import { ActedStops } from './acted-stops.js';
import { clientOptions } from './client-options.js';
import { FactKeeper } from './facts.js';
import { FrameGuard } from './frame-guard.js';
import { Inbound } from './inbound.js';
import { StallWatch } from './stall-watch.js';
import { openTransport } from './transport.js';
import type { CloudDeps, CloudLink, DownCause, LinkLimits, PublishOutcome, SessionFacts } from './types.js';

/** A connection that lasted this long counts as sound: the back-off starts over after it. */
const SOUND_MS = 5000;
/** A refused subscription is tried again after this time. */
const SUBSCRIBE_RETRY_MS = 30_000;
const SUBACK_FAILURE = 0x80;
/** How the library says that the peer has not answered a ping. */
const KEEPALIVE_ERROR = 'Keepalive timeout';

/** One connection from opening the transport to its end. */
interface Attempt {
  client: MqttClient;
  guard: FrameGuard;
  inbound: Inbound;
  /** When CONNACK arrived, `mono` ms. */
  connectedAt: number | null;
  statusAcknowledged: boolean;
  /** Reason of a DISCONNECT packet, and the last error, for the log. */
  code: number | null;
  error: string | null;
  /** Until the broker has acknowledged the `online` status; until it has answered the subscription. */
  watch: StallWatch;
  subscribing: StallWatch | null;
}

type Deps = Omit<CloudDeps, 'outbox'>;

export class MqttSession implements CloudLink {
  readonly #deps: Deps;
  readonly #clock: Clock;
  readonly #root: string;
  #attempt: Attempt | null = null;
  #running = false;
  #failures = 0;
  #retry: CancelTimer | null = null;
  #resubscribe: CancelTimer | null = null;
  #activity = 0;
  readonly #upListeners = new Set<() => void>();
  readonly #downListeners = new Set<(cause: DownCause) => void>();
  readonly #counters = {
    mqtt_connects_total: 0,
    mqtt_connect_failures_total: 0,
    mqtt_disconnects_total: 0,
    mqtt_sessions_lost_total: 0,
    mqtt_commands_total: 0,
    mqtt_commands_not_stored_total: 0,
    mqtt_unexpected_topics_total: 0,
    mqtt_packets_cut_total: 0,
    mqtt_retained_cleared_total: 0,
  };
  readonly #facts: FactKeeper;
  readonly #stops: ActedStops;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#clock = deps.clock;
    this.#root = `deviceagent/${deps.options.deviceId}`;
    this.#facts = new FactKeeper(deps.clock);
    this.#stops = new ActedStops(deps.networkClock);
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#connect();
  }

  /** Says `offline`, sends DISCONNECT, and resolves when the transport has closed, or after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.#running = false;
    this.#retry?.();
    this.#resubscribe?.();
    const attempt = this.#attempt;
    if (attempt === null) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.networkClock.after(timeoutMs, resolve);
      const done = () => {
        cancel();
        resolve();
      };
      if (attempt.connectedAt === null) {
        done();
        return;
      }
      attempt.client.once('close', done);
      attempt.client.publish(`${this.#root}/status`, this.#status('offline'), { qos: 1, retain: true }, () =>
        attempt.client.end(false),
      );
    });
    this.#ended(attempt, { by: 'us', reason: 'stopped', code: null });
  }

  get up(): boolean {
    return this.#running && (this.#attempt?.statusAcknowledged ?? false);
  }

  get limits(): LinkLimits {
    const properties = this.#attempt?.client.serverProperties;
    return {
      receiveMaximum: properties?.receiveMaximum ?? 65_535,
      maximumPacketBytes: properties?.maximumPacketSize ?? null,
    };
  }

  facts(): SessionFacts {
    return this.#facts.current();
  }

  onUp(listener: () => void): () => void {
    this.#upListeners.add(listener);
    return () => this.#upListeners.delete(listener);
  }

  onDown(listener: (cause: DownCause) => void): () => void {
    this.#downListeners.add(listener);
    return () => this.#downListeners.delete(listener);
  }

  onFacts(listener: (facts: SessionFacts) => void): () => void {
    return this.#facts.onChange(listener);
  }

  publish(
    topic: string,
    payload: string,
    options: { dup: boolean; expiryS: number | null },
    done: (outcome: PublishOutcome) => void,
  ): void {
    const attempt = this.#attempt;
    if (attempt === null || !this.up) throw new Error('publish while the session is down');
    this.#activity += 1;
    attempt.client.publish(
      `${this.#root}/${topic}`,
      payload,
      { qos: 1, dup: options.dup, retain: false, ...this.#expiry(options.expiryS) },
      (error) => {
        if (this.#attempt !== attempt) return;
        this.#activity += 1;
        const outcome = outcomeOf(error);
        if (outcome === null) return;
        if (outcome.kind === 'acknowledged') this.#facts.acknowledged();
        else this.noteError(`${topic}: ${outcome.reason}`);
        done(outcome);
      },
    );
  }

  #expiry(seconds: number | null): { properties?: { messageExpiryInterval: number } } {
    if (seconds === null || this.#deps.options.protocol !== '5') return {};
    return { properties: { messageExpiryInterval: Math.max(1, seconds) } };
  }

  drop(reason: string): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    this.noteError(reason);
    this.#ended(attempt, { by: 'us', reason, code: null });
  }

  /** Stands in the facts as `last_publish_error`. */
  noteError(text: string): void {
    this.#facts.error(text);
  }

  busy(): number {
    const attempt = this.#attempt;
    const waiting = [attempt?.watch, attempt?.subscribing].filter((watch) => watch?.hopeful === true);
    return waiting.length + (attempt?.inbound.underWay ?? 0);
  }

  activity(): number {
    return this.#activity;
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  #connect(): void {
    if (!this.#running || this.#attempt !== null) return;
    let attempt: Attempt;
    try {
      attempt = this.#open();
    } catch (error) {
      this.#counters.mqtt_connect_failures_total += 1;
      this.#deps.log.error(
        { error: errorText(error) },
        'the cloud address cannot be opened; trying again later',
      );
      this.#scheduleRetry();
      return;
    }
    this.#attempt = attempt;
    attempt.watch.start();
    this.#listen(attempt);
  }

  #open(): Attempt {
    const { options } = this.#deps;
    const inner: Duplex = this.#deps.openStream?.() ?? openTransport(options);
    const guard = new FrameGuard(inner);
    const will = { topic: `${this.#root}/status`, payload: this.#status('offline') };
    const client = new MqttClient(() => guard, clientOptions(options, this.#deps.networkClock, will));
    const watch = new StallWatch(this.#clock, options.connectTimeoutMs, () =>
      this.drop('the broker did not answer in time'),
    );
    const attempt: Attempt = {
      client,
      guard,
      inbound: this.#openInbound(() => attempt),
      connectedAt: null,
      statusAcknowledged: false,
      code: null,
      error: null,
      watch,
      subscribing: null,
    };
    return attempt;
  }

  #listen(attempt: Attempt): void {
    const { client } = attempt;
    client.handleMessage = (packet, next) => attempt.inbound.receive(packet, next);
    keepAliveWhileHeard(client, this.#deps.options.keepaliveS * 1000, this.#deps.networkClock);
    client.on('connect', (packet) => this.#connected(attempt, packet.sessionPresent));
    client.on('disconnect', (packet) => {
      attempt.code = packet.reasonCode ?? null;
    });
    client.on('error', (error) => {
      attempt.error = error.message;
      if (attempt.connectedAt === null) return;
      // Nothing after an error can be trusted: bytes that do not parse, or a peer that no longer answers.
      const by = error.message === KEEPALIVE_ERROR ? 'us' : 'peer';
      this.#ended(attempt, { by, reason: error.message, code: attempt.code });
    });
    client.on('close', () => {
      const reason = attempt.error ?? 'the connection closed';
      this.#ended(attempt, { by: 'peer', reason, code: attempt.code });
    });
  }

  #connected(attempt: Attempt, sessionPresent: boolean): void {
    if (this.#attempt !== attempt) return;
    if (!sessionPresent) this.#stops.sessionLost();
    if (!sessionPresent && this.#counters.mqtt_connects_total > 0)
      this.#counters.mqtt_sessions_lost_total += 1;
    this.#activity += 1;
    this.#counters.mqtt_connects_total += 1;
    attempt.connectedAt = this.#clock.mono();
    this.#facts.set({ transport_connected: true });
    attempt.client.publish(`${this.#root}/status`, this.#status('online'), { qos: 1, retain: true }, () => {
      if (this.#attempt !== attempt) return;
      this.#activity += 1;
      attempt.watch.stop();
      attempt.statusAcknowledged = true;
      this.#deps.log.info({ deviceId: this.#deps.options.deviceId }, 'connected to the cloud');
      for (const listener of this.#upListeners) listener();
    });
    this.#subscribe(attempt);
  }

  #subscribe(attempt: Attempt): void {
    const topic = `${this.#root}/command`;
    attempt.subscribing = new StallWatch(this.#clock, this.#deps.options.connectTimeoutMs, () =>
      this.drop('the broker did not answer the subscription in time'),
    );
    attempt.subscribing.start();
    attempt.client.subscribe(topic, { qos: 1 }, (error, granted) => {
      if (this.#attempt !== attempt) return;
      attempt.subscribing?.dispose();
      attempt.subscribing = null;
      this.#activity += 1;
      const ready = error === null && (granted ?? []).every(({ qos }) => qos < SUBACK_FAILURE);
      this.#facts.set({ subscription_ready: ready });
      if (ready) return;
      this.#deps.log.warn(
        { topic, error: error?.message },
        'the broker refused the subscription; trying again later',
      );
      this.#resubscribe?.();
      this.#resubscribe = this.#clock.after(SUBSCRIBE_RETRY_MS, () => {
        if (this.#attempt === attempt) this.#subscribe(attempt);
      });
    });
  }

  #openInbound(owner: () => Attempt): Inbound {
    const { networkClock, onArrival, onCommand, log } = this.#deps;
    return new Inbound({
      networkClock,
      ...(onArrival === undefined ? {} : { onArrival }),
      onCommand,
      log,
      topic: `${this.#root}/command`,
      stops: this.#stops,
      counters: this.#counters,
      active: () => {
        this.#activity += 1;
      },
      write: (bytes) => void owner().guard.write(bytes),
      drop: (reason) => this.drop(reason),
      clearRetained: () => this.#clearRetained(owner()),
    });
  }

  /** A retained command would come back at every reconnect. */
  #clearRetained(attempt: Attempt): void {
    this.#counters.mqtt_retained_cleared_total += 1;
    attempt.client.publish(`${this.#root}/command`, '', { qos: 1, retain: true });
  }

  #ended(attempt: Attempt, cause: DownCause): void {
    if (this.#attempt !== attempt) return;
    this.#attempt = null;
    this.#activity += 1;
    attempt.watch.dispose();
    attempt.subscribing?.dispose();
    this.#resubscribe?.();
    // Not `client.end()`: that would close its stores under packets already parsed.
    attempt.guard.destroy();
    attempt.inbound.close();
    this.#counters.mqtt_packets_cut_total += attempt.guard.cut;
    const connectedAt = attempt.connectedAt;
    if (connectedAt === null) this.#counters.mqtt_connect_failures_total += 1;
    else this.#counters.mqtt_disconnects_total += 1;
    if (connectedAt !== null && this.#clock.mono() - connectedAt >= SOUND_MS) this.#failures = 0;
    this.#deps.log.info({ by: cause.by, reason: cause.reason, code: cause.code }, 'cloud connection ended');
    this.#facts.set({ transport_connected: false, subscription_ready: false });
    if (connectedAt !== null) for (const listener of this.#downListeners) listener(cause);
    if (this.#running) this.#scheduleRetry();
  }

  /** Exponential, with half of it random, so that a fleet does not come back in step. */
  #scheduleRetry(): void {
    const { minMs, maxMs } = this.#deps.options.backoff;
    const ceiling = Math.min(maxMs, minMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    this.#retry?.();
    this.#retry = this.#clock.after(ceiling * (0.5 + 0.5 * this.#deps.random()), () => {
      this.#retry = null;
      this.#connect();
    });
  }

  #status(state: 'online' | 'offline'): string {
    const { bootId, version } = this.#deps;
    return JSON.stringify({ state, since: isoWithOffset(this.#clock.now()), boot_id: bootId, version });
  }
}

/**
 * The answer to a ping waits in line behind everything else the broker has sent, such as ten thousand commands: a
 * peer that is heard is alive, and is asked again.
 */
function keepAliveWhileHeard(client: MqttClient, keepaliveMs: number, clock: Clock): void {
  let heardAt = Number.NEGATIVE_INFINITY;
  client.on('packetreceive', () => {
    heardAt = clock.mono();
  });
  const giveUp = client.onKeepaliveTimeout.bind(client);
  client.onKeepaliveTimeout = () => {
    if (clock.mono() - heardAt > keepaliveMs / 2) {
      giveUp();
      return;
    }
    client.reschedulePing(true);
    client.sendPing();
  };
}

/** Null: the connection ended before the broker answered. */
function outcomeOf(error: Error | null | undefined): PublishOutcome | null {
  if (error === null || error === undefined) return { kind: 'acknowledged' };
  const code = 'code' in error && typeof error.code === 'number' ? error.code : null;
  return code === null ? null : { kind: 'refused', code, reason: error.message };
}
