/**
 * What a cloud that trusts nobody writes down about the ordered lane: which `seq` came when, under which key and with
 * which body, and which tasks and workflows have ended. Written from the contract alone; shares no code with the
 * robot or with the simulated cloud.
 */
import { createHash } from 'node:crypto';
import { asObject, asText, parseObject } from './json.js';

export interface BookedEvent {
  epoch: string;
  seq: number;
  key: string;
  topic: string;
  /** E.g. `COMPLETED`, or the type of an observation. */
  event: string;
  taskId: string | null;
  workflowId: string | null;
  stepId: string | null;
  method: string | null;
  reasonCode: string | null;
  message: string | null;
  attempt: number | null;
  /** Of a scheduled run. */
  scheduleId: string | null;
  scheduledFor: string | null;
  /** For ends of tasks: what proves them. */
  evidence: Record<string, unknown> | null;
}

export type EventProblemKind =
  | 'out_of_order'
  | 'key_conflict'
  | 'second_terminal'
  | 'dead_letter'
  | 'malformed';

export interface Problem<Kind extends string> {
  kind: Kind;
  text: string;
}

interface Epoch {
  first: number;
  last: number;
  /** Digest of the body by `seq`. */
  bodies: Map<number, string>;
}

const TERMINAL: readonly string[] = ['COMPLETED', 'FAILED', 'CANCELLED'];

export class EventBook {
  readonly problems: Problem<EventProblemKind>[] = [];
  readonly #epochs = new Map<string, Epoch>();
  readonly #keys = new Map<string, { seq: number; epoch: string; body: string }>();
  readonly #ends = new Map<string, BookedEvent>();
  readonly #started = new Set<string>();
  /** By schedule: by time, what ran. */
  readonly #runs = new Map<string, Map<string, string>>();
  #repeats = 0;
  #telemetry = 0;
  #events = 0;

