/**
 * The file of API tokens that a profile names (`api.tokens_file`): a YAML list, readable by its owner only. What it
 * holds is secret: no message repeats a value.
 */
import { statSync } from 'node:fs';
import { z } from 'zod';
import { errorCode } from './contracts/errors.js';

export const MIN_TOKEN_LENGTH = 32;

const tokensSchema = z
  .array(
    z.strictObject({
      /** Stands in the log in place of the token. `state-dir` is the token in the state directory. */
      name: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/, 'allowed: 1–64 letters, digits, "_" or "-"')
        .refine((name) => name !== 'state-dir', 'it is the name of the token in the state directory'),
      value: z.string().min(MIN_TOKEN_LENGTH, `it has to have at least ${MIN_TOKEN_LENGTH} characters`),
      scopes: z.array(z.enum(['read', 'control'])).min(1),
    }),
  )
  .min(1)
  .refine((tokens) => new Set(tokens.map((t) => t.name)).size === tokens.length, 'a name stands there twice')
  .refine(
    (tokens) => new Set(tokens.map((t) => t.value)).size === tokens.length,
    'a token stands there twice',
  );

/** A token beside the one in the state directory. */
export interface ApiToken {
  name: string;
  value: string;
  scopes: readonly ('read' | 'control')[];
}

/** The tokens, or in one sentence what is wrong with the file. `parse` reads YAML and throws on what is none. */
export function readApiTokens(file: string, parse: (file: string) => unknown): ApiToken[] | string {
  try {
    const mode = statSync(file).mode & 0o777;
    if ((mode & 0o077) !== 0) return `can be read by others (mode ${mode.toString(8)}): chmod 600 ${file}`;
  } catch (error) {
    return `cannot be read (${errorCode(error) ?? 'unknown error'})`;
  }
  let document: unknown;
  try {
    document = parse(file);
  } catch {
    // The parser's own words would quote the line.
    return 'is not valid YAML';
  }
  const parsed = tokensSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = (issue?.path ?? []).join('.');
  return `${where === '' ? '' : `${where}: `}${issue?.message ?? 'invalid'}; it has to be a list of {name, value, scopes: [read, control]}`;
}
