/** What `…/events/assistant` says of approvals: ids, kinds and states only. Names and payloads as its consumers know. */

import type { Clock } from '../../config/contracts/clock.js';
import { isoWithOffset } from '../../config/contracts/clock.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import type { ApprovalRow } from './approval-table.js';

export function approvalEvent(
  { outbox, clock }: { outbox: Pick<OutboxWriter, 'appendOrdered'>; clock: Clock },
  event: 'approval.enqueued' | 'approval.executed',
  { id, request: { source, risk } }: ApprovalRow,
): void {
  outbox.appendOrdered('events/assistant', `${id}:${event}:1`, (stamp) => ({
    contract_version: 'assistant-event.v1',
    ...stamp,
    event,
    payload: { id, risk, source },
    occurred_at: isoWithOffset(clock.now()),
  }));
}
