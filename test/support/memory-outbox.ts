/** An outbox in memory with the promises of the real one, for tests of whoever reads or writes it. */
import type {
  DeadLetter,
  LaneStamp,
  OutboxFlow,
  OutboxLane,
  OutboxReader,
  OutboxRow,
  OutboxStats,
  OutboxWriter,
} from '../../daemon/store/outbox-types.js';

export class MemoryOutbox implements OutboxReader, OutboxWriter {
  /** Ids in the order in which their PUBACK was reported, repeats included. */
  readonly acknowledgedIds: number[] = [];
  readonly dead: DeadLetter[] = [];
  dropped = 0;
  /** Robot time of new rows, epoch ms. */
  now: () => number = () => 0;
  #flow: (() => OutboxFlow) | null = null;
  #rows: OutboxRow[] = [];
  #pending: OutboxRow[] = [];
  #nextId = 1;
  #nextSeq = 1;
  #nextTelemetry = 1;
  readonly #listeners = new Set<() => void>();

  /** Adds committed rows to the ordered lane and tells the listeners; returns their ids. */
  add(count: number, payload: (seq: number) => object = () => ({})): number[] {
    const first = this.#nextId;
    for (let i = 0; i < count; i++)
      this.appendOrdered('events/task', null, (stamp) => ({ ...stamp, ...payload(stamp.seq) }));
    this.commit();
    return Array.from({ length: count }, (_, i) => first + i);
  }

  commit(): void {
    if (this.#pending.length === 0) return;
    this.#rows.push(...this.#pending.splice(0));
    for (const listener of [...this.#listeners]) listener();
  }

  get depth(): number {
    return this.#rows.length;
  }

  /** Payloads not yet sent, oldest first, committed or not. */
  payloads(topic: string): unknown[] {
    return [...this.#rows, ...this.#pending]
      .filter((r) => r.topic === topic)
      .map((r) => JSON.parse(r.payload));
  }

  appendOrdered(
    topic: string,
    key: string | null,
    build: (stamp: LaneStamp & { idempotency_key: string }) => object,
  ): void {
    const seq = this.#nextSeq++;
    const stamp = { ...this.#stamp(), seq };
    const idempotency_key = key ?? stamp.event_id;
    this.#append('ordered', topic, seq, idempotency_key, build({ ...stamp, idempotency_key }));
  }

  appendResponse(topic: string, payload: object): void {
    this.#append('response', topic, null, null, payload);
  }

  appendTelemetry(
    topic: string,
    compactKey: string | null,
    build: (stamp: Omit<LaneStamp, 'seq'> & { telemetry_seq: number; idempotency_key: string }) => object,
  ): void {
    const stamp = this.#stamp();
    const row = { ...stamp, telemetry_seq: this.#nextTelemetry++, idempotency_key: stamp.event_id };
    this.#append('telemetry', topic, null, compactKey, build(row));
  }

  hasRoom(): boolean {
    return this.#rows.length < 100_000;
  }

  peek(afterId: number, limit: number, lane?: OutboxLane): OutboxRow[] {
    const rows = lane === undefined ? this.#rows : this.#rows.filter((row) => row.lane === lane);
    const from = rows.findIndex((row) => row.id > afterId);
    return from < 0 ? [] : rows.slice(from, from + limit);
  }

  expired(id: number): void {
    this.#rows = this.#rows.filter((row) => row.id !== id);
    this.dropped += 1;
  }

  reportFlow(flow: () => OutboxFlow): void {
    this.#flow = flow;
  }

  acknowledged(id: number): void {
    this.acknowledgedIds.push(id);
    const index = this.#rows[0]?.id === id ? 0 : this.#rows.findIndex((row) => row.id === id);
    if (index >= 0) this.#rows.splice(index, 1);
  }

  countAttempt(id: number): number {
    const row = this.#rows.find((r) => r.id === id);
    if (row === undefined) return 0;
    row.attempts += 1;
    return row.attempts;
  }

  deadLetter(id: number, reason: string): void {
    const index = this.#rows.findIndex((row) => row.id === id);
    const row = this.#rows[index];
    if (row === undefined) return;
    this.dead.push({
      id,
      topic: row.topic,
      seq: row.seq,
      reason,
      attempts: row.attempts,
      at: 0,
      payload: row.payload,
    });
    if (row.lane === 'ordered' && !row.payload.includes('"DEAD_LETTERED"')) {
      const payload = JSON.stringify({
        ...this.#stamp(),
        seq: row.seq,
        event: 'DEAD_LETTERED',
        idempotency_key: row.idempotencyKey,
        reason,
      });
      this.#rows[index] = { ...row, payload, attempts: 0 };
    } else this.#rows.splice(index, 1);
    for (const listener of [...this.#listeners]) listener();
  }

  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stats(): OutboxStats {
    const of = (lane: OutboxLane) => this.#rows.filter((row) => row.lane === lane).length;
    return {
      depth: this.#rows.length,
      bytes: this.#rows.reduce((sum, row) => sum + row.payload.length, 0),
      oldestAgeMs: this.#rows.length === 0 ? null : 0,
      deadLetters: this.dead.length,
      publishedTotal: this.acknowledgedIds.length,
      droppedTelemetryTotal: this.dropped,
      nextSeq: this.#nextSeq,
      storeEpoch: 'e-test',
      lanes: { ordered: of('ordered'), response: of('response'), telemetry: of('telemetry') },
      accepting: this.hasRoom(),
      flow: this.#flow?.() ?? null,
    };
  }

  deadLetters(limit: number): DeadLetter[] {
    return this.dead.slice(0, limit);
  }

  requeue(): boolean {
    return false;
  }

  drop(): boolean {
    return false;
  }

  #stamp() {
    const event_id = `ev-${String(this.#nextId).padStart(8, '0')}`;
    return { event_id, store_epoch: 'e-test', device_id: 'da-test', boot_id: 'b-test' };
  }

  #append(lane: OutboxLane, topic: string, seq: number | null, key: string | null, payload: object): void {
    const row = {
      id: this.#nextId++,
      lane,
      topic,
      seq,
      idempotencyKey: key,
      payload: JSON.stringify(payload),
    };
    this.#pending.push({ ...row, createdAt: this.now(), attempts: 0 });
  }
}
