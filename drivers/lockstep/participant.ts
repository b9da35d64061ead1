/**
 * A process's side of a lock-step simulation (`config/contracts/lockstep.ts`): it gets its clock from the
 * simulator, fires its timers when told to, and says when it has nothing left to do. The daemon and the motion
 * process use it when `DEVICEAGENT_LOCKSTEP` is set; a real robot never does.
 */
import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import {
  type FromSimulator,
  LOCKSTEP_ENV,
  type ParticipantName,
  type ToSimulator,
} from '../../config/contracts/lockstep.js';
import type { PortCounts } from '../../config/contracts/port.js';
import { SimClock, settle } from '../../config/contracts/sim-clock.js';
import { lineSplitter } from '../line-splitter.js';

/** What the process knows about itself; set with `watch` once it is assembled. Until then it counts as busy. */
export interface ParticipantSources {
  ports(): Record<string, PortCounts>;
  links(): Record<string, { sent: number; received: number }>;
  /** Jobs outside the event loop: worker threads, files, unacknowledged publishes. */
  busy(): number;
}

export interface ParticipantOptions {
  socketPath: string;
  name: ParticipantName;
  pid: number;
  /** The wall clock, epoch ms, from the entry point of the process. */
  wall: () => number;
  /** The simulator is gone: time will never pass again, so the process has to end safely. */
  onLost: (reason: string) => void;
}

/** Longest message of the simulator, characters; it names a handful of ports. */
const MAX_LINE = 4096;
/** How long an `advance` waits for the bytes that were announced, wall ms. */
const BYTES_MS = 250;
/** How long the process may go on finding work before it reports all the same, wall ms. */
const QUIET_MS = 2_000;
/** Turns of the event loop without anything done that count as quiet. */
const QUIET_TURNS = 2;

const messageSchema = z.discriminatedUnion('t', [
  z.object({ t: z.literal('welcome'), now: z.number(), mono: z.number() }),
  z.object({
    t: z.literal('advance'),
    tick: z.number(),
    mono: z.number(),
    rx: z.record(z.string(), z.number()),
  }),
  z.object({ t: z.literal('poll'), tick: z.number() }),
  z.object({ t: z.literal('jump'), deltaMs: z.number() }),
]) satisfies z.ZodType<FromSimulator>;

/** A process that is still being put together has nothing to show and is busy. */
const STARTING: ParticipantSources = { ports: () => ({}), links: () => ({}), busy: () => 1 };

export class LockstepParticipant {
  readonly clock: SimClock;
  readonly #options: ParticipantOptions;
  readonly #socket: Socket;
  /** The simulator's `mono` at the origin of `clock`. */
  readonly #origin: number;
  #sources = STARTING;
  /** Timers fired, and the start. */
  #done = 0;
  #queue: Promise<void> = Promise.resolve();

  private constructor(options: ParticipantOptions, socket: Socket, now: number, mono: number) {
    this.#options = options;
    this.#socket = socket;
    this.#origin = mono;
    this.clock = new SimClock(now, options.wall);
  }

  /** As `join`, on the socket that the environment names; null where it names none: a real robot. */
  static async joinFrom(
    env: NodeJS.ProcessEnv,
    options: Omit<ParticipantOptions, 'socketPath'>,
  ): Promise<LockstepParticipant | null> {
    const socketPath = env[LOCKSTEP_ENV];
    if (socketPath === undefined || socketPath === '') return null;
    return LockstepParticipant.join({ ...options, socketPath });
  }

  /** Says hello and waits for the time. Rejects when nobody listens on the socket. */
  static join(options: ParticipantOptions): Promise<LockstepParticipant> {
    return new Promise((resolve, fail) => {
      const socket = connect(options.socketPath);
      let participant: LockstepParticipant | null = null;
      const reject = () => socket.destroy(new Error('the simulator sent something else than JSON lines'));
      const onLine = (line: string) => {
        const message = parse(line);
        if (message === null) reject();
        else if (participant !== null) participant.#receive(message);
        else if (message.t === 'welcome') {
          participant = new LockstepParticipant(options, socket, message.now, message.mono);
          resolve(participant);
        }
      };
      const take = lineSplitter(MAX_LINE, onLine, reject);
      socket.setNoDelay(true);
      socket.setEncoding('utf8');
      socket.on('connect', () => write(socket, { t: 'hello', name: options.name, pid: options.pid }));
      socket.on('data', (text: string) => take(text));
      let why = 'the simulator closed the lock-step socket';
      socket.on('error', (error) => {
        why = error.message;
      });
      socket.on('close', () => {
        if (participant === null) fail(new Error(`lock-step: ${options.socketPath}: ${why}`));
        else options.onLost(why);
      });
    });
  }

  /** The process is put together: from here on its sources say whether it is busy. */
  watch(sources: ParticipantSources): void {
    this.#sources = sources;
    this.#done += 1;
  }

  /** Leaves the barrier; for a process that ends in an orderly way. */
  leave(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.end();
  }

  #receive(message: FromSimulator): void {
    this.#queue = this.#queue.then(() => this.#obey(message));
  }

  async #obey(message: FromSimulator): Promise<void> {
    switch (message.t) {
      case 'advance':
        await this.#awaitBytes(message.rx);
        await this.#fireTimers(message.mono - this.#origin);
        await this.#report(message.tick);
        return;
      case 'poll':
        await this.#report(message.tick);
        return;
      case 'jump':
        this.clock.jump(message.deltaMs);
        return;
      case 'welcome':
        return;
    }
  }

  async #awaitBytes(expected: Record<string, number>): Promise<void> {
    const names = Object.keys(expected);
    const missing = () => {
      const ports = this.#sources.ports();
      return names.some((name) => (ports[name]?.rx ?? 0) < (expected[name] ?? 0));
    };
    const deadline = this.#options.wall() + BYTES_MS;
    while (missing() && this.#options.wall() < deadline) await settle(1);
  }

  /** Timer by timer, each with the promises and immediates it sets off. */
  async #fireTimers(targetMono: number): Promise<void> {
    while (this.clock.fireNext(targetMono)) {
      this.#done += 1;
      await settle(QUIET_TURNS);
    }
    this.clock.advance(Math.max(0, targetMono - this.clock.mono()));
  }

  async #report(tick: number): Promise<void> {
    const deadline = this.#options.wall() + QUIET_MS;
    let work = this.#work();
    for (;;) {
      await settle(QUIET_TURNS);
      const now = this.#work();
      if (now === work || this.#options.wall() > deadline) break;
      work = now;
    }
    const due = this.clock.nextDue();
    write(this.#socket, {
      t: 'idle',
      tick,
      work,
      busy: this.#sources.busy(),
      ports: this.#sources.ports(),
      links: this.#sources.links(),
      nextDue: due === null ? null : due + this.#origin,
    });
  }

  /** A number that has grown if anything at all was done. */
  #work(): number {
    let work = this.#done;
    for (const { rx, tx, opens } of Object.values(this.#sources.ports())) work += rx + tx + opens;
    for (const { sent, received } of Object.values(this.#sources.links())) work += sent + received;
    return work;
  }
}

function write(socket: Socket, message: ToSimulator): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

function parse(line: string): FromSimulator | null {
  try {
    const parsed = messageSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
