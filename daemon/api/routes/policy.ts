/** What a person decides: approvals and settings; and the record of it. */
import { z } from 'zod';
import { approvalView } from '../../policy/approval-view.js';
import { AUDIT_KINDS } from '../../policy/audit-log.js';
import { settingsChangeSchema, settingsSchema } from '../../policy/setting-values.js';
import { boolParam, defineRoute, idParams, intParam, type Route } from '../http/route.js';

const language = z.enum(['ko', 'en'], 'allowed is ko or en').optional();

const verdicts = [
  { verdict: 'approve', summary: 'Approve: just what was shown runs' },
  { verdict: 'deny', summary: 'Deny: what waits for it ends FAILED APPROVAL_DENIED' },
  {
    verdict: 'undo',
    summary: 'Take back what was carried out; 409 where the card said that it cannot be undone',
  },
] as const;

const auditEntry = z.strictObject({
  n: z.int(),
  at: z.number(),
  kind: z.enum(AUDIT_KINDS),
  by: z.string(),
  data: z.record(z.string(), z.unknown()),
});
const auditVerdict = z.strictObject({
  ok: z.boolean(),
  checked: z.int(),
  first: z.int().nullable(),
  last: z.int().nullable(),
  head: z.string(),
  problem: z.strictObject({ n: z.int(), what: z.string() }).nullable(),
});

export const policyRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/approvals',
    tag: 'policy',
    summary:
      'Approvals, those that wait first; `language` chooses the words, default is the language that is set',
    scope: 'read',
    query: z.strictObject({
      pending: boolParam().optional(),
      limit: intParam(1, 500).optional(),
      language,
    }),
    responses: {
      200: { description: 'Approvals', schema: z.strictObject({ approvals: z.array(approvalView) }) },
    },
    handle: ({ query, services }) => {
      const { pending: pendingOnly = false, limit = 50, language: words } = query;
      const wanted = { pendingOnly, limit, ...(words === undefined ? {} : { language: words }) };
      return { status: 200, body: { approvals: services.runtime.policy.approvals(wanted) } };
    },
  }),
  ...verdicts.map(({ verdict, summary }) =>
    defineRoute({
      method: 'POST',
      path: `/api/approvals/{id}/${verdict}`,
      tag: 'policy',
      summary,
      scope: 'person',
      params: idParams,
      query: z.strictObject({ language }),
      responses: { 200: { description: 'The approval as it stands now', schema: approvalView } },
      handle: async ({ params, query, caller, services: { runtime } }) => {
        const body = runtime.policy.decide(params.id, verdict, caller.principal, query.language);
        await runtime.committed();
        return { status: 200, body };
      },
    }),
  ),
  defineRoute({
    method: 'GET',
    path: '/api/settings',
    tag: 'policy',
    summary: 'What the household set',
    scope: 'read',
    responses: { 200: { description: 'Settings', schema: settingsSchema } },
    handle: ({ services }) => ({ status: 200, body: services.runtime.policy.settings() }),
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/settings',
    tag: 'policy',
    summary: 'Change some of them. What makes the robot less strict is for a person at the robot alone',
    scope: 'control',
    body: settingsChangeSchema,
    responses: { 200: { description: 'All settings, once they are durable', schema: settingsSchema } },
    handle: async ({ body, caller, services }) => {
      const { principal, scopes } = caller;
      const who = { principal, atTheRobot: scopes.has('person') };
      return { status: 200, body: await services.runtime.policy.changeSettings(body, who) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/audit',
    tag: 'policy',
    summary: 'The audit log, newest first',
    scope: 'read',
    query: z.strictObject({ limit: intParam(1, 1000).optional() }),
    responses: { 200: { description: 'Rows', schema: z.strictObject({ entries: z.array(auditEntry) }) } },
    handle: ({ query, services }) => ({
      status: 200,
      body: { entries: services.runtime.policy.audit(query.limit ?? 50) },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/audit/verify',
    tag: 'policy',
    summary: 'Whether the audit log is whole: no row changed, removed or moved',
    scope: 'read',
    responses: { 200: { description: 'The verdict', schema: auditVerdict } },
    handle: ({ services }) => ({ status: 200, body: services.runtime.policy.verifyAudit() }),
  }),
];
