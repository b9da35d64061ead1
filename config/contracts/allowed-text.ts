/**
 * What a schema allows, in words. Zod's own messages repeat what was found, speak in symbols, and say nothing at all
 * about a union; messages that a schema of ours brings along stand as they are.
 */
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

const ZODS_OWN = /^(Invalid|Too big|Too small|Unrecognized)/;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'a date and time with an offset such as 2026-11-30T09:00:00+09:00',
  url: 'a URL',
};

/** E.g. `it has to be a number`, `it has to be one of "on", "off"`, `it has to have at most 64 entries`. */
export function allowedText(issue: Issue): string {
  if (!ZODS_OWN.test(issue.message)) return issue.message;
  const phrase = phraseOf(issue);
  return phrase === null ? issue.message : `it has to ${phrase}`;
}

function phraseOf(issue: Issue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return `be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `be ${literal(issue.values[0])}`
        : `be one of ${issue.values.map(literal).join(', ')}`;
    case 'too_big':
      return limit(issue.origin, String(issue.maximum), issue.inclusive === false ? 'below' : 'at most');
    case 'too_small':
      return limit(issue.origin, String(issue.minimum), issue.inclusive === false ? 'above' : 'at least');
    case 'not_multiple_of':
      return `be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return formatPhrase(issue);
    case 'invalid_union':
      return unionPhrase(issue);
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues[0] === undefined ? null : phraseOf(issue.issues[0]);
    default:
      return null;
  }
}

const literal = (value: unknown) => JSON.stringify(value) ?? String(value);

function limit(origin: string, bound: string, relation: string): string {
  if (origin === 'string') return `have ${relation} ${bound} characters`;
  if (origin === 'array' || origin === 'set' || origin === 'map') return `have ${relation} ${bound} entries`;
  return `be ${relation} ${bound}`;
}

function formatPhrase(issue: z.core.$ZodIssueInvalidStringFormat): string | null {
  if (issue.format === 'regex') return `fit ${issue.pattern ?? 'its pattern'}`;
  if (issue.format === 'starts_with' && 'prefix' in issue) return `begin with ${literal(issue.prefix)}`;
  const known = FORMATS[issue.format];
  return known === undefined ? null : `be ${known}`;
}

/** What each branch would take, where the value itself, and not a part of it, is what fits none. */
function unionPhrase(issue: z.core.$ZodIssueInvalidUnion): string | null {
  if ('options' in issue && Array.isArray(issue.options)) {
    return `be one of ${issue.options.map(literal).join(', ')}`;
  }
  const branches = issue.errors.flatMap(([first]) =>
    first === undefined || first.path.length > 0 ? [] : [phraseOf(first)],
  );
  const said = [...new Set(branches)].filter((phrase) => phrase !== null);
  return said.length === 0 ? null : said.join(' or ');
}
