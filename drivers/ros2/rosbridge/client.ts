/**
 * A `RosPort` over rosbridge v2. Reconnects with back-off and then advertises and subscribes anew. Goals and calls
 * that were open when the connection broke are lost: the bridge forgets whose they were, and goes on with them.
 *
 * Actions need a bridge that has `send_action_goal` (rosbridge_suite 2.x, ROS 2 Jazzy). An older one (Humble's 1.3)
 * answers "Unknown operation"; a goal then ends `unavailable`, and `actions` says so.
 */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { errorText } from '../../../config/contracts/errors.js';
import { type OpenGoal, PortCore, type Subscription } from '../port-core.js';
import {
  type CallOptions,
  type GoalOptions,
  type GoalStatus,
  type LinkState,
  PORT_LIMITS,
  type Publisher,
  type QosProfile,
  RosError,
  type RosGoal,
  type RosPort,
  type RosType,
} from '../types.js';
import type { OpenRosbridge, RosbridgeConnection } from './line.js';
import {
  type FromBridge,
  parseFromBridge,
  STATUS_ABORTED,
  STATUS_CANCELED,
  STATUS_SUCCEEDED,
} from './wire.js';

export interface RosbridgeOptions {
  open: OpenRosbridge;
  clock: Clock;
  /** Uniform in [0, 1), for the back-off. */
  random: () => number;
  log: (level: 'info' | 'warn', message: string) => void;
}

const FIRST_BACKOFF_MS = 250;
const LAST_BACKOFF_MS = 10_000;
const OPEN_TIMEOUT_MS = 8_000;

/** What a bridge says of an operation that it does not know. */
const UNKNOWN_GOALS = /unknown operation:?\s*send_action_goal/i;

const GOAL_STATUS: Readonly<Record<number, GoalStatus>> = {
  [STATUS_SUCCEEDED]: 'succeeded',
  [STATUS_CANCELED]: 'canceled',
  [STATUS_ABORTED]: 'aborted',
};

interface Advertised {
  readonly id: string;
  readonly topic: string;
  readonly type: string;
  readonly qos: QosProfile;
}

export class RosbridgePort implements RosPort {
  readonly kind = 'rosbridge';
  /** Whether the bridge can send goals; null until one was tried. */
  actions: boolean | null = null;
  readonly #options: RosbridgeOptions;
  readonly #core: PortCore;
  readonly #advertised = new Map<string, Advertised>();
  readonly #bytes = { rx: 0, tx: 0, opens: 0 };
  #connection: RosbridgeConnection | null = null;
  #opening: AbortController | null = null;
  #cancelRetry: CancelTimer = () => {};
  #failures = 0;
  #closed = false;

  constructor(options: RosbridgeOptions) {
    this.#options = options;
    this.#core = new PortCore(options.clock);
  }

