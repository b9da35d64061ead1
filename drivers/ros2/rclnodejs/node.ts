/**
 * The part of the child that speaks to rclnodejs (2.x). Its types come from a sourced ROS 2 at its install, so what is
 * used of it stands here as own structural types. Messages become plain JSON: typed arrays as arrays, BigInt as number.
 */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { errorText } from '../../../config/contracts/errors.js';
import type { FromChild, ToChild } from './ipc.js';

interface RclPublisher {
  publish(message: object): void;
}
interface RclClient {
  waitForService(ms: number): Promise<boolean>;
  sendRequest(request: object, callback: (response: unknown) => void): void;
}
interface RclGoalHandle {
  isAccepted(): boolean;
  cancelGoal(): Promise<unknown>;
  getResult(): Promise<unknown>;
  isSucceeded(): boolean;
  isCanceled(): boolean;
}
interface RclActionClient {
  waitForServer(ms: number): Promise<boolean>;
  sendGoal(goal: object, feedback: (value: unknown) => void): Promise<RclGoalHandle>;
  destroy(): void;
}
interface RclNode {
  createPublisher(type: string, topic: string, options: object): RclPublisher;
  createSubscription(
    type: string,
    topic: string,
    options: object,
    callback: (message: unknown) => void,
  ): unknown;
  createClient(type: string, service: string): RclClient;
  destroyPublisher(publisher: RclPublisher): void;
  destroySubscription(subscription: unknown): void;
  destroyClient(client: RclClient): void;
  spin(): void;
}
type QosClass = new (history: number, depth: number, reliability: number, durability: number) => object;

/** As much of the module as is used. */
export interface RclModule {
  init(): Promise<void>;
  createNode(name: string): RclNode;
  shutdown(): void;
  QoS: QosClass;
  ActionClient: new (node: RclNode, type: string, action: string) => RclActionClient;
}

/** `rmw_qos_*_policy_e`. */
const KEEP_LAST = 1;
const RELIABILITY = { reliable: 1, best_effort: 2 } as const;
const DURABILITY = { transient_local: 1, volatile: 2 } as const;
const FIND_SERVER_MS = 1_000;
/** So long after a cancel without result or feedback, and the server is no longer waited for. */
const CANCEL_UNANSWERED_MS = 10_000;
const UNANSWERED = `it was asked to cancel, and nothing was heard for ${CANCEL_UNANSWERED_MS / 1000} s`;

export class RclWorker {
  readonly #rcl: RclModule;
  readonly #node: RclNode;
  readonly #send: (message: FromChild) => void;
  readonly #clock: Clock;
  readonly #publishers = new Map<string, RclPublisher>();
  readonly #subscriptions = new Map<string, unknown>();
  readonly #cancels = new Map<string, () => void>();

  private constructor(rcl: RclModule, node: RclNode, send: (message: FromChild) => void, clock: Clock) {
    this.#rcl = rcl;
    this.#node = node;
    this.#send = send;
    this.#clock = clock;
  }

  /** `clock`: the machine's; it bounds how long a service is waited for. */
  static async start(
    rcl: RclModule,
    name: string,
    send: (message: FromChild) => void,
    clock: Clock,
  ): Promise<RclWorker> {
    await rcl.init();
    const node = rcl.createNode(name);
    node.spin();
    return new RclWorker(rcl, node, send, clock);
  }

  /** Never throws: what cannot be done is told. */
  take(message: ToChild): void {
    try {
      this.#obey(message);
    } catch (error) {
      this.#refused(message, errorText(error));
    }
  }

  stop(): void {
    this.#rcl.shutdown();
  }

