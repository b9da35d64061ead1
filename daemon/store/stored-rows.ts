/** Reading the outbox's three lanes as one, in the order of their ids. */
import {
  type LooseRow,
  type OrderedRow,
  type prepareOutbox,
  shownLoose,
  shownOrdered,
} from './outbox-rows.js';
import type { OutboxRow } from './outbox-types.js';

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

  rows({ afterId, ackedId, ackedSeq, upTo }: Window, limit: number): OutboxRow[] {
    const { peekOrdered, peekResponses, peekTelemetry } = this.#sql;
    const ordered = peekOrdered.all(Math.max(afterId, ackedId), upTo, ackedSeq, limit).map(shownOrdered);
    const loose = [
      ...peekResponses.all(afterId, upTo, limit).map((row) => shownLoose(row, 'response')),
      ...peekTelemetry.all(afterId, upTo, limit).map((row) => shownLoose(row, 'telemetry')),
    ];
    if (loose.length === 0) return ordered;
    return [...ordered, ...loose].sort((a, b) => a.id - b.id).slice(0, limit);
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
