/** The simulated cloud: an ordinary MQTT client that knows the device by nothing but the wire contract. */
import { delay } from '../../config/contracts/clock.js';
import { type CommandResponse, commandResponseSchema } from '../../config/contracts/wire/command.js';
import { statusSchema } from '../../config/contracts/wire/events.js';
import { CommandWriter } from './commands.js';
import { BrokerConnection } from './connection.js';
import { EventConsumer, isOrderedTopic, isWorkflowEnd } from './consumer.js';
import { describeEvent, describeResponse } from './describe.js';
import { planGoal } from './planner.js';
import { type PlannerContext, plannerContextSchema } from './rooms.js';
import type {
  CloudReport,
  Misbehaviour,
  PushedWorkflow,
  ReceivedEvent,
  SimCloud,
  SimCloudOptions,
} from './types.js';

/** Wait for an answer, milliseconds of robot time. */
const ANSWER_MS = 30_000;
/** How often, and how many times, a device that does not answer yet is asked again. */
const ASK_AGAIN_MS = 3000;
const ASK_TIMES = 40;
/** A workflow that takes longer than this has been lost sight of. */
const WORKFLOW_MS = 3_600_000;
const KEEP_LINES = 5000;

const TOPICS = [
  'status',
  'context',
  'command/response',
  'command/response/+',
  'events/task',
  'events/observation',
  'events/experience',
  'events/assistant',
];

/** Somebody waits for a message; settled once. */
interface Waiter<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

export function createSimCloud(options: SimCloudOptions): SimCloud {
  return new CloudClient(options);
}

class CloudClient implements SimCloud {
  readonly #options: SimCloudOptions;
  readonly #root: string;
  readonly #writer: CommandWriter;
  readonly #connection: BrokerConnection;
  readonly #consumer = new EventConsumer();
  readonly #answers = new Map<string, Waiter<CommandResponse>>();
  readonly #endings = new Map<string, Waiter<ReceivedEvent>>();
  readonly #eventListeners = new Set<(event: ReceivedEvent) => void>();
  readonly #progressListeners = new Set<(event: Record<string, unknown>) => void>();
  readonly #lines: string[] = [];
  #context: PlannerContext | null = null;
  #shownContext: object | null = null;
  #status: string | null = null;
  #responses = 0;

