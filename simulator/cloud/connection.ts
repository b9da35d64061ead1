/** The simulated cloud's end of MQTT: a persistent session that is kept up, and a count of what is under way. */
import { connect, type IClientOptions, MqttClient } from 'mqtt';
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { KeptStore } from './kept-store.js';
import type { SimCloudOptions } from './types.js';

/**
 * Shorter than any robot waits: after a restart that forgot every session a cloud has to listen again before the
 * robots speak, or it never hears what the broker acknowledged to them meanwhile.
 */
const RECONNECT_MS = 50;
/** From starting to being subscribed, milliseconds of robot time. */
const START_MS = 30_000;
/** What the broker leaves unanswered for this long, ms of wall time, is not waited for. */
const PATIENCE_MS = 2000;

export interface ConnectionOptions {
  broker: SimCloudOptions['broker'];
  clientId: string;
  /** Full topic filters. */
  topics: readonly string[];
  clock: Clock;
  onMessage(topic: string, payload: Buffer): void;
  onError(error: Error): void;
}

export class BrokerConnection {
  readonly #options: ConnectionOptions;
  readonly #stores = { outgoingStore: new KeptStore(), incomingStore: new KeptStore() };
  #client: MqttClient | null = null;
  #retry: CancelTimer | null = null;
  #subscribing = false;
  #unacknowledged = 0;
  #lastProgress = 0;
  #activity = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Resolves once subscribed; rejects when that takes too long. */
  async start(): Promise<void> {
    const client = this.#open();
    this.#client = client;
    this.#opening();
    client.on('message', (topic, payload) => {
      this.#activity += 1;
      this.#options.onMessage(topic, payload);
    });
    client.on('error', (error) => this.#options.onError(error));
    client.on('close', () => this.#closed(client));
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#options.clock.after(START_MS, () =>
        reject(new Error('the broker does not answer')),
      );
      client.on('connect', () =>
        this.#subscribe(client, () => {
          cancel();
          resolve();
        }),
      );
    });
  }

  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    this.#retry?.();
    await client?.endAsync(true);
  }

  /** QoS 1; kept and sent again after a lost connection. */
  publish(topic: string, payload: string): void {
    const client = this.#client;
    if (client === null) return;
    this.#progress();
    this.#unacknowledged += 1;
    client.publish(topic, payload, { qos: 1 }, () => {
      this.#unacknowledged -= 1;
      this.#progress();
    });
  }

  busy(): number {
    const silent = this.#options.clock.wall() - this.#lastProgress;
    if (silent < 0 || silent >= PATIENCE_MS) return 0;
    return this.#unacknowledged + (this.#subscribing ? 1 : 0);
  }

  activity(): number {
    return this.#activity;
  }

  #open(): MqttClient {
    const { broker, clientId } = this.#options;
    const options: IClientOptions = {
      clientId,
      clean: false,
      // Reconnection is on the robot's clock, see `#closed`.
      reconnectPeriod: 0,
      resubscribe: false,
      ...this.#stores,
    };
    return 'url' in broker ? connect(broker.url, options) : new MqttClient(() => broker.connect(), options);
  }

  #subscribe(client: MqttClient, done: () => void): void {
    client.subscribe([...this.#options.topics], { qos: 1 }, (error) => {
      if (error !== null) return;
      this.#subscribing = false;
      this.#progress();
      done();
    });
  }

  #closed(client: MqttClient): void {
    this.#subscribing = false;
    this.#activity += 1;
    if (this.#client !== client) return;
    this.#retry?.();
    this.#retry = this.#options.clock.after(RECONNECT_MS, () => {
      this.#opening();
      client.reconnect(this.#stores);
    });
  }

  #opening(): void {
    this.#subscribing = true;
    this.#progress();
  }

  #progress(): void {
    this.#activity += 1;
    this.#lastProgress = this.#options.clock.wall();
  }
}
