/**
 * What every serial driver does alike: open its port, notice that the device fell silent or was unplugged,
 * reopen with back-off, count, and stop.
 */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { OpenPort, PortConnection, PortCounts } from '../../config/contracts/port.js';
import { type BackoffOptions, backoffDelay, DEFAULT_BACKOFF } from './backoff.js';
import { type CountedOpenPort, countPort } from './ports/counts.js';
import type { HeldDriver, LinkChange } from './types.js';

export type DriverLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  data?: Record<string, unknown>,
) => void;

/** What every serial driver is given. */
export interface SerialDriverOptions {
  open: OpenPort;
  clock: Clock;
  /** 0 ≤ x < 1. */
  random: () => number;
  /** Stands in log lines and link reasons. */
  name?: string;
  log?: DriverLog;
  backoff?: Partial<BackoffOptions>;
}

/** What a kind of device asks of the base class. */
export interface DeviceTraits {
  name: string;
  /** Without a valid frame for this long the device counts as gone, ms. */
  silenceMs: number;
  /** After this many silences in a row the port is closed and opened again. */
  silencesBeforeReopen: number;
  /** Counters of the driver; reported as 0 until something is counted. */
  counters: readonly string[];
}

type State =
  | { at: 'idle' }
  | { at: 'opening'; abort: AbortController }
  | { at: 'open'; connection: PortConnection; since: number }
  | { at: 'waiting'; cancel: CancelTimer };

const OPEN_TIMEOUT_MS = 5000;
const CLOSE_TIMEOUT_MS = 1000;
/** Some frames of every device. */
const UNKNOWN_BYTES = 2048;
/** A connection that lasted this long starts the back-off anew. */
const STABLE_MS = 5000;

export abstract class SerialDriverBase implements HeldDriver {
  protected readonly clock: Clock;
  protected readonly random: () => number;
  protected readonly name: string;
  protected readonly log: DriverLog;
  readonly #open: CountedOpenPort;
  readonly #backoff: BackoffOptions;
  readonly #traits: DeviceTraits;
  readonly #counters: Record<string, number>;
  readonly #linkListeners: ((change: LinkChange) => void)[] = [];
  #state: State = { at: 'idle' };
  #link: LinkChange = { connected: false, reason: 'not started' };
  #clearing = false;
  #failures = 0;
  #lastHeard = Number.NEGATIVE_INFINITY;
  #silences = 0;
  #cancelWatch: CancelTimer = () => {};
  #held = false;
  /** The newest bytes while nothing on the line makes sense. */
  #unknown: Uint8Array[] = [];
  #unknownBytes = 0;

  protected constructor(options: SerialDriverOptions, traits: DeviceTraits) {
    this.clock = options.clock;
    this.random = options.random;
    this.name = options.name ?? traits.name;
    this.log = options.log ?? (() => {});
    this.#open = countPort(options.open);
    this.#backoff = { ...DEFAULT_BACKOFF, ...options.backoff };
    this.#traits = traits;
    this.#counters = { opens: 0, open_failures: 0, reconnects: 0, silences: 0, writes_refused: 0 };
    for (const name of traits.counters) this.#counters[name] = 0;
  }

  /** The port was opened and nothing was read yet: what has to be sent before all else. */
  protected beforeInput(): void {}
  /** Stale input is gone and bytes are being read. */
  protected abstract onOpen(): void;
  protected abstract onBytes(bytes: Uint8Array): void;
  /** The connection is gone; nothing can be sent. Called once for each `onOpen`. */
  protected abstract onClosed(): void;
  /** No valid frame for `silenceMs`, for the `nth` time in a row. */
  protected onSilent(_nth: number): void {}
  /** `stop()` was called and the port is still open. */
  protected beforeStop(): void {}

