/** The cloud's MQTT session: an ordinary client of the broker with a kept session and QoS 1 throughout. */
import { connect, type MqttClient, Store } from 'mqtt';

export interface CloudOptions {
  url: string;
  deviceId: string;
  /** `topic` is below the device's root. */
  onMessage(topic: string, text: string): void;
}

const TOPICS = ['status', 'context', 'command/response', 'events/+'];
const CONNECT_MS = 20_000;

/** Packets that are still being handled when the client ends look themselves up in the store. */
class LastingStore extends Store {
  override close(done: Parameters<Store['close']>[0]): void {
    done?.();
  }
}

export class CrashCloud {
  readonly #root: string;
  readonly #client: MqttClient;
  /** Connections to the broker so far. */
  connections = 0;

  private constructor(options: CloudOptions) {
    this.#root = `deviceagent/${options.deviceId}`;
    this.#client = connect(options.url, {
      clientId: 'crash-cloud',
      clean: false,
      // Sooner back than the robot, so that a broker that forgot everything has a listener again when it speaks.
      reconnectPeriod: 20,
      connectTimeout: 5000,
      outgoingStore: new LastingStore(),
      incomingStore: new LastingStore(),
    });
    this.#client.on('message', (topic, payload) => {
      if (topic.startsWith(`${this.#root}/`))
        options.onMessage(topic.slice(this.#root.length + 1), payload.toString());
    });
    this.#client.on('connect', () => {
      this.connections += 1;
    });
    // Refused connections while the broker is down; the client tries again.
    this.#client.on('error', () => {});
  }

  /** Resolves when the subscriptions are granted. */
  static async open(options: CloudOptions): Promise<CrashCloud> {
    const cloud = new CrashCloud(options);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the broker does not answer')), CONNECT_MS);
      cloud.#client.once('connect', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    await cloud.#client.subscribeAsync(
      TOPICS.map((topic) => `${cloud.#root}/${topic}`),
      { qos: 1 },
    );
    return cloud;
  }

  /** Hands a command over; while the broker is away, it waits in this client. */
  command(text: string): void {
    this.#client.publish(`${this.#root}/command`, text, { qos: 1 });
  }

  async close(): Promise<void> {
    await this.#client.endAsync(true);
  }
}
