/**
 * Which map the robot has, so that it is the old one or the new one after any crash, and never half of each. The map
 * in use lies where the profile says; a reset leaves it there and writes down that it is not in use.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import { areasText } from '../../drivers/amr/map/areas.js';
import { AREAS_FILE, bundleFiles, holdsMap, loadMapBundle } from '../../drivers/amr/map/bundle.js';
import type { Areas, MapBundle } from '../../drivers/amr/types.js';
import { KeptMaps } from './kept-maps.js';
import { DISK, type MapFiles } from './map-files.js';
import { type MapRecord, readRecord, writeRecord } from './map-record.js';

/** How many maps are kept; the oldest goes first. */
export const MAX_KEPT = 5;

export interface MapStoreOptions {
  stateDir: string;
  log: Log;
  files?: MapFiles;
}

/** What a start finds. */
export interface FoundMap {
  bundle: MapBundle | null;
  /** Why a configured map could not be used. */
  problem: string | null;
}

export class MapStore {
  readonly #folder: string;
  readonly #path: string;
  readonly #files: MapFiles;
  readonly #log: Log;
  readonly #kept: KeptMaps;
  #record: MapRecord;

  constructor({ stateDir, log, files = DISK }: MapStoreOptions) {
    this.#folder = join(stateDir, 'maps');
    this.#path = join(this.#folder, 'record.json');
    this.#files = files;
    this.#log = log;
    this.#kept = new KeptMaps(join(this.#folder, 'kept'), files);
    const { record, problem } = readRecord(this.#path);
    this.#record = record;
    if (problem !== null) {
      // What was kept stays kept.
      this.#record = { ...record, kept: this.#kept.ids().map((id) => ({ id, at: 0 })) };
      log.error(
        { file: this.#path, problem },
        'the record of maps cannot be used: the map of the profile is',
      );
    }
  }

  get record(): MapRecord {
    return this.#record;
  }

  /** At a start: finishes what a crash interrupted, and says which map is in use. `file`: of the profile. */
  open(file: string): FoundMap {
    try {
      this.#finish(file);
      const { reset } = this.#record;
      if (reset !== null && !existsSync(file)) return { bundle: null, problem: null };
      if (!existsSync(file)) throw new Error(`${file}: there is no such file`);
      const bundle = loadMapBundle(file);
      if (reset?.map_id === bundle.id) return { bundle: null, problem: null };
      if (reset !== null) this.#replacedByHand(bundle);
      return { bundle, problem: null };
    } catch (error) {
      return { bundle: null, problem: errorText(error) };
    } finally {
      this.#kept.removeAllBut(this.#record.kept.map(({ id }) => id));
    }
  }

  /** Keeps the map and takes it out of use. Throws and changes nothing when it cannot be stored. */
  reset(bundle: MapBundle, at: number): void {
    this.#kept.keep(bundle);
    const kept = this.#with([bundle.id], at);
    this.#write({ ...this.#record, reset: { map_id: bundle.id, at }, previous: bundle.id, kept });
  }

  /** Keeps a map, under a name or without, and uses none other. Throws when it cannot be stored. */
  keepAside(bundle: MapBundle, at: number, name: string | null): void {
    this.#kept.keep(bundle);
    const kept = this.#with([bundle.id], at).map((one) =>
      name !== null && one.id === bundle.id ? { ...one, name } : one,
    );
    this.#write({ ...this.#record, kept });
  }

  /** Puts a former record back in force: what was changed physically did not follow. */
  revert(before: MapRecord): void {
    this.#write(before);
  }

  /**
   * Puts a map in use at `file`, and keeps it and the one it replaces. Throws and changes nothing when it cannot be
   * stored; a crash in between is finished by the next start.
   */
  use(file: string, bundle: MapBundle, replaced: MapBundle | null, at: number): void {
    if (replaced !== null) this.#kept.keep(replaced);
    this.#kept.keep(bundle);
    const before = this.#record;
    const ids = replaced === null ? [bundle.id] : [replaced.id, bundle.id];
    const brought = bundle.id === before.previous || bundle.id === replaced?.id;
    const previous = brought ? before.previous : (replaced?.id ?? before.previous);
    const after: MapRecord = {
      version: 1,
      reset: null,
      installing: null,
      previous,
      kept: this.#with(ids, at),
    };
    if (!holdsMap(file, bundle)) {
      this.#write({ ...after, reset: before.reset, installing: bundle.id });
      this.#installOr(file, bundle, () => this.#write(before));
    }
    this.#write(after);
  }

  /** Other areas for the map in use at `file`; whole, or as they were. Throws and changes nothing when it cannot be stored. */
  writeAreas(file: string, areas: Areas): void {
    const path = join(dirname(file), AREAS_FILE);
    const draft = `${path}.new`;
    try {
      this.#files.write(draft, areasText(areas));
      this.#files.rename(draft, path);
    } catch (error) {
      this.#removeFile(draft);
      throw error;
    }
    this.#files.syncFolder(dirname(file));
  }

  /** Throws `Refusal` UNKNOWN_TARGET. */
  load(id: string): MapBundle {
    return this.#kept.load(id);
  }

  #with(ids: readonly string[], at: number): MapRecord['kept'] {
    const { kept } = this.#record;
    const others = kept.filter(({ id }) => !ids.includes(id));
    const entry = (id: string) => ({ ...kept.find((one) => one.id === id), id, at });
    return [...others, ...[...new Set(ids)].map(entry)].slice(-MAX_KEPT);
  }

  #write(record: MapRecord): void {
    this.#files.makeFolder(this.#folder);
    writeRecord(this.#path, record, this.#files);
    this.#record = record;
    this.#kept.removeAllBut(record.kept.map(({ id }) => id));
  }

  #finish(file: string): void {
    const { installing } = this.#record;
    if (installing === null) return;
    this.#installOr(file, this.#kept.load(installing), () => {});
    this.#write({ ...this.#record, installing: null, reset: null });
    this.#log.info({ map: installing }, 'a map that was being put in place is in place');
  }

  /** All drafts have found room before the first takes its place; `giveUp` runs while nothing has. */
  #installOr(file: string, bundle: MapBundle, giveUp: () => void): void {
    const parts = bundleFiles(file, bundle).map((part) => ({ ...part, draft: `${part.path}.new` }));
    try {
      this.#files.makeFolder(dirname(file));
      for (const { draft, content } of parts) this.#files.write(draft, content);
    } catch (error) {
      for (const { draft } of parts) this.#removeFile(draft);
      giveUp();
      throw error;
    }
    for (const { path, draft } of parts) this.#files.rename(draft, path);
    this.#files.syncFolder(dirname(file));
  }

  #removeFile(path: string): void {
    try {
      this.#files.remove(path);
    } catch (error) {
      this.#log.warn({ path, error: errorText(error) }, 'a draft of a map cannot be removed');
    }
  }

  /** A person has put another map where the profile looks for it: that ends the reset. */
  #replacedByHand(bundle: MapBundle): void {
    this.#log.info({ map: bundle.id }, 'another map lies where the one that was reset lay: it is in use');
    try {
      this.#write({ ...this.#record, reset: null });
    } catch (error) {
      this.#log.warn({ error: errorText(error) }, 'the end of the reset cannot be written down');
    }
  }
}