  start(): void {
    if (this.#state.at === 'idle') this.#tryOpen();
  }

  async stop(): Promise<void> {
    const state = this.#state;
    if (state.at === 'open') this.beforeStop();
    this.#state = { at: 'idle' };
    this.#cancelWatch();
    if (state.at === 'opening') state.abort.abort(new Error(`${this.name}: stopped`));
    if (state.at === 'waiting') state.cancel();
    if (state.at === 'open') {
      this.onClosed();
      await this.#closeWithin(state.connection, CLOSE_TIMEOUT_MS);
    }
    this.#setLink(false, 'stopped');
  }

  /** True while the port is open and the device on it makes sense: its last valid frame is recent. */
  get connected(): boolean {
    return this.#link.connected;
  }

  /** True while the port is being opened, or thrown clear of stale input: work outside the event loop. */
  get opening(): boolean {
    return this.#state.at === 'opening' || this.#clearing;
  }

  /** Calls `listener` for each change, and when the reason for being away changes. */
  onLink(listener: (change: LinkChange) => void): void {
    this.#linkListeners.push(listener);
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  get link(): LinkChange {
    return { ...this.#link };
  }

  /** What came in lately while nothing made sense, for whoever looks for the reason; a bounded piece of it. */
  unknownBytes(): Uint8Array {
    return Buffer.concat(this.#unknown);
  }

  /** See `PortConnection.hold`; goes for later connections as well. */
  hold(on: boolean): void {
    if (on === this.#held) return;
    this.#held = on;
    if (this.#state.at === 'open') this.#state.connection.hold?.(on);
  }

  fetch(): void {
    if (this.#held && this.#state.at === 'open') this.#state.connection.fetch?.();
  }

  portCounts(): PortCounts {
    return { ...this.#open.counts };
  }

  protected get portOpen(): boolean {
    return this.#state.at === 'open';
  }

  /** Hands bytes to the port; false, and counted, when they cannot go out. */
  protected send(bytes: Uint8Array, options?: { ahead?: boolean }): boolean {
    const accepted = this.#state.at === 'open' && this.#state.connection.write(bytes, options);
    if (!accepted) this.count('writes_refused');
    return accepted;
  }

  /** Sets the DTR line, where the port has one. */
  protected setDtr(on: boolean): void {
    if (this.#state.at === 'open') this.#state.connection.setDtr?.(on);
  }

  /** A valid frame came in. */
  protected heard(): void {
    this.#lastHeard = this.clock.mono();
    this.#silences = 0;
    if (!this.#link.connected && this.#state.at === 'open') this.#setLink(true, 'answers');
  }

  protected count(name: string, by = 1): void {
    this.#counters[name] = (this.#counters[name] ?? 0) + by;
  }

  /** Closes the port and opens it again after the back-off. */
  protected reopen(reason: string): void {
    if (this.#state.at !== 'open') return;
    const { connection } = this.#state;
    this.#lost(connection, reason);
    void connection.close();
  }

  /** A device that hangs must not keep the process from ending. */
  #closeWithin(connection: PortConnection, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.clock.after(ms, resolve);
      void connection.close().finally(() => {
        cancel();
        resolve();
      });
    });
  }

  #tryOpen(): void {
    const abort = new AbortController();
    this.#state = { at: 'opening', abort };
    const cancel = this.clock.after(OPEN_TIMEOUT_MS, () =>
      abort.abort(new Error(`${this.name}: the port did not open within ${OPEN_TIMEOUT_MS} ms`)),
    );
    openUnless(this.#open, abort.signal)
      .then(
        (connection) => this.#opened(connection, abort),
        (error: unknown) => this.#openFailed(error, abort),
      )
      .finally(cancel);
  }

  async #opened(connection: PortConnection, abort: AbortController): Promise<void> {
    if (this.#state.at !== 'opening' || this.#state.abort !== abort) return connection.close();
    this.#state = { at: 'open', connection, since: this.clock.mono() };
    connection.onClose((reason) => this.#lost(connection, reason));
    if (!this.#isCurrent(connection)) return;
    if (this.#counters.opens) this.count('reconnects');
    this.count('opens');
    this.beforeInput();
    this.#clearing = true;
    await connection.discardInput();
    this.#clearing = false;
    if (!this.#isCurrent(connection)) return;
    this.#silences = 0;
    this.#watchSilence(this.#traits.silenceMs);
    this.onOpen();
    if (this.#held) connection.hold?.(true);
    connection.onData((bytes) => {
      if (!this.#isCurrent(connection)) return;
      this.onBytes(bytes);
      if (!this.#link.connected) this.#keepUnknown(bytes);
    });
  }

  #openFailed(error: unknown, abort: AbortController): void {
    if (this.#state.at !== 'opening' || this.#state.abort !== abort) return;
    this.count('open_failures');
    this.#retryLater(errorText(error));
  }

  #keepUnknown(bytes: Uint8Array): void {
    this.#unknown.push(bytes.slice(0, UNKNOWN_BYTES));
    this.#unknownBytes += Math.min(bytes.length, UNKNOWN_BYTES);
    while (this.#unknownBytes > UNKNOWN_BYTES && this.#unknown.length > 1) {
      this.#unknownBytes -= this.#unknown.shift()?.length ?? 0;
    }
  }

  #isCurrent(connection: PortConnection): boolean {
    return this.#state.at === 'open' && this.#state.connection === connection;
  }

  #lost(connection: PortConnection, reason: string): void {
    if (this.#state.at !== 'open' || this.#state.connection !== connection) return;
    if (this.clock.mono() - this.#state.since >= STABLE_MS) this.#failures = 0;
    this.#cancelWatch();
    this.#retryLater(reason);
    this.onClosed();
  }

  #retryLater(reason: string): void {
    this.#failures += 1;
    const ms = backoffDelay(this.#failures, this.#backoff, this.random);
    this.#state = { at: 'waiting', cancel: this.clock.after(ms, () => this.#tryOpen()) };
    this.#setLink(false, reason);
  }

  #watchSilence(ms: number): void {
    this.#cancelWatch = this.clock.after(ms, () => {
      if (this.#state.at !== 'open') return;
      const { silenceMs, silencesBeforeReopen } = this.#traits;
      const quiet = this.clock.mono() - Math.max(this.#lastHeard, this.#state.since);
      if (quiet < silenceMs) return this.#watchSilence(silenceMs - quiet);
      this.#silences += 1;
      this.count('silences');
      this.#setLink(false, `nothing valid received for ${silenceMs} ms`);
      if (this.#silences >= silencesBeforeReopen) return this.reopen('silent; opening the port anew');
      this.#watchSilence(silenceMs);
      this.onSilent(this.#silences);
    });
  }

  #setLink(connected: boolean, reason: string): void {
    const before = this.#link;
    if (before.connected === connected && before.reason === reason) return;
    if (connected) {
      this.#unknown = [];
      this.#unknownBytes = 0;
    }
    this.#link = { connected, reason };
    this.log(
      connected ? 'info' : 'warn',
      `${this.name}: ${connected ? 'connected' : 'not connected'}: ${reason}`,
    );
    for (const listener of this.#linkListeners) listener({ connected, reason });
  }
}

/** Opens the port; rejects when the signal aborts first, and then closes a connection that comes too late. */
function openUnless(open: OpenPort, signal: AbortSignal): Promise<PortConnection> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    open(signal).then(
      (connection) => {
        signal.removeEventListener('abort', onAbort);
        if (signal.aborted) void connection.close();
        else resolve(connection);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}