  /** One message of an `events/…` topic. Null for telemetry, repeats and what cannot be read. */
  accept(topic: string, text: string): BookedEvent | null {
    const payload = parseObject(text);
    if (payload === null) {
      this.#complain('malformed', `${topic}: not a JSON object: ${text.slice(0, 80)}`);
      return null;
    }
    if (payload.telemetry_seq !== undefined && payload.seq === undefined) {
      this.#telemetry += 1;
      return null;
    }
    const event = bookedEvent(topic, payload);
    if (event === null) {
      this.#complain('malformed', `${topic}: without seq, store_epoch or idempotency_key`);
      return null;
    }
    if (!this.#place(event, digest(text))) return null;
    this.#events += 1;
    if (event.event === 'DEAD_LETTERED') this.#complain('dead_letter', `${event.key} (seq ${event.seq})`);
    if (event.event === 'STARTED' && event.taskId !== null) this.#started.add(event.taskId);
    if (TERMINAL.includes(event.event)) this.#end(event);
    if (event.scheduleId !== null) this.#noteRun(event.scheduleId, event);
    return event;
  }

  /** What became of the times of a schedule: one entry for each, the task or workflow that ran, or `expired`. */
  runsOf(scheduleId: string): string[] {
    return [...(this.#runs.get(scheduleId)?.values() ?? [])];
  }

  /** How a task, or a workflow as a whole, ended. */
  endOf(id: string): BookedEvent | null {
    return this.#ends.get(id) ?? null;
  }

  get ends(): readonly BookedEvent[] {
    return [...this.#ends.values()];
  }

  /** Tasks that were seen to start. */
  get started(): ReadonlySet<string> {
    return this.#started;
  }

  get counts(): { events: number; repeats: number; telemetry: number } {
    return { events: this.#events, repeats: this.#repeats, telemetry: this.#telemetry };
  }

  get epochs(): string[] {
    return [...this.#epochs.keys()];
  }

  /** The newest `seq` of an epoch; 0 when nothing of it came. */
  lastSeq(epoch: string): number {
    return this.#epochs.get(epoch)?.last ?? 0;
  }

  /**
   * Numbers of an epoch that never came, up to `end` or the newest that did. What was published before this book
   * was opened (before the first subscription) is not missing.
   */
  missing(epoch: string, end?: number): number[] {
    const known = this.#epochs.get(epoch);
    if (known === undefined) return [];
    const missing: number[] = [];
    for (let seq = known.first; seq <= (end ?? known.last); seq++) {
      if (!known.bodies.has(seq)) missing.push(seq);
    }
    return missing;
  }

  count(kind: EventProblemKind): number {
    return this.problems.filter((problem) => problem.kind === kind).length;
  }

  /** False for a repeat of what is known already. */
  #place({ epoch: id, seq, key }: BookedEvent, body: string): boolean {
    const epoch = this.#epochs.get(id) ?? { first: seq, last: seq - 1, bodies: new Map() };
    this.#epochs.set(id, epoch);
    const known = epoch.bodies.get(seq);
    if (known !== undefined) {
      this.#repeats += 1;
      if (known !== body) this.#complain('key_conflict', `seq ${seq} came with two bodies (${key})`);
      return false;
    }
    const earlier = this.#keys.get(key);
    if (earlier !== undefined) {
      this.#complain('key_conflict', `${key} came as seq ${earlier.seq} and as seq ${seq}`);
    }
    if (seq < epoch.last) {
      this.#complain('out_of_order', `seq ${seq} (${key}) came first after seq ${epoch.last}`);
    }
    epoch.bodies.set(seq, body);
    epoch.last = Math.max(epoch.last, seq);
    this.#keys.set(key, { seq, epoch: id, body });
    return true;
  }

  #end(event: BookedEvent): void {
    const id = event.taskId ?? event.workflowId;
    if (id === null) return;
    const before = this.#ends.get(id);
    if (before !== undefined) {
      this.#complain('second_terminal', `${id} ended ${before.event}, and again ${event.event}`);
      return;
    }
    this.#ends.set(id, event);
  }

  #noteRun(scheduleId: string, event: BookedEvent): void {
    const runs = this.#runs.get(scheduleId) ?? new Map<string, string>();
    this.#runs.set(scheduleId, runs);
    const expired = event.event === 'BLOCKED' && event.reasonCode === 'MISSED_RUN_EXPIRED';
    const ran = event.workflowId ?? event.taskId;
    if (event.event === 'BLOCKED' && !expired) return;
    const what = expired ? 'expired' : ran;
    if (what === null) return;
    const when = event.scheduledFor ?? '?';
    const before = runs.get(when);
    if (before !== undefined && before !== what)
      this.#complain('second_terminal', `${scheduleId} at ${when} ran twice: ${before} and ${what}`);
    runs.set(when, what);
  }

  #complain(kind: EventProblemKind, text: string): void {
    this.problems.push({ kind, text });
  }
}

function bookedEvent(topic: string, payload: Record<string, unknown>): BookedEvent | null {
  const { seq, store_epoch: epoch, idempotency_key: key, attempt, scheduled_for: scheduledFor } = payload;
  if (typeof seq !== 'number' || typeof epoch !== 'string' || typeof key !== 'string') return null;
  return {
    epoch,
    seq,
    key,
    topic,
    event: asText(payload.event) ?? asText(payload.type) ?? '?',
    taskId: asText(payload.task_id),
    workflowId: asText(payload.workflow_id),
    stepId: asText(payload.step_id),
    method: asText(payload.method),
    reasonCode: asText(payload.reason_code),
    message: asText(payload.message),
    attempt: typeof attempt === 'number' ? attempt : null,
    scheduleId: asText(payload.schedule_id),
    scheduledFor: scheduledFor === undefined || scheduledFor === null ? null : String(scheduledFor),
    evidence: asObject(payload.evidence),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