  constructor(options: SimCloudOptions) {
    this.#options = options;
    this.#root = `deviceagent/${options.deviceId}`;
    this.#writer = new CommandWriter(options.clock, options.ids);
    this.#connection = new BrokerConnection({
      broker: options.broker,
      clientId: `cloud-${options.deviceId}`,
      topics: TOPICS.map((topic) => `${this.#root}/${topic}`),
      clock: options.clock,
      onMessage: (topic, payload) => this.#receive(topic, payload.toString()),
      onError: (error) => this.#note(`the broker: ${error.message}`),
    });
  }

  start(): Promise<void> {
    return this.#connection.start();
  }

  async stop(): Promise<void> {
    for (const waiter of [...this.#answers.values(), ...this.#endings.values()]) {
      waiter.reject(new Error('the simulated cloud stopped'));
    }
    await this.#connection.stop();
  }

  async pushWorkflow(goal: string): Promise<PushedWorkflow> {
    const context = await this.#currentContext();
    const { ids } = this.#options;
    const document = planGoal(goal, context, { workflow: ids.make('wf'), plan: ids.make('p') });
    const ended = this.#waitIn(
      this.#endings,
      document.workflow_id,
      WORKFLOW_MS,
      `the end of ${document.workflow_id}`,
    );
    const { commandId, response } = this.#send({ kind: 'workflow', workflow: document }, ANSWER_MS);
    response
      .then((answer) => {
        if (answer.status === 'rejected') ended.reject(new Error(`${answer.reason_code}: ${answer.message}`));
      })
      .catch((error: unknown) => ended.reject(error instanceof Error ? error : new Error(String(error))));
    return { document, commandId, response, ended: ended.promise };
  }

  sendCommand(command: Record<string, unknown>, timeoutMs = ANSWER_MS): Promise<CommandResponse> {
    return this.#send(command, timeoutMs).response;
  }

  misbehave(change: Partial<Misbehaviour>): void {
    this.#writer.misbehave(change);
  }

  context(): object | null {
    return this.#shownContext;
  }

  onEvent(listener: (event: ReceivedEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  onProgress(listener: (event: Record<string, unknown>) => void): () => void {
    this.#progressListeners.add(listener);
    return () => this.#progressListeners.delete(listener);
  }

  report(): CloudReport {
    return { ...this.#consumer.report(), responses: this.#responses, status: this.#status };
  }

  log(): readonly string[] {
    return this.#lines;
  }

  busy(): number {
    return this.#connection.busy();
  }

  activity(): number {
    return this.#connection.activity();
  }

  #send(command: Record<string, unknown>, timeoutMs: number) {
    const { commandId, payload, copies, delayMs } = this.#writer.write(command);
    const waiter = this.#waitIn(this.#answers, commandId, timeoutMs + delayMs, `an answer to ${commandId}`);
    const publish = () => {
      for (let i = 0; i < copies; i++) this.#connection.publish(`${this.#root}/command`, payload);
    };
    if (delayMs > 0) this.#options.clock.after(delayMs, publish);
    else publish();
    return { commandId, response: waiter.promise };
  }

  /** What the device last showed; asked for, again and again, while it has shown nothing. */
  async #currentContext(): Promise<PlannerContext> {
    const query = { kind: 'query', method: 'getDevicePlanningContext', params: {} };
    for (let i = 0; i < ASK_TIMES; i++) {
      const answer = await this.sendCommand(query, ASK_AGAIN_MS).catch(() => null);
      if (answer?.status === 'accepted') this.#showContext(answer.result);
      if (this.#context?.map.available === true) return this.#context;
      if (answer !== null) await delay(this.#options.clock, ASK_AGAIN_MS);
    }
    throw new Error('the device shows no context with a map');
  }

  #receive(fullTopic: string, text: string): void {
    const topic = fullTopic.slice(this.#root.length + 1);
    if (isOrderedTopic(topic)) this.#receiveEvent(topic, text);
    else if (topic.startsWith('command/response')) this.#receiveResponse(text);
    else if (topic === 'context') this.#showContext(parsed(text));
    else if (topic === 'status') {
      this.#status = statusSchema.safeParse(parsed(text)).data?.state ?? null;
      this.#note(`the device is ${this.#status ?? 'unknown'}`);
    }
  }

  #receiveEvent(topic: string, text: string): void {
    const event = this.#consumer.accept(topic, text);
    if (event === null) {
      const payload = parsed(text);
      if (isProgress(payload)) for (const listener of this.#progressListeners) listener(payload);
      return;
    }
    this.#note(describeEvent(event));
    for (const listener of this.#eventListeners) listener(event);
    if (isWorkflowEnd(event) && event.workflowId !== null) {
      this.#endings.get(event.workflowId)?.resolve(event);
    }
  }

  #receiveResponse(text: string): void {
    const response = commandResponseSchema.safeParse(parsed(text));
    this.#responses += 1;
    if (!response.success) {
      this.#note('a response that does not fit the contract');
      return;
    }
    this.#note(describeResponse(response.data));
    this.#answers.get(response.data.command_id ?? '')?.resolve(response.data);
  }

  #showContext(value: unknown): void {
    const context = plannerContextSchema.safeParse(value);
    if (!context.success || typeof value !== 'object') return;
    this.#context = context.data;
    this.#shownContext = value;
  }

  #waitIn<T>(waiters: Map<string, Waiter<T>>, key: string, timeoutMs: number, what: string): Waiter<T> {
    let settle: Pick<Waiter<T>, 'resolve' | 'reject'> = { resolve: () => {}, reject: () => {} };
    const promise = new Promise<T>((resolve, reject) => {
      settle = { resolve, reject };
    });
    // Whoever does not wait for it must not be brought down by it.
    promise.catch(() => {});
    const cancel = this.#options.clock.after(timeoutMs, () => waiter.reject(new Error(`no sign of ${what}`)));
    const done = () => {
      cancel();
      if (waiters.get(key) === waiter) waiters.delete(key);
    };
    const waiter: Waiter<T> = {
      promise,
      resolve: (value) => {
        done();
        settle.resolve(value);
      },
      reject: (error) => {
        done();
        settle.reject(error);
      },
    };
    waiters.set(key, waiter);
    return waiter;
  }

  #note(line: string): void {
    // A broker that is down says the same at every try.
    if (line === this.#lines.at(-1) && line.startsWith('the broker: ')) return;
    this.#lines.push(line);
    if (this.#lines.length > KEEP_LINES) this.#lines.shift();
    this.#options.onLog?.(line);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isProgress(payload: unknown): payload is Record<string, unknown> {
  return (
    typeof payload === 'object' && payload !== null && 'event' in payload && payload.event === 'PROGRESS'
  );
}
