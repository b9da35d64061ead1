/** A desk without a policy behind it: settings in memory, no approvals, an empty audit log. */
import { Refusal } from '../../../config/contracts/errors.js';
import { DEFAULT_SETTINGS, type SettingsValues } from '../../../daemon/policy/setting-values.js';
import type { PolicyDesk } from '../../../daemon/runtime.js';

export function fakePolicy(): PolicyDesk {
  let values: SettingsValues = { ...DEFAULT_SETTINGS, language: 'ko' };
  return {
    approvals: () => [],
    decide(id) {
      throw new Refusal('NOT_FOUND', `there is no approval ${JSON.stringify(id)}`, 'id');
    },
    settings: () => values,
    async changeSettings(change) {
      values = { ...values, ...change } as SettingsValues;
      return values;
    },
    audit: () => [],
    verifyAudit: () => ({
      ok: true,
      checked: 0,
      first: null,
      last: null,
      head: '0'.repeat(64),
      problem: null,
    }),
  };
}
