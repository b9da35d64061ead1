/** Answered `command_id`s, each with its answer, as rows of the store, until they may be forgotten. */
import { type CommandResponse, commandResponseSchema } from '../../config/contracts/wire/command.js';
import type { Store } from '../store/store.js';
import type { CommandMemory, RememberedCommand } from './types.js';

interface CommandRow {
  command_id: string;
  digest: string;
  response: string;
  keep_until: number;
}

/** At two commands per second for a whole day there is still room. */
const MAX_COMMANDS = 200_000;
const PRUNE_PER_CALL = 100;
/** Looking for what may be forgotten costs a query; once in so many milliseconds of wall time is enough. */
const PRUNE_EVERY_MS = 10_000;

export class CommandTable implements CommandMemory {
  readonly #store: Store;
  readonly #sql;
  #count: number;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store) {
    this.#store = store;
    const { db } = store;
    this.#sql = {
      find: db.prepare<[string], CommandRow>('SELECT * FROM commands WHERE command_id = ?'),
      insert: db.prepare(
        'INSERT INTO commands (command_id, digest, response, keep_until) VALUES (?, ?, ?, ?)',
      ),
      prune: db.prepare(
        'DELETE FROM commands WHERE command_id IN (SELECT command_id FROM commands WHERE keep_until < ? LIMIT ?)',
      ),
    };
    this.#count = Number(db.prepare('SELECT count(*) FROM commands').pluck().get());
  }

  find(commandId: string): RememberedCommand | null {
    const row = this.#sql.find.get(commandId);
    if (row === undefined) return null;
    const response: CommandResponse = commandResponseSchema.parse(JSON.parse(row.response));
    return { commandId: row.command_id, digest: row.digest, response, keepUntil: row.keep_until };
  }

  /** Joins the caller's transaction; an id that is remembered already is a defect and throws. */
  remember(command: RememberedCommand): void {
    this.#store.join(() => {
      const { commandId, digest, response, keepUntil } = command;
      this.#sql.insert.run(commandId, digest, JSON.stringify(response), Math.ceil(keepUntil));
      this.#add(1);
    });
  }

  /** `wallMs`: wall time, epoch ms. */
  prune(wallMs: number): void {
    if (Math.abs(wallMs - this.#prunedAt) < PRUNE_EVERY_MS && this.hasRoom()) return;
    this.#prunedAt = wallMs;
    this.#store.join(() => this.#add(-this.#sql.prune.run(Math.floor(wallMs), PRUNE_PER_CALL).changes));
  }

  hasRoom(): boolean {
    return this.#count < MAX_COMMANDS;
  }

  #add(change: number): void {
    this.#count += change;
    this.#store.onUndo(() => {
      this.#count -= change;
    });
  }
}