  #obey(message: ToChild): void {
    switch (message.op) {
      case 'advertise': {
        const options = { qos: this.#qos(message.qos) };
        this.#publishers.set(message.id, this.#node.createPublisher(message.type, message.topic, options));
        return;
      }
      case 'unadvertise': {
        const publisher = this.#publishers.get(message.id);
        if (this.#publishers.delete(message.id) && publisher !== undefined)
          this.#node.destroyPublisher(publisher);
        return;
      }
      case 'publish':
        this.#publishers.get(message.id)?.publish(message.message);
        return;
      case 'subscribe': {
        const { id, type, topic, qos } = message;
        const heard = (value: unknown) => this.#send({ op: 'message', id, message: plain(value) });
        const options = { qos: this.#qos(qos) };
        this.#subscriptions.set(id, this.#node.createSubscription(type, topic, options, heard));
        return;
      }
      case 'unsubscribe': {
        const subscription = this.#subscriptions.get(message.id);
        if (this.#subscriptions.delete(message.id)) this.#node.destroySubscription(subscription);
        return;
      }
      case 'call':
        void this.#call(message);
        return;
      case 'goal':
        void this.#goal(message);
        return;
      case 'cancel':
        this.#cancels.get(message.id)?.();
        return;
    }
  }

  async #call({ id, service, type, request, timeoutMs }: Extract<ToChild, { op: 'call' }>): Promise<void> {
    let client: RclClient | null = null;
    const deadline = this.#clock.mono() + timeoutMs;
    try {
      client = this.#node.createClient(type, service);
      if (!(await client.waitForService(Math.min(timeoutMs, FIND_SERVER_MS)))) {
        this.#send({ op: 'call_failed', id, kind: 'unavailable', why: 'there is no such service' });
        return;
      }
      const answer = await this.#answerOf(client, request, deadline - this.#clock.mono());
      // Without one nothing is said: the port has given the call up by its own clock.
      if (answer !== null) this.#send({ op: 'answer', id, value: plain(answer.value) });
    } catch (error) {
      this.#send({ op: 'call_failed', id, kind: 'failed', why: errorText(error) });
    } finally {
      if (client !== null) this.#node.destroyClient(client);
    }
  }

  /**
   * Null: none in time. rclnodejs itself waits for ever, and a client that is waited on is never destroyed: a node
   * that hangs would cost one more of them with every question.
   */
  #answerOf(client: RclClient, request: object, ms: number): Promise<{ value: unknown } | null> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(Math.max(0, ms), () => resolve(null));
      try {
        client.sendRequest(request, (value) => {
          cancel();
          resolve({ value });
        });
      } catch (error) {
        cancel();
        reject(error);
      }
    });
  }

  async #goal({ id, action, type, goal }: Extract<ToChild, { op: 'goal' }>): Promise<void> {
    let client: RclActionClient | null = null;
    let handle: RclGoalHandle | null = null;
    const asked = new Cancelling(this.#clock, () => {
      handle
        ?.cancelGoal()
        .catch((error: unknown) => this.#warn(`${action}: cancelling failed: ${errorText(error)}`));
    });
    this.#cancels.set(id, () => asked.cancel());
    const end = (kind: 'rejected' | 'unavailable', why: string) =>
      this.#send({ op: 'goal_ended', id, kind, why });
    try {
      client = new this.#rcl.ActionClient(this.#node, type, action);
      if (!(await client.waitForServer(FIND_SERVER_MS)))
        return end('unavailable', 'there is no such action server');
      const sent = client.sendGoal(goal, (value) => {
        asked.heard();
        this.#send({ op: 'feedback', id, value: plain(feedbackOf(value)) });
      });
      handle = await Promise.race([sent, asked.inVain]);
      if (handle === null) return end('unavailable', UNANSWERED);
      if (!handle.isAccepted()) return end('rejected', 'the goal was rejected');
      asked.accepted();
      const got = await Promise.race([handle.getResult().then((value) => ({ value })), asked.inVain]);
      if (got === null) return end('unavailable', UNANSWERED);
      const status = handle.isSucceeded() ? 'succeeded' : handle.isCanceled() ? 'canceled' : 'aborted';
      this.#send({ op: 'result', id, status, value: plain(got.value) });
    } catch (error) {
      end('unavailable', errorText(error));
    } finally {
      asked.close();
      this.#cancels.delete(id);
      client?.destroy();
    }
  }

  #refused(message: ToChild, why: string): void {
    if (message.op === 'call') this.#send({ op: 'call_failed', id: message.id, kind: 'failed', why });
    else if (message.op === 'goal')
      this.#send({ op: 'goal_ended', id: message.id, kind: 'unavailable', why });
    else this.#warn(`${message.op}: ${why}`);
  }

  #warn(message: string): void {
    this.#send({ op: 'log', level: 'warn', message });
  }

  #qos(profile: Extract<ToChild, { op: 'subscribe' }>['qos']): object {
    const { depth, reliability, durability } = profile;
    return new this.#rcl.QoS(KEEP_LAST, depth, RELIABILITY[reliability], DURABILITY[durability]);
  }
}

/**
 * A goal that is to be cancelled: at once, or as soon as it is accepted. A server from which nothing more is heard
 * after that is not waited for, as rclnodejs would for ever.
 */
class Cancelling {
  readonly #clock: Clock;
  readonly #send: () => void;
  /** Resolves when it was asked for and nothing came of it. */
  readonly inVain: Promise<null>;
  #giveUp: () => void = () => {};
  #cancelTimer: CancelTimer = () => {};
  #asked = false;
  #accepted = false;

  constructor(clock: Clock, send: () => void) {
    this.#clock = clock;
    this.#send = send;
    this.inVain = new Promise((resolve) => {
      this.#giveUp = () => resolve(null);
    });
  }

  cancel(): void {
    if (!this.#asked) this.#arm();
    this.#asked = true;
    if (this.#accepted) this.#send();
  }

  accepted(): void {
    this.#accepted = true;
    if (this.#asked) this.#send();
  }

  heard(): void {
    if (this.#asked) this.#arm();
  }

  close(): void {
    this.#cancelTimer();
  }

  #arm(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(CANCEL_UNANSWERED_MS, this.#giveUp);
  }
}

/** rclnodejs hands over the whole feedback message, goal id included. */
function feedbackOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'feedback' in value ? value.feedback : value;
}

/** A message as JSON has it: typed arrays become arrays, BigInt numbers; NaN and infinity null. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return Array.from(value as Float64Array, plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
