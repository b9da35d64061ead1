/** The options of `npm run missions -- …`. */
import { parseArgs } from 'node:util';
import { FAMILIES, type Family } from './types.js';

export interface MissionOptions {
  missions: number;
  /** Of the first mission; the others count on from it. */
  seed: number;
  only: readonly Family[];
  /** Processes at once. */
  jobs: number;
  /** Tells every leg. */
  verbose: boolean;
  json: boolean;
}

export const USAGE = `usage: npm run missions -- [--missions N] [--seed N] [--only FAMILY[,FAMILY]] [--jobs N] [--verbose] [--json]
families: ${FAMILIES.join(', ')}`;

const MAX_MISSIONS = 100_000;

/** Throws an Error that names the option, the value and what is allowed. */
export function parseOptions(argv: readonly string[]): MissionOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      missions: { type: 'string', default: '200' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      jobs: { type: 'string', default: '2' },
      verbose: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    missions: wholeNumber('--missions', values.missions, 1, MAX_MISSIONS),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31 - 1),
    only: values.only === '' ? [] : values.only.split(',').map(family),
    jobs: wholeNumber('--jobs', values.jobs, 1, 64),
    verbose: values.verbose,
    json: values.json,
  };
}

function family(text: string): Family {
  const found = FAMILIES.find((one) => one === text);
  if (found === undefined) throw new Error(`--only: found "${text}"; allowed are ${FAMILIES.join(', ')}`);
  return found;
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${name}: found "${text}"; allowed is a whole number from ${min} to ${max}`);
}
