/**
 * The simulator's side of a lock-step simulation (see `config/contracts/lockstep.ts`): it owns time, and lets
 * it pass only when every process has nothing left to do and every byte and message sent has arrived.
 */
import type { Server, Socket } from 'node:net';
import { z } from 'zod';
import type { Clock } from '../../config/contracts/clock.js';
import type { FromSimulator, ParticipantName, ToSimulator } from '../../config/contracts/lockstep.js';
import type { PortCounts } from '../../config/contracts/port.js';
import { closeServer, listenOn, onLines } from '../unix-socket.js';

/** One serial line as the simulator counts it. */
export interface Line {
  name: string;
  /** Bytes put on the line towards the host since it was last plugged in. */
  sent(): number;
  /** Bytes read from the host since it was last plugged in. */
  received(): number;
  /** Changes when the device is unplugged and when it is plugged in. */
  session(): number;
}

/** What lives in the simulator's own process: the broker, the built-in cloud. */
export interface LocalPart {
  /** Runs this part's timers up to `mono`. */
  advance(mono: number): Promise<void>;
  /** Deliveries not yet acknowledged. */
  busy(): number;
  /** Increases with everything that passes through. */
  activity(): number;
}

export interface LockstepOptions {
  socketPath: string;
  lines: readonly Line[];
  local: LocalPart;
  /** Robot time, epoch ms, and the mono time it belongs to. */
  time: () => { now: number; mono: number };
  /** The machine's clock; bounds how long a tick may take. */
  wall: Clock;
  /** A tick that does not settle within this many wall milliseconds goes on, and is counted. */
  patienceMs?: number;
  /** A process that does not answer for this many wall milliseconds hangs, and leaves the barrier. */
  answerMs?: number;
}

type Idle = Extract<ToSimulator, { t: 'idle' }>;

const counts = z.object({ rx: z.number(), tx: z.number(), opens: z.number() });
const messageSchema = z.discriminatedUnion('t', [
  z.object({ t: z.literal('hello'), name: z.enum(['rt', 'daemon']), pid: z.number() }),
  z.object({
    t: z.literal('idle'),
    tick: z.number(),
    work: z.number(),
    busy: z.number(),
    ports: z.record(z.string(), counts),
    links: z.record(z.string(), z.object({ sent: z.number(), received: z.number() })),
    nextDue: z.number().nullable(),
  }),
]);

/** Order within a tick: the motion process first, then the daemon, then what lives here. */
const ORDER: readonly ParticipantName[] = ['rt', 'daemon'];

/** How a host's count maps to ours: a port opened later has missed what was sent before. */
interface Baseline {
  opens: number;
  session: number;
  /** How often in a row it was found unchanged; it holds from `SURE` on, when nothing is on its way any more. */
  seen: number;
  sentMinusRx: number;
  txMinusReceived: number;
}

const SURE = 3;
/** How long `waitFor` waits before it looks at the time again, wall ms. */
const LOOK_MS = 50;

class Remote {
  idle: Idle | null = null;
  readonly baselines = new Map<string, Baseline>();
  #waiting: ((idle: Idle) => void) | null = null;

  constructor(
    readonly name: ParticipantName,
    readonly pid: number,
    readonly socket: Socket,
    readonly wall: Clock,
    readonly answerMs: number,
  ) {}

  send(message: FromSimulator): void {
    if (this.socket.writable) this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** Sends and waits for the answer; null when the process went away, or hangs and is cut off. */
  ask(message: FromSimulator): Promise<Idle | null> {
    return new Promise((resolve) => {
      const gone = () => done(null);
      const cancel = this.wall.after(this.answerMs, () => this.socket.destroy());
      const done = (idle: Idle | null) => {
        cancel();
        this.socket.off('close', gone);
        this.#waiting = null;
        resolve(idle);
      };
      if (this.socket.destroyed) return gone();
      this.#waiting = done;
      this.socket.once('close', gone);
      this.send(message);
    });
  }

  answered(idle: Idle): void {
    this.idle = idle;
    this.#waiting?.(idle);
  }
}

export class LockstepServer {
  /** Ticks that did not settle in time, and what was missing at the last of them. */
  unsettled = 0;
  lastUnsettled: string | null = null;

  readonly #options: LockstepOptions;
  readonly #remotes = new Map<ParticipantName, Remote>();
  readonly #arrivals = new Set<() => void>();
  #server: Server | null = null;
  #tick = 0;

  constructor(options: LockstepOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#server = await listenOn(this.#options.socketPath, (socket) => this.#serve(socket));
  }

