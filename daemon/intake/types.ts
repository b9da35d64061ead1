/** One gate for every request from outside, whichever channel it came in on. */
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import type { Source } from '../../config/contracts/wire/events.js';

/** Who is asking, as the channel established it; never taken from a payload. */
export interface Principal {
  source: Source;
  /** For the audit trail, e.g. `mqtt`, `unix-socket`, `console`. */
  name: string;
}

export interface Intake {
  /**
   * Judges and, when accepted, stores one command. Validation, timestamps, duplicates and policy as the wire
   * contract says; the answer, the task and the memory of the `command_id` are one store transaction. Never
   * throws for bad input. `raw` is the parsed JSON value.
   */
  handle(raw: unknown, principal: Principal): CommandResponse;
}
