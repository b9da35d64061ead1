/** Maps that were in use, each in a folder named by its id. A folder appears whole, and is never changed. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, Refusal } from '../../config/contracts/errors.js';
import { bundleFiles, holdsMap, loadMapBundle } from '../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { MapFiles } from './map-files.js';
import { mapIdSchema } from './map-record.js';

const YAML = 'map.yaml';
const DRAFT = '.new';

export class KeptMaps {
  readonly #folder: string;
  readonly #files: MapFiles;

  constructor(folder: string, files: MapFiles) {
    this.#folder = folder;
    this.#files = files;
  }

  /** Does nothing when it is kept already, and can be read. Throws when it cannot be stored. */
  keep(bundle: MapBundle): void {
    if (this.#has(bundle)) return;
    const files = this.#files;
    const place = join(this.#folder, bundle.id);
    const draft = `${place}${DRAFT}`;
    files.makeFolder(this.#folder);
    files.remove(draft);
    files.makeFolder(draft);
    for (const { path, content } of bundleFiles(join(draft, YAML), bundle)) files.write(path, content);
    files.syncFolder(draft);
    files.remove(place);
    files.rename(draft, place);
    files.syncFolder(this.#folder);
    if (!this.#has(bundle)) throw new Error(`${place} does not read back as the map that was written`);
  }

  /** Throws `Refusal` UNKNOWN_TARGET. */
  load(id: string): MapBundle {
    const gone = (why: string) => new Refusal('UNKNOWN_TARGET', `the kept map ${id} cannot be used: ${why}`);
    let bundle: MapBundle;
    try {
      bundle = loadMapBundle(join(this.#folder, id, YAML));
    } catch (error) {
      throw gone(errorText(error));
    }
    if (bundle.id !== id) throw gone('its files were changed');
    return bundle;
  }

  /** What lies there, for a record that is lost. */
  ids(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => mapIdSchema.safeParse(name).success);
    } catch {
      return [];
    }
  }

  /** Removes what is not listed: the oldest, and what a crash left half. Never fails. */
  removeAllBut(ids: readonly string[]): void {
    try {
      for (const name of readdirSync(this.#folder)) {
        if (!ids.includes(name)) this.#files.remove(join(this.#folder, name));
      }
    } catch {
      // Without a folder nothing is kept; what cannot be removed now is removed another time.
    }
  }

  #has(bundle: MapBundle): boolean {
    return holdsMap(join(this.#folder, bundle.id, YAML), bundle);
  }
}
