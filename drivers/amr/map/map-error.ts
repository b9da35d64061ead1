import type { z } from 'zod';
import { describeZodError, Refusal } from '../../../config/contracts/errors.js';

/** A map that cannot be used. The message names the file, the field, what was found and what is allowed. */
export class MapError extends Refusal {
  constructor(
    readonly file: string,
    field: string,
    problem: string,
  ) {
    super('INVALID_PARAMS', `${file}: ${field}: ${problem}`, field);
  }
}

/** The first thing a schema found wrong in a file's content. */
export function schemaError(file: string, error: z.ZodError, content: unknown): MapError {
  const { field, message } = describeZodError(error, content);
  const named = field === '' ? 'the document' : field;
  return new MapError(file, named, message.slice(named.length + 2));
}

/**
 * More cells than this are refused before anything is allocated: 64 million are a square of 400 m at 5 cm, far
 * beyond a home, and what a header that lies would ask for goes far beyond that.
 */
export const MAX_CELLS = 64_000_000;

/** Refuses dimensions that are not positive integers or together too large. */
export function checkDimensions(file: string, width: number, height: number): void {
  for (const [field, value] of [
    ['width', width],
    ['height', height],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new MapError(file, field, `found ${value}; a whole number of at least 1 is needed`);
    }
  }
  if (width * height > MAX_CELLS) {
    throw new MapError(file, 'width × height', `found ${width} × ${height}; at most ${MAX_CELLS} cells`);
  }
}
