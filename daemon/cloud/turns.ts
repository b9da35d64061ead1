/** Which lane sends next. */
import type { Clock } from '../../config/contracts/clock.js';
import type { OutboxLane, OutboxRow } from '../store/outbox-types.js';

/** An event that waits longer than this is backlog: then what is live goes first. */
const BACKLOG_MS = 2000;
/** Of so many rows in a row that overtake others, the next one does not: no lane keeps another from moving. */
const SHARE = 8;

type Heads = Partial<Record<OutboxLane, OutboxRow | undefined>> & {
  /** Whether a row of a backlog may go now; null: always. */
  mayReplay: (() => boolean) | null;
};

/**
 * Answers first: somebody waits for them. Then events and telemetry in the order in which they were written, except
 * behind a backlog, where every eighth row is telemetry, so that the cloud sees how things stand now and not an hour
 * ago. `seq` is of the ordered lane alone, so none of this changes the order that is promised.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'now'>;
  /** Answers sent since another lane had its turn, and events sent since telemetry had. */
  #answers = 0;
  #events = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  choose({ response, ordered, telemetry, mayReplay }: Heads): OutboxRow | null {
    const held = mayReplay !== null && ordered !== undefined && this.isOld(ordered) && !mayReplay();
    const event = held ? undefined : ordered;
    const others = event !== undefined || telemetry !== undefined;
    if (response !== undefined && (!others || this.#answers < SHARE)) {
      this.#answers += 1;
      return response;
    }
    this.#answers = 0;
    if (event === undefined || (telemetry !== undefined && this.#telemetryFirst(event, telemetry))) {
      this.#events = 0;
      return telemetry ?? null;
    }
    this.#events += 1;
    return event;
  }

  /** Of a backlog: written a while ago. A clock that was set back says nothing about that. */
  isOld(row: OutboxRow): boolean {
    return Math.abs(this.#clock.now() - row.createdAt) > BACKLOG_MS;
  }

  #telemetryFirst(event: OutboxRow, telemetry: OutboxRow): boolean {
    return telemetry.id < event.id || (this.#events >= SHARE && this.isOld(event));
  }
}
