/** The workflow of `docs/examples`, with its amendment and a restart in the middle, as its README promises it. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { amendmentSchema } from '../../config/contracts/wire/requests.js';
import { type WorkflowDocument, workflowSchema } from '../../config/contracts/wire/workflow.js';
import { expectCleanLane, type InHome, inHome } from './support/in-home.js';

const read = (name: string): unknown =>
  parse(readFileSync(new URL(`../../docs/examples/${name}`, import.meta.url), 'utf8'));
const ROUND: WorkflowDocument = workflowSchema.parse(read('evening-round.yaml'));
const AMENDMENT = amendmentSchema.parse(read('evening-round.amendment.yaml'));

const ENDS = ['COMPLETED', 'FAILED', 'CANCELLED'];

it('the evening round is amended and cut off on the way, skips what needs stale air, fails, and takes back what it did', () =>
  inHome({}, async (place) => {
    const { home, witness } = place;
    await home.run(30_000);
    await home.inject('unplug', 'air');
    await home.run(30_000);
    expect(await home.command({ kind: 'workflow', workflow: ROUND })).toMatchObject({
      status: 'accepted',
      result: { revision: 1 },
    });
    await home.until(() => ended(place, 'greeting'), 30_000, 'the greeting is over');
    const params = { workflow_id: ROUND.workflow_id, ...AMENDMENT };
    expect(await home.command({ kind: 'control', method: 'amendWorkflow', params })).toMatchObject({
      status: 'accepted',
      result: { revision: 2, cloud_replans_left: 1 },
    });
    await home.until(() => began(place, 'kitchen'), 120_000, 'it drives to the kitchen');
    await home.run(4_000);
    home.killDaemon();
    await home.run(150);
    await home.startDaemon();

    const end = await witness.end(ROUND.workflow_id, 300_000);
    await home.run(2_000);
    expectCleanLane(place);
    expect(end).toMatchObject({ event: 'FAILED', task_id: null, reason_code: 'TIMEOUT', revision: 2 });
    expect(witness.endsOf(ROUND.workflow_id)).toHaveLength(1);
    expect(home.world.docked).toBe(true);
    expect(home.wheelsTurn).toBe(false);

    const at = (event: string, step: string) =>
      witness.events.findIndex((e) => e.event === event && e.step_id === step);
    // Side by side.
    expect(at('STARTED', 'greeting')).toBeLessThan(at('COMPLETED', 'living_room'));
    expect(at('STARTED', 'living_room')).toBeLessThan(at('COMPLETED', 'greeting'));
    // The air was known once and is stale; the step says so, and is skipped.
    expect(witness.events.find((e) => e.step_id === 'purify')).toMatchObject({
      event: 'WORKFLOW_STEP_COMPLETED',
      skipped: true,
      output: null,
      reason_code: 'STATE_CONDITION_FAILED',
      message: 'stale: air_quality (error)',
    });
    // What was cut off goes on, as another attempt of the same task, and everything ends once.
    expect(attempts(place, 'kitchen')).toEqual([1, 2]);
    const tasks = new Set(witness.events.flatMap((e) => e.task_id ?? []));
    for (const id of tasks) expect(witness.endsOf(id)).toHaveLength(1);
    // The timer outlived the restart, or was served before it: the reminder came when it was due.
    expect(ended(place, 'reminder')).toBe(true);
    // Nothing of what was removed, and nothing after the failed step.
    expect(witness.events.some((e) => e.step_id === 'goodnight')).toBe(false);
    const after = witness.events.slice(at('FAILED', 'confirm') + 1);
    expect(after.filter((e) => e.event === 'STARTED').map((e) => [e.step_id, e.method])).toEqual([
      ['kitchen', 'setLlmTts'],
      ['bedroom', 'setLlmTts'],
      ['living_room', 'returnToStation'],
    ]);
    expect(after.at(-1)).toMatchObject({ event: 'FAILED', workflow_id: ROUND.workflow_id, step_id: null });
  }));

function began({ witness }: InHome, step: string): boolean {
  return witness.events.some((e) => e.event === 'STARTED' && e.step_id === step);
}

function ended({ witness }: InHome, step: string): boolean {
  return witness.events.some((e) => ENDS.includes(e.event) && e.step_id === step);
}

function attempts({ witness }: InHome, step: string): number[] {
  return witness.events
    .filter((e) => e.event === 'STARTED' && e.step_id === step && e.method === 'setMoveTo')
    .map((e) => e.attempt);
}
