/**
 * A serial device, or a pseudo-terminal, as a port. On top of the bindings of `serialport`, without its stream and parsers:
 * bytes are read when the operating system says that there are some, and written at once where it takes them,
 * so that a stop does not wait for a thread pool.
 */
import { readSync, writeSync } from 'node:fs';
import { autoDetect } from '@serialport/bindings-cpp';
import { type Clock, delay } from '../../../config/contracts/clock.js';
import { errorCode, errorText } from '../../../config/contracts/errors.js';
import type { PortConnection, PortCounts } from '../../../config/contracts/port.js';
import { type CountedOpenPort, newCounts } from './counts.js';
import { Ending, Outbox } from './queues.js';

export interface SerialPortOptions {
  /** Device file, e.g. `/dev/serial/by-id/…`, or a link to one. */
  path: string;
  baudRate: number;
  clock: Clock;
  /** Nobody else can open the port meanwhile. Default true. */
  exclusive?: boolean;
  /** How long to wait for another process to let go of the port, ms: a predecessor may just be ending. */
  lockWaitMs?: number;
}

/** What Linux and macOS bindings have in common. */
interface Device {
  fd: number | null;
  readonly poller: {
    once(event: 'readable' | 'writable', done: (error: Error | null) => void): unknown;
  };
  close(): Promise<void>;
  set(lines: { dtr: boolean; rts: boolean }): Promise<void>;
}

const BINDING = autoDetect();
const LOCK_RETRY_MS = 50;
const READ_BYTES = 16 * 1024;

/** Opens `path` with 8 data bits, no parity, one stop bit. Counts bytes over all connections in `counts`. */
export function serialPort(options: SerialPortOptions): CountedOpenPort {
  const counts = newCounts();
  const open = async (signal?: AbortSignal): Promise<PortConnection> => {
    const device = await openDevice(options, signal);
    // The bindings have flushed what arrived while nobody listened, so it is in no count.
    counts.opens += 1;
    return new SerialConnection(device, options.path, counts);
  };
  return Object.assign(open, { counts });
}

async function openDevice(options: SerialPortOptions, signal?: AbortSignal): Promise<Device> {
  const { path, baudRate, clock, exclusive = true, lockWaitMs = 2000 } = options;
  const deadline = clock.mono() + lockWaitMs;
  for (;;) {
    signal?.throwIfAborted();
    try {
      // hupcl off: closing must not drop the modem lines, to which a device's reset may be wired.
      const port: object = await BINDING.open({ path, baudRate, lock: exclusive, hupcl: false });
      if (!isDevice(port)) throw new Error('serial ports are supported on Linux and macOS');
      return port;
    } catch (error) {
      const reason = errorText(error);
      if (!isBusy(reason) || clock.mono() >= deadline) throw new Error(openFailure(path, reason));
      await delay(clock, LOCK_RETRY_MS, signal);
    }
  }
}

function isDevice(port: object): port is Device {
  return 'fd' in port && 'poller' in port && 'close' in port;
}

function isBusy(reason: string): boolean {
  return /cannot lock port|resource busy/i.test(reason);
}

/** One sentence that names the port and says what to check. */
export function openFailure(path: string, reason: string): string {
  if (/no such file/i.test(reason))
    return `${path}: no such device; is it plugged in? Its names: ls /dev/serial/by-id`;
  if (/permission denied/i.test(reason))
    return `${path}: permission denied; add the user to the group of the device: sudo usermod -aG dialout $USER, then log in again`;
  if (isBusy(reason)) return `${path}: in use by another process; find it with: fuser ${path}`;
  if (/inappropriate ioctl/i.test(reason)) return `${path}: not a serial port; check the path`;
  if (/input\/output error|no such device/i.test(reason))
    return `${path}: the device does not answer; unplug it and plug it in again`;
  return `${path}: cannot be opened: ${reason}`;
}

class SerialConnection implements PortConnection {
  readonly #device: Device;
  readonly #path: string;
  readonly #counts: PortCounts;
  readonly #ending = new Ending();
  readonly #outbox = new Outbox();
  readonly #buffer = new Uint8Array(READ_BYTES);
  #listener: ((bytes: Uint8Array) => void) | null = null;
  #waitingToWrite = false;
  #held = false;
  /** The operating system will say when there is something to read. */
  #listening = false;
  #closed: Promise<void> | null = null;

