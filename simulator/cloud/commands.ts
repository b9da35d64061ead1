/** Builds command envelopes as a cloud does, or as one does that misbehaves. */
import { type Clock, isoWithOffset } from '../../config/contracts/clock.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Misbehaviour } from './types.js';

const HOUR_MS = 3_600_000;

const WELL_BEHAVED: Misbehaviour = {
  repeatCommands: false,
  staleTimestamps: false,
  reuseIds: false,
  wrongIds: false,
  padBytes: 0,
  delayMs: 0,
};

export interface OutgoingCommand {
  commandId: string;
  payload: string;
  copies: number;
  delayMs: number;
}

export class CommandWriter {
  readonly #clock: Clock;
  readonly #ids: Ids;
  #behaviour = WELL_BEHAVED;
  #lastId: string | null = null;

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  misbehave(change: Partial<Misbehaviour>): void {
    this.#behaviour = { ...this.#behaviour, ...change };
  }

  /** Fills in what the envelope needs and `command` leaves out. */
  write(command: Record<string, unknown>): OutgoingCommand {
    const behaviour = this.#behaviour;
    const given = typeof command.command_id === 'string' ? command.command_id : this.#ids.make('c');
    const commandId = behaviour.reuseIds && this.#lastId !== null ? this.#lastId : given;
    this.#lastId = commandId;
    const issued = this.#clock.wall() - (behaviour.staleTimestamps ? HOUR_MS : 0);
    const body: Record<string, unknown> = {
      correlation_id: this.#ids.make('co'),
      reply_to: null,
      issued_at: isoWithOffset(issued),
      expires_at: null,
      ...command,
      command_id: commandId,
    };
    if (behaviour.wrongIds) body.params = wrongIds(body.params);
    if (behaviour.padBytes > 0) body.padding = 'x'.repeat(behaviour.padBytes);
    return {
      commandId,
      payload: JSON.stringify(body),
      copies: behaviour.repeatCommands ? 2 : 1,
      delayMs: behaviour.delayMs,
    };
  }
}

function wrongIds(params: unknown): unknown {
  if (typeof params !== 'object' || params === null) return params;
  const wrong: Record<string, unknown> = { ...params };
  for (const name of ['task_id', 'workflow_id']) if (name in wrong) wrong[name] = 'unknown-1';
  return wrong;
}
