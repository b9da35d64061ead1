/** A TaskManager behind the real policy: its rules, its desk and its audit log, on a database that loses power. */
import { Approvals } from '../../../daemon/policy/approvals.js';
import { AuditLog } from '../../../daemon/policy/audit-log.js';
import type { PolicySettings } from '../../../daemon/policy/decide.js';
import { DenialRecord } from '../../../daemon/policy/denials.js';
import { loadPolicyConfig } from '../../../daemon/policy/load-policy.js';
import { PolicyGate } from '../../../daemon/policy/policy-gate.js';
import type { TaskManagerHandle } from '../../../daemon/task-manager/deps.js';
import type { StoreWorld } from '../store/store-world.js';
import { openTaskWorld, type TaskWorldOptions } from '../task-manager/task-world.js';

const rules = loadPolicyConfig();
export const EXPIRES_MS = rules.approvals.expires_after_ms;

export const PERSON = { source: 'LOCAL', name: 'unix-socket' } as const;

export function openPolicyWorld(options: TaskWorldOptions = {}) {
  const settings: PolicySettings = {
    privacy_mode: false,
    home_lock: false,
    quiet: false,
    autonomy: 'full_auto',
    rollout_mode: 'AUTONOMOUS_LOW_RISK',
  };
  let tasks: TaskManagerHandle | null = null;
  let parts: { approvals: Approvals; audit: AuditLog } | null = null;
  const world = openTaskWorld({
    ...options,
    recover: false,
    gate: ({ store, timers, clock, ids, outbox }: StoreWorld) => {
      const audit = new AuditLog({ store, clock });
      const denials = new DenialRecord(audit, clock);
      store.participate({ beforeCommit: () => denials.write() });
      const approvals = new Approvals({
        store,
        timers,
        clock,
        ids,
        outbox,
        audit,
        rules: rules.approvals,
        language: () => 'ko',
      });
      parts = { approvals, audit };
      const gate = new PolicyGate({
        rules,
        settings: () => settings,
        approvals,
        denials,
        titleOf: () => null,
        tasks: () => {
          if (tasks === null) throw new Error('no tasks yet');
          return tasks;
        },
      });
      return gate;
    },
  });
  tasks = world.tasks;
  world.tasks.recover();
  world.timers.start();
  if (parts === null) throw new Error('no gate was made');
  const { approvals, audit }: { approvals: Approvals; audit: AuditLog } = parts;
  return { ...world, approvals, audit, settings };
}
export type PolicyWorld = ReturnType<typeof openPolicyWorld>;
