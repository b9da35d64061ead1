/** The brokers that the contract tests run against: the embedded one, and real mosquitto where it is installed. */
import { createSimBroker } from '../../simulator/broker/broker.js';
import { hasMosquitto, Mosquitto } from './mosquitto.js';

export interface TestBroker {
  port: number;
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  restart(options: { keepSessions: boolean }): Promise<void>;
  close(): Promise<void>;
}

export interface BrokerKind {
  name: string;
  protocol: '3.1.1' | '5';
  /** Why these tests are skipped, or null. */
  skip: string | null;
  start(): Promise<TestBroker>;
}

const noMosquitto = hasMosquitto ? null : 'mosquitto is not installed (apt-get install mosquitto)';

export const BROKER_KINDS: readonly BrokerKind[] = [
  { name: 'aedes, MQTT 3.1.1', protocol: '3.1.1', skip: null, start: startAedes },
  { name: 'mosquitto, MQTT 3.1.1', protocol: '3.1.1', skip: noMosquitto, start: () => Mosquitto.start() },
  { name: 'mosquitto, MQTT 5', protocol: '5', skip: noMosquitto, start: () => Mosquitto.start() },
];

export async function startAedes(): Promise<TestBroker> {
  const broker = await createSimBroker({ port: 0, wall: () => performance.now() });
  await broker.start();
  return {
    port: broker.port ?? 0,
    url: broker.url ?? '',
    start: () => broker.start(),
    stop: () => broker.stop(),
    restart: (options) => broker.restart(options),
    close: () => broker.close(),
  };
}
