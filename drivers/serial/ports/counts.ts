/** Counting the bytes of a port over all its connections. */
import type { OpenPort, PortConnection, PortCounts } from '../../../config/contracts/port.js';

/** An `OpenPort` that counts what its connections carry. */
export type CountedOpenPort = OpenPort & { readonly counts: PortCounts };

/** Bytes kept between opening and the first listener; as much as a connection in memory keeps. */
const EARLY_LIMIT = 64 * 1024;

/** `open` itself when it counts already; otherwise `open` with counting connections. */
export function countPort(open: OpenPort): CountedOpenPort {
  if (isCounted(open)) return open;
  const counts: PortCounts = { rx: 0, tx: 0, opens: 0 };
  const counted: OpenPort = async (signal) => {
    const connection = await open(signal);
    counts.opens += 1;
    return new CountingConnection(connection, counts);
  };
  return Object.assign(counted, { counts });
}

function isCounted(open: OpenPort): open is CountedOpenPort {
  return 'counts' in open;
}

/** Listens from the start, so that bytes that are thrown away unread are counted too. */
class CountingConnection implements PortConnection {
  #listener: ((bytes: Uint8Array) => void) | null = null;
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  readonly #inner: PortConnection;
  readonly #counts: PortCounts;

  constructor(inner: PortConnection, counts: PortCounts) {
    this.#inner = inner;
    this.#counts = counts;
    inner.onData((bytes) => this.#received(bytes));
  }

  onData(listener: (bytes: Uint8Array) => void): void {
    this.#listener = listener;
    this.#earlyBytes = 0;
    for (const chunk of this.#early.splice(0)) listener(chunk);
  }

  onClose(listener: (reason: string) => void): void {
    this.#inner.onClose(listener);
  }

  write(bytes: Uint8Array, options?: { ahead?: boolean }): boolean {
    // Counted first: delivery in memory is synchronous, and the answer must not overtake the question.
    this.#counts.tx += bytes.length;
    const accepted = this.#inner.write(bytes, options);
    if (!accepted) this.#counts.tx -= bytes.length;
    return accepted;
  }

  async discardInput(): Promise<void> {
    await this.#inner.discardInput();
    this.#early = [];
    this.#earlyBytes = 0;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #received(bytes: Uint8Array): void {
    this.#counts.rx += bytes.length;
    if (this.#listener !== null) {
      this.#listener(bytes);
      return;
    }
    if (this.#earlyBytes + bytes.length > EARLY_LIMIT) return;
    this.#earlyBytes += bytes.length;
    this.#early.push(bytes);
  }
}
