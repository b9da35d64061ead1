/**
 * A `RosPort` over rclnodejs in a forked child. The child is supervised: it must say that it is ready in time, and one
 * that dies is started again with back-off, and told again what is advertised and listened to.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { entryPath } from '../../../config/contracts/entry.js';
import { PortCore } from '../port-core.js';
import {
  type CallOptions,
  type GoalOptions,
  type LinkState,
  PORT_LIMITS,
  type Publisher,
  type QosProfile,
  RosError,
  type RosGoal,
  type RosPort,
  type RosType,
} from '../types.js';
import { probeRclnodejs, type RclEnvironment } from './environment.js';
import { type FromChild, fromChildSchema, type ToChild } from './ipc.js';

export interface RclPortOptions {
  /** The robot's clock, for time-outs of calls; the machine's, for the life of the child. */
  clock: Clock;
  machineClock: Clock;
  random: () => number;
  log: (level: 'info' | 'warn', message: string) => void;
  domainId: number;
  /** Its last part names the node. */
  node: string;
  /** What stands for it in tests; default: the environment of this process. */
  probe?: () => RclEnvironment;
  /** Path of the child's program; default: the one beside this file. */
  entry?: string;
}

const START_MS = 20_000;
const FIRST_BACKOFF_MS = 500;
const LAST_BACKOFF_MS = 30_000;
/** Messages that the child has not taken; more are dropped. */
const BACKLOG = 256;

interface Advertised {
  topic: string;
  type: string;
  qos: QosProfile;
}

export class RclPort implements RosPort {
  readonly kind = 'rclnodejs';
  readonly #options: RclPortOptions;
  readonly #core: PortCore;
  readonly #advertised = new Map<string, Advertised>();
  #child: ChildProcess | null = null;
  #ready = false;
  #backlog = 0;
  #failures = 0;
  #restarts = 0;
  #closed = false;
  #cancelTimer: CancelTimer = () => {};

  constructor(options: RclPortOptions) {
    this.#options = options;
    this.#core = new PortCore(options.clock);
  }

