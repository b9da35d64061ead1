/** A plain MQTT client on the cloud's side of the broker: nothing of ours in it. */
import { connectAsync, type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import { vi } from 'vitest';

export interface Seen {
  topic: string;
  payload: string;
  retain: boolean;
}

export class Observer {
  readonly seen: Seen[] = [];
  private constructor(
    readonly client: MqttClient,
    readonly root: string,
  ) {
    client.on('message', (topic: string, payload: Buffer, packet: IPublishPacket) =>
      this.seen.push({
        topic: topic.slice(root.length + 1),
        payload: payload.toString(),
        retain: packet.retain,
      }),
    );
    client.on('error', () => {});
  }

  /** Listens to everything below the device's root. */
  static async connect(url: string, deviceId: string, options: IClientOptions = {}): Promise<Observer> {
    const client = await connectAsync(url, {
      clientId: `observer-${Math.random().toString(16).slice(2)}`,
      clean: false,
      reconnectPeriod: 50,
      ...(options.protocolVersion === 5 ? { properties: { sessionExpiryInterval: 600 } } : {}),
      ...options,
    });
    const observer = new Observer(client, `deviceagent/${deviceId}`);
    await client.subscribeAsync(`${observer.root}/#`, { qos: 1 });
    return observer;
  }

  on(topic: string): Seen[] {
    return this.seen.filter((message) => message.topic === topic);
  }

  json(topic: string): Record<string, unknown>[] {
    return this.on(topic)
      .filter((message) => message.payload !== '')
      .map((message) => JSON.parse(message.payload));
  }

  async command(payload: unknown, options: { retain?: boolean } = {}): Promise<void> {
    const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
    await this.client.publishAsync(`${this.root}/command`, text, { qos: 1, retain: options.retain ?? false });
  }

  async close(): Promise<void> {
    await this.client.endAsync(true);
  }
}

/** Waits until `check` no longer throws. */
export function until(check: () => void, timeoutMs = 10_000): Promise<void> {
  return vi.waitFor(check, { timeout: timeoutMs, interval: 10 });
}
