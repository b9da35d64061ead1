/**
 * One client of the simulated robot's rosbridge: the v2 protocol as RobotWebTools/rosbridge_suite describes it, JSON
 * without compression. Without `actions` it answers like a bridge that does not know them (Humble's 1.3).
 */
import { z } from 'zod';
import { errorText } from '../../config/contracts/errors.js';
import type { RosGraph } from './graph.js';

const id = z.union([z.string(), z.number()]).optional();
const messageSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('advertise'), id, topic: z.string(), type: z.string() }),
  z.object({ op: z.literal('unadvertise'), id, topic: z.string() }),
  z.object({ op: z.literal('publish'), id, topic: z.string(), msg: z.record(z.string(), z.unknown()) }),
  z.object({ op: z.literal('subscribe'), id, topic: z.string(), type: z.string().optional() }),
  z.object({ op: z.literal('unsubscribe'), id, topic: z.string() }),
  z.object({ op: z.literal('call_service'), id, service: z.string(), args: z.unknown() }),
  z.object({
    op: z.literal('send_action_goal'),
    id,
    action: z.string(),
    action_type: z.string(),
    args: z.unknown(),
    feedback: z.boolean().optional(),
  }),
  z.object({ op: z.literal('cancel_action_goal'), id, action: z.string() }),
]);
type Message = z.infer<typeof messageSchema>;

const OPERATIONS = messageSchema.options.map((option) => option.shape.op.value);
const ACTION_OPERATIONS: readonly string[] = ['send_action_goal', 'cancel_action_goal'];

export interface SessionOptions {
  graph: RosGraph;
  actions: boolean;
  send: (text: string) => void;
}

export class RosbridgeSession {
  readonly #options: SessionOptions;
  readonly #subscribed = new Map<string, () => void>();
  readonly #advertised = new Map<string, string>();
  readonly #cancels = new Map<string, () => void>();
  #open = true;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  take(text: string): void {
    if (!this.#open) return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      this.#status('error', `Could not parse message: ${errorText(error)}`);
      return;
    }
    const op = z.object({ op: z.string(), id }).safeParse(value);
    const known = this.#operations();
    if (op.success && !known.includes(op.data.op)) {
      const allowed = known.join(', ');
      this.#status('error', `Unknown operation: ${op.data.op}.  Allowed operations: ${allowed}`, op.data.id);
      return;
    }
    const parsed = messageSchema.safeParse(value);
    if (parsed.success) this.#obey(parsed.data);
    else this.#status('error', `Received a message that is not valid: ${z.prettifyError(parsed.error)}`);
  }

  /** Goals go on without their client; subscriptions end. */
  close(): void {
    this.#open = false;
    for (const end of this.#subscribed.values()) end();
    this.#subscribed.clear();
    this.#cancels.clear();
  }

  #operations(): readonly string[] {
    if (this.#options.actions) return OPERATIONS;
    return OPERATIONS.filter((op) => !ACTION_OPERATIONS.includes(op));
  }

  #obey(message: Message): void {
    switch (message.op) {
      case 'advertise':
        this.#advertised.set(message.topic, message.type);
        return;
      case 'unadvertise':
        this.#advertised.delete(message.topic);
        return;
      case 'publish':
        this.#publish(message);
        return;
      case 'subscribe':
        this.#subscribe(message);
        return;
      case 'unsubscribe':
        this.#subscribed.get(message.topic)?.();
        this.#subscribed.delete(message.topic);
        return;
      case 'call_service':
        this.#call(message);
        return;
      case 'send_action_goal':
        this.#sendGoal(message);
        return;
      case 'cancel_action_goal':
        this.#cancels.get(String(message.id))?.();
        return;
    }
  }

  #publish({ id, topic, msg }: Extract<Message, { op: 'publish' }>): void {
    const type = this.#advertised.get(topic) ?? this.#options.graph.typeOf(topic);
    if (type === null) this.#status('error', `Topic ${topic} has no type`, id);
    else this.#options.graph.publish(topic, type, msg);
  }

  #subscribe({ topic, type }: Extract<Message, { op: 'subscribe' }>): void {
    if (this.#subscribed.has(topic)) return;
    // Kept messages may come before `subscribe` returns.
    this.#subscribed.set(topic, () => {});
    const end = this.#options.graph.subscribe(topic, type ?? null, (msg) =>
      this.#send({ op: 'publish', topic, msg }),
    );
    this.#subscribed.set(topic, end);
  }

  #call({ id, service, args }: Extract<Message, { op: 'call_service' }>): void {
    const answer = (result: boolean, values: unknown) =>
      this.#send({ op: 'service_response', service, values, result, ...idOf(id) });
    const known = this.#options.graph.services.get(service);
    if (known === undefined) {
      answer(false, `Service ${service} does not exist`);
      return;
    }
    try {
      const values = known.serve(args ?? {});
      if (values !== null) answer(true, values);
    } catch (error) {
      answer(false, errorText(error));
    }
  }

  #sendGoal({ id, action, args, feedback }: Extract<Message, { op: 'send_action_goal' }>): void {
    const key = String(id);
    const fail = (why: string) =>
      this.#send({ op: 'action_result', action, values: why, status: 0, result: false, ...idOf(id) });
    const server = this.#options.graph.actions.get(action);
    if (server === undefined) {
      fail('No action server available');
      return;
    }
    const cancel = server.send(args ?? {}, {
      onFeedback: (values) => {
        if (feedback === true) this.#send({ op: 'action_feedback', action, values, ...idOf(id) });
      },
      onResult: (status, values) => {
        this.#cancels.delete(key);
        this.#send({ op: 'action_result', action, values, status, result: true, ...idOf(id) });
      },
    });
    if (cancel === null) fail('Action goal was rejected');
    else this.#cancels.set(key, cancel);
  }

  #status(level: string, msg: string, about?: string | number): void {
    this.#send({ op: 'status', level, msg, ...idOf(about) });
  }

  #send(message: object): void {
    if (this.#open) this.#options.send(JSON.stringify(message));
  }
}

function idOf(value: string | number | undefined): { id?: string | number } {
  return value === undefined ? {} : { id: value };
}
