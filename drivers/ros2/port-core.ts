/** What all ports do alike: keep and check subscriptions, calls and goals within bounds, and count. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import {
  type CallOptions,
  type GoalEnd,
  type GoalOptions,
  type GoalStatus,
  type LinkState,
  PORT_LIMITS,
  type QosProfile,
  RosError,
  type RosGoal,
  type RosType,
} from './types.js';

export interface Subscription {
  readonly id: string;
  readonly topic: string;
  readonly type: string;
  readonly qos: QosProfile;
  deliver(message: unknown): void;
}

interface PendingCall {
  service: string;
  answer(value: unknown): void;
  fail(error: RosError): void;
}

export interface OpenGoal {
  readonly id: string;
  readonly action: string;
  readonly type: string;
  readonly goal: object;
  feedback(value: unknown): void;
  result(status: GoalStatus, value: unknown): void;
  end(end: Exclude<GoalEnd<never>, { kind: 'result' }>): void;
}

export class PortCore {
  readonly count = {
    messages_received: 0,
    messages_invalid: 0,
    messages_unexpected: 0,
    published: 0,
    publish_dropped: 0,
    calls: 0,
    calls_failed: 0,
    call_timeouts: 0,
    goals: 0,
    goals_silent: 0,
    listener_errors: 0,
    reconnects: 0,
    connect_failures: 0,
  };
  readonly #clock: Clock;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #byTopic = new Map<string, Set<Subscription>>();
  readonly #calls = new Map<string, PendingCall>();
  readonly #goals = new Map<string, OpenGoal>();
  readonly #linkListeners: ((change: LinkState) => void)[] = [];
  #numbers = 0;
  /** What was last found to be wrong with a message, for the log. */
  lastInvalid: string | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nextId(kind: string): string {
    this.#numbers += 1;
    return `${kind}:${this.#numbers}`;
  }

  onLink(listener: (change: LinkState) => void): void {
    this.#linkListeners.push(listener);
  }

  tellLink(change: LinkState): void {
    for (const listener of this.#linkListeners) listener(change);
  }

  get subscriptions(): Iterable<Subscription> {
    return this.#subscriptions.values();
  }

  addSubscription<T>(
    topic: string,
    type: RosType<T>,
    qos: QosProfile,
    listener: (message: T) => void,
  ): Subscription {
    if (this.#subscriptions.size >= PORT_LIMITS.topics) {
      throw new RosError('busy', `${topic}: ${PORT_LIMITS.topics} subscriptions are open already`);
    }
    const subscription: Subscription = {
      id: this.nextId('subscribe'),
      topic,
      type: type.name,
      qos,
      deliver: (message) => {
        const valid = this.#check(type, message, topic);
        if (valid === null) return;
        try {
          listener(valid.value);
        } catch (error) {
          this.count.listener_errors += 1;
          this.lastInvalid = `${topic}: a listener failed: ${errorText(error)}`;
        }
      },
    };
    this.#subscriptions.set(subscription.id, subscription);
    const sameTopic = this.#byTopic.get(topic) ?? new Set();
    sameTopic.add(subscription);
    this.#byTopic.set(topic, sameTopic);
    return subscription;
  }

  /** True when it was the last one on its topic. */
  removeSubscription(subscription: Subscription): boolean {
    this.#subscriptions.delete(subscription.id);
    const sameTopic = this.#byTopic.get(subscription.topic);
    sameTopic?.delete(subscription);
    if (sameTopic === undefined || sameTopic.size > 0) return false;
    this.#byTopic.delete(subscription.topic);
    return true;
  }

  deliver(topic: string, message: unknown): void {
    const listeners = this.#byTopic.get(topic);
    if (listeners === undefined) {
      this.count.messages_unexpected += 1;
      return;
    }
    this.count.messages_received += 1;
    for (const subscription of [...listeners]) subscription.deliver(message);
  }

  /** `send` hands the request over; false when it could not. */
  call<R>(options: CallOptions<R>, send: (id: string) => boolean): Promise<R> {
    const { service, response, timeoutMs } = options;
    this.count.calls += 1;
    if (this.#calls.size >= PORT_LIMITS.calls) {
      return this.#failCall(
        new RosError('busy', `${service}: ${PORT_LIMITS.calls} calls are under way already`),
      );
    }
    const id = this.nextId('call_service');
    return new Promise<R>((resolve, reject) => {
      const settle = () => {
        cancel();
        this.#calls.delete(id);
      };
      const fail = (error: RosError) => {
        settle();
        this.count.calls_failed += 1;
        reject(error);
      };
      const cancel = this.#clock.after(timeoutMs, () => {
        this.count.call_timeouts += 1;
        fail(new RosError('timeout', `${service}: no answer within ${timeoutMs} ms`));
      });
      this.#calls.set(id, {
        service,
        fail,
        answer: (value) => {
          const valid = this.#check(response, value, service);
          if (valid === null) return fail(new RosError('invalid', this.lastInvalid ?? service));
          settle();
          resolve(valid.value);
        },
      });
      if (!send(id)) fail(new RosError('not_connected', `${service}: there is no connection to ROS`));
    });
  }

  answered(id: string, value: unknown): void {
    const call = this.#calls.get(id);
    if (call === undefined) this.count.messages_unexpected += 1;
    else call.answer(value);
  }

  callFailed(id: string, kind: RosError['kind'], why: string): void {
    const call = this.#calls.get(id);
    if (call === undefined) this.count.messages_unexpected += 1;
    else call.fail(new RosError(kind, `${call.service}: ${why}`));
  }

  /** `send` hands the goal over, or ends it; `cancel` asks the server to give it up. */
  openGoal<F, R>(
    options: GoalOptions<F, R>,
    send: (goal: OpenGoal) => boolean,
    cancel: (goal: OpenGoal) => void,
  ): RosGoal {
    this.count.goals += 1;
    const id = this.nextId('send_action_goal');
    let ended = false;
    let cancelSilence: CancelTimer = () => {};
    const finish = (end: GoalEnd<R>) => {
      if (ended) return;
      ended = true;
      cancelSilence();
      this.#goals.delete(id);
      options.onEnd(end);
    };
    const { action, type, goal, silenceMs } = options;
    const listen = () => {
      cancelSilence();
      cancelSilence = this.#clock.after(silenceMs, () => {
        this.count.goals_silent += 1;
        cancel(open);
        finish({ kind: 'silent', message: `${action}: nothing was heard for ${silenceMs} ms` });
      });
    };
    const open: OpenGoal = {
      id,
      action,
      type,
      goal,
      feedback: (value) => {
        if (ended) return;
        const valid = this.#check(options.feedback, value, `${action} feedback`);
        if (valid === null) return;
        listen();
        options.onFeedback?.(valid.value);
      },
      result: (status, value) => {
        if (ended) return;
        const valid = this.#check(options.result, value, `${action} result`);
        if (valid !== null) finish({ kind: 'result', status, result: valid.value });
        else finish({ kind: 'lost', message: this.lastInvalid ?? `${action}: an invalid result` });
      },
      end: finish,
    };
    const refuse = (end: GoalEnd<R>) => void this.#clock.after(0, () => finish(end));
    if (this.#goals.size >= PORT_LIMITS.goals) {
      refuse({ kind: 'rejected', message: `${action}: ${PORT_LIMITS.goals} goals are open already` });
    } else {
      this.#goals.set(id, open);
      listen();
      if (!send(open)) refuse({ kind: 'lost', message: `${action}: there is no connection to ROS` });
    }
    return {
      cancel: () => {
        if (!ended) cancel(open);
      },
      get ended() {
        return ended;
      },
    };
  }

  goal(id: string): OpenGoal | undefined {
    return this.#goals.get(id);
  }

  get goals(): OpenGoal[] {
    return [...this.#goals.values()];
  }

  /** The connection is gone: nobody will answer, and nobody knows what becomes of the goals. */
  loseAll(reason: string): void {
    for (const id of [...this.#calls.keys()]) this.callFailed(id, 'not_connected', reason);
    for (const goal of this.goals) goal.end({ kind: 'lost', message: `${goal.action}: ${reason}` });
  }

  #check<T>(type: RosType<T>, value: unknown, where: string): { value: T } | null {
    try {
      return { value: type.parse(value) };
    } catch (error) {
      this.count.messages_invalid += 1;
      this.lastInvalid = `${where} (${type.name}): ${errorText(error)}`;
      return null;
    }
  }

  #failCall(error: RosError): Promise<never> {
    this.count.calls_failed += 1;
    return Promise.reject(error);
  }
}
