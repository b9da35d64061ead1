/** The options of `npm run soak -- …`. */
import { parseArgs } from 'node:util';

export interface SoakOptions {
  /** Robot time to live through. */
  hours: number;
  seed: number;
  json: boolean;
  /** Where the robot keeps what it knows; null: a new folder, removed when everything was right. */
  stateDir: string | null;
}

export const USAGE = 'usage: npm run soak -- [--hours N] [--seed N] [--json] [--state-dir DIR]';

/** Four weeks. */
const MAX_HOURS = 672;

/** Throws an Error that names the option, the value and what is allowed. */
export function parseOptions(argv: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      hours: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      'state-dir': { type: 'string' },
    },
  });
  const hours = Number(values.hours);
  if (values.hours.trim() === '' || !(hours >= 0.5 && hours <= MAX_HOURS)) {
    throw new Error(`--hours: found "${values.hours}"; allowed is a number from 0.5 to ${MAX_HOURS}`);
  }
  const seed = Number(values.seed);
  if (values.seed.trim() === '' || !Number.isInteger(seed) || seed < 0) {
    throw new Error(`--seed: found "${values.seed}"; allowed is a whole number from 0`);
  }
  return { hours, seed, json: values.json, stateDir: values['state-dir'] ?? null };
}
