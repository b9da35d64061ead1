import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SOURCES, type Source } from '../../../config/contracts/wire/events.js';
import {
  type Decision,
  decide,
  everySetting,
  type PolicyQuestion,
  type PolicySettings,
  stopsRunning,
  weaknesses,
} from '../../../daemon/policy/decide.js';
import { loadPolicyConfig } from '../../../daemon/policy/load-policy.js';
import { RESOURCES, type Resource } from '../../../executors/method.js';

const rules = loadPolicyConfig();

const OPEN: PolicySettings = {
  privacy_mode: false,
  home_lock: false,
  quiet: false,
  autonomy: 'full_auto',
  rollout_mode: 'AUTONOMOUS_LOW_RISK',
};

function ask(question: Partial<PolicyQuestion> & { settings?: PolicySettings } = {}): Decision {
  const source = question.source ?? 'LOCAL';
  return decide(rules, {
    source,
    origin: question.origin ?? source,
    method: 'something',
    risk: 'low',
    takes: [],
    settings: OPEN,
    ...question,
  });
}

/** What docs/policy.md promises, written down a second time in the plainest way; knows nothing of rules. */
function promised(source: Source, risk: 'low' | 'high', takes: Resource | null, s: PolicySettings): string {
  const sees = takes === 'camera' || takes === 'microphone';
  if (s.privacy_mode && sees) return 'deny';
  const reachesHome =
    sees || ['motion', 'security_session', 'live_view', 'vital_sign', 'browser'].includes(takes ?? '');
  if (s.home_lock && source === 'CLOUD' && reachesHome) return 'deny';
  if (source === 'PROACTIVE') {
    if (s.rollout_mode === 'SHADOW' || s.rollout_mode === 'RECOMMENDATION_ONLY') return 'deny';
    if (s.quiet && ['motion', 'fan', 'speaker'].includes(takes ?? '')) return 'deny';
  }
  if (risk === 'high') return 'approve';
  if (source === 'PROACTIVE' && s.rollout_mode === 'CONFIRMATION') return 'approve';
  if (source === 'PROACTIVE' || source === 'SUPERVISOR') {
    if (s.autonomy === 'ask_all') return 'approve';
    if (s.autonomy === 'mixed' && reachesHome) return 'approve';
  }
  return 'allow';
}

