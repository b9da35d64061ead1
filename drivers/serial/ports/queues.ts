/** Bounded buffers between a port and a driver. */

const LIMIT_BYTES = 64 * 1024;

/** Bytes on their way out. The first chunk may be partly sent; the others have not been begun. */
export class Outbox {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #begun = false;

  /** False when there is no room. */
  push(bytes: Uint8Array): boolean {
    if (this.#bytes + bytes.length > LIMIT_BYTES) return false;
    this.#chunks.push(bytes.slice());
    this.#bytes += bytes.length;
    return true;
  }

  /** Forgets what is not begun and puts `bytes` next; returns how many bytes were forgotten. */
  supersede(bytes: Uint8Array): number {
    const kept = this.#begun ? this.#chunks.slice(0, 1) : [];
    const keptBytes = kept[0]?.length ?? 0;
    const forgotten = this.#bytes - keptBytes;
    this.#chunks = [...kept, bytes.slice()];
    this.#bytes = keptBytes + bytes.length;
    return forgotten;
  }

  /** What is not begun, taken out of the queue. */
  takeRest(): Uint8Array[] {
    const rest = this.#chunks.splice(this.#begun ? 1 : 0);
    for (const chunk of rest) this.#bytes -= chunk.length;
    return rest;
  }

  /** What to send next, or null. */
  head(): Uint8Array | null {
    return this.#chunks[0] ?? null;
  }

  /** The head is in the hands of the operating system, as a whole or its first bytes. */
  begin(): void {
    this.#begun = true;
  }

  /** `count` bytes of the head are gone. */
  sent(count: number): void {
    const head = this.#chunks[0];
    if (head === undefined) return;
    this.#bytes -= count;
    this.#begun = count < head.length;
    if (count < head.length) this.#chunks[0] = head.subarray(count);
    else this.#chunks.shift();
  }
}

/** Bytes that came in, kept for the listener until there is one. */
export class Inbox {
  #listener: ((bytes: Uint8Array) => void) | null = null;
  #early: Uint8Array[] = [];
  #earlyBytes = 0;

  deliver(bytes: Uint8Array): void {
    if (this.#listener !== null) {
      this.#listener(bytes);
      return;
    }
    if (this.#earlyBytes + bytes.length > LIMIT_BYTES) return;
    this.#earlyBytes += bytes.length;
    this.#early.push(bytes);
  }

  onData(listener: (bytes: Uint8Array) => void): void {
    this.#listener = listener;
    this.#earlyBytes = 0;
    for (const chunk of this.#early.splice(0)) listener(chunk);
  }

  discard(): void {
    this.#early = [];
    this.#earlyBytes = 0;
  }
}

/** The end of a connection: the first reason counts, and the listener hears it once, however late it comes. */
export class Ending {
  #reason: string | null = null;
  #listener: ((reason: string) => void) | null = null;

  get reached(): boolean {
    return this.#reason !== null;
  }

  /** False when it had ended before. */
  end(reason: string): boolean {
    if (this.#reason !== null) return false;
    this.#reason = reason;
    this.#listener?.(reason);
    return true;
  }

  onEnd(listener: (reason: string) => void): void {
    this.#listener = listener;
    if (this.#reason !== null) listener(this.#reason);
  }
}
