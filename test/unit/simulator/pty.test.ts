import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SerialPort } from 'serialport';
import { afterEach, describe, expect, it } from 'vitest';
import { createDevices } from '../../../simulator/devices/index.js';
import { type PtyEnd, ptyPort, ptyPorts } from '../../../simulator/ports/pty.js';
import { squareWorld } from './homes.js';

/** How long the operating system may take to carry bytes, ms. */
const PATIENCE_MS = 20_000;

const dirs: string[] = [];
const cleanUp: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'sim-pty-'));
  dirs.push(dir);
  return dir;
}

/** A PTY end and what came in on it. */
function line(): { end: PtyEnd; received: number[] } {
  const end = ptyPort('base', folder());
  const received: number[] = [];
  end.onData((bytes) => received.push(...bytes));
  cleanUp.push(() => end.close());
  return { end, received };
}

interface HostPort {
  port: SerialPort;
  received: number[];
  closed: boolean;
}

async function openHost(path: string, baudRate = 115_200): Promise<HostPort> {
  const port = new SerialPort({ path, baudRate, autoOpen: false });
  const host: HostPort = { port, received: [], closed: false };
  port.on('data', (chunk: Buffer) => host.received.push(...chunk));
  port.on('close', () => {
    host.closed = true;
  });
  port.on('error', () => {});
  await new Promise<void>((resolve, reject) => port.open((error) => (error ? reject(error) : resolve())));
  cleanUp.push(() => (port.isOpen ? closeHost(host) : undefined));
  return host;
}

function closeHost(host: HostPort): Promise<void> {
  return new Promise((resolve) => host.port.close(() => resolve()));
}

