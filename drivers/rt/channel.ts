/**
 * Both ends of the channel between the daemon and the motion process: over the IPC pipe of a child process, or
 * within one process. Message types are in `config/contracts/rt-protocol.ts`.
 */
import type { DaemonToRt, RtChannel, RtToDaemon } from '../../config/contracts/rt-protocol.js';

export type DaemonEnd = RtChannel<DaemonToRt, RtToDaemon>;
export type RtEnd = RtChannel<RtToDaemon, DaemonToRt>;

/** Messages a channel has carried; a lock-step simulation compares both ends. */
export interface LinkCounts {
  sent: number;
  received: number;
}

/** Messages kept for a listener that is not there yet. */
const EARLY_LIMIT = 256;

/**
 * A channel within one process. A message is copied, as it would be on its way to another process, and delivered
 * before `send` returns; one that is sent while another is being delivered waits for it, so that order is kept
 * and nobody is called in the middle of his own work.
 */
export function memoryChannel(): { daemon: DaemonEnd; rt: RtEnd } {
  const daemon = new MemoryEnd<DaemonToRt, RtToDaemon>();
  const rt = new MemoryEnd<RtToDaemon, DaemonToRt>();
  daemon.join(rt);
  rt.join(daemon);
  return { daemon, rt };
}

class MemoryEnd<Out, In> implements RtChannel<Out, In> {
  #peer: MemoryEnd<In, Out> | null = null;
  #listener: ((message: In) => void) | null = null;
  #onClose: ((reason: string) => void) | null = null;
  #closed: string | null = null;
  readonly #queue: In[] = [];
  #delivering = false;

  join(peer: MemoryEnd<In, Out>): void {
    this.#peer = peer;
  }

  send(message: Out): void {
    if (this.#closed === null) this.#peer?.receive(structuredClone(message));
  }

  onMessage(listener: (message: In) => void): void {
    this.#listener = listener;
    this.#deliver();
  }

  onClose(listener: (reason: string) => void): void {
    this.#onClose = listener;
    if (this.#closed !== null) listener(this.#closed);
  }

  close(): void {
    this.ended('closed here');
    this.#peer?.ended('closed by the other side');
  }

  receive(message: In): void {
    if (this.#closed !== null) return;
    if (this.#listener === null && this.#queue.length >= EARLY_LIMIT) return;
    this.#queue.push(message);
    this.#deliver();
  }

  #deliver(): void {
    if (this.#delivering || this.#listener === null) return;
    this.#delivering = true;
    try {
      for (let message = this.#queue.shift(); message !== undefined; message = this.#queue.shift()) {
        this.#listener(message);
      }
    } finally {
      this.#delivering = false;
    }
  }

  ended(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#queue.length = 0;
    this.#onClose?.(reason);
  }
}

/** What both a forked child and the child's own `process` offer. */
export interface IpcEnd {
  readonly connected: boolean;
  send?(message: object, handle: undefined, options: object, sent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  disconnect?(): void;
}

/** Beyond this many messages that the other side has not taken, those that the next one replaces are dropped. */
const BACKLOG_TELEMETRY = 32;
/** Beyond this many everything is: the other side is as good as dead, and its heartbeat says so. */
const BACKLOG_LIMIT = 1024;

export interface IpcChannelOptions<Out> {
  /** True for messages that a later one of the same kind replaces. */
  replaceable: (message: Out) => boolean;
  counts?: LinkCounts;
}

/** A channel over Node's IPC pipe. A peer that stops reading costs bounded memory. */
export class IpcChannel<Out extends object, In> implements RtChannel<Out, In> {
  /** Messages that were not sent because the other side did not take them. */
  dropped = 0;
  readonly #end: IpcEnd;
  readonly #options: IpcChannelOptions<Out>;
  #backlog = 0;
  #closed: string | null = null;
  #onClose: ((reason: string) => void) | null = null;

  constructor(end: IpcEnd, options: IpcChannelOptions<Out>) {
    this.#end = end;
    this.#options = options;
    end.on('disconnect', () => this.#ended('the channel to the other process closed'));
    if (!end.connected) this.#ended('the channel to the other process was closed before it was used');
  }

  send(message: Out): void {
    if (this.#closed !== null || !this.#end.connected) return;
    const limit = this.#options.replaceable(message) ? BACKLOG_TELEMETRY : BACKLOG_LIMIT;
    if (this.#backlog >= limit) {
      this.dropped += 1;
      return;
    }
    this.#backlog += 1;
    if (this.#options.counts !== undefined) this.#options.counts.sent += 1;
    this.#end.send?.(message, undefined, {}, (error) => {
      this.#backlog -= 1;
      if (error !== null) this.#ended(error.message);
    });
  }

  /** The other end is trusted to be this program; whoever takes commands from it validates them all the same. */
  onMessage(listener: (message: In) => void): void {
    this.#end.on('message', (message) => {
      if (this.#options.counts !== undefined) this.#options.counts.received += 1;
      listener(message as In);
    });
  }

  onClose(listener: (reason: string) => void): void {
    this.#onClose = listener;
    if (this.#closed !== null) listener(this.#closed);
  }

  close(): void {
    if (this.#end.connected) this.#end.disconnect?.();
    this.#ended('closed here');
  }

  #ended(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#onClose?.(reason);
  }
}

/** Of the messages from the motion process, the ones that the next of their kind replaces. */
export function isReplaceable(message: RtToDaemon): boolean {
  return message.t === 'view' || (message.t === 'event' && message.event.type === 'state');
}
