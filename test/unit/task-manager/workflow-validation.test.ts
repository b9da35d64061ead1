import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../config/contracts/errors.js';
import type { WorkflowDocument } from '../../../config/contracts/wire/workflow.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { openTaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

type Step = Partial<WorkflowDocument['steps'][number]>;

function refused(steps: Step[], more: Partial<WorkflowDocument> = {}): Refusal {
  const world = openTaskWorld();
  try {
    world.submitWorkflow(steps, more);
  } catch (error) {
    expect(world.tasks.listTasks()).toEqual([]);
    expect(world.tasks.listWorkflows()).toEqual([]);
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const s = (step_id: string, more: Step = {}): Step => ({ step_id, method: 'note', ...more });

describe('a workflow is checked whole before anything of it runs', () => {
  it.each<[string, Step[], RegExp]>([
    [
      'a step that depends on itself',
      [s('a', { depends_on: ['a'] })],
      /steps\.a\.depends_on: found "a"; a step cannot depend on itself/,
    ],
    [
      'a step that is not there',
      [s('a', { depends_on: ['b'] })],
      /steps\.a\.depends_on: found "b"; there is no such step/,
    ],
    ['two steps of one id', [s('a'), s('a')], /steps\.a\.step_id: two steps have this id/],
    [
      'a circle',
      [s('a', { depends_on: ['c'] }), s('b', { depends_on: ['a'] }), s('c', { depends_on: ['b'] })],
      /the steps depend on each other: a → c → b → a/,
    ],
    [
      'a circle through after_step',
      [s('a', { after_step: { step_id: 'b', delay_ms: 1 } }), s('b', { depends_on: ['a'] })],
      /depend on each other/,
    ],
    [
      'a condition that does not parse',
      [s('a', { condition: 'context.battery.level >' })],
      /steps\.a\.condition: /,
    ],
    [
      'a condition over something unknown',
      [s('a', { condition: 'weather == "rain"' })],
      /steps\.a\.condition: .*weather/,
    ],
    [
      'a condition that gives no truth',
      [s('a', { condition: '"rain"' })],
      /steps\.a\.condition: it gives string/,
    ],
    [
      'a condition on a step that comes later',
      [s('a', { condition: 'steps.b.output.summary == "x"' }), s('b', { depends_on: ['a'] })],
      /b\.output\.summary: a does not come after b/,
    ],
    [
      'a condition on an unknown step',
      [s('a', { condition: 'steps.z.output.summary == "x"' })],
      /z\.output\.summary: there is no step z/,
    ],
    [
      'a use of steps that names none',
      [s('a', { condition: 'size(steps) > 1' })],
      /steps can only be used as/,
    ],
    [
      'a template of a step beside it',
      [s('a', { params: { text: '{{b.output.summary}}' } }), s('b')],
      /steps\.a\.params\.text: b\.output\.summary: a does not come after b/,
    ],
    [
      'a template of an output that is never given',
      [s('a'), s('b', { depends_on: ['a'], params: { text: '{{a.output.colour}}' } })],
      /a\.output\.colour: note gives no such output/,
    ],
    [
      'a template of a step nobody waits for',
      [
        s('a', { wait_policy: 'ACCEPTED' }),
        s('b', { depends_on: ['a'], params: { text: '{{a.output.summary}}' } }),
      ],
      /nobody waits for the end of a/,
    ],
    [
      'braces that are no template',
      [s('a', { params: { text: '{{summary}}' } })],
      /steps\.a\.params: found \{\{summary\}\}; a template is/,
    ],
    ['method and capability both', [s('a', { capability: 'move_to_room' })], /found both; exactly one/],
    ['neither method nor capability', [{ step_id: 'a' }], /found neither; exactly one/],
    [
      'a compensation with an unknown method',
      [s('a', { compensation: { method: 'fly' } })],
      /steps\.a\.compensation\.method: found "fly"/,
    ],
  ])('refuses %s', (_what, steps, message) => {
    const error = refused(steps);
    expect(error.message).toMatch(message);
  });

  it('refuses wrong params of a step with the path of the field', () => {
    const error = refused([s('a', { method: 'move', params: { speed: '1' } })]);
    expect(error).toMatchObject({ reason: 'INVALID_PARAMS', field: 'steps.a.params.speed' });
  });

  it('says UNKNOWN_TARGET, UNKNOWN_METHOD or UNKNOWN_CAPABILITY when that is all that is wrong, and where', () => {
    expect(refused([s('a', { method: 'move', params: { to: 'nowhere' } })])).toMatchObject({
      reason: 'UNKNOWN_TARGET',
      field: 'steps.a.params.to',
      message: 'steps.a.params.to: found "nowhere"; there is no such room',
    });
    expect(refused([s('a', { method: 'fly' }), s('b', { method: 'swim' })]).reason).toBe('UNKNOWN_METHOD');
    expect(refused([{ step_id: 'a', capability: 'fly' }])).toMatchObject({
      reason: 'UNKNOWN_CAPABILITY',
      field: 'steps.a.capability',
    });
  });

  it('reports everything at once', () => {
    const error = refused([
      s('a', { method: 'fly', depends_on: ['a', 'z'] }),
      s('b', { condition: '1 +', params: { text: '{{a.output.x}}' } }),
    ]);
    expect(error.reason).toBe('INVALID_PARAMS');
    expect(error.message).toMatch(/^5 problems: /);
    for (const part of [
      '"fly"',
      'depend on itself',
      'found "z"',
      'steps.b.condition',
      'b does not come after a',
    ]) {
      expect(error.message).toContain(part);
    }
  });

  it('refuses more than 64 steps', () => {
    const world = openTaskWorld();
    const steps = Array.from({ length: 65 }, (_v, i) => ({ step_id: `s${i}`, method: 'note' }));
    const submit = () =>
      world.tasks.submitWorkflow(
        { workflow_id: 'wf', steps },
        { source: 'CLOUD', correlationId: null, traceId: null },
      );
    expect(submit).toThrow(/found 65 steps; allowed are 64/);
  });

  it('refuses a workflow_id that was used before, also after its end', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([s('a')]);
    await world.quiet();
    expect(() => world.submitWorkflow([s('a')])).toThrow(/"wf-1"; this id was used before/);
    world.run('note').complete();
    await world.quiet();
    expect(() => world.submitWorkflow([s('a')])).toThrow(/used before/);
  });

  it('bounds how many are live', () => {
    const world = openTaskWorld({ taskLimits: { maxLiveWorkflows: 1 } });
    world.submitWorkflow([s('a')]);
    expect(() => world.submitWorkflow([s('a')], { workflow_id: 'wf-2' })).toThrow(
      expect.objectContaining({ reason: 'TASK_MANAGER_BUSY' }),
    );
  });
});