describe('the decision table', () => {
  it('holds what was promised for every source, risk, resource and combination of settings', () => {
    let cases = 0;
    for (const settings of everySetting())
      for (const source of SOURCES)
        for (const risk of ['low', 'high'] as const)
          for (const takes of [null, ...RESOURCES]) {
            const { effect } = ask({ source, risk, takes: takes === null ? [] : [takes], settings });
            const where = JSON.stringify({ source, risk, takes, settings });
            expect(effect, where).toBe(promised(source, risk, takes, settings));
            cases++;
          }
    expect(cases).toBe(7 * 2 * 11 * 96);
  });

  it('never opens a high risk, whatever autonomy and rollout mode say', () => {
    for (const source of SOURCES) expect(ask({ source, risk: 'high' }).effect).toBe('approve');
  });

  it('asks a person too before a high risk: a slip of the tongue is no approval', () => {
    for (const source of ['LOCAL', 'APP', 'VOICE'] as const) {
      expect(ask({ source, risk: 'high' })).toMatchObject({ effect: 'approve', rule: 'high_risk' });
      expect(ask({ source, risk: 'low' })).toEqual({ effect: 'allow', rule: 'none' });
    }
  });

  it('takes the stricter of autonomy and rollout mode', () => {
    const proactive = (autonomy: PolicySettings['autonomy'], rollout_mode: PolicySettings['rollout_mode']) =>
      ask({ source: 'PROACTIVE', settings: { ...OPEN, autonomy, rollout_mode } }).effect;
    expect(proactive('full_auto', 'SHADOW')).toBe('deny');
    expect(proactive('ask_all', 'AUTONOMOUS_LOW_RISK')).toBe('approve');
    expect(proactive('full_auto', 'CONFIRMATION')).toBe('approve');
    expect(proactive('full_auto', 'AUTONOMOUS_LOW_RISK')).toBe('allow');
  });

  it('lets the robot stop and come home of its own accord, also when everything is to be asked', () => {
    const settings: PolicySettings = { ...OPEN, autonomy: 'ask_all' };
    for (const method of ['returnToStation', 'stopMove', 'stopCleaning']) {
      expect(ask({ source: 'SUPERVISOR', method, takes: ['motion'], settings }).effect).toBe('allow');
    }
    expect(ask({ source: 'SUPERVISOR', method: 'returnToStation', risk: 'high', settings }).effect).toBe(
      'approve',
    );
  });

  it('sees through a schedule to whoever made it', () => {
    const locked: PolicySettings = { ...OPEN, home_lock: true };
    const run = (origin: Source) => ask({ source: 'SCHEDULE', origin, takes: ['motion'], settings: locked });
    expect(run('CLOUD')).toMatchObject({ effect: 'deny', rule: 'home_lock', reason: 'POLICY_DENIED' });
    expect(run('LOCAL').effect).toBe('allow');
  });

  it('counts the goal of a person as approval of what the supervisor does for it', () => {
    const settings: PolicySettings = { ...OPEN, autonomy: 'ask_all' };
    expect(ask({ source: 'SUPERVISOR', origin: 'LOCAL', takes: ['motion'], settings }).effect).toBe('allow');
    expect(ask({ source: 'SUPERVISOR', takes: ['motion'], settings }).effect).toBe('approve');
  });

  it('leaves acts of a person to people, by whichever way they are asked for', () => {
    for (const method of ['submitVerification', 'approve', 'issueConsent', 'releaseEmergencyStop']) {
      for (const source of SOURCES) {
        const isPerson = ['LOCAL', 'APP', 'VOICE'].includes(source);
        expect(ask({ source, method }).effect, `${source} ${method}`).toBe(isPerson ? 'allow' : 'deny');
        expect(ask({ source: 'LOCAL', origin: source, method }).effect).toBe(isPerson ? 'allow' : 'deny');
      }
    }
  });

  it('names the field, the value and why, and the rule that decided', () => {
    const settings = { ...OPEN, privacy_mode: true };
    expect(ask({ method: 'startFollowMe', takes: ['motion', 'camera'], settings })).toEqual({
      effect: 'deny',
      rule: 'privacy_mode',
      reason: 'PRIVACY_BLOCKED',
      field: 'method',
      message:
        'method: found "startFollowMe"; privacy mode is on, and nothing may use the camera or the microphone',
    });
  });

  it('stops what runs for privacy and home lock, not for a changed autonomy', () => {
    const seeing = ask({ takes: ['camera'], settings: { ...OPEN, privacy_mode: true } });
    const shadow = ask({ source: 'PROACTIVE', settings: { ...OPEN, rollout_mode: 'SHADOW' } });
    expect([stopsRunning(rules, seeing), stopsRunning(rules, shadow)]).toEqual([true, false]);
  });

  it('can only become stricter by a further rule', () => {
    const rank = { allow: 0, approve: 1, deny: 2 };
    const rule = fc.record({
      id: fc.constant('more'),
      effect: fc.constantFrom('deny' as const, 'approve' as const),
      when: fc.record(
        {
          sources: fc.subarray([...SOURCES], { minLength: 1 }),
          takes: fc.subarray([...RESOURCES], { minLength: 1 }),
          home_lock: fc.constant(true as const),
        },
        { requiredKeys: [] },
      ),
      text: fc.constant({ ko: '하나 더', en: 'one more' }),
    });
    const question = fc.record({
      source: fc.constantFrom(...SOURCES),
      origin: fc.constantFrom(...SOURCES),
      method: fc.constantFrom('something', 'stopMove', 'submitVerification'),
      risk: fc.constantFrom('low' as const, 'high' as const),
      takes: fc.subarray([...RESOURCES]),
      settings: fc.constantFrom(...everySetting()),
    });
    fc.assert(
      fc.property(rule, question, fc.nat(rules.rules.length), (more, asked, at) => {
        const widened = [...rules.rules.slice(0, at), more, ...rules.rules.slice(at)];
        const before = decide(rules, asked).effect;
        expect(rank[decide({ ...rules, rules: widened }, asked).effect]).toBeGreaterThanOrEqual(rank[before]);
      }),
    );
  });
});

describe('the policy file', () => {
  const good = readFileSync(new URL('../../../config/policy.yaml', import.meta.url), 'utf8');
  const load = (text: string) => {
    const file = join(mkdtempSync(join(tmpdir(), 'policy-')), 'policy.yaml');
    writeFileSync(file, text);
    return () => loadPolicyConfig(file);
  };

  it('is refused with everything that is wrong in it at once', () => {
    const bad = good
      .replace('expires_after_ms: 900000', 'expires_after_ms: -1')
      .replace('autonomy: [ask_all]', 'autonomy: [ask_none]');
    expect(load(bad)).toThrow(/approvals\.expires_after_ms: found -1[\s\S]*autonomy\.0: found "ask_none"/);
  });

  it('is refused when it would open a high risk or a camera in privacy mode', () => {
    expect(load(good.replace('risk: high', 'risk: high, home_lock: true'))).toThrow(
      /CLOUD may carry out a high risk without approval/,
    );
    expect(load(good.replace('takes: [camera, microphone]', 'takes: [camera]'))).toThrow(
      /LOCAL may use the microphone in privacy mode/,
    );
    expect(weaknesses(rules)).toEqual([]);
  });

  it('is refused when two rules have one name', () => {
    expect(load(good.replace('id: quiet_hours', 'id: home_lock'))).toThrow(/found "home_lock" twice/);
  });
});
