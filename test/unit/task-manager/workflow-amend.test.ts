import { afterEach, describe, expect, it } from 'vitest';
import { isRefusal } from '../../../config/contracts/errors.js';
import type { Source } from '../../../config/contracts/wire/events.js';
import { type WorkflowStep, workflowStepSchema } from '../../../config/contracts/wire/workflow.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { complete, isTerminal, openTaskWorld, step, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

type Steps = Partial<WorkflowStep>[];

function amend(
  world: TaskWorld,
  change: { base?: number; add?: Steps; replace?: Steps; remove?: string[] },
  source: Source = 'CLOUD',
) {
  const steps = (list: Steps = []) => list.map((one) => workflowStepSchema.parse(one));
  const { base = 1, remove = [] } = change;
  return world.tasks.amendWorkflow(
    'wf-1',
    { baseRevision: base, add: steps(change.add), replace: steps(change.replace), remove },
    source,
  );
}

function refusal(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (isRefusal(error)) return { reason: error.reason, field: error.field, message: error.message };
    throw error;
  }
  throw new Error('it was not refused');
}

const chain: Steps = [
  { step_id: 'a', method: 'move', params: { to: '거실' } },
  { step_id: 'b', method: 'say', depends_on: ['a'] },
  { step_id: 'c', method: 'note', depends_on: ['b'] },
];

