/**
 * ROS within one process: a graph of topics, services and action servers, and ports into it. For tests, and for a
 * robot's own software that runs in the same process. Delivery is synchronous and in order.
 */
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import { type OpenGoal, PortCore } from './port-core.js';
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
} from './types.js';

/** A goal as its server has it. */
export interface ServedGoal {
  readonly goal: unknown;
  feedback(value: object): void;
  finish(status: GoalStatus, result: object): void;
  /** Called when somebody asks for an end; the server then finishes it as it sees fit. */
  onCancel(listener: () => void): void;
}

/** Returns false to reject a goal. */
export type ActionServer = (goal: ServedGoal) => boolean;
export type ServiceServer = (request: unknown) => object | Promise<object>;

export class MemoryRosGraph {
  readonly #ports = new Set<MemoryRosPort>();
  readonly #kept = new Map<string, { type: string; messages: unknown[] }>();
  readonly services = new Map<string, ServiceServer>();
  readonly actions = new Map<string, ActionServer>();
  /** False: every port is cut off. */
  #up = true;

  get up(): boolean {
    return this.#up;
  }

  join(port: MemoryRosPort): void {
    this.#ports.add(port);
  }

  leave(port: MemoryRosPort): void {
    this.#ports.delete(port);
  }

  /** Cuts or restores the connection of all ports. */
  setUp(up: boolean, reason: string): void {
    if (up === this.#up) return;
    this.#up = up;
    for (const port of this.#ports) port.linkChanged(reason);
  }

  publish(topic: string, type: string, message: object, qos: QosProfile): void {
    const copy: unknown = structuredClone(message);
    if (qos.durability === 'transient_local') {
      const kept = this.#kept.get(topic) ?? { type, messages: [] };
      kept.messages.push(copy);
      kept.messages.splice(0, Math.max(0, kept.messages.length - qos.depth));
      this.#kept.set(topic, kept);
    }
    for (const port of this.#ports) port.take(topic, copy);
  }

  kept(topic: string): readonly unknown[] {
    return this.#kept.get(topic)?.messages ?? [];
  }
}

export class MemoryRosPort implements RosPort {
  readonly kind = 'memory';
  readonly opening = false;
  readonly #graph: MemoryRosGraph;
  readonly #core: PortCore;
  readonly #topics = new Set<string>();
  readonly #cancels = new Map<string, () => void>();
  #advertised = 0;
  #started = false;

  constructor(graph: MemoryRosGraph, clock: Clock) {
    this.#graph = graph;
    this.#core = new PortCore(clock);
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#graph.join(this);
    for (const { topic } of this.#core.subscriptions) this.#replay(topic);
    if (this.connected) this.#core.tellLink({ connected: true, reason: 'joined' });
  }

  get connected(): boolean {
    return this.#started && this.#graph.up;
  }

  onLink(listener: (change: LinkState) => void): void {
    this.#core.onLink(listener);
  }

  advertise(topic: string, type: string, qos: QosProfile): Publisher {
    if (this.#advertised >= PORT_LIMITS.topics) {
      throw new RosError('busy', `${topic}: ${PORT_LIMITS.topics} topics are advertised already`);
    }
    this.#advertised += 1;
    let open = true;
    return {
      publish: (message) => {
        if (!open || !this.connected) {
          this.#core.count.publish_dropped += 1;
          return false;
        }
        this.#core.count.published += 1;
        this.#graph.publish(topic, type, message, qos);
        return true;
      },
      close: () => {
        if (open) this.#advertised -= 1;
        open = false;
      },
    };
  }

  subscribe<T>(topic: string, type: RosType<T>, qos: QosProfile, listener: (message: T) => void): () => void {
    const subscription = this.#core.addSubscription(topic, type, qos, listener);
    this.#topics.add(topic);
    if (this.connected && qos.durability === 'transient_local') {
      for (const message of this.#graph.kept(topic)) subscription.deliver(message);
    }
    return () => {
      if (this.#core.removeSubscription(subscription)) this.#topics.delete(topic);
    };
  }

  call<R>(options: CallOptions<R>): Promise<R> {
    return this.#core.call(options, (id) => {
      if (!this.connected) return false;
      void this.#serve(id, options.service, structuredClone(options.request));
      return true;
    });
  }

  sendGoal<F, R>(options: GoalOptions<F, R>): RosGoal {
    return this.#core.openGoal(
      options,
      (goal) => this.#offer(goal),
      (goal) => this.#cancels.get(goal.id)?.(),
    );
  }

  counters(): Record<string, number> {
    return { ...this.#core.count };
  }

  lineCounts(): null {
    return null;
  }

  async close(): Promise<void> {
    this.#graph.leave(this);
    this.#started = false;
    this.#core.loseAll('closed here');
  }

  /** Of the graph. */
  take(topic: string, message: unknown): void {
    if (this.connected && this.#topics.has(topic)) this.#core.deliver(topic, message);
  }

  linkChanged(reason: string): void {
    if (this.connected) {
      this.#core.count.reconnects += 1;
      for (const topic of this.#topics) this.#replay(topic);
    } else {
      this.#cancels.clear();
      this.#core.loseAll(reason);
    }
    this.#core.tellLink({ connected: this.connected, reason });
  }

  #replay(topic: string): void {
    for (const message of this.#graph.kept(topic)) this.take(topic, message);
  }

  async #serve(id: string, service: string, request: unknown): Promise<void> {
    const server = this.#graph.services.get(service);
    if (server === undefined) {
      await Promise.resolve();
      this.#core.callFailed(id, 'unavailable', 'there is no such service');
      return;
    }
    try {
      this.#core.answered(id, structuredClone(await server(request)));
    } catch (error) {
      this.#core.callFailed(id, 'failed', errorText(error));
    }
  }

  /** The server hears of a goal after its sender has gone on, as over any other line. */
  #offer(goal: OpenGoal): boolean {
    if (!this.connected) return false;
    void Promise.resolve().then(() => this.#begin(goal));
    return true;
  }

  #begin(goal: OpenGoal): void {
    const server = this.#graph.actions.get(goal.action);
    if (server === undefined) {
      goal.end({ kind: 'unavailable', message: `${goal.action}: there is no such action server` });
      return;
    }
    let onCancel = () => {};
    this.#cancels.set(goal.id, () => onCancel());
    const accepted = server({
      goal: structuredClone(goal.goal),
      feedback: (value) => goal.feedback(structuredClone(value)),
      finish: (status, result) => {
        this.#cancels.delete(goal.id);
        goal.result(status, structuredClone(result));
      },
      onCancel: (listener) => {
        onCancel = listener;
      },
    });
    if (accepted) return;
    this.#cancels.delete(goal.id);
    goal.end({ kind: 'rejected', message: `${goal.action}: the goal was rejected` });
  }
}
