import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { memoryLine, type PortConnection } from '../../../config/contracts/port.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { countPort } from '../../../drivers/serial/ports/counts.js';
import { Outbox } from '../../../drivers/serial/ports/queues.js';
import { openFailure, serialPort } from '../../../drivers/serial/ports/serial-port.js';
import { tcpPort } from '../../../drivers/serial/ports/tcp-port.js';
import { type PtyEnd, ptyPort } from '../../../simulator/ports/pty.js';
import { toHex } from './support.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const clock = new SystemClock();

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'ports-'));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Turns the event loop, which is where the operating system's bytes come in, until `done`. */
async function until(done: () => boolean, what: string): Promise<void> {
  const deadline = clock.mono() + 5000;
  while (!done()) {
    if (clock.mono() > deadline) throw new Error(`waited 5 s for: ${what}`);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function listen(connection: PortConnection) {
  const got: number[] = [];
  const ended: string[] = [];
  connection.onData((bytes) => got.push(...bytes));
  connection.onClose((reason) => ended.push(reason));
  return { got, ended };
}

async function ptyRig() {
  const pty: PtyEnd = ptyPort('lidar', folder());
  cleanups.push(() => pty.close());
  const fromHost: number[] = [];
  pty.onData((bytes) => fromHost.push(...bytes));
  // The simulator's own hold on the terminal ends first.
  await until(() => !pty.hostConnected, 'a free terminal');
  await new Promise<void>((resolve) => setImmediate(resolve));
  const open = serialPort({ path: pty.path, baudRate: 115_200, clock, lockWaitMs: 0 });
  const connect = async () => {
    const connection = await open();
    cleanups.push(() => connection.close());
    return connection;
  };
  return { pty, fromHost, open, connect };
}

describe('a serial port', () => {
  it('delivers only what is fetched while it is held, and at once when it is released', async () => {
    const { pty, connect } = await ptyRig();
    const connection = await connect();
    const chunks: number[] = [];
    connection.onData((bytes) => chunks.push(bytes.length));
    await until(() => pty.hostConnected, 'the host');
    const send = async (bytes: number) => {
      pty.write(new Uint8Array(bytes));
      for (let i = 0; i < 50; i++) await new Promise<void>((resolve) => setTimeout(resolve, 1));
    };
    connection.hold?.(true);
    // What the operating system was asked to announce before still comes by itself.
    await send(10);
    expect(chunks).toEqual([10]);
    await send(20);
    await send(30);
    expect(chunks).toEqual([10]);
    connection.fetch?.();
    expect(chunks).toEqual([10, 50]);
    connection.fetch?.();
    expect(chunks).toEqual([10, 50]);
    await send(40);
    connection.hold?.(false);
    expect(chunks).toEqual([10, 50, 40]);
    await send(5);
    expect(chunks).toEqual([10, 50, 40, 5]);
  });

  it('notices at the next fetch that its device went away while it was held', async () => {
    const { pty, connect } = await ptyRig();
    const connection = await connect();
    const { ended } = listen(connection);
    await until(() => pty.hostConnected, 'the host');
    connection.hold?.(true);
    pty.write(new Uint8Array(1));
    for (let i = 0; i < 50; i++) await new Promise<void>((resolve) => setTimeout(resolve, 1));
    pty.unplug();
    expect(ended).toEqual([]);
    connection.fetch?.();
    expect(ended.join()).toMatch(/disconnected/);
  });

  it('carries bytes both ways, every value, and counts them', async () => {
    const { pty, fromHost, open, connect } = await ptyRig();
    const connection = await connect();
    const { got } = listen(connection);
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    await until(() => pty.hostConnected, 'the host');
    pty.write(all);
    expect(connection.write(all)).toBe(true);
    await until(() => got.length === 256, 'bytes at the host');
    await until(() => {
      pty.poll();
      return fromHost.length === 256;
    }, 'bytes at the device');
    expect(got).toEqual([...all]);
    expect(fromHost).toEqual([...all]);
    expect(open.counts).toEqual({ rx: 256, tx: 256, opens: 1 });
  });

  it('hands bytes over before the write returns', async () => {
    const { pty, fromHost, connect } = await ptyRig();
    const connection = await connect();
    connection.write(Uint8Array.of(145, 0, 0, 0, 0));
    pty.poll();
    expect(fromHost).toEqual([145, 0, 0, 0, 0]);
  });

  it('throws away stale input, and counts it as received', async () => {
    const { pty, open, connect } = await ptyRig();
    const connection = await connect();
    await until(() => pty.hostConnected, 'the host');
    pty.write(Uint8Array.of(1, 2, 3));
    // The terminal passes bytes on in a thread of the kernel.
    await until(() => {
      void connection.discardInput();
      return open.counts.rx === 3;
    }, 'stale bytes');
    const { got } = listen(connection);
    pty.write(Uint8Array.of(4));
    await until(() => got.length > 0, 'a fresh byte');
    expect(got).toEqual([4]);
  });

  it('ends with a reason when the device is pulled, and cannot be written any more', async () => {
    const { pty, connect } = await ptyRig();
    const connection = await connect();
    const { ended } = listen(connection);
    await until(() => pty.hostConnected, 'the host');
    pty.unplug();
    await until(() => ended.length > 0, 'the end');
    expect(ended).toHaveLength(1);
    expect(ended[0]).toMatch(/lidar: /);
    expect(connection.write(Uint8Array.of(1))).toBe(false);
  });

  it('is refused to a second user with what to check, and free again after closing', async () => {
    const { connect, open, pty } = await ptyRig();
    const first = await connect();
    await expect(open()).rejects.toThrow(`${pty.path}: in use by another process; find it with: fuser`);
    await first.close();
    await connect();
  });

  it('is waited for while a predecessor lets go of it', async () => {
    const { pty, connect } = await ptyRig();
    const first = await connect();
    const sim = new SimClock(0);
    const patient = serialPort({ path: pty.path, baudRate: 115_200, clock: sim, lockWaitMs: 2000 });
    const second = patient();
    await until(() => sim.nextDue() !== null, 'the first refusal');
    await first.close();
    sim.advance(50);
    const connection = await second;
    cleanups.push(() => connection.close());
    expect(patient.counts.opens).toBe(1);
  });

  it('sends everything a slow device takes, in order, up to its bound', async () => {
    const { pty, fromHost, connect } = await ptyRig();
    const connection = await connect();
    let accepted = 0;
    for (let i = 0; i < 300; i++) {
      const chunk = new Uint8Array(1000).fill(i & 0xff);
      if (connection.write(chunk)) accepted += 1;
    }
    expect(accepted).toBeGreaterThanOrEqual(65);
    expect(accepted).toBeLessThan(100);
    await until(() => {
      pty.poll();
      return fromHost.length === accepted * 1000;
    }, 'all bytes');
    expect(fromHost.every((byte, i) => byte === Math.floor(i / 1000))).toBe(true);
  });

  it('lets stop bytes overtake what is queued, which is forgotten', async () => {
    const { pty, fromHost, connect, open } = await ptyRig();
    const connection = await connect();
    while (connection.write(new Uint8Array(1000).fill(7)));
    expect(connection.write(Uint8Array.of(145, 0, 0, 0, 0), { ahead: true })).toBe(true);
    await until(() => {
      pty.poll();
      return fromHost.at(-1) === 0 && fromHost.length === open.counts.tx;
    }, 'the stop');
    expect(fromHost.slice(-5)).toEqual([145, 0, 0, 0, 0]);
    // What the operating system had taken could not be called back; the queue of 64 KiB could.
    expect(fromHost.length).toBeLessThan(64 * 1024);
  });

  it('says what to check when it cannot be opened', async () => {
    const dir = folder();
    const missing = serialPort({ path: join(dir, 'ttyUSB7'), baudRate: 9600, clock });
    await expect(missing()).rejects.toThrow(/ttyUSB7: no such device; is it plugged in\?/);
    const plain = join(dir, 'plain');
    writeFileSync(plain, 'not a terminal');
    await expect(serialPort({ path: plain, baudRate: 9600, clock })()).rejects.toThrow(/plain: /);
    chmodSync(plain, 0o600);
    expect(openFailure('/dev/ttyUSB0', 'Error: Permission denied, cannot open /dev/ttyUSB0')).toMatch(
      /permission denied; .*dialout/,
    );
    expect(openFailure('/dev/ttyS9', 'Error: Input/output error, cannot open')).toMatch(/does not answer/);
  });
});

describe('a TCP port', () => {
  async function bridge() {
    const sockets: Socket[] = [];
    const got: number[] = [];
    const server: Server = createServer((socket) => {
      sockets.push(socket);
      socket.on('data', (bytes) => got.push(...bytes));
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return { sockets, got, server, port: address.port };
  }

  it('carries bytes both ways and counts them', async () => {
    const { sockets, got, port } = await bridge();
    const open = tcpPort({ host: '127.0.0.1', port });
    const connection = await open();
    const { got: received } = listen(connection);
    await until(() => sockets.length === 1, 'the bridge');
    sockets[0]?.write(Uint8Array.of(1, 2, 3));
    connection.write(Uint8Array.of(9));
    connection.write(Uint8Array.of(8));
    await until(() => received.length === 3 && got.length === 2, 'bytes');
    expect(got).toEqual([9, 8]);
    expect(open.counts).toEqual({ rx: 3, tx: 2, opens: 1 });
    await connection.close();
  });

  it('sends its last bytes before it closes, and says once that it ended', async () => {
    const { got, sockets, port } = await bridge();
    const connection = await tcpPort({ host: '127.0.0.1', port })();
    const { ended } = listen(connection);
    for (let i = 0; i < 5; i++) connection.write(Uint8Array.of(i));
    await connection.close();
    await until(() => sockets[0]?.readableEnded === true && got.length === 5, 'the end');
    expect(ended).toEqual(['closed']);
  });

  it('ends with a reason when the bridge goes away', async () => {
    const { sockets, port } = await bridge();
    const connection = await tcpPort({ host: '127.0.0.1', port })();
    const { ended } = listen(connection);
    await until(() => sockets.length === 1, 'the bridge');
    sockets[0]?.destroy();
    await until(() => ended.length > 0, 'the end');
    expect(ended[0]).toMatch(new RegExp(`127.0.0.1:${port}: `));
  });

  it('says what to check when nothing listens', async () => {
    const { server, port } = await bridge();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await expect(tcpPort({ host: '127.0.0.1', port })()).rejects.toThrow(/nothing listens there/);
  });

  it('gives up when told to', async () => {
    const { port } = await bridge();
    const abort = AbortSignal.abort(new Error('stopped'));
    await expect(tcpPort({ host: '127.0.0.1', port })(abort)).rejects.toThrow(/gave up waiting/);
  });
});

describe('a counted port', () => {
  it('counts over connections, also what is thrown away unread', async () => {
    const line = memoryLine('base');
    const open = countPort(line.open);
    const first = await open();
    line.device.write(Uint8Array.of(1, 2, 3));
    await first.discardInput();
    first.write(Uint8Array.of(9));
    const { got } = listen(first);
    line.device.write(Uint8Array.of(4));
    await first.close();
    expect(first.write(Uint8Array.of(1))).toBe(false);
    await open();
    expect(got).toEqual([4]);
    expect(open.counts).toEqual({ rx: 4, tx: 1, opens: 2 });
    expect(countPort(open)).toBe(open);
  });
});

describe('the queue of bytes to send', () => {
  it('forgets what is not begun when something goes ahead of it', () => {
    const queue = new Outbox();
    queue.push(Uint8Array.of(1, 2, 3));
    queue.push(Uint8Array.of(4));
    queue.sent(1);
    expect(queue.supersede(Uint8Array.of(9))).toBe(1);
    expect(toHex(queue.head() ?? new Uint8Array(0))).toBe('02 03');
    queue.sent(2);
    expect(toHex(queue.head() ?? new Uint8Array(0))).toBe('09');
    queue.sent(1);
    expect(queue.head()).toBeNull();
  });

  it('takes no more than 64 KiB', () => {
    const queue = new Outbox();
    expect(queue.push(new Uint8Array(64 * 1024))).toBe(true);
    expect(queue.push(Uint8Array.of(1))).toBe(false);
    queue.sent(1);
    expect(queue.push(Uint8Array.of(1))).toBe(true);
  });
});
