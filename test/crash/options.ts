/** The options of `npm run crash -- …`. */
import { parseArgs } from 'node:util';

export interface CrashOptions {
  kills: number;
  seed: number;
  json: boolean;
  /** A base whose firmware stops by itself when it hears nothing; a real Create 2 does not. */
  baseWatchdog: boolean;
  /** Where the robot keeps what it knows; null: a new folder, removed when everything was right. */
  stateDir: string | null;
}

export const USAGE =
  'usage: npm run crash -- [--kills N] [--seed N] [--json] [--base-watchdog on|off] [--state-dir DIR]';

const MAX_KILLS = 10_000;

/** Throws an Error that names the option, the value and what is allowed. */
export function parseOptions(argv: readonly string[]): CrashOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      kills: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      'base-watchdog': { type: 'string', default: 'off' },
      'state-dir': { type: 'string' },
    },
  });
  const watchdog = values['base-watchdog'];
  if (watchdog !== 'on' && watchdog !== 'off') {
    throw new Error(`--base-watchdog: found "${watchdog}"; allowed are on, off`);
  }
  return {
    kills: wholeNumber('--kills', values.kills, 1, MAX_KILLS),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31 - 1),
    json: values.json,
    baseWatchdog: watchdog === 'on',
    stateDir: values['state-dir'] ?? null,
  };
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${name}: found "${text}"; allowed is a whole number from ${min} to ${max}`);
}
