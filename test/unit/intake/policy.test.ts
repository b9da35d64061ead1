import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOURCES } from '../../../config/contracts/wire/events.js';
import { loadPolicyConfig } from '../../../daemon/policy/load-policy.js';
import { createPolicy } from '../../../daemon/policy/policy.js';

const write = (text: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'policy-')), 'policy.yaml');
  writeFileSync(file, text);
  return file;
};

describe('the policy table', () => {
  it('has rules for every source, and the cloud may not outrank the people at home', () => {
    const config = loadPolicyConfig();
    for (const source of SOURCES) expect(config.sources[source]).toBeDefined();
    expect(config.sources.CLOUD).toMatchObject({
      max_priority: 80,
      max_timeout_ms: 3_600_000,
      preempt_policies: ['NONE', 'PREEMPT_LOWER'],
    });
  });

  it('is refused with file, field, value and what is allowed', () => {
    const good = readFileSync(new URL('../../../config/policy.yaml', import.meta.url), 'utf8');
    const bad = write(good.replace('max_priority: 80', 'max_priority: 500'));
    expect(() => loadPolicyConfig(bad)).toThrow(/policy\.yaml: sources\.CLOUD\.max_priority: found 500.*100/);
    const forgotten = write(good.replace('SUPERVISOR:', 'SOMEBODY:'));
    expect(() => loadPolicyConfig(forgotten)).toThrow(/sources\.SUPERVISOR: found nothing/);
    expect(() => loadPolicyConfig(write('version: 2'))).toThrow(/version: found 2/);
    expect(() => loadPolicyConfig('/nowhere/policy.yaml')).toThrow(/\/nowhere\/policy\.yaml: cannot be read/);
  });

  it('keeps methods from a source that may not call them', () => {
    const config = loadPolicyConfig();
    const rules = config.sources.PROACTIVE;
    const policy = createPolicy({
      ...config,
      sources: { ...config.sources, PROACTIVE: { ...rules, denied_methods: ['startSecurityMode'] } },
    });
    expect(() => policy.allowMethod('PROACTIVE', 'startSecurityMode', 'method')).toThrow(
      /PROACTIVE may not call/,
    );
    expect(() => policy.allowMethod('CLOUD', 'startSecurityMode', 'method')).not.toThrow();
  });

  it('lets a person at the robot do what belongs to a person', () => {
    const policy = createPolicy(loadPolicyConfig());
    expect(() => policy.allowMethod('LOCAL', 'submitVerification', 'method')).not.toThrow();
    expect(() => policy.allowMethod('CLOUD', 'submitVerification', 'method')).toThrow(/belongs to a person/);
  });
});
