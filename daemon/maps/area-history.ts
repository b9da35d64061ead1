/**
 * `<state-dir>/maps/areas.json`: the newest changes of what is drawn on the map, each with the areas before it, so that
 * it can be taken back. An entry counts only while the map that it made is the one in use: what was written down and
 * then not done, and what belongs to another map, is passed over.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { errorCode, errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import { DISK, type MapFiles } from './map-files.js';
import { mapIdSchema } from './map-record.js';

/** Changes that can be taken back, one after the other. */
export const MAX_CHANGES = 20;

const entrySchema = z.strictObject({
  kind: z.enum(['areas', 'keepout']),
  /** Digest of what was asked for. */
  asked: z.string(),
  task: z.string(),
  from: mapIdSchema,
  to: mapIdSchema,
  /** The text of `areas.yaml` before. */
  before: z.string(),
  /** Robot time, epoch ms. */
  at: z.number(),
});
export type AreaEntry = z.infer<typeof entrySchema>;

const historySchema = z.strictObject({
  version: z.literal(1),
  entries: z.array(entrySchema),
  /** The change that was taken back last: by which task, and the map that came of it. */
  undone: z.strictObject({ task: z.string(), from: mapIdSchema, to: mapIdSchema }).nullable(),
});
type History = z.infer<typeof historySchema>;

const NOTHING: History = { version: 1, entries: [], undone: null };

export class AreaHistory {
  readonly #path: string;
  readonly #files: MapFiles;
  #history: History;

  constructor({ stateDir, log, files = DISK }: { stateDir: string; log: Log; files?: MapFiles }) {
    this.#path = join(stateDir, 'maps', 'areas.json');
    this.#files = files;
    this.#history = this.#read(log);
  }

  /** The change that made this map; null when none did, or it is forgotten. */
  newest(mapId: string): AreaEntry | null {
    return this.#upTo(mapId).at(-1) ?? null;
  }

  /** What the last undo made of the map, if that is in use. */
  undone(mapId: string): History['undone'] {
    return this.#history.undone?.to === mapId ? this.#history.undone : null;
  }

  /** Before the change is made. Throws when it cannot be stored. */
  add(entry: AreaEntry): void {
    const entries = [...this.#upTo(entry.from), entry].slice(-MAX_CHANGES);
    this.#write({ version: 1, entries, undone: null });
  }

  /** Before the newest change is taken back; the entry goes once the map before it is in use. */
  undoing(entry: AreaEntry, task: string): void {
    this.#write({ ...this.#history, undone: { task, from: entry.to, to: entry.from } });
  }

  /** After an undo the entry behind it is the newest: it made the map that is in use now. */
  #upTo(mapId: string): AreaEntry[] {
    const { entries } = this.#history;
    const last = entries.findLastIndex((entry) => entry.to === mapId);
    return entries.slice(0, last + 1);
  }

  #write(history: History): void {
    this.#files.makeFolder(dirname(this.#path));
    this.#files.write(`${this.#path}.new`, JSON.stringify(history));
    this.#files.rename(`${this.#path}.new`, this.#path);
    this.#files.syncFolder(dirname(this.#path));
    this.#history = history;
  }

  #read(log: Log): History {
    try {
      return historySchema.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') {
        const why = { file: this.#path, error: errorText(error) };
        log.warn(
          why,
          'earlier changes of rooms and keep-outs cannot be taken back: their record cannot be read',
        );
      }
      return NOTHING;
    }
  }
}
