/**
 * A byte port as a function. A UART, a PTY, a TCP socket and a device in the same process look alike to a
 * driver: it calls `OpenPort`, gets a connection, and calls it again after the connection closed.
 */

export interface PortConnection {
  /** Sets the one listener for incoming bytes. Bytes that arrive before it is set are kept (bounded). */
  onData(listener: (bytes: Uint8Array) => void): void;
  /** Called exactly once, whoever closed it; `reason` is for a log line. */
  onClose(listener: (reason: string) => void): void;
  /**
   * Queues bytes for sending; never waits. False when the port is closed or its queue (64 KiB) is full. With
   * `ahead` they go out next, and what was queued before and not yet begun is forgotten: stop bytes must
   * neither wait behind a drive command nor be followed by a stale one.
   */
  write(bytes: Uint8Array, options?: { ahead?: boolean }): boolean;
  /**
   * While held, bytes are delivered only when they are fetched: a robot with nothing to do need not wake for each.
   * Released, as at the start, they are delivered as they come. A port that cannot be held leaves both out.
   */
  hold?(on: boolean): void;
  /** Delivers what has arrived at a held port. */
  fetch?(): void;
  /**
   * Sets the DTR line, to which some devices wire their motor. A port without such a line leaves it out; failures are
   * silent, because a pseudo-terminal has none either.
   */
  setDtr?(on: boolean): void;
  /** Throws away what has arrived and was not yet delivered: stale bytes of a port nobody was reading. */
  discardInput(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the port, or rejects with an Error whose message names the port and says what to check. */
export type OpenPort = (signal?: AbortSignal) => Promise<PortConnection>;

/** Bytes a port has carried since the process started; a lock-step simulation compares them with its own. */
export interface PortCounts {
  rx: number;
  tx: number;
  /** How often the port was opened; what arrived while it was closed is in no count. */
  opens: number;
}

const EARLY_LIMIT = 64 * 1024;

/** The device's end of a line in memory. */
export interface MemoryDeviceEnd {
  /** Sends to the host; dropped when nobody has the port open, as on a real UART. */
  write(bytes: Uint8Array): void;
  onData(listener: (bytes: Uint8Array) => void): void;
  /** Pulls the plug: the host's connection closes and opening fails until `plug()`. */
  unplug(): void;
  plug(): void;
  readonly hostConnected: boolean;
}

/**
 * A serial line in memory: `open` for the host, `device` for the other end. Delivery is synchronous. One host
 * connection at a time, as with an exclusively opened serial port.
 */
export function memoryLine(name: string): { open: OpenPort; device: MemoryDeviceEnd } {
  let plugged = true;
  let host: MemoryConnection | null = null;
  let toDevice: (bytes: Uint8Array) => void = () => {};
  const device: MemoryDeviceEnd = {
    write: (bytes) => host?.deliver(bytes),
    onData: (listener) => {
      toDevice = listener;
    },
    unplug: () => {
      plugged = false;
      host?.end('unplugged');
    },
    plug: () => {
      plugged = true;
    },
    get hostConnected() {
      return host !== null;
    },
  };
  const open: OpenPort = async () => {
    if (!plugged) throw new Error(`${name}: no such device; is it plugged in?`);
    if (host !== null) throw new Error(`${name}: already open; is another process using it?`);
    const connection = new MemoryConnection(
      (bytes) => toDevice(bytes),
      () => {
        if (host === connection) host = null;
      },
    );
    host = connection;
    return connection;
  };
  return { open, device };
}

class MemoryConnection implements PortConnection {
  #listener: ((bytes: Uint8Array) => void) | null = null;
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  #closed: string | null = null;
  #onClose: ((reason: string) => void) | null = null;
  readonly #send: (bytes: Uint8Array) => void;
  readonly #ended: () => void;

  constructor(send: (bytes: Uint8Array) => void, ended: () => void) {
    this.#send = send;
    this.#ended = ended;
  }

  deliver(bytes: Uint8Array): void {
    if (this.#closed !== null) return;
    if (this.#listener !== null) {
      this.#listener(bytes.slice());
      return;
    }
    if (this.#earlyBytes + bytes.length > EARLY_LIMIT) return;
    this.#earlyBytes += bytes.length;
    this.#early.push(bytes.slice());
  }

  onData(listener: (bytes: Uint8Array) => void): void {
    this.#listener = listener;
    for (const chunk of this.#early.splice(0)) listener(chunk);
    this.#earlyBytes = 0;
  }

  onClose(listener: (reason: string) => void): void {
    this.#onClose = listener;
    if (this.#closed !== null) listener(this.#closed);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#closed !== null) return false;
    this.#send(bytes.slice());
    return true;
  }

  async discardInput(): Promise<void> {
    this.#early = [];
    this.#earlyBytes = 0;
  }

  async close(): Promise<void> {
    this.end('closed');
  }

  end(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#ended();
    this.#onClose?.(reason);
  }
}