  start(): void {
    if (!this.#closed && this.#connection === null && this.#opening === null) void this.#open();
  }

  get connected(): boolean {
    return this.#connection !== null;
  }

  get opening(): boolean {
    return this.#opening !== null;
  }

  onLink(listener: (change: LinkState) => void): void {
    this.#core.onLink(listener);
  }

  advertise(topic: string, type: string, qos: QosProfile): Publisher {
    if (this.#advertised.size >= PORT_LIMITS.topics) {
      throw new RosError('busy', `${topic}: ${PORT_LIMITS.topics} topics are advertised already`);
    }
    const advertised = { id: this.#core.nextId('advertise'), topic, type, qos };
    this.#advertised.set(advertised.id, advertised);
    this.#advertise(advertised);
    return {
      publish: (message) => {
        const sent =
          this.#advertised.has(advertised.id) && this.#send({ op: 'publish', topic, msg: message });
        if (sent) this.#core.count.published += 1;
        else this.#core.count.publish_dropped += 1;
        return sent;
      },
      close: () => {
        if (this.#advertised.delete(advertised.id))
          this.#send({ op: 'unadvertise', id: advertised.id, topic });
      },
    };
  }

  subscribe<T>(topic: string, type: RosType<T>, qos: QosProfile, listener: (message: T) => void): () => void {
    const isFirst = ![...this.#core.subscriptions].some((s) => s.topic === topic);
    const subscription = this.#core.addSubscription(topic, type, qos, listener);
    if (isFirst) this.#subscribe(subscription);
    return () => {
      // The bridge sends each message once, however many listen here.
      if (this.#core.removeSubscription(subscription)) this.#send({ op: 'unsubscribe', topic });
    };
  }

  call<R>(options: CallOptions<R>): Promise<R> {
    const { service, type, request, timeoutMs } = options;
    return this.#core.call(options, (id) =>
      this.#send({ op: 'call_service', id, service, type, args: request, timeout: timeoutMs / 1000 }),
    );
  }

  sendGoal<F, R>(options: GoalOptions<F, R>): RosGoal {
    return this.#core.openGoal(
      options,
      (goal) => this.#sendGoal(goal),
      ({ id, action }) => this.#send({ op: 'cancel_action_goal', id, action }),
    );
  }

  counters(): Record<string, number> {
    return { ...this.#core.count };
  }

  lineCounts(): { rx: number; tx: number; opens: number } {
    return { ...this.#bytes };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRetry();
    this.#opening?.abort();
    const connection = this.#connection;
    this.#lost('closed here');
    connection?.close();
  }

  #sendGoal({ id, action, type, goal }: OpenGoal): boolean {
    return this.#send({ op: 'send_action_goal', id, action, action_type: type, args: goal, feedback: true });
  }

  async #open(): Promise<void> {
    const opening = new AbortController();
    this.#opening = opening;
    const cancelTimeout = this.#options.clock.after(OPEN_TIMEOUT_MS, () => opening.abort());
    try {
      const connection = await this.#options.open(opening.signal);
      if (this.#closed) connection.close();
      else this.#connected(connection);
    } catch (error) {
      this.#core.count.connect_failures += 1;
      if (this.#failures === 0) this.#options.log('warn', `no connection to ROS: ${errorText(error)}`);
      this.#retry();
    } finally {
      cancelTimeout();
      if (this.#opening === opening) this.#opening = null;
    }
  }

  #connected(connection: RosbridgeConnection): void {
    this.#connection = connection;
    this.#failures = 0;
    this.#bytes.opens += 1;
    this.#bytes.rx = 0;
    this.#bytes.tx = 0;
    this.actions = null;
    if (this.#bytes.opens > 1) this.#core.count.reconnects += 1;
    connection.onClose((reason) => {
      if (this.#connection !== connection) return;
      this.#lost(reason);
      this.#retry();
    });
    for (const advertised of this.#advertised.values()) this.#advertise(advertised);
    const topics = new Set<string>();
    for (const subscription of this.#core.subscriptions) {
      if (!topics.has(subscription.topic)) this.#subscribe(subscription);
      topics.add(subscription.topic);
    }
    this.#core.tellLink({ connected: true, reason: 'connected' });
    connection.onText((text) => this.#take(text));
  }

  #lost(reason: string): void {
    if (this.#connection === null) return;
    this.#connection = null;
    this.#core.loseAll(`the connection to ROS was lost: ${reason}`);
    this.#core.tellLink({ connected: false, reason });
  }

  #retry(): void {
    if (this.#closed) return;
    const most = Math.min(LAST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    this.#cancelRetry = this.#options.clock.after(most * (0.5 + 0.5 * this.#options.random()), () =>
      this.start(),
    );
  }

  #advertise({ id, topic, type, qos }: Advertised): void {
    const latch = qos.durability === 'transient_local';
    this.#send({ op: 'advertise', id, topic, type, latch, queue_size: qos.depth });
  }

  /** No compression, no throttling; at most `depth` messages wait in the bridge, the oldest go first. */
  #subscribe({ id, topic, type, qos }: Subscription): void {
    this.#send({ op: 'subscribe', id, topic, type, queue_length: qos.depth, compression: 'none' });
  }

  #send(message: object): boolean {
    const connection = this.#connection;
    if (connection === null) return false;
    const text = JSON.stringify(message);
    if (!connection.send(text)) return false;
    this.#bytes.tx += Buffer.byteLength(text);
    return true;
  }

  #take(text: string): void {
    this.#bytes.rx += Buffer.byteLength(text);
    let message: FromBridge;
    try {
      message = parseFromBridge(text);
    } catch (error) {
      this.#core.count.messages_invalid += 1;
      this.#core.lastInvalid = errorText(error);
      return;
    }
    switch (message.op) {
      case 'publish':
        this.#core.deliver(message.topic, message.msg);
        return;
      case 'service_response':
        this.#answered(message);
        return;
      case 'action_feedback':
        this.#core.goal(message.id ?? '')?.feedback(message.values);
        return;
      case 'action_result':
        this.#goalEnded(message);
        return;
      case 'status':
        this.#status(message);
        return;
    }
  }

  #answered({ id = '', result, values }: Extract<FromBridge, { op: 'service_response' }>): void {
    if (result) this.#core.answered(id, values ?? {});
    else this.#core.callFailed(id, isMissing(values) ? 'unavailable' : 'failed', sentence(values));
  }

  #goalEnded(message: Extract<FromBridge, { op: 'action_result' }>): void {
    const goal = this.#core.goal(message.id ?? '');
    if (goal === undefined) return;
    this.actions = true;
    const status = GOAL_STATUS[message.status ?? 0];
    if (message.result && status !== undefined) {
      goal.result(status, message.values ?? {});
      return;
    }
    const why = `${goal.action}: ${sentence(message.values)}`;
    if (/reject/i.test(why)) goal.end({ kind: 'rejected', message: why });
    else goal.end({ kind: 'unavailable', message: why });
  }

  #status({ id, level, msg }: Extract<FromBridge, { op: 'status' }>): void {
    if (level === 'error' && UNKNOWN_GOALS.test(msg)) {
      this.actions = false;
      const message = 'this rosbridge cannot send goals (it has no send_action_goal)';
      const meant = this.#core.goal(id ?? '');
      for (const goal of meant === undefined ? this.#core.goals : [meant]) {
        goal.end({ kind: 'unavailable', message: `${goal.action}: ${message}` });
      }
      return;
    }
    if (level === 'error' || level === 'warning')
      this.#options.log('warn', `rosbridge: ${msg.slice(0, 300)}`);
  }
}

function sentence(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 300) : 'the bridge gave no reason';
}

function isMissing(value: unknown): boolean {
  return typeof value === 'string' && /does not exist|not available|unavailable/i.test(value);
}
