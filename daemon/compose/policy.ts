/** Policy, put together: rules, what the household set, the desk where people are asked, and the record of it all. */
import { readSafetyFile } from '../../drivers/rt/safety/safety-file.js';
import type { MethodSpec } from '../../executors/method.js';
import { Approvals } from '../policy/approvals.js';
import { AuditLog } from '../policy/audit-log.js';
import { decide, taken } from '../policy/decide.js';
import { DenialRecord } from '../policy/denials.js';
import { HouseSettings } from '../policy/house-settings.js';
import { loadPolicyConfig } from '../policy/load-policy.js';
import { createPolicy } from '../policy/policy.js';
import { PolicyGate, type PolicyGateDeps } from '../policy/policy-gate.js';
import type { Policy } from '../policy/types.js';
import type { Capability, PolicyDesk } from '../runtime.js';
import type { TaskManagerHandle } from '../task-manager/deps.js';
import type { Ground } from './ground.js';

export interface PolicyParts {
  gate: PolicyGate;
  /** For the intake. */
  policy: Policy;
  settings: HouseSettings;
  desk: PolicyDesk;
  /** Of the context: what policy keeps the cloud from doing now. */
  blockers(cards: readonly Capability[], methods: readonly MethodSpec[]): PolicyBlocker[];
  /** A person released the e-stop. */
  released(by: string): void;
  counters(): Record<string, number>;
}

export interface PolicyBlocker {
  capability: string;
  reasons: string[];
}

export function createPolicyParts(
  { options, ids, robot, storage }: Ground,
  work: { tasks(): TaskManagerHandle; titleOf: PolicyGateDeps['titleOf'] },
): PolicyParts {
  const { clock, wall, log, stateDir } = options;
  const { store, timers, outbox } = storage;
  const { language, timezone } = robot.config;
  const rules = loadPolicyConfig();
  const audit = new AuditLog({ store, clock });
  const denials = new DenialRecord(audit, clock);
  store.participate({ beforeCommit: () => denials.write() });
  const safety = readSafetyFile(stateDir);
  const settings = new HouseSettings({
    store,
    clock,
    wall,
    log,
    stateDir,
    safety,
    language,
    timezone,
    audit,
  });
  const approvals = new Approvals({
    store,
    timers,
    clock,
    ids,
    outbox,
    audit,
    rules: rules.approvals,
    language: () => settings.values.language,
  });
  const gate = new PolicyGate({
    ...work,
    rules,
    settings: () => settings.forPolicy(),
    approvals,
    denials,
  });
  settings.onChange(() => {
    work.tasks().policyChanged();
    work.tasks().contextChanged();
  });
  return {
    gate,
    policy: onRecord(createPolicy(rules), denials),
    settings,
    desk: {
      approvals: (wanted) => approvals.list(wanted),
      decide: (id, verdict, by, lang) => approvals.view(approvals.decide(id, verdict, by), lang),
      settings: () => settings.values,
      changeSettings: (change, caller) => settings.change(change, caller),
      audit: (limit) => audit.list(limit),
      verifyAudit: () => audit.verify(),
    },
    blockers: (cards, methods) => {
      const byName = new Map(methods.map((spec) => [spec.name, spec]));
      return cards.flatMap(({ id, methods: [first = ''] }) => {
        const spec = byName.get(first);
        if (spec === undefined) return [];
        const decision = decide(rules, {
          source: 'CLOUD',
          origin: 'CLOUD',
          method: spec.name,
          risk: spec.risk,
          takes: taken(spec.resources),
          settings: settings.forPolicy(),
        });
        return decision.effect === 'deny' ? [{ capability: id, reasons: [decision.rule.toUpperCase()] }] : [];
      });
    },
    released: (by) => store.write(() => audit.append('estop.released', by)),
    counters: () => ({ ...approvals.counters(), ...settings.counters(), ...denials.counters() }),
  };
}

/** What a source may not even ask for goes on record too. */
function onRecord(policy: Policy, denials: DenialRecord): Policy {
  return {
    ...policy,
    allowMethod(source, method, field) {
      try {
        policy.allowMethod(source, method, field);
      } catch (error) {
        denials.note(source, method, 'allowlist', 'POLICY_DENIED');
        throw error;
      }
    },
  };
}
