import { existsSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SerialPort } from 'serialport';
import { afterEach, describe, expect, it } from 'vitest';
import { createDevices } from '../../../simulator/devices/index.js';
import { type PtyEnd, ptyPort, ptyPorts } from '../../../simulator/ports/index.js';
import { squareWorld } from './homes.js';

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

/** A PTY end and what came in on it; past the moment in which it still holds the host's side itself. */
async function line(): Promise<{ end: PtyEnd; received: number[] }> {
  const end = ptyPort('base', folder());
  const received: number[] = [];
  end.onData((bytes) => received.push(...bytes));
  cleanUp.push(() => end.close());
  await until(() => !end.hostConnected);
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

/** Turns the event loop until the condition holds; bounded, and each turn is one poll of the ports. */
async function until(condition: () => boolean, turns = 200_000): Promise<void> {
  for (let i = 0; i < turns; i++) {
    if (condition()) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error(`not true after ${turns} turns: ${condition}`);
}

describe('a device behind a PTY', () => {
  it('is found under a stable name and carries every byte value both ways, raw', async () => {
    const { end, received } = await line();
    const host = await openHost(end.path);
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
    const { end, received } = await line();
    const host = await openHost(end.path);
    end.write(Uint8Array.from([13, 10, 3, 4, 65]));
    await until(() => host.received.length >= 5);
    await until(() => end.received() === 0);
    expect(received).toEqual([]);
  });

  it('knows whether a host has the port open, over and over', async () => {
    const { end } = await line();
    for (let round = 0; round < 3; round++) {
      expect(end.hostConnected).toBe(false);
      const host = await openHost(end.path);
      expect(end.hostConnected).toBe(true);
      await closeHost(host);
      await until(() => !end.hostConnected);
    }
  });

  it('drops what it sends while nobody listens: the next host starts with fresh bytes', async () => {
    const { end } = await line();
    end.write(Uint8Array.from([1, 2, 3]));
    expect([end.sent(), end.dropped()]).toEqual([0, 3]);
    const host = await openHost(end.path);
    end.write(Uint8Array.from([7]));
    await until(() => host.received.length > 0);
    expect(host.received).toEqual([7]);
  });

  it('drops what a host that never reads leaves no room for, and goes on', async () => {
    const { end, received } = await line();
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

  it('unplugged, ends the connection of its host; plugged in again, answers under the same name', async () => {
    const { end } = await line();
    const host = await openHost(end.path);
    const before = readlinkSync(end.path);
    const session = end.session();
    end.write(Uint8Array.from([1]));
    end.unplug();
    expect(existsSync(end.path)).toBe(false);
    expect([end.plugged, end.hostConnected, end.sent()]).toEqual([false, false, 0]);
    await until(() => host.closed);
    await expect(openHost(end.path)).rejects.toThrow();
    end.plug();
    expect(end.session()).toBeGreaterThan(session);
    expect(readlinkSync(end.path)).toMatch(/^\/dev\//);
    expect(before).toMatch(/^\/dev\//);
    const again = await openHost(end.path);
    end.write(Uint8Array.from([2]));
    await until(() => end.hostConnected);
    end.write(Uint8Array.from([3]));
    await until(() => again.received.includes(3));
    expect(again.received).not.toContain(1);
  });

  it('goes away with its link when it is closed', async () => {
    const { end } = await line();
    end.close();
    expect(existsSync(end.path)).toBe(false);
    end.write(Uint8Array.from([1]));
    expect(end.dropped()).toBe(1);
  });
});

describe('the devices behind PTYs', () => {
  async function robot() {
    const world = squareWorld([2, 2, 0]);
    const ports = ptyPorts(folder());
    const devices = createDevices(world, { ports: ports.ends });
    cleanUp.push(() => devices.close());
    await until(() => Object.values(ports.ends).every((end) => !end.hostConnected));
    return { world, devices, ports };
  }

  it('are linked as dev/base, dev/lidar, dev/air and dev/fan', async () => {
    const { ports } = await robot();
    for (const [name, path] of Object.entries(ports.paths)) {
      expect(path.endsWith(join('dev', name))).toBe(true);
      expect(existsSync(path)).toBe(true);
    }
  });

  it('stream the base and the lidar to serial ports without losing a byte, step by step', async () => {
    const { world, ports } = await robot();
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
    const { world, ports } = await robot();
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
