/** The embedded MQTT broker (aedes, MQTT 3.1.1, anonymous, loopback only), with the faults of a real one. */
import { createServer, type Server } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import { Aedes, type AedesPublishPacket, type Client } from 'aedes';
import { TappedConnection } from './tapped-connection.js';
import type { SimBroker, SimBrokerOptions } from './types.js';

/** A message that the broker has not passed on within this time, ms of wall time, is not waited for. */
const HANDOVER_MS = 2000;

export async function createSimBroker(options: SimBrokerOptions): Promise<SimBroker> {
  return new EmbeddedBroker(options, await newBroker());
}

async function newBroker(): Promise<Aedes> {
  // A slow consumer is the consumer's problem; only a dead one is cut off, by its keepalive.
  const aedes = await Aedes.createBroker({ drainTimeout: 0 });
  // Its housekeeping must not keep a process alive that is done.
  for (const timer of Object.values(aedes)) if (isTimer(timer)) timer.unref();
  return aedes;
}

function isTimer(value: unknown): value is { unref(): void } {
  return typeof value === 'object' && value !== null && 'unref' in value && 'hasRef' in value;
}

class EmbeddedBroker implements SimBroker {
  readonly #options: SimBrokerOptions;
  readonly #wall: () => number;
  readonly #connections = new Set<TappedConnection>();
  /** Messages that a client published and that are not handed on yet: of this broker, not of one before a restart. */
  #handover = new Handover();
  #aedes: Aedes;
  #server: Server | null = null;
  #port: number | null = null;
  #running = false;
  #halfOpen = false;
  #refusing = false;
  #activity = 0;

  constructor(options: SimBrokerOptions, aedes: Aedes) {
    this.#options = options;
    this.#wall = options.wall;
    this.#aedes = aedes;
    this.#watch(aedes);
  }

  get port(): number | null {
    return this.#port;
  }

  get url(): string | null {
    return this.#port === null ? null : `mqtt://127.0.0.1:${this.#port}`;
  }

  get running(): boolean {
    return this.#running;
  }

  async start(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    if (this.#options.port === null) return;
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // After a restart the port is the same one: clients come back to it.
      server.listen(this.#port ?? this.#options.port ?? 0, '127.0.0.1', resolve);
    });
    this.#server = server;
    const address = server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
  }

  async stop(): Promise<void> {
    if (!this.#running) return;
    this.#running = false;
    const server = this.#server;
    this.#server = null;
    this.cutConnections();
    if (server !== null) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  async close(): Promise<void> {
    await this.stop();
    await new Promise<void>((resolve) => this.#aedes.close(resolve));
  }

  async restart({ keepSessions }: { keepSessions: boolean }): Promise<void> {
    await this.stop();
    if (!keepSessions) {
      const old = this.#aedes;
      this.#aedes = await newBroker();
      this.#handover = new Handover();
      this.#watch(this.#aedes);
      await new Promise<void>((resolve) => old.close(resolve));
    }
    await this.start();
  }

  setHalfOpen(on: boolean): void {
    this.#halfOpen = on;
    // What was lost meanwhile cannot be made good: those connections are dead, as after a router's restart.
    if (on) for (const connection of this.#connections) connection.halfOpen = true;
    else for (const connection of [...this.#connections]) if (connection.halfOpen) connection.destroy();
  }

  setRefusing(on: boolean): void {
    this.#refusing = on;
    if (on) this.cutConnections();
  }

  cutConnections(): void {
    for (const connection of [...this.#connections]) connection.destroy();
  }

  connect(): Duplex {
    const [client, broker] = duplexPair();
    // As with a socket, the end of one side ends the other.
    client.on('close', () => broker.destroy());
    broker.on('close', () => client.destroy());
    this.#accept(broker);
    return client;
  }

  inFlight(): number {
    let undelivered = 0;
    for (const connection of this.#connections) undelivered += connection.undelivered();
    return this.#handover.open(this.#wall()) + undelivered;
  }

  activity(): number {
    return this.#activity;
  }

  clients(): string[] {
    return [...this.#connections].flatMap((connection) => {
      const id = connectedId(connection);
      return id === null ? [] : [id];
    });
  }

  #accept(inner: Duplex): void {
    inner.on('error', () => inner.destroy());
    if (!this.#running || this.#refusing) {
      inner.destroy();
      return;
    }
    const tap = new TappedConnection(inner, this.#wall, () => {
      this.#activity += 1;
    });
    tap.halfOpen = this.#halfOpen;
    this.#connections.add(tap);
    tap.on('close', () => this.#connections.delete(tap));
    this.#aedes.handle(tap);
  }

  #watch(aedes: Aedes): void {
    const handover = this.#handover;
    aedes.authorizePublish = (client: Client | null, packet, callback) => {
      if (packet.topic.startsWith('$SYS/')) {
        callback(new Error('$SYS/ is reserved'));
        return;
      }
      if (client !== null) handover.begin(this.#wall());
      callback(null);
    };
    aedes.on('publish', (_packet: AedesPublishPacket, client: Client | null) => {
      if (client !== null) handover.end(this.#wall());
    });
  }
}

/** What one broker has taken and not passed on; what it has held for too long it will never pass on. */
class Handover {
  #count = 0;
  #lastProgress = 0;

  begin(wall: number): void {
    if (this.#count === 0) this.#lastProgress = wall;
    this.#count += 1;
  }

  end(wall: number): void {
    this.#count = Math.max(0, this.#count - 1);
    this.#lastProgress = wall;
  }

  open(wall: number): number {
    return wall - this.#lastProgress < HANDOVER_MS ? this.#count : 0;
  }
}

/** The id of the MQTT client on this connection once it has said CONNECT; aedes keeps it on the stream. */
function connectedId(connection: TappedConnection): string | null {
  const client = 'client' in connection ? connection.client : null;
  if (client === null || typeof client !== 'object' || !('connected' in client) || client.connected !== true)
    return null;
  return 'id' in client && typeof client.id === 'string' ? client.id : null;
}
