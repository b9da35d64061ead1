/**
 * What ties a daemon of a test to the world, so that all of it can be cut at once, as when its process is killed:
 * nothing that is left of it in this process then hears, sends or does anything any more.
 */
import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { OpenPort, PortConnection } from '../../config/contracts/port.js';

export class Lifeline {
  #alive = true;
  readonly #closers = new Set<() => void>();

  get alive(): boolean {
    return this.#alive;
  }

  cut(): void {
    this.#alive = false;
    for (const close of this.#closers) close();
    this.#closers.clear();
  }

  /** The same ports; cut, they are closed for the device and mute for the one who opened them. */
  ports<N extends string>(openers: Readonly<Record<N, OpenPort>>): Record<N, OpenPort> {
    const wrapped: Partial<Record<N, OpenPort>> = {};
    for (const name of Object.keys(openers) as N[]) wrapped[name] = this.#port(openers[name]);
    return wrapped as Record<N, OpenPort>;
  }

  /** The same connection; cut, it breaks off without a farewell. */
  stream(stream: Duplex): Duplex {
    const close = () => stream.destroy();
    if (this.#alive) {
      this.#closers.add(close);
      stream.once('close', () => this.#closers.delete(close));
    } else close();
    return stream;
  }

  /** The same clock, whose timers do not fire once it is cut. */
  clock(inner: Clock): Clock {
    const living = (fn: () => void) => () => {
      if (this.#alive) fn();
    };
    const idle: CancelTimer = () => {};
    return {
      now: () => inner.now(),
      mono: () => inner.mono(),
      wall: () => inner.wall(),
      after: (ms, fn) => (this.#alive ? inner.after(ms, living(fn)) : idle),
      every: (ms, fn) => (this.#alive ? inner.every(ms, living(fn)) : idle),
    };
  }

  #port(open: OpenPort): OpenPort {
    return async (signal) => {
      if (!this.#alive) throw new Error('this process is gone');
      const inner = await open(signal);
      const connection = new TiedConnection(inner, () => this.#alive);
      this.#closers.add(() => void inner.close());
      return connection;
    };
  }
}

class TiedConnection implements PortConnection {
  readonly #inner: PortConnection;
  readonly #alive: () => boolean;

  constructor(inner: PortConnection, alive: () => boolean) {
    this.#inner = inner;
    this.#alive = alive;
  }

  onData(listener: (bytes: Uint8Array) => void): void {
    this.#inner.onData((bytes) => {
      if (this.#alive()) listener(bytes);
    });
  }

  onClose(listener: (reason: string) => void): void {
    this.#inner.onClose((reason) => {
      if (this.#alive()) listener(reason);
    });
  }

  write(bytes: Uint8Array, options?: { ahead?: boolean }): boolean {
    return this.#alive() && this.#inner.write(bytes, options);
  }

  discardInput(): Promise<void> {
    return this.#inner.discardInput();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