  start(): void {
    if (this.#closed || this.#child !== null) return;
    const {
      probe = () => probeRclnodejs({ env: process.env }),
      node,
      domainId,
      machineClock,
    } = this.#options;
    const found = probe();
    if (!found.ok) {
      this.#core.count.connect_failures += 1;
      if (this.#failures === 0) this.#options.log('warn', `rclnodejs cannot be used: ${found.why}`);
      this.#retry();
      return;
    }
    const entry = this.#options.entry ?? entryPath(import.meta.url, './child.js');
    const child = fork(entry, [found.module, node.split('/').at(-1) ?? 'deviceagent'], {
      env: { ...process.env, ROS_DOMAIN_ID: String(domainId) },
      serialization: 'advanced',
    });
    this.#child = child;
    this.#backlog = 0;
    child.on('message', (raw) => {
      if (this.#child === child) this.#take(raw);
    });
    child.once('exit', (code, signal) => this.#died(child, signal ?? `exit code ${code}`));
    child.once('error', (error) => this.#died(child, error.message));
    this.#cancelTimer = machineClock.after(START_MS, () => {
      this.#options.log('warn', `rclnodejs was not ready within ${START_MS / 1000} s`);
      child.kill('SIGKILL');
    });
  }

  get connected(): boolean {
    return this.#ready;
  }

  get opening(): boolean {
    return this.#child !== null && !this.#ready;
  }

  onLink(listener: (change: LinkState) => void): void {
    this.#core.onLink(listener);
  }

  advertise(topic: string, type: string, qos: QosProfile): Publisher {
    if (this.#advertised.size >= PORT_LIMITS.topics) {
      throw new RosError('busy', `${topic}: ${PORT_LIMITS.topics} topics are advertised already`);
    }
    const id = this.#core.nextId('advertise');
    this.#advertised.set(id, { topic, type, qos });
    this.#send({ op: 'advertise', id, topic, type, qos });
    return {
      publish: (message) => {
        const sent = this.#advertised.has(id) && this.#send({ op: 'publish', id, message: { ...message } });
        if (sent) this.#core.count.published += 1;
        else this.#core.count.publish_dropped += 1;
        return sent;
      },
      close: () => {
        if (this.#advertised.delete(id)) this.#send({ op: 'unadvertise', id });
      },
    };
  }

  subscribe<T>(topic: string, type: RosType<T>, qos: QosProfile, listener: (message: T) => void): () => void {
    const subscription = this.#core.addSubscription(topic, type, qos, listener);
    const { id } = subscription;
    this.#send({ op: 'subscribe', id, topic, type: type.name, qos });
    return () => {
      this.#core.removeSubscription(subscription);
      this.#send({ op: 'unsubscribe', id });
    };
  }

  call<R>(options: CallOptions<R>): Promise<R> {
    const { service, type, request, timeoutMs } = options;
    return this.#core.call(options, (id) =>
      this.#send({ op: 'call', id, service, type, request: { ...request }, timeoutMs }),
    );
  }

  sendGoal<F, R>(options: GoalOptions<F, R>): RosGoal {
    return this.#core.openGoal(
      options,
      ({ id, action, type, goal }) => this.#send({ op: 'goal', id, action, type, goal: { ...goal } }),
      ({ id }) => this.#send({ op: 'cancel', id }),
    );
  }

  counters(): Record<string, number> {
    return { ...this.#core.count, child_restarts: this.#restarts };
  }

  lineCounts(): null {
    return null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    const child = this.#child;
    this.#lost('closed here');
    if (child === null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.disconnect();
    const cancel = this.#options.machineClock.after(LAST_MS, () => child.kill('SIGKILL'));
    await gone;
    cancel();
  }

  #take(raw: unknown): void {
    const parsed = fromChildSchema.safeParse(raw);
    if (!parsed.success) {
      this.#core.count.messages_invalid += 1;
      return;
    }
    this.#handle(parsed.data);
  }

  #handle(message: FromChild): void {
    switch (message.op) {
      case 'ready':
        this.#isReady(message.distro);
        return;
      case 'message':
        this.#deliver(message.id, message.message);
        return;
      case 'answer':
        this.#core.answered(message.id, message.value);
        return;
      case 'call_failed':
        this.#core.callFailed(message.id, message.kind, message.why);
        return;
      case 'feedback':
        this.#core.goal(message.id)?.feedback(message.value);
        return;
      case 'result':
        this.#core.goal(message.id)?.result(message.status, message.value);
        return;
      case 'goal_ended': {
        const goal = this.#core.goal(message.id);
        goal?.end({ kind: message.kind, message: `${goal.action}: ${message.why}` });
        return;
      }
      case 'log':
        this.#options.log(message.level, message.message.slice(0, 500));
        return;
    }
  }

  #isReady(distro: string): void {
    this.#cancelTimer();
    this.#ready = true;
    this.#failures = 0;
    if (this.#restarts > 0) this.#core.count.reconnects += 1;
    for (const [id, advertised] of this.#advertised) this.#send({ op: 'advertise', id, ...advertised });
    for (const { id, topic, type, qos } of this.#core.subscriptions) {
      this.#send({ op: 'subscribe', id, topic, type, qos });
    }
    this.#core.tellLink({ connected: true, reason: `ROS 2 ${distro}` });
  }

  /** Each subscription has its own in the child. */
  #deliver(id: string, message: unknown): void {
    const subscription = [...this.#core.subscriptions].find((s) => s.id === id);
    if (subscription === undefined) {
      this.#core.count.messages_unexpected += 1;
      return;
    }
    this.#core.count.messages_received += 1;
    subscription.deliver(message);
  }

  #died(child: ChildProcess, how: string): void {
    if (this.#child !== child) return;
    this.#cancelTimer();
    this.#lost(`the rclnodejs process ended: ${how}`);
    this.#restarts += 1;
    this.#retry();
  }

  #lost(reason: string): void {
    const wasReady = this.#ready;
    this.#child = null;
    this.#ready = false;
    this.#core.loseAll(reason);
    if (wasReady) this.#core.tellLink({ connected: false, reason });
  }

  #retry(): void {
    if (this.#closed) return;
    const { machineClock, random } = this.#options;
    const most = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    this.#cancelTimer = machineClock.after(most * (0.5 + 0.5 * random()), () => this.start());
  }

  #send(message: ToChild): boolean {
    const child = this.#child;
    if (child === null || !this.#ready || !child.connected || this.#backlog >= BACKLOG) return false;
    this.#backlog += 1;
    child.send(message, (error) => {
      if (this.#child !== child) return;
      this.#backlog -= 1;
      if (error !== null) this.#core.lastInvalid = error.message;
    });
    return true;
  }
}

const LAST_MS = 2_000;
