import type { TaskRow } from './task.js';

/** What the workflow engine wants to know of the tasks it owns; called inside the running `write`. */
export interface OwnerHooks {
  /** Right before it would start after it had to wait; a message: it must not start any more, and why. */
  beforeStart(row: TaskRow): { skip: boolean; message: string } | null;
  /** Whether a PENDING task must stay out of its line for now. */
  holdsBack(row: TaskRow): boolean;
  started(row: TaskRow): void;
  waiting(row: TaskRow, why: string): void;
  ended(row: TaskRow): void;
  /** One of the calls above failed by a defect and is undone: the owner has to end without it. */
  broken(row: TaskRow, errorId: string): void;
}

/** Of tasks that nobody owns. */
export const NO_OWNER: OwnerHooks = {
  beforeStart: () => null,
  holdsBack: () => false,
  started() {},
  waiting() {},
  ended() {},
  broken() {},
};
