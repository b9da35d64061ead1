/** Defects get an id that stands in the log and in what the outside is told. */
import type { Ids } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import type { Store } from '../store/store.js';
import { StoreError } from '../store/store-error.js';

export class Defects {
  readonly #ids: Ids;
  readonly #log: Log;
  #count = 0;

  constructor(ids: Ids, log: Log) {
    this.#ids = ids;
    this.#log = log;
  }

  get count(): number {
    return this.#count;
  }

  /** Logs it with its stack; gives the id. */
  record(error: unknown, where: Record<string, unknown>): string {
    this.#count++;
    const errorId = this.#ids.make('err');
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log.error({ errorId, ...where, error: stack }, 'a defect: what it belongs to ends INTERNAL_ERROR');
    return errorId;
  }
}

export function defectMessage(errorId: string): string {
  return `internal error ${errorId}: details are in the log`;
}

/** Runs `fn` in a `write` of its own, so that a defect undoes it alone; gives the id of the defect, or null. */
export function orDefect(
  { store, defects }: { store: Pick<Store, 'write'>; defects: Defects },
  taskId: string,
  where: string,
  fn: () => void,
): string | null {
  try {
    store.write(fn);
    return null;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    return defects.record(error, { taskId, where });
  }
}

/** A store that says no has counted and logged it; whoever calls this tries again later by other means. */
export function tolerateStore(fn: () => void): void {
  try {
    fn();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}
