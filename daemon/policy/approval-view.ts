/** An approval as people and programs read it: exactly the fields of the wire contract. */
import { z } from 'zod';
import { isoWithOffset } from '../../config/contracts/clock.js';
import { APPROVAL_STATUSES, type ApprovalRow } from './approval-table.js';

export const TONES = ['blue', 'violet', 'coral', 'green', 'amber', 'ink', 'faint'] as const;

const cardSchema = z.strictObject({
  icon: z.string(),
  tone: z.enum(TONES),
  title: z.string(),
  detail: z.string(),
  why: z.string(),
  cta: z.string().describe('what the button that approves says'),
  alt: z.string().describe('what the button that denies says'),
  undo_label: z.string().nullable().describe('null: it cannot be undone'),
});
/** What is shown of it, in one language. */
export type Card = z.infer<typeof cardSchema>;

export const approvalView = z.strictObject({
  id: z.string(),
  source: z.string(),
  risk: z.enum(['low', 'high']),
  status: z.enum(APPROVAL_STATUSES),
  ...cardSchema.shape,
  values_digest: z
    .string()
    .describe('SHA-256 of the RFC 8785 form of what was shown: just that is what runs'),
  requested_at: z.string(),
  expires_at: z.string(),
  decided_by: z.string().nullable(),
  decided_at: z.string().nullable(),
});
export type ApprovalView = z.infer<typeof approvalView>;

export function viewApproval(row: ApprovalRow, card: Card): ApprovalView {
  const { source, risk, digest } = row.request;
  return {
    id: row.id,
    source,
    risk,
    status: row.status,
    ...card,
    values_digest: digest,
    requested_at: isoWithOffset(row.requestedAt),
    expires_at: isoWithOffset(row.expiresAt),
    decided_by: row.decidedBy,
    decided_at: row.decidedAt === null ? null : isoWithOffset(row.decidedAt),
  };
}
