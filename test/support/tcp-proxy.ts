/** A TCP proxy that can be slow, stop carrying anything while connections stay open, or cut them. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  readonly #target: number;
  readonly #pairs = new Set<[Socket, Socket]>();
  #server: Server | null = null;
  #silent = false;
  #delayMs = 0;
  #port = 0;

  private constructor(target: number) {
    this.#target = target;
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    const server = createServer((socket) => proxy.#accept(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy.#server = server;
    const address = server.address();
    if (address !== null && typeof address === 'object') proxy.#port = address.port;
    return proxy;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.#port}`;
  }

  /** Half open: bytes of both sides vanish. Connections of that time stay dead afterwards. */
  setSilent(on: boolean): void {
    this.#silent = on;
    if (!on) this.cut();
  }

  /** Every piece comes this much later, in order. */
  setDelay(ms: number): void {
    this.#delayMs = ms;
  }

  cut(): void {
    for (const [a, b] of this.#pairs) {
      a.destroy();
      b.destroy();
    }
    this.#pairs.clear();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server?.close(() => resolve()) ?? resolve());
  }

  #accept(client: Socket): void {
    const upstream = connect(this.#target, '127.0.0.1');
    const pair: [Socket, Socket] = [client, upstream];
    this.#pairs.add(pair);
    client.on('data', this.#carrier(upstream));
    upstream.on('data', this.#carrier(client));
    const end = () => {
      this.#pairs.delete(pair);
      // A peer that vanished says nothing to the other side either.
      if (this.#silent) return;
      client.destroy();
      upstream.destroy();
    };
    for (const socket of pair) {
      socket.on('error', end);
      socket.on('close', end);
    }
  }

  /** What came late keeps its place: nothing overtakes it. */
  #carrier(to: Socket): (chunk: Buffer) => void {
    let due = 0;
    return (chunk) => {
      if (this.#silent) return;
      const now = performance.now();
      due = Math.max(due, now + this.#delayMs);
      if (due <= now) {
        to.write(chunk);
        return;
      }
      setTimeout(() => {
        if (!to.destroyed && !this.#silent) to.write(chunk);
      }, due - now);
    };
  }
}
