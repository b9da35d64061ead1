/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';
import { GROUPS, type Group } from './report.js';

export interface Options {
  json: boolean;
  quick: boolean;
  /** Null: all. */
  only: readonly Group[] | null;
}

/** Throws an Error that names the option, what was found and what is allowed. */
export function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
    },
  });
  const only = values.only?.flatMap((text) => text.split(',')).map(groupOf) ?? null;
  return { json: values.json, quick: values.quick, only };
}

function groupOf(text: string): Group {
  const found = GROUPS.find((group) => group === text.trim());
  if (found === undefined) throw new Error(`--only: found "${text}"; allowed are ${GROUPS.join(', ')}`);
  return found;
}
