/**
 * What a cloud does with what it receives, and what it would complain about: order and gaps of `seq` within a store
 * epoch, repeats by `idempotency_key`, one terminal event per task, payloads that do not fit the contract.
 */
import { observationSchema, taskEventSchema, tombstoneSchema } from '../../config/contracts/wire/events.js';
import { EventLog, type LogRow } from './event-log.js';
import type { CloudReport, ConsumerProblem, ReceivedEvent } from './types.js';

const ORDERED_TOPICS: readonly string[] = [
  'events/task',
  'events/observation',
  'events/experience',
  'events/assistant',
];
const TERMINAL: readonly string[] = ['COMPLETED', 'FAILED', 'CANCELLED'];
/** Kept of each kind, so that a week of simulation does not fill the memory. */
const KEEP_EVENTS = 50_000;
const KEEP_PROBLEMS = 1000;
const KEEP_KEYS = 200_000;

type Payload = Record<string, unknown>;

/** What is known of one store epoch. */
interface Epoch {
  first: number;
  last: number;
  missing: Set<number>;
  /** seq → key, and key → seq, of what arrived. */
  bySeq: Map<number, string>;
  byKey: Map<string, number>;
  buried: Set<string>;
}

export class EventConsumer {
  readonly #epochs = new Map<string, Epoch>();
  readonly #ended = new Map<string, string>();
  readonly #events: ReceivedEvent[] = [];
  readonly #problems: ConsumerProblem[] = [];
  #repeats = 0;
  #deadLettered = 0;
  #applied = 0;
  /** What a consumer that follows docs/consumer.md has of it. */
  readonly #log = new EventLog<LogRow>(() => {
    this.#applied += 1;
  });
  #telemetry = 0;

  /** One message of an ordered topic. Null for repeats, telemetry and what cannot be used. */
  accept(topic: string, text: string): ReceivedEvent | null {
    const payload = parse(text);
    if (payload === null) {
      this.#complain('malformed', `${topic}: not a JSON object`);
      return null;
    }
    const complaint = shapeComplaint(topic, payload);
    if (complaint !== null) this.#complain('malformed', `${topic}: ${complaint}`);
    const { seq, store_epoch: epoch, idempotency_key: key } = payload;
    if (typeof seq !== 'number') {
      this.#telemetry += 1;
      return null;
    }
    if (typeof epoch !== 'string' || typeof key !== 'string') return null;
    this.#log.accept({ store_epoch: epoch, seq, idempotency_key: key, event: payload.event });
    if (!this.#place(epoch, seq, key, payload)) return null;
    const event = received(topic, seq, payload);
    this.#keep(event);
    this.#judgeTerminal(event);
    return event;
  }

  report(): Omit<CloudReport, 'responses' | 'status'> {
    const epoch = [...this.#epochs.values()].at(-1);
    const missing = [...(epoch?.missing ?? [])].sort((a, b) => a - b);
    const gaps: ConsumerProblem[] =
      missing.length === 0
        ? []
        : [{ kind: 'gap', text: `never received: seq ${missing.slice(0, 20).join(', ')}` }];
    return {
      events: this.#events,
      firstSeq: epoch?.first ?? null,
      lastSeq: epoch?.last ?? null,
      missing,
      repeats: this.#repeats,
      deadLettered: this.#deadLettered,
      telemetry: this.#telemetry,
      applied: this.#applied,
      waiting: this.#log.waiting,
      problems: [...this.#problems, ...gaps],
    };
  }

  /** False for a repeat. */
  #place(epochId: string, seq: number, key: string, payload: Payload): boolean {
    const epoch = this.#epochs.get(epochId) ?? newEpoch(seq);
    this.#epochs.set(epochId, epoch);
    const known = epoch.bySeq.get(seq);
    if (known !== undefined) {
      if (known !== key) this.#complain('key_conflict', `seq ${seq} came as ${known} and as ${key}`);
      this.#repeats += 1;
      return false;
    }
    const earlier = epoch.byKey.get(key);
    // A dead letter that a person sends again comes under its old key and a new seq.
    if (earlier !== undefined && !epoch.buried.has(key)) {
      this.#complain('key_conflict', `${key} came as seq ${earlier} and as seq ${seq}`);
    }
    const buried = payload.event === 'DEAD_LETTERED';
    if (buried) {
      this.#deadLettered += 1;
      epoch.buried.add(key);
    }
    if (seq < epoch.last && !buried)
      this.#complain('out_of_order', `seq ${seq} (${key}) came after seq ${epoch.last}`);
    for (let gap = epoch.last + 1; gap < seq; gap++) epoch.missing.add(gap);
    epoch.missing.delete(seq);
    epoch.last = Math.max(epoch.last, seq);
    epoch.first = Math.min(epoch.first, seq);
    epoch.bySeq.set(seq, key);
    epoch.byKey.set(key, seq);
    forgetOldest(epoch.bySeq, KEEP_KEYS);
    forgetOldest(epoch.byKey, KEEP_KEYS);
    return true;
  }

  #judgeTerminal(event: ReceivedEvent): void {
    if (!TERMINAL.includes(event.event)) return;
    const { taskId, workflowId, stepId } = event;
    // A step that fails before it has a task says so under its workflow and its own id.
    const id = taskId ?? (stepId === null ? workflowId : `${workflowId}:${stepId}`);
    if (id === null) return;
    const before = this.#ended.get(id);
    if (before !== undefined)
      this.#complain('second_terminal', `${id} ended ${before}, and again ${event.event}`);
    this.#ended.set(id, event.event);
    forgetOldest(this.#ended, KEEP_KEYS);
  }

  #keep(event: ReceivedEvent): void {
    this.#events.push(event);
    if (this.#events.length > KEEP_EVENTS) this.#events.shift();
  }

  #complain(kind: ConsumerProblem['kind'], text: string): void {
    if (this.#problems.length < KEEP_PROBLEMS) this.#problems.push({ kind, text });
  }
}

export function isOrderedTopic(topic: string): boolean {
  return ORDERED_TOPICS.includes(topic);
}

/** The end of a workflow itself, not of one of its steps. */
export function isWorkflowEnd({ event, taskId, stepId, workflowId }: ReceivedEvent): boolean {
  return TERMINAL.includes(event) && taskId === null && stepId === null && workflowId !== null;
}

function newEpoch(seq: number): Epoch {
  return {
    first: seq,
    last: seq - 1,
    missing: new Set(),
    bySeq: new Map(),
    byKey: new Map(),
    buried: new Set(),
  };
}

function parse(text: string): Payload | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : null;
  } catch {
    return null;
  }
}

/** What does not fit the contract, or null. */
function shapeComplaint(topic: string, payload: Payload): string | null {
  const schema =
    payload.event === 'DEAD_LETTERED'
      ? tombstoneSchema
      : topic === 'events/task'
        ? taskEventSchema
        : topic === 'events/observation'
          ? observationSchema
          : null;
  const issue = schema?.safeParse(payload).error?.issues[0];
  return issue === undefined ? null : `${issue.path.map(String).join('.')}: ${issue.message}`;
}

function received(topic: string, seq: number, payload: Payload): ReceivedEvent {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    seq,
    topic,
    event: text(payload.event) ?? text(payload.type) ?? '?',
    taskId: text(payload.task_id),
    workflowId: text(payload.workflow_id),
    stepId: text(payload.step_id),
    method: text(payload.method),
    reasonCode: text(payload.reason_code),
    message: text(payload.message),
    evidence: payload.evidence ?? null,
    output: payload.output ?? null,
    occurredAt: text(payload.occurred_at),
  };
}

function forgetOldest<K>(map: Map<K, unknown>, limit: number): void {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
}
