/** Refusals by policy, on record: bounded, so that whoever keeps asking cannot fill the audit log. */
import type { Clock } from '../../config/contracts/clock.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { AuditLog } from './audit-log.js';

/** So many are recorded per window; the next one recorded says how many were left out. */
const MOST = 20;
const WINDOW_MS = 600_000;

interface Denial {
  leftOut: number;
  source: Source;
  method: string;
  rule: string;
  reason: string;
}

export class DenialRecord {
  readonly #audit: AuditLog;
  readonly #clock: Clock;
  readonly #waiting: Denial[] = [];
  #windowFrom = Number.NEGATIVE_INFINITY;
  #inWindow = 0;
  #leftOut = 0;
  #total = 0;

  constructor(audit: AuditLog, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
  }

  /** Keeps it until `write`: what is being refused undoes its own transaction. */
  note(source: Source, method: string, rule: string, reason: string): void {
    this.#total++;
    const now = this.#clock.mono();
    if (now - this.#windowFrom >= WINDOW_MS) {
      this.#windowFrom = now;
      this.#inWindow = 0;
    }
    if (++this.#inWindow > MOST) this.#leftOut++;
    else {
      this.#waiting.push({ leftOut: this.#leftOut, source, method, rule, reason });
      this.#leftOut = 0;
    }
  }

  /** Inside a `write` that is not undone by the refusal. */
  write(): void {
    for (const { source, method, rule, reason, leftOut } of this.#waiting.splice(0)) {
      const data = { method, rule, reason, ...(leftOut > 0 ? { left_out: leftOut } : {}) };
      this.#audit.append('policy.denied', source, data);
    }
  }

  counters(): Record<string, number> {
    return { denied: this.#total };
  }
}
