/** Topics, services and action servers of the simulated robot's ROS 2, within this process and deterministic. */

export type Listener = (message: unknown) => void;

interface Topic {
  type: string;
  latched: unknown;
  readonly listeners: Set<Listener>;
}

/** Answers at once, or null: it never answers. Throws an Error whose message goes to the caller. */
export type Service = (request: unknown) => object | null;

export const GOAL = {
  accepted: 1,
  executing: 2,
  canceling: 3,
  succeeded: 4,
  canceled: 5,
  aborted: 6,
} as const;

/** A goal as a client follows it. */
export interface ClientGoal {
  onFeedback(values: object): void;
  /** `status`: see `GOAL`. */
  onResult(status: number, values: object): void;
}

export interface ActionServer {
  readonly type: string;
  /** Null: rejected. Otherwise what a client cancels it by. */
  send(goal: unknown, client: ClientGoal): (() => void) | null;
  cancelAll(): number;
}

export class RosGraph {
  readonly services = new Map<string, { type: string; serve: Service }>();
  readonly actions = new Map<string, ActionServer>();
  readonly #topics = new Map<string, Topic>();
  /** Messages that were published, for the lock-step barrier. */
  published = 0;

  publish(name: string, type: string, message: object, latched = false): void {
    const topic = this.#topic(name, type);
    topic.type = type;
    if (latched) topic.latched = message;
    this.published += 1;
    for (const listener of [...topic.listeners]) listener(message);
  }

  /** What was published last and kept reaches a new listener at once. */
  subscribe(name: string, type: string | null, listener: Listener): () => void {
    const topic = this.#topic(name, type ?? '');
    topic.listeners.add(listener);
    if (topic.latched !== null) listener(topic.latched);
    return () => topic.listeners.delete(listener);
  }

  serve(name: string, type: string, serve: Service): void {
    this.services.set(name, { type, serve });
  }

  typeOf(topic: string): string | null {
    return this.#topics.get(topic)?.type ?? null;
  }

  /** An action server, with its hidden cancel service and status topic. */
  offerAction(name: string, server: ActionServer): void {
    this.actions.set(name, server);
    this.serve(`${name}/_action/cancel_goal`, 'action_msgs/srv/CancelGoal', () => ({
      return_code: server.cancelAll() > 0 ? 0 : 1,
      goals_canceling: [],
    }));
  }

  #topic(name: string, type: string): Topic {
    const known = this.#topics.get(name);
    if (known !== undefined) return known;
    const topic: Topic = { type, latched: null, listeners: new Set() };
    this.#topics.set(name, topic);
    return topic;
  }
}
