import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describeZodError, errorText } from '../../config/contracts/errors.js';
import { createPolicy } from './policy.js';
import { type Policy, type PolicyConfig, policySchema } from './types.js';

/** Beside the code, in the sources as in `dist`. */
const DEFAULT_FILE = new URL('../../config/policy.yaml', import.meta.url);

/** Reads and validates the policy table. Throws an Error that names file, field, value and what is allowed. */
export function loadPolicyConfig(file: string | URL = DEFAULT_FILE): PolicyConfig {
  const name = file instanceof URL ? file.pathname : file;
  let raw: unknown;
  try {
    raw = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${name}: cannot be read: ${errorText(error)}`);
  }
  const parsed = policySchema.safeParse(raw);
  if (!parsed.success) throw new Error(`${name}: ${describeZodError(parsed.error, raw).message}`);
  return parsed.data;
}

export function loadPolicy(file?: string | URL): Policy {
  return createPolicy(loadPolicyConfig(file));
}
