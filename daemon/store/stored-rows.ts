/** Reading the outbox's three lanes, each by itself or all as one in the order of their ids. */
import {
  type LooseRow,
  type OrderedRow,
  type prepareOutbox,
  shownLoose,
  shownOrdered,
} from './outbox-rows.js';
import type { OutboxLane, OutboxRow } from './outbox-types.js';

const LANES: readonly OutboxLane[] = ['ordered', 'response', 'telemetry'];

/** Which rows: unsent ones behind `afterId`, up to the last committed id. */
export interface Window {
  afterId: number;
  /** Every ordered row up to these was acknowledged. */
  ackedId: number;
  ackedSeq: number;
  upTo: number;
}

export type FoundRow =
  | { lane: 'ordered'; row: OrderedRow }
  | { lane: 'response' | 'telemetry'; row: LooseRow };

export class StoredRows {
  readonly #sql: ReturnType<typeof prepareOutbox>;

  constructor(sql: ReturnType<typeof prepareOutbox>) {
    this.#sql = sql;
  }

  rows(window: Window, limit: number): OutboxRow[] {
    const all = LANES.flatMap((lane) => this.rowsOf(lane, window, limit));
    return all.sort((a, b) => a.id - b.id).slice(0, limit);
  }

  rowsOf(lane: OutboxLane, { afterId, ackedId, ackedSeq, upTo }: Window, limit: number): OutboxRow[] {
    const { peekOrdered, peekResponses, peekTelemetry } = this.#sql;
    if (lane === 'ordered')
      return peekOrdered.all(Math.max(afterId, ackedId), upTo, ackedSeq, limit).map(shownOrdered);
    const statement = lane === 'response' ? peekResponses : peekTelemetry;
    return statement.all(afterId, upTo, limit).map((row) => shownLoose(row, lane));
  }

  find(id: number): FoundRow | null {
    const ordered = this.#sql.orderedById.get(id);
    if (ordered !== undefined) return { lane: 'ordered', row: ordered };
    const response = this.#sql.responseById.get(id);
    if (response !== undefined) return { lane: 'response', row: response };
    const telemetry = this.#sql.telemetryById.get(id);
    return telemetry === undefined ? null : { lane: 'telemetry', row: telemetry };
  }

  /** Of an ordered row; 0 where there is none. */
  idOf(seq: number): number {
    return this.#sql.idBySeq.get(seq) ?? 0;
  }

  /** When the oldest unsent row of any lane was written, ms; null when nothing waits. */
  oldestAt(ackedSeq: number): number | null {
    const { oldestOrdered, oldestResponse, oldestTelemetryAt } = this.#sql;
    const times = [oldestOrdered.get(ackedSeq), oldestResponse.get(), oldestTelemetryAt.get()].filter(
      (at) => at !== undefined,
    );
    return times.length === 0 ? null : Math.min(...times);
  }
}