  async stop(): Promise<void> {
    for (const remote of this.#remotes.values()) remote.socket.destroy();
    await closeServer(this.#server);
    this.#server = null;
  }

  /** Who takes part now. */
  present(): ParticipantName[] {
    return ORDER.filter((name) => this.#remotes.has(name));
  }

  /** Resolves when every named process has said hello; `false` when `wallMs` ran out first. */
  async waitFor(names: readonly ParticipantName[], wallMs: number): Promise<boolean> {
    const deadline = this.#options.wall.mono() + wallMs;
    while (!names.every((name) => this.#remotes.has(name))) {
      if (this.#options.wall.mono() >= deadline) return false;
      await this.#arrivalOr(LOOK_MS);
    }
    return true;
  }

  /** Lets everything settle without moving time: once before the first tick, and after a fault. */
  async settleNow(): Promise<void> {
    await this.#settle(true);
  }

  /** One tick: everybody advances to `mono`, in order, and everything they sent has arrived. */
  async advance(mono: number): Promise<void> {
    this.#tick += 1;
    const activity = this.#options.local.activity();
    for (const name of ORDER) {
      const remote = this.#remotes.get(name);
      if (remote === undefined) continue;
      await remote.ask({ t: 'advance', tick: this.#tick, mono, rx: this.#expected(remote) });
      await this.#settle(false);
    }
    await this.#options.local.advance(mono);
    if (this.#options.local.activity() !== activity || this.#options.local.busy() > 0)
      await this.#settle(true);
  }

  /** The robot's clock jumps, as when somebody sets it. */
  jump(deltaMs: number): void {
    for (const remote of this.#remotes.values()) remote.send({ t: 'jump', deltaMs });
  }

  #serve(socket: Socket): void {
    socket.setNoDelay(true);
    let remote: Remote | null = null;
    onLines(socket, (line) => {
      const message = parseMessage(line);
      if (message === null) return socket.destroy();
      if (message.t === 'idle') return remote?.answered(message);
      const { wall, answerMs = 30_000 } = this.#options;
      remote = new Remote(message.name, message.pid, socket, wall, answerMs);
      this.#remotes.set(message.name, remote);
      remote.send({ t: 'welcome', ...this.#options.time() });
      for (const arrived of this.#arrivals) arrived();
    });
    socket.on('close', () => {
      if (remote !== null && this.#remotes.get(remote.name) === remote) this.#remotes.delete(remote.name);
    });
  }

  /**
   * Polls until counts agree and nobody is busy; with `twice`, until two rounds in a row found the same work
   * done, because messages through the broker are in no count of the participants.
   */
  async #settle(twice: boolean): Promise<void> {
    const deadline = this.#options.wall.mono() + (this.#options.patienceMs ?? 5_000);
    let before = twice ? '' : this.#fingerprint();
    for (;;) {
      const missing = this.#missing();
      const fingerprint = this.#fingerprint();
      if (missing === null && fingerprint === before) return;
      if (this.#options.wall.mono() > deadline) {
        this.unsettled += 1;
        this.lastUnsettled = missing ?? 'work goes on without end';
        return;
      }
      before = fingerprint;
      await turn();
      for (const name of ORDER) await this.#remotes.get(name)?.ask({ t: 'poll', tick: this.#tick });
      await turn();
    }
  }

  #fingerprint(): string {
    const works = ORDER.map((name) => this.#remotes.get(name)?.idle?.work ?? -1);
    return `${works.join(',')},${this.#options.local.activity()}`;
  }

  /** What has not arrived yet, in words; null when everything has. */
  #missing(): string | null {
    if (this.#options.local.busy() > 0) return 'the broker waits for an acknowledgement';
    for (const remote of this.#remotes.values()) {
      if (remote.idle === null) return `${remote.name} has not reported yet`;
      if (remote.idle.busy > 0) return `${remote.name} has ${remote.idle.busy} jobs under way`;
      const port = this.#missingOnPorts(remote, remote.idle);
      if (port !== null) return port;
    }
    const rt = this.#remotes.get('rt')?.idle?.links.rt;
    const daemon = this.#remotes.get('daemon')?.idle?.links.rt;
    if (rt === undefined || daemon === undefined) return null;
    if (rt.sent !== daemon.received) return `daemon has ${daemon.received} of rt's ${rt.sent} messages`;
    if (daemon.sent !== rt.received) return `rt has ${rt.received} of the daemon's ${daemon.sent} messages`;
    return null;
  }

  #missingOnPorts(remote: Remote, idle: Idle): string | null {
    for (const line of this.#options.lines) {
      const host = idle.ports[line.name];
      if (host === undefined || host.opens === 0) continue;
      const baseline = remote.baselines.get(line.name);
      if (baseline === undefined || baseline.opens !== host.opens || baseline.seen < SURE) {
        remote.baselines.set(line.name, baselineNow(line, host, baseline));
        return `${line.name} was just opened`;
      }
      // Unplugged under the host: what was on its way is lost, and nothing is expected until it opens again.
      if (baseline.session !== line.session()) continue;
      if (line.sent() - host.rx !== baseline.sentMinusRx) {
        return `${remote.name} has ${host.rx} of ${line.sent() - baseline.sentMinusRx} bytes from ${line.name}`;
      }
      if (host.tx - line.received() !== baseline.txMinusReceived) {
        return `${line.name} has ${line.received()} of ${host.tx - baseline.txMinusReceived} bytes from ${remote.name}`;
      }
    }
    return null;
  }

  /** How many bytes each port of this process will have received once everything on the line has arrived. */
  #expected(remote: Remote): Record<string, number> {
    const rx: Record<string, number> = {};
    for (const line of this.#options.lines) {
      const host = remote.idle?.ports[line.name];
      const baseline = remote.baselines.get(line.name);
      if (host === undefined || baseline === undefined || host.opens !== baseline.opens) continue;
      if (baseline.session !== line.session() || baseline.seen < SURE) continue;
      rx[line.name] = line.sent() - baseline.sentMinusRx;
    }
    return rx;
  }

  #arrivalOr(wallMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#arrivals.delete(done);
        resolve();
      };
      const cancel = this.#options.wall.after(wallMs, done);
      this.#arrivals.add(done);
    });
  }
}

function baselineNow(line: Line, host: PortCounts, before: Baseline | undefined): Baseline {
  const found = {
    opens: host.opens,
    session: line.session(),
    sentMinusRx: line.sent() - host.rx,
    txMinusReceived: host.tx - line.received(),
  };
  const same =
    before !== undefined &&
    before.opens === found.opens &&
    before.session === found.session &&
    before.sentMinusRx === found.sentMinusRx &&
    before.txMinusReceived === found.txMinusReceived;
  return { ...found, seen: same ? before.seen + 1 : 0 };
}

function parseMessage(line: string): ToSimulator | null {
  try {
    const parsed = messageSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** One turn of the event loop, so that sockets and PTYs of this process are read. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
