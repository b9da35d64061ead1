/** `<state-dir>/calibration.json`: what was measured of this robot, and is in force from the start on. */
import { readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Calibration } from '../../config/contracts/amr.js';
import { describeZodError, errorCode, errorText } from '../../config/contracts/errors.js';
import { calibrationSchema } from './requests.js';

const fileSchema = z.strictObject({
  version: z.literal(1),
  calibration: calibrationSchema.nullable(),
  previous: calibrationSchema.nullable(),
});

/** In force, and before that; null: the profile's figures. */
export interface Calibrations {
  calibration: Calibration | null;
  previous: Calibration | null;
}

export interface CalibrationRead extends Calibrations {
  /** Why the file could not be used; null when it was read, or was never written. */
  unreadable: string | null;
}

const NONE: Calibrations = { calibration: null, previous: null };

function filePath(stateDir: string): string {
  return join(stateDir, 'calibration.json');
}

/** Never throws: without it the profile's figures are in force. */
export function readCalibrations(stateDir: string): CalibrationRead {
  try {
    const raw: unknown = JSON.parse(readFileSync(filePath(stateDir), 'utf8'));
    const parsed = fileSchema.safeParse(raw);
    if (parsed.success) return { ...parsed.data, unreadable: null };
    return { ...NONE, unreadable: describeZodError(parsed.error, raw).message };
  } catch (error) {
    return { ...NONE, unreadable: errorCode(error) === 'ENOENT' ? null : errorText(error) };
  }
}

/** Resolves when it would survive a power cut. */
export async function writeCalibrations(stateDir: string, calibrations: Calibrations): Promise<void> {
  const path = filePath(stateDir);
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify({ version: 1, ...calibrations }));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path).catch(async (error: unknown) => {
    await rm(temporary, { force: true });
    throw error;
  });
}
