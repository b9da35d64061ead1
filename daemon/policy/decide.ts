/** What policy says of one task. Pure: rules, settings and the time come in as data, a decision comes out. */

import { shown } from '../../config/contracts/errors.js';
import type { Source } from '../../config/contracts/wire/events.js';
import { SOURCES } from '../../config/contracts/wire/events.js';
import { RESOURCES, type Resource } from '../../executors/method.js';
import { AUTONOMY_LEVELS, ROLLOUT_MODES, type SettingsValues } from './setting-values.js';
import { PEOPLE, type PolicyConfig, type PolicyRule } from './types.js';

export type PolicySettings = Pick<
  SettingsValues,
  'privacy_mode' | 'home_lock' | 'autonomy' | 'rollout_mode'
> & {
  /** Whether these are quiet hours. */
  quiet: boolean;
};

export interface PolicyQuestion {
  /** The channel it came by. */
  source: Source;
  /** Who wanted it: the source itself, or whom a schedule or a long-running goal acts for. */
  origin: Source;
  method: string;
  risk: 'low' | 'high';
  takes: readonly Resource[];
  settings: PolicySettings;
}

/** `rule`: which one decided. */
export type Decision =
  | { effect: 'allow'; rule: string }
  | { effect: 'approve'; rule: string; risk: 'low' | 'high'; why: { ko: string; en: string } }
  | {
      effect: 'deny';
      rule: string;
      reason: 'POLICY_DENIED' | 'PRIVACY_BLOCKED';
      field: string;
      message: string;
    };

/** What the decision needs of `config/policy.yaml`. */
export type PolicyRules = Pick<PolicyConfig, 'person_only' | 'never_asked' | 'rules'>;

/** The rule of what no rule fits. */
const NO_RULE = 'none';

/** The strictest of all rules that fit: deny before approve before allow; the first in the file among equals. */
export function decide(rules: PolicyRules, question: PolicyQuestion): Decision {
  const { method } = question;
  if (rules.person_only.includes(method) && !isPersons(question)) {
    return denied('person_only', method, 'this belongs to a person at the robot, and nobody else may do it');
  }
  const fitting = rules.rules.filter((rule) => fits(rule, question) && !isExempt(rule, question, rules));
  const strictest = fitting.find(({ effect }) => effect === 'deny') ?? fitting[0];
  if (strictest === undefined) return { effect: 'allow', rule: NO_RULE };
  const { id, reason, text } = strictest;
  if (strictest.effect === 'deny') return denied(id, method, text.en, reason);
  return { effect: 'approve', rule: id, risk: question.risk, why: text };
}

/** Whether the rule that denied also stops what runs already. */
export function stopsRunning(rules: PolicyRules, decision: Decision): boolean {
  return decision.effect === 'deny' && rules.rules.some((r) => r.id === decision.rule && r.stops === true);
}

/**
 * What a set of rules must never do, whoever writes it: open a high risk, or the camera or the microphone while privacy
 * mode is on. Every combination of what rules can look at is tried. Returns what is wrong, one sentence each.
 */
export function weaknesses(rules: PolicyRules): string[] {
  const found = new Set<string>();
  for (const settings of everySetting()) {
    for (const source of SOURCES) {
      const ask = (risk: 'low' | 'high', takes: readonly Resource[]) =>
        decide(rules, { source, origin: source, method: '*', risk, takes, settings }).effect;
      if (ask('high', []) === 'allow')
        found.add(`rules: ${source} may carry out a high risk without approval`);
      for (const resource of ['camera', 'microphone'] as const) {
        if (settings.privacy_mode && ask('low', [resource]) !== 'deny') {
          found.add(`rules: ${source} may use the ${resource} in privacy mode`);
        }
      }
    }
  }
  return [...found];
}

/** Every combination of settings that rules can look at. */
export function* everySetting(): Generator<PolicySettings> {
  const flags = [false, true];
  for (const autonomy of AUTONOMY_LEVELS)
    for (const rollout_mode of ROLLOUT_MODES)
      for (const privacy_mode of flags)
        for (const home_lock of flags)
          for (const quiet of flags) yield { autonomy, rollout_mode, privacy_mode, home_lock, quiet };
}

/** Of a method's claims, what rules can look at. */
export function taken(claims: readonly { resource: Resource }[]): Resource[] {
  return RESOURCES.filter((resource) => claims.some((claim) => claim.resource === resource));
}

function isPersons({ source, origin }: PolicyQuestion): boolean {
  return PEOPLE.has(source) && PEOPLE.has(origin);
}

/** What stops or comes home is not asked about; a denial and a high risk count all the same. */
function isExempt({ effect }: PolicyRule, { method, risk }: PolicyQuestion, rules: PolicyRules): boolean {
  return effect === 'approve' && risk === 'low' && rules.never_asked.includes(method);
}

function fits(
  { when }: PolicyRule,
  { source, origin, method, risk, takes, settings }: PolicyQuestion,
): boolean {
  const { privacy_mode, home_lock, quiet, autonomy, rollout_mode } = settings;
  if (when.privacy_mode === true && !privacy_mode) return false;
  if (when.home_lock === true && !home_lock) return false;
  if (when.quiet_hours === true && !quiet) return false;
  if (when.risk !== undefined && when.risk !== risk) return false;
  if (when.autonomy?.includes(autonomy) === false) return false;
  if (when.rollout_mode?.includes(rollout_mode) === false) return false;
  if (when.wanted_by?.includes(origin) === false) return false;
  if (when.sources !== undefined && !when.sources.includes(source) && !when.sources.includes(origin))
    return false;
  if (when.but_not?.includes(method) === true) return false;
  if (when.takes === undefined && when.methods === undefined) return true;
  return (when.takes?.some((r) => takes.includes(r)) ?? false) || (when.methods?.includes(method) ?? false);
}

function denied(
  rule: string,
  method: string,
  why: string,
  reason: 'POLICY_DENIED' | 'PRIVACY_BLOCKED' = 'POLICY_DENIED',
): Decision {
  return { effect: 'deny', rule, reason, field: 'method', message: `method: found ${shown(method)}; ${why}` };
}
