import { FAMILIES, type Family } from './types.js';

export interface CampaignOptions {
  missions: number;
  /** Of the first mission; the others follow. */
  seed: number;
  only: Family | null;
  /** Processes at once. */
  jobs: number;
  json: boolean;
  /** Tells every leg. */
  verbose: boolean;
}

export const USAGE = `usage: npm run missions -- [--missions N] [--seed N] [--only ${FAMILIES.join('|')}] [--jobs N] [--verbose] [--json]`;

/** Throws an Error that names the option. */
export function parseOptions(argv: readonly string[]): CampaignOptions {
  const options: CampaignOptions = {
    missions: 200,
    seed: 1,
    only: null,
    jobs: 2,
    json: false,
    verbose: false,
  };
  for (let i = 0; i < argv.length; i++) {
    const name = argv[i] ?? '';
    if (name === '--json') options.json = true;
    else if (name === '--verbose') options.verbose = true;
    else if (name === '--missions') options.missions = whole(name, argv[++i], 1, 100_000);
    else if (name === '--seed') options.seed = whole(name, argv[++i], 0, 2 ** 31);
    else if (name === '--jobs') options.jobs = whole(name, argv[++i], 1, 64);
    else if (name === '--only') options.only = familyOf(argv[++i]);
    else throw new Error(`unknown option ${name}`);
  }
  return options;
}

function familyOf(text: string | undefined): Family {
  const family = FAMILIES.find((one) => one === text);
  if (family !== undefined) return family;
  throw new Error(`--only: found ${text ?? 'nothing'}; one of ${FAMILIES.join(', ')} is needed`);
}

function whole(name: string, text: string | undefined, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`${name}: found ${text ?? 'nothing'}; a whole number from ${min} to ${max} is needed`);
}
