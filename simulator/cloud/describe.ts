/** Received messages as lines for people. */
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import type { ReceivedEvent } from './types.js';

export function describeEvent(event: ReceivedEvent): string {
  const who =
    [event.stepId, event.method].filter((part) => part !== null).join(' ') || event.workflowId || '';
  const why = event.reasonCode === null ? '' : ` — ${event.reasonCode}`;
  return `#${event.seq} ${event.event} ${who}${why}${describeEvidence(event.evidence)}`.trimEnd();
}

export function describeResponse(response: CommandResponse): string {
  const what = response.task_id ?? response.workflow_id ?? '';
  const why = response.reason_code === null ? '' : ` — ${response.reason_code}: ${response.message ?? ''}`;
  return `response ${response.status} ${what}${response.duplicate ? ' (again)' : ''}${why}`;
}

function describeEvidence(evidence: unknown): string {
  if (typeof evidence !== 'object' || evidence === null) return '';
  const target = 'completion_target' in evidence ? String(evidence.completion_target) : null;
  const area = 'area_id' in evidence && evidence.area_id !== null ? ` in ${String(evidence.area_id)}` : '';
  return target === null ? '' : ` — ${target}${area}`;
}