  constructor(device: Device, path: string, counts: PortCounts) {
    this.#device = device;
    this.#path = path;
    this.#counts = counts;
  }

  /** Reading starts here; until then the operating system keeps what arrives. */
  onData(listener: (bytes: Uint8Array) => void): void {
    const first = this.#listener === null;
    this.#listener = listener;
    if (first) this.#awaitInput();
  }

  onClose(listener: (reason: string) => void): void {
    this.#ending.onEnd(listener);
  }

  write(bytes: Uint8Array, options?: { ahead?: boolean }): boolean {
    if (this.#ending.reached) return false;
    if (options?.ahead === true) this.#counts.tx -= this.#outbox.supersede(bytes);
    else if (!this.#outbox.push(bytes)) return false;
    this.#counts.tx += bytes.length;
    if (!this.#waitingToWrite) this.#flush();
    return !this.#ending.reached;
  }

  hold(on: boolean): void {
    if (this.#held && !on) this.fetch();
    this.#held = on;
    if (!on && this.#listener !== null) this.#awaitInput();
  }

  fetch(): void {
    // What the system has announced already comes by that way.
    if (!this.#held || this.#listening || this.#listener === null) return;
    const bytes = this.#read();
    if (bytes !== null) this.#listener(bytes);
  }

  setDtr(on: boolean): void {
    if (!this.#ending.reached) void this.#device.set({ dtr: on, rts: true }).catch(() => {});
  }

  async discardInput(): Promise<void> {
    while (this.#read() !== null);
  }

  close(): Promise<void> {
    if (!this.#ending.reached) this.#flush();
    this.#end('closed');
    return this.#closed ?? Promise.resolve();
  }

  #awaitInput(): void {
    if (this.#ending.reached || this.#listening) return;
    this.#listening = true;
    this.#device.poller.once('readable', (error) => {
      this.#listening = false;
      if (this.#ending.reached) return;
      if (error !== null) return this.#end(`${this.#path}: disconnected (${error.message})`);
      const bytes = this.#read();
      // Listening goes on even if the listener throws: that is a defect of the listener, not of the line.
      if (!this.#held) this.#awaitInput();
      if (bytes !== null) this.#listener?.(bytes);
    });
  }

  /** What has arrived, or null. */
  #read(): Uint8Array | null {
    const { fd } = this.#device;
    if (fd === null || this.#ending.reached) return null;
    try {
      const count = readSync(fd, this.#buffer, 0, READ_BYTES, null);
      if (count === 0) this.#end(`${this.#path}: disconnected`);
      if (count === 0) return null;
      this.#counts.rx += count;
      return this.#buffer.slice(0, count);
    } catch (error) {
      if (!isWouldBlock(error))
        this.#end(`${this.#path}: disconnected (${errorCode(error) ?? String(error)})`);
      return null;
    }
  }

  /** Hands over what the operating system takes; the rest waits until it takes more. */
  #flush(): void {
    const { fd } = this.#device;
    for (let head = this.#outbox.head(); head !== null && fd !== null; head = this.#outbox.head()) {
      try {
        this.#outbox.sent(writeSync(fd, head));
      } catch (error) {
        if (isWouldBlock(error)) this.#awaitOutput();
        else this.#end(`${this.#path}: disconnected (${errorCode(error) ?? String(error)})`);
        return;
      }
    }
  }

  #awaitOutput(): void {
    this.#waitingToWrite = true;
    this.#device.poller.once('writable', (error) => {
      this.#waitingToWrite = false;
      if (this.#ending.reached) return;
      if (error !== null) return this.#end(`${this.#path}: disconnected (${error.message})`);
      this.#flush();
    });
  }

  #end(reason: string): void {
    // In this order: closing calls back into everything that waits for the device.
    if (!this.#ending.end(reason)) return;
    this.#closed = this.#device.close().catch(() => {});
  }
}

function isWouldBlock(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'EAGAIN' || code === 'EWOULDBLOCK' || code === 'EINTR';
}
