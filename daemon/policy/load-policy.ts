import { fileURLToPath } from 'node:url';
import { describeZodError } from '../../config/contracts/errors.js';
import { ConfigError, readYaml } from '../../config/load.js';
import { createPolicy } from './policy.js';
import { type Policy, type PolicyConfig, policySchema } from './types.js';

/** Beside the code, in the sources as in `dist`. */
const DEFAULT_FILE = fileURLToPath(new URL('../../config/policy.yaml', import.meta.url));

/** Reads and validates the policy table. Throws `ConfigError`, which names file, field, value and what is allowed. */
export function loadPolicyConfig(file = DEFAULT_FILE): PolicyConfig {
  const raw = readYaml(file);
  const parsed = policySchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new ConfigError(file, [describeZodError(parsed.error, raw).message]);
}

export function loadPolicy(file?: string): Policy {
  return createPolicy(loadPolicyConfig(file));
}
