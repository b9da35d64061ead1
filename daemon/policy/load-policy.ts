import { fileURLToPath } from 'node:url';
import { issueParts } from '../../config/contracts/errors.js';
import type { Source } from '../../config/contracts/wire/events.js';
import { ConfigError, readYaml } from '../../config/load.js';
import type { SourceCap } from '../task-manager/deps.js';
import { weaknesses } from './decide.js';
import { createPolicy } from './policy.js';
import { type Policy, type PolicyConfig, policySchema } from './types.js';

/** Beside the code, in the sources as in `dist`. */
const DEFAULT_FILE = fileURLToPath(new URL('../../config/policy.yaml', import.meta.url));

/**
 * Reads and validates the policy, whole. Throws `ConfigError` with everything that is wrong: file, field, value and
 * what is allowed, and what the rules would open that no rules may open.
 */
export function loadPolicyConfig(file = DEFAULT_FILE): PolicyConfig {
  const raw = readYaml(file);
  const parsed = policySchema.safeParse(raw);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const { field, found, allowed } = issueParts(issue, raw);
      return `${field || 'the document'}: found ${found}; ${allowed}`;
    });
    throw new ConfigError(file, problems);
  }
  const problems = [...repeated(parsed.data), ...pointless(parsed.data), ...weaknesses(parsed.data)];
  if (problems.length > 0) throw new ConfigError(file, problems);
  return parsed.data;
}

/** How much of the TaskManager's room each source may take. */
export function capsPerSource(config: PolicyConfig): Record<Source, SourceCap> {
  const caps = Object.entries(config.sources).map(([source, rules]) => [
    source,
    { maxLive: rules.max_live_tasks, maxQueued: rules.max_queued_tasks },
  ]);
  return Object.fromEntries(caps);
}

export function loadPolicy(file?: string): Policy {
  return createPolicy(loadPolicyConfig(file));
}

function repeated({ rules }: PolicyConfig): string[] {
  const ids = rules.map(({ id }) => id);
  const twice = new Set(ids.filter((id, i) => ids.indexOf(id) !== i));
  return [...twice].map((id) => `rules: found "${id}" twice; every rule needs an id of its own`);
}

/** Fields that only a denial has. */
function pointless({ rules }: PolicyConfig): string[] {
  return rules.flatMap(({ id, effect, reason, stops }) =>
    effect === 'approve' && (reason !== undefined || stops !== undefined)
      ? [`rules: "${id}" approves; reason and stops belong to a rule that denies`]
      : [],
  );
}