describe('an amendment', () => {
  it('adds, replaces and removes steps that have not begun, and they run as if they had always stood there', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(chain);
    await world.quiet();
    const record = amend(world, {
      add: [{ step_id: 'd', method: 'set', depends_on: ['b'], params: { at: '{{a.output.area_id}}' } }],
      replace: [{ step_id: 'b', method: 'purify', depends_on: ['a'] }],
      remove: ['c'],
    });
    expect(record).toMatchObject({ revision: 2, replansLeft: 1, state: 'RUNNING' });
    expect(record.document.steps.map((s) => s.step_id)).toEqual(['a', 'b', 'd']);
    await complete(world, 'move', { area_id: '2' });
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'purify']);
    await complete(world, 'purify');
    expect(world.run('set').context.params).toEqual({ at: '2' });
    await complete(world, 'set');
    expect(world.events().at(-1)).toMatchObject({ event: 'COMPLETED', workflow_id: 'wf-1', revision: 2 });
    expect(world.events()[0]).toMatchObject({ event: 'WORKFLOW_STEP_STARTED', revision: 1 });
  });

  it('against another revision than the present one is refused, and says which that is', () => {
    const world = openTaskWorld();
    world.submitWorkflow(chain);
    amend(world, { remove: ['c'] });
    for (const base of [1, 3]) {
      expect(refusal(() => amend(world, { base, add: [{ step_id: 'e', method: 'note' }] }))).toEqual({
        reason: 'ILLEGAL_STATE',
        field: 'base_revision',
        message: `base_revision: found ${base}; workflow wf-1 stands at revision 2: read it and amend that`,
      });
    }
    expect(world.tasks.getWorkflow('wf-1')?.revision).toBe(2);
  });

  it('by the cloud costs one of its replans, and one too many is refused; a person pays nothing', () => {
    const world = openTaskWorld();
    world.submitWorkflow(chain, { replan_budget: { cloud_replans: 1 } });
    expect(amend(world, { add: [{ step_id: 'd', method: 'note' }] })).toMatchObject({ replansLeft: 0 });
    expect(refusal(() => amend(world, { base: 2, remove: ['d'] }))).toMatchObject({
      reason: 'REPLAN_BUDGET_EXHAUSTED',
      message: expect.stringContaining('no cloud_replans are left'),
    });
    expect(amend(world, { base: 2, remove: ['c'] }, 'LOCAL')).toMatchObject({ revision: 3, replansLeft: 0 });
  });

  it('by a person is taken a hundred times and no more: what a workflow remembers has an end', () => {
    const world = openTaskWorld();
    world.submitWorkflow(chain);
    for (let base = 1; base <= 100; base++) {
      amend(world, { base, replace: [{ step_id: 'c', method: 'note', depends_on: ['b'] }] }, 'LOCAL');
    }
    expect(refusal(() => amend(world, { base: 101, remove: ['c'] }, 'LOCAL'))).toMatchObject({
      reason: 'ILLEGAL_STATE',
      message: 'workflow wf-1 was amended 100 times already: submit another one',
    });
  });

  it('that is refused changes nothing and costs nothing', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(chain);
    await world.quiet();
    const before = world.tasks.getWorkflow('wf-1');
    refusal(() => amend(world, { remove: ['b', 'c'], add: [{ step_id: 'd', method: 'fly' }] }));
    expect(world.tasks.getWorkflow('wf-1')).toEqual(before);
  });

  it('is refused with everything that is wrong with the resulting document', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([...chain, { step_id: 'x', method: 'note', depends_on: ['c'] }]);
    await world.quiet();
    const { reason, message } = refusal(() =>
      amend(world, {
        add: [
          { step_id: 'b', method: 'note' },
          { step_id: 'd', method: 'fly', depends_on: ['e'] },
          { step_id: 'e', method: 'note', depends_on: ['d'] },
          { step_id: 'f', method: 'say', depends_on: ['x'], params: { text: '{{x.output.nothing}}' } },
        ],
        replace: [
          { step_id: 'a', method: 'rotate' },
          { step_id: 'z', method: 'note' },
        ],
        remove: ['c', 'y'],
      }),
    );
    expect(reason).toBe('INVALID_PARAMS');
    for (const part of [
      'add.b: a step has this id',
      'steps.d.method: found "fly"',
      'the steps depend on each other: d → e → d',
      'x.output.nothing: note gives no such output',
      'replace.a: it is RUNNING; only a step that has not begun',
      'replace.z: there is no such step',
      'remove.y: there is no such step',
      'steps.x.depends_on: found "c"; there is no such step',
    ]) {
      expect(message).toContain(part);
    }
    expect(message).toMatch(/^8 problems: /);
  });

  it.each<[string, Parameters<typeof amend>[1], RegExp]>([
    ['that changes nothing', {}, /found nothing in add, replace and remove/],
    [
      'that names a step twice',
      { replace: [{ step_id: 'c', method: 'note' }], remove: ['c'] },
      /remove.c: this step stands in replace already/,
    ],
    [
      'that leaves more than 64 steps',
      { add: Array.from({ length: 62 }, (_, i) => ({ step_id: `n${i}`, method: 'note' })) },
      /found 65 steps; allowed are 64/,
    ],
    [
      'that needs the output of a step that comes later',
      { replace: [{ step_id: 'b', method: 'say', depends_on: ['a'], params: { t: '{{c.output}}' } }] },
      /b does not come after c/,
    ],
  ])('%s is refused', async (_, change, why) => {
    const world = openTaskWorld();
    world.submitWorkflow(chain);
    await world.quiet();
    expect(refusal(() => amend(world, change)).message).toMatch(why);
  });

  it('may not use up an id again, nor the output of a step that ended without one', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'say', failure_policy: 'CONTINUE' },
      { step_id: 'b', method: 'move' },
      { step_id: 'c', method: 'note', depends_on: ['b'] },
    ]);
    await world.quiet();
    world.run('say').fail('CAPABILITY_UNAVAILABLE');
    await world.quiet();
    amend(world, { remove: ['c'] });
    const text = { text: '{{a.output.summary}}' };
    const add = [
      { step_id: 'c', method: 'note' },
      { step_id: 'd', method: 'note', depends_on: ['a'], params: text },
    ];
    const { message } = refusal(() => amend(world, { base: 2, add }));
    expect(message).toContain('add.c: a step that was removed had this id');
    expect(message).toContain('a.output.summary: a ended FAILED, without an output');
  });

  it('takes the task of a step out of its line that had not started, and repeats no key', async () => {
    const world = openTaskWorld();
    world.submit('rotate');
    world.submitWorkflow([
      { step_id: 'a', method: 'move' },
      { step_id: 'b', method: 'move' },
    ]);
    await world.quiet();
    expect(step(world, 'a')?.state).toBe('WAITING');
    amend(world, { replace: [{ step_id: 'a', method: 'say' }], remove: ['b'] });
    await world.quiet();
    expect(world.story().filter((line) => line.startsWith('CANCELLED'))).toEqual([
      'CANCELLED move CANCELLED_BY_CLOUD',
      'CANCELLED move CANCELLED_BY_CLOUD',
    ]);
    await complete(world, 'say');
    expect(world.story().at(-1)).toBe('COMPLETED wf-1');
    const keys = world.events().map((event) => event.idempotency_key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('takes the timers of what it displaces with it', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      { step_id: 'b', method: 'say', after_step: { step_id: 'a', delay_ms: 10_000 } },
      { step_id: 'c', method: 'say', wait_until: { condition: 'context.never == 1', timeout_ms: 20_000 } },
    ]);
    await complete(world, 'note');
    expect(world.timers.list('workflow').length).toBe(2);
    amend(world, { remove: ['b'], replace: [{ step_id: 'c', method: 'note' }] });
    expect(world.timers.list('workflow')).toEqual([]);
    await complete(world, 'note');
    expect(world.story().at(-1)).toBe('COMPLETED wf-1');
    await world.clock.advanceAsync(60_000);
    expect(world.events().filter((e) => isTerminal(e) && e.task_id === null).length).toBe(1);
  });

  it('ends the workflow when nothing is left to do', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      { step_id: 'b', method: 'say', after_step: { step_id: 'a', delay_ms: 10_000 } },
    ]);
    await complete(world, 'note');
    expect(amend(world, { remove: ['b'] })).toMatchObject({ state: 'COMPLETED', revision: 2 });
    expect(refusal(() => amend(world, { base: 2, remove: ['b'] })).reason).toBe('ILLEGAL_STATE');
  });

  it('is taken while the workflow is paused, and starts nothing; not while it is ending', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(chain);
    await world.quiet();
    world.tasks.pauseWorkflow('wf-1');
    amend(world, { add: [{ step_id: 'd', method: 'set' }] });
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move']);
    world.tasks.resumeWorkflow('wf-1');
    await complete(world, 'set');
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.quiet();
    expect(refusal(() => amend(world, { base: 2, remove: ['c'] }))).toMatchObject({
      reason: 'ILLEGAL_STATE',
      message: 'workflow wf-1 is ending already (CANCELLED)',
    });
    world.run('move').proveStop();
    await world.quiet();
    expect(world.story().at(-1)).toBe('CANCELLED wf-1 CANCELLED_BY_USER');
  });

  it('of an unknown workflow is refused', () => {
    expect(refusal(() => amend(openTaskWorld(), { remove: ['c'] })).reason).toBe('NOT_FOUND');
  });

  it('is durable with its document, its revision and what it cost', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(chain, { replan_budget: { cloud_replans: 3 } });
    await world.quiet();
    amend(world, {
      replace: [{ step_id: 'b', capability: 'move_to_room', params: { to: '안방' }, depends_on: ['a'] }],
      remove: ['c'],
    });
    await world.store.committed();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.tasks.getWorkflow('wf-1')).toMatchObject({ revision: 2, replansLeft: 2 });
    expect(after.tasks.getWorkflow('wf-1')?.steps.map((s) => s.stepId)).toEqual(['a', 'b']);
    await complete(after, 'move');
    expect(after.run('move').context.params).toEqual({ to: '안방' });
    await complete(after, 'move');
    expect(after.events().at(-1)).toMatchObject({ event: 'COMPLETED', revision: 2 });
    expect(refusal(() => after.submitWorkflow([{ step_id: 'c', method: 'note' }])).reason).toBe(
      'INVALID_PARAMS',
    );
  });

  it("runs a step with the rights of whoever wrote it, and leaves the others with the workflow's own", async () => {
    const world = openTaskWorld();
    const document = { workflow_id: 'wf-1', steps: [{ step_id: 'a', method: 'move' }] };
    world.tasks.submitWorkflow(document, { source: 'LOCAL', correlationId: null, traceId: null });
    amend(world, { add: [{ step_id: 'b', method: 'note' }] }, 'CLOUD');
    await world.quiet();
    const sources = new Map(world.tasks.listTasks().map((task) => [task.stepId, task.source]));
    expect(Object.fromEntries(sources)).toEqual({ a: 'LOCAL', b: 'CLOUD' });
  });
});
