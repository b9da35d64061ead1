/**
 * `<state-dir>/maps/record.json`: whether the map was reset, which map is being put in place, and which are kept. The
 * moment in which it is renamed is the moment in which a reset, or another map, is true.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errorCode, errorText } from '../../config/contracts/errors.js';
import type { MapFiles } from './map-files.js';

/** Of a map, by its content; nothing else is ever made a part of a path. */
export const mapIdSchema = z.string().regex(/^m-[0-9a-f]{16}$/, 'a map id: "m-" and 16 hexadecimal digits');

const recordSchema = z.strictObject({
  version: z.literal(1),
  /** The map that was taken out of use, and when (robot time, epoch ms). Null: the profile's map is in use. */
  reset: z.strictObject({ map_id: mapIdSchema, at: z.number() }).nullable(),
  /** A kept map that is being copied to where the profile looks for its map; finished at the next start. */
  installing: mapIdSchema.nullable(),
  /** The map that the last reset or import took out of use; it stays that when it is brought back. */
  previous: mapIdSchema.nullable(),
  /** Oldest first. */
  kept: z.array(z.strictObject({ id: mapIdSchema, at: z.number(), name: z.string().optional() })),
});
export type MapRecord = z.infer<typeof recordSchema>;

export const NEW_RECORD: MapRecord = { version: 1, reset: null, installing: null, previous: null, kept: [] };

/** `problem`: it is there and cannot be used. */
export function readRecord(path: string): { record: MapRecord; problem: string | null } {
  try {
    return { record: recordSchema.parse(JSON.parse(readFileSync(path, 'utf8'))), problem: null };
  } catch (error) {
    return { record: NEW_RECORD, problem: errorCode(error) === 'ENOENT' ? null : errorText(error) };
  }
}

export function writeRecord(path: string, record: MapRecord, files: MapFiles): void {
  files.write(`${path}.new`, JSON.stringify(record));
  files.rename(`${path}.new`, path);
  files.syncFolder(dirname(path));
}
