/** The embedded broker of the simulation. */
import type { Duplex } from 'node:stream';

export interface SimBrokerOptions {
  /** TCP port on 127.0.0.1; 0 picks a free one; null: in memory only. */
  port: number | null;
  /** Wall milliseconds, for how long an unanswered delivery counts as on its way. */
  wall: () => number;
}

export interface SimBroker {
  /** Null before `start`, and without TCP. */
  readonly port: number | null;
  /** mqtt://127.0.0.1:port */
  readonly url: string | null;
  readonly running: boolean;
  start(): Promise<void>;
  /** Closes the listener and every connection. */
  stop(): Promise<void>;
  /** As `stop`, for good. */
  close(): Promise<void>;
  /** `keepSessions` false: subscriptions, queued messages and retained messages are forgotten, as after data loss. */
  restart(options: { keepSessions: boolean }): Promise<void>;
  /** Open connections stay open and carry nothing in either direction; so do new ones. */
  setHalfOpen(on: boolean): void;
  /** New connections are closed at once; existing ones are cut. */
  setRefusing(on: boolean): void;
  /** Cuts every connection, as a flapping network does. */
  cutConnections(): void;
  /** A connection in this process, for clients without TCP. Destroyed at once while stopped or refusing. */
  connect(): Duplex;
  /** Messages received and not yet handed on, and deliveries not yet acknowledged, of connected clients. */
  inFlight(): number;
  /** Increases with every packet in either direction. */
  activity(): number;
  clients(): string[];
}
