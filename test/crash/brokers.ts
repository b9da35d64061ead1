/** The broker of a run and the network in front of it: aedes as the simulation has it, or a real mosquitto. */
import { Mosquitto } from '../support/mosquitto.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import type { Simulation } from './simulation.js';

export const BROKERS = ['aedes', 'mosquitto'] as const;
export type BrokerName = (typeof BROKERS)[number];
export type Protocol = '3.1.1' | '5';

export interface CrashBroker {
  /** Where the cloud connects. */
  cloudUrl: string;
  /** Where the robot connects: through a network that can fail. */
  robotUrl: string;
  network: TcpProxy;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** A restart without sessions. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

export async function mosquittoBroker(): Promise<CrashBroker> {
  const broker = await Mosquitto.start({ config: ['max_queued_messages 0'] });
  const network = await TcpProxy.start(broker.port);
  return {
    cloudUrl: broker.url,
    robotUrl: network.url,
    network,
    stop: () => broker.stop(),
    start: () => broker.start(),
    forget: () => broker.restart({ keepSessions: false }),
    close: async () => {
      await network.close();
      await broker.close();
    },
  };
}

/** `port`: where the simulation's broker will listen. */
export async function aedesBroker(port: number, sim: () => Simulation): Promise<CrashBroker> {
  const network = await TcpProxy.start(port);
  return {
    cloudUrl: `mqtt://127.0.0.1:${port}`,
    robotUrl: network.url,
    network,
    stop: () => sim().inject('broker', 'stop'),
    start: () => sim().inject('broker', 'start'),
    forget: () => sim().inject('broker', 'restart'),
    close: () => network.close(),
  };
}
