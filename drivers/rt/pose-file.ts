/**
 * `<state-dir>/rt-pose.json`: where the robot last knew itself to be, so that a motion process that starts again
 * need not begin lost. A hint, not a record: it is not fsynced, and localisation checks it against the lidar.
 */
import { readFileSync, rmSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeWhole } from '../write-whole.js';

const poseSchema = z.strictObject({
  mapId: z.string(),
  pose: z.strictObject({ x: z.number(), y: z.number(), theta: z.number() }),
  /** Robot time, epoch ms. */
  at: z.number(),
  /** The robot stood still: it has not moved on its own since. */
  still: z.boolean(),
});
export type StoredPose = z.infer<typeof poseSchema>;

export interface PoseStore {
  load(): StoredPose | null;
  /** Off the event loop: a slow disk must not hold up the control loop. Resolves to false when it failed. */
  save(pose: StoredPose): Promise<boolean>;
  /** What is stored is true no longer. */
  forget(): void;
  /** For a process that is about to end, with the wheels already stopped. */
  saveNow(pose: StoredPose): boolean;
}

export class PoseFile implements PoseStore {
  readonly #path: string;

  constructor(stateDir: string) {
    this.#path = join(stateDir, 'rt-pose.json');
  }

  load(): StoredPose | null {
    try {
      const parsed = poseSchema.safeParse(JSON.parse(readFileSync(this.#path, 'utf8')));
      return parsed.success ? parsed.data : null;
    } catch {
      return null;
    }
  }

  async save(pose: StoredPose): Promise<boolean> {
    try {
      await writeFile(`${this.#path}.new`, JSON.stringify(pose), { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
      return true;
    } catch {
      return false;
    }
  }

  forget(): void {
    rmSync(this.#path, { force: true });
  }

  saveNow(pose: StoredPose): boolean {
    try {
      // Not the draft that a `save` may be writing.
      writeWhole(this.#path, JSON.stringify(pose), { mode: 0o600, draft: `${this.#path}.last` });
      return true;
    } catch {
      return false;
    }
  }
}
