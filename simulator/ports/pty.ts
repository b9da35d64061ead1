/**
 * A device's end behind a pseudo-terminal. The device holds the master, the host opens the slave by a stable
 * name, `<dir>/<device>`, which links to `/dev/pts/N`.
 *
 * The master is read without blocking when somebody asks, not by a stream: a read says at once whether there is
 * data (bytes), a host that says nothing (EAGAIN), or no host (EIO). A stream would end for good at the first EIO.
 */
import { closeSync, mkdirSync, readSync, renameSync, rmSync, symlinkSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { errorCode } from '../../config/contracts/errors.js';
import { DEVICE_NAMES, type DeviceEnd, type DeviceName } from '../types.js';

/** What the package's native part offers; its own typed `open()` attaches streams that would steal the bytes. */
interface PtyBinding {
  open(columns: number, rows: number): { master: number; slave: number; pty: string };
}

const CHUNK = 16 * 1024;

/** Opens a PTY for the device and links it. Throws an Error that says what to check when none can be opened. */
export function ptyPort(name: DeviceName, dir: string): PtyEnd {
  mkdirSync(dir, { recursive: true });
  return new PtyEnd(name, join(dir, name));
}

export interface PtyPorts {
  /** Path that a host opens, per device. */
  paths: Record<DeviceName, string>;
  ends: Record<DeviceName, DeviceEnd>;
  close(): void;
}

/** A PTY for each device, linked as `<stateDir>/dev/<device>`. */
export function ptyPorts(stateDir: string): PtyPorts {
  const dir = join(stateDir, 'dev');
  const ends = DEVICE_NAMES.map((name) => ptyPort(name, dir));
  const byName = <T>(pick: (end: PtyEnd) => T) =>
    Object.fromEntries(ends.map((end) => [end.name, pick(end)])) as Record<DeviceName, T>;
  return {
    paths: byName((end) => end.path),
    ends: byName((end) => end),
    close: () => {
      for (const end of ends) end.close();
    },
  };
}

export class PtyEnd implements DeviceEnd {
  readonly name: DeviceName;
  /** The link that a host opens. */
  readonly path: string;
  readonly #buffer = Buffer.alloc(CHUNK);
  #master: number | null = null;
  #listener: (bytes: Uint8Array) => void = () => {};
  #hostConnected = false;
  /** While our own hold on the slave lasts, which would look like a host. */
  #ours = false;
  #sent = 0;
  #received = 0;
  #dropped = 0;
  #session = 0;

  constructor(name: DeviceName, path: string) {
    this.name = name;
    this.path = path;
    this.plug();
  }

  get plugged(): boolean {
    return this.#master !== null;
  }

  get hostConnected(): boolean {
    this.poll();
    return this.#hostConnected;
  }

  onData(listener: (bytes: Uint8Array) => void): void {
    this.#listener = listener;
  }

  poll(): void {
    while (this.#master !== null) {
      const n = this.#read(this.#master);
      if (n === 0) return;
      this.#received += n;
      this.#listener(Uint8Array.prototype.slice.call(this.#buffer, 0, n));
      if (n < CHUNK) return;
    }
  }

  write(bytes: Uint8Array): void {
    // A host seen at the last poll is taken to be there still: what it misses waits in the terminal's buffer.
    if (!this.#hostConnected) this.poll();
    if (this.#master === null || !this.#hostConnected) {
      this.#dropped += bytes.length;
      return;
    }
    const written = this.#put(this.#master, bytes);
    this.#sent += written;
    this.#dropped += bytes.length - written;
  }

  unplug(): void {
    if (this.#master === null) return;
    rmSync(this.path, { force: true });
    closeSync(this.#master);
    this.#master = null;
    this.#hostConnected = false;
    this.#newSession();
  }

  plug(): void {
    if (this.#master !== null) return;
    const { master, slave, pty } = binding().open(80, 24);
    this.#master = master;
    this.#ours = true;
    makeRaw(slave, () => {
      if (this.#master === master) this.#ours = false;
    });
    const link = `${this.path}.new`;
    rmSync(link, { force: true });
    symlinkSync(pty, link);
    renameSync(link, this.path);
    this.#newSession();
  }

  sent(): number {
    return this.#sent;
  }

  received(): number {
    this.poll();
    return this.#received;
  }

  session(): number {
    return this.#session;
  }

  dropped(): number {
    return this.#dropped;
  }

  close(): void {
    this.unplug();
  }

  #newSession(): void {
    this.#session += 1;
    this.#sent = 0;
    this.#received = 0;
  }

  /** Bytes read into the buffer; notes on the way whether a host is there. */
  #read(master: number): number {
    const n = quietly(() => readSync(master, this.#buffer, 0, CHUNK, null));
    this.#hostConnected = !this.#ours && (typeof n === 'number' || n === 'EAGAIN');
    return typeof n === 'number' ? n : 0;
  }

  /** Bytes that fitted: a full buffer means that the host does not read. */
  #put(master: number, bytes: Uint8Array): number {
    const n = quietly(() => writeSync(master, bytes));
    return typeof n === 'number' ? n : 0;
  }
}

let cached: PtyBinding | null = null;

function binding(): PtyBinding {
  if (cached !== null) return cached;
  const require = createRequire(import.meta.url);
  try {
    const loader = require('@lydell/node-pty/requireBinary.js') as {
      requireBinary(file: string): PtyBinding;
    };
    cached = loader.requireBinary('pty.node');
    return cached;
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new Error(`no pseudo-terminals: ${why}; use in-memory ports, or reinstall with optional packages`);
  }
}

/**
 * Switches off echo and line editing and lets go of the slave; `done` is called once it is closed. The terminal
 * keeps these settings as long as the master is open; a serial library sets the rest when it opens the path.
 */
function makeRaw(slave: number, done: () => void): void {
  const stream = new ReadStream(slave);
  stream.setRawMode(true);
  stream.once('close', done);
  stream.destroy();
  closeSync(slave);
}

/** The result, or the code of the error: EAGAIN and EIO come thousands of times and need no stack. */
function quietly(call: () => number): number | string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return call();
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  } finally {
    Error.stackTraceLimit = limit;
  }
}
