/** The options of `npm run fuzz -- …`. */
import { parseArgs } from 'node:util';

export interface FuzzOptions {
  /** Documents for a target with a share of 1. */
  cases: number;
  seed: number;
  json: boolean;
  /** Names of targets; all when empty. */
  only: readonly string[];
  /** Begin with this case: what a failing run prints. */
  from: number;
}

export const USAGE =
  'usage: npm run fuzz -- [--cases N] [--seed N] [--only TARGET[,TARGET]] [--from CASE] [--json]';

const MAX_CASES = 100_000_000;

/** Throws an Error that names the option, the value and what is allowed. */
export function parseOptions(argv: readonly string[], targets: readonly string[]): FuzzOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      cases: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      from: { type: 'string', default: '0' },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
    },
  });
  const only = values.only === '' ? [] : values.only.split(',');
  for (const name of only) {
    if (!targets.includes(name))
      throw new Error(`--only: found "${name}"; allowed are ${targets.join(', ')}`);
  }
  return {
    cases: wholeNumber('--cases', values.cases, 1, MAX_CASES),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31 - 1),
    from: wholeNumber('--from', values.from, 0, MAX_CASES),
    only,
    json: values.json,
  };
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${name}: found "${text}"; allowed is a whole number from ${min} to ${max}`);
}
