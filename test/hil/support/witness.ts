/**
 * A second client of the broker, beside the simulated cloud: sees every message below the device's root as it is,
 * and what the world was like when it came. It can send any bytes as a command.
 */
import { MqttClient } from 'mqtt';
import type { CommandResponse } from '../../../config/contracts/wire/command.js';
import type { TaskEvent } from '../../../config/contracts/wire/events.js';
import { BrokerConnection } from '../../../simulator/cloud/connection.js';
import type { Home } from '../../support/home.js';
import { Diary, type Truth } from './truth.js';

export interface Seen {
  topic: string;
  text: string;
  truth: Truth;
}

export interface SeenEvent extends Omit<TaskEvent, 'event' | 'evidence'> {
  /** For observations, their type. */
  event: string;
  evidence: Record<string, unknown> | null;
  topic: string;
  truth: Truth;
}

const TERMINAL = ['COMPLETED', 'FAILED', 'CANCELLED'];

export class Witness {
  readonly home: Home;
  readonly diary: Diary;
  readonly messages: Seen[] = [];
  readonly #ear: BrokerConnection;
  readonly #client: MqttClient;
  readonly #root = 'deviceagent/da-sim';

  private constructor(home: Home, client: MqttClient) {
    this.home = home;
    this.#client = client;
    this.diary = new Diary(home);
    this.#ear = new BrokerConnection({
      broker: { connect: () => home.session.connectBroker() },
      clientId: 'witness',
      topics: [`${this.#root}/#`],
      clock: home.session.clock,
      onMessage: (topic, payload) =>
        this.messages.push({
          topic: topic.slice(this.#root.length + 1),
          text: payload.toString(),
          truth: this.diary.now,
        }),
      onError: () => {},
    });
    client.on('error', () => {});
  }

  static async of(home: Home): Promise<Witness> {
    const client = new MqttClient(() => home.session.connectBroker(), {
      clientId: 'witness-writes',
      keepalive: 0,
      reconnectPeriod: 20,
    });
    const witness = new Witness(home, client);
    await Promise.all([
      new Promise<void>((resolve) => client.once('connect', () => resolve())),
      witness.#ear.start(),
    ]);
    return witness;
  }

  /** Publishes on `…/command`; strings and buffers as they are, anything else as JSON. */
  async publish(payload: unknown, options: { retain?: boolean } = {}): Promise<void> {
    const raw = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
    const sent = this.#client.publishAsync(`${this.#root}/command`, raw, {
      qos: 1,
      retain: options.retain ?? false,
    });
    await this.home.settled(sent, 5_000, 'the broker takes the command');
  }

  /** Publishes, and waits for exactly one new response, on whatever response topic. */
  async ask(payload: unknown, options: { retain?: boolean } = {}): Promise<CommandResponse & Seen> {
    const before = this.responses.length;
    await this.publish(payload, options);
    await this.home.until(() => this.responses.length > before, 5_000, 'a response');
    await this.home.run(300);
    const [answer, ...more] = this.responses.slice(before);
    if (answer === undefined || more.length > 0) {
      throw new Error(`expected one response, got ${JSON.stringify([answer, ...more])}`);
    }
    return answer;
  }

  /** An envelope that is in order, with these fields. */
  envelope(fields: Record<string, unknown>): Record<string, unknown> {
    this.#n += 1;
    return {
      command_id: `w-${this.#n}`,
      correlation_id: null,
      reply_to: null,
      issued_at: new Date(this.home.session.clock.wall()).toISOString(),
      expires_at: null,
      ...fields,
    };
  }

  get responses(): (CommandResponse & Seen)[] {
    return this.messages
      .filter((message) => message.topic.startsWith('command/response'))
      .map((message) => ({ ...message, ...(JSON.parse(message.text) as CommandResponse) }));
  }

  /** Rows of the ordered lane as they came, repeats included. */
  get events(): SeenEvent[] {
    return this.messages
      .filter((message) => message.topic.startsWith('events/'))
      .map((message) => {
        const payload = JSON.parse(message.text) as SeenEvent & { type?: string };
        const { topic, truth } = message;
        return { ...payload, event: payload.event ?? payload.type ?? '?', topic, truth };
      })
      .filter((event) => event.seq !== undefined);
  }

  /** Progress reports, oldest first. */
  get progress(): SeenEvent[] {
    return this.messages
      .filter((message) => message.topic === 'events/task')
      .map((message) => ({ ...(JSON.parse(message.text) as SeenEvent), truth: message.truth }))
      .filter((event) => event.event === 'PROGRESS');
  }

  /** The one terminal event of a task, or of a workflow itself; waits for it. */
  async end(id: string, ms = 300_000): Promise<SeenEvent> {
    await this.home.until(() => this.ended(id) !== null, ms, `the end of ${id}`);
    const event = this.ended(id);
    if (event === null) throw new Error('unreachable');
    return event;
  }

  ended(id: string): SeenEvent | null {
    return this.events.find((event) => isEndOf(id, event)) ?? null;
  }

  /** Terminal events of a task or workflow; there must never be two. */
  endsOf(id: string): string[] {
    const keys = new Set<string>();
    return this.events
      .filter(
        (event) => isEndOf(id, event) && !keys.has(event.idempotency_key) && keys.add(event.idempotency_key),
      )
      .map((event) => event.event);
  }

  /** World time of a moment that the robot gives in its own time, while its clock has not jumped. */
  worldTime(robotMs: number): number {
    const { clock, world } = this.home.session;
    return robotMs - clock.now() + world.timeMs;
  }

  /** What really was at the time the evidence of `event` was observed. */
  observed(event: SeenEvent): Truth {
    const at = event.evidence?.observed_at_ms;
    if (typeof at !== 'number') throw new Error(`${event.event} of ${event.method} has no observed_at_ms`);
    return this.diary.at(this.worldTime(at));
  }

  async close(): Promise<void> {
    await this.#ear.stop();
    await this.#client.endAsync(true);
  }

  #n = 0;
}

function isEndOf(id: string, event: SeenEvent): boolean {
  if (!TERMINAL.includes(event.event)) return false;
  return (
    event.task_id === id || (event.task_id === null && event.step_id === null && event.workflow_id === id)
  );
}
