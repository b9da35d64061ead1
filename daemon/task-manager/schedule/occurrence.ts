/** Which instants a rule means. The one place that knows about daylight saving. */
import { cronRule } from './cron.js';
import { recurrenceRule } from './recurrence.js';
import { parseRecurrence } from './recurrence-parse.js';
import type { LocalRule, Rule } from './types.js';
import { instantOf, localOf } from './zone.js';

/** Throws `RangeError` for a rule that cannot be read. */
function localRule(rule: Exclude<Rule, { kind: 'at' }>, zone: string): LocalRule {
  if (rule.kind === 'cron') return cronRule(rule.pattern);
  return recurrenceRule(parseRecurrence(rule.text, zone), rule.anchorLocal);
}

/**
 * The first occurrence after `afterMs`, epoch ms, or null. A local time that does not exist happens at the first
 * minute after the gap (once, also when several fall into it); one that exists twice happens the first time.
 */
export function nextOccurrence(rule: Rule, zone: string, afterMs: number): number | null {
  return occurrencesOf(rule, zone)(afterMs);
}

/** The same for several questions: the rule is read once. */
export function occurrencesOf(rule: Rule, zone: string): (afterMs: number) => number | null {
  if (rule.kind === 'at') return (afterMs) => (rule.atMs > afterMs ? rule.atMs : null);
  const local = localRule(rule, zone);
  return (afterMs) => nextOf(local, zone, afterMs);
}

function nextOf(rule: LocalRule, zone: string, afterMs: number): number | null {
  let local = rule.next(localOf(zone, afterMs));
  // Where clocks were put back, local times of the hour that comes again have all happened; they are passed over.
  while (local !== null) {
    const instant = instantOf(zone, local);
    if (instant > afterMs) return instant;
    local = rule.next(local + 1000);
  }
  return null;
}