/** Turns the event loop until the condition holds; each turn is one poll of the ports. Bounded. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    if (condition()) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error(`not true within ${PATIENCE_MS} ms: ${condition}`);
}

describe('a device behind a PTY', () => {
  it('is found under a stable name and carries every byte value both ways, raw', async () => {
    const { end, received } = line();
    const host = await openHost(end.path);
    await until(() => end.hostConnected);
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    end.write(all);
    await until(() => host.received.length >= 256);
    expect(host.received).toEqual([...all]);
    host.port.write(Buffer.from(all));
    await until(() => end.received() >= 256);
    expect(received).toEqual([...all]);
    expect([end.sent(), end.received(), end.dropped()]).toEqual([256, 256, 0]);
  });

  it('hears no echo of what it sent before the host set up its port', async () => {
    const { end, received } = line();
    const host = await openHost(end.path);
    await until(() => end.hostConnected);
    end.write(Uint8Array.from([13, 10, 3, 4, 65]));
    await until(() => host.received.length >= 5);
    await until(() => end.received() === 0);
    expect(received).toEqual([]);
  });

  it('knows whether a host has the port open, over and over', async () => {
    const { end } = line();
    for (let round = 0; round < 3; round++) {
      expect(end.hostConnected).toBe(false);
      const host = await openHost(end.path);
      await until(() => end.hostConnected);
      await closeHost(host);
      await until(() => !end.hostConnected);
    }
  });

  it('drops what it sends while nobody listens: the next host starts with fresh bytes', async () => {
    const { end } = line();
    end.write(Uint8Array.from([1, 2, 3]));
    expect([end.sent(), end.dropped()]).toEqual([0, 3]);
    const host = await openHost(end.path);
    end.write(Uint8Array.from([7]));
    await until(() => host.received.length > 0);
    expect(host.received).toEqual([7]);
  });

  it('drops what a host that never reads leaves no room for, and goes on', async () => {
    const { end, received } = line();
    const host = await openHost(end.path);
    host.port.pause();
    const block = new Uint8Array(4096).fill(0x55);
    for (let i = 0; i < 100; i++) end.write(block);
    expect(end.dropped()).toBeGreaterThan(200_000);
    expect(end.sent() + end.dropped()).toBe(409_600);
    host.port.write(Buffer.from([9]));
    await until(() => end.received() > 0);
    expect(received).toEqual([9]);
  });

  it('unplugged, ends the connection of its host: end of file, and nothing can be written', async () => {
    const { end } = line();
    const fd = openSync(end.path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
    cleanUp.push(() => closeSync(fd));
    await until(() => end.hostConnected);
    end.unplug();
    expect(existsSync(end.path)).toBe(false);
    expect([end.plugged, end.hostConnected, end.sent()]).toEqual([false, false, 0]);
    expect(readSync(fd, Buffer.alloc(16))).toBe(0);
    expect(() => writeSync(fd, 'x')).toThrow(/EIO/);
  });

  it('plugged in again, answers under the same name with nothing left over', async () => {
    const { end } = line();
    const host = await openHost(end.path);
    const session = end.session();
    end.write(Uint8Array.from([1]));
    await closeHost(host);
    end.unplug();
    await expect(openHost(end.path)).rejects.toThrow(/No such file/);
    end.plug();
    expect(end.session()).toBe(session + 2);
    expect(readlinkSync(end.path)).toMatch(/^\/dev\//);
    const again = await openHost(end.path);
    end.write(Uint8Array.from([3]));
    await until(() => again.received.length > 0);
    expect(again.received).toEqual([3]);
  });

  it('goes away with its link when it is closed', () => {
    const { end } = line();
    end.close();
    expect(existsSync(end.path)).toBe(false);
    end.write(Uint8Array.from([1]));
    expect(end.dropped()).toBe(1);
  });
});

describe('the devices behind PTYs', () => {
  function robot() {
    const world = squareWorld([2, 2, 0]);
    const ports = ptyPorts(folder());
    const devices = createDevices(world, { ports: ports.ends });
    cleanUp.push(() => devices.close());
    return { world, devices, ports };
  }

  it('are linked as dev/base, dev/lidar, dev/air and dev/fan', () => {
    const { ports } = robot();
    for (const [name, path] of Object.entries(ports.paths)) {
      expect(path.endsWith(join('dev', name))).toBe(true);
      expect(existsSync(path)).toBe(true);
    }
  });

  it('stream the base and the lidar to serial ports without losing a byte, step by step', async () => {
    const { world, ports } = robot();
    const base = await openHost(ports.paths.base);
    const lidar = await openHost(ports.paths.lidar, 230_400);
    base.port.write(Buffer.from([128, 148, 3, 7, 43, 44]));
    await until(() => ports.ends.base.received() >= 6);
    for (let i = 0; i < 200; i++) {
      world.step(15);
      await until(() => base.received.length === ports.ends.base.sent());
      await until(() => lidar.received.length === ports.ends.lidar.sent());
    }
    expect(base.received.length).toBeGreaterThan(190 * 11);
    expect(lidar.received.length).toBeGreaterThan(1100 * 47);
    expect(ports.ends.base.dropped() + ports.ends.lidar.dropped()).toBe(0);
  });

  it('serve a Modbus client that is not ours', async () => {
    const { world, ports } = robot();
    const require = createRequire(import.meta.url);
    const { default: Client } = require('modbus-serial') as typeof import('modbus-serial');
    const client = new Client();
    await client.connectRTUBuffered(ports.paths.fan, { baudRate: 19_200 });
    cleanUp.push(() => new Promise<void>((resolve) => client.close(() => resolve())));
    client.setID(1);
    client.setTimeout(20_000);
    const settle = async <T>(request: Promise<T>): Promise<T> => {
      const outcome: { value?: T; error?: unknown; over: boolean } = { over: false };
      request.then(
        (value) => Object.assign(outcome, { value, over: true }),
        (error: unknown) => Object.assign(outcome, { error, over: true }),
      );
      await until(() => {
        world.step(5);
        return outcome.over;
      });
      if (outcome.error !== undefined) throw outcome.error;
      return outcome.value as T;
    };
    await settle(client.writeRegister(1, 750));
    expect(world.fan.setPointPercent).toBe(75);
    await settle(client.writeRegisters(1, [500]));
    expect((await settle(client.readHoldingRegisters(1, 1))).data).toEqual([500]);
    for (let i = 0; i < 1000; i++) world.step(15);
    const [rpm = 0] = (await settle(client.readInputRegisters(1, 1))).data;
    expect(Math.abs(rpm - 1200)).toBeLessThan(10);
    await expect(settle(client.readHoldingRegisters(40, 1))).rejects.toThrow(/Illegal data address/i);
  });
});
