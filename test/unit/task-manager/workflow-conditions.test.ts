import { afterEach, describe, expect, it } from 'vitest';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { air, complete, openTaskWorld, step } from './task-world.js';

afterEach(removeTemporaryDirectories);

describe('conditions', () => {
  const purify = (more: object = {}) => [
    { step_id: 'a', method: 'purify', condition: 'context.air_quality.pm2_5 > 15', ...more },
  ];

  it('let a step run when they hold', async () => {
    const world = openTaskWorld({ context: () => air(40) });
    world.submitWorkflow(purify());
    await world.quiet();
    expect(world.runs.length).toBe(1);
  });

  it('fail a step that may not run, and say why', async () => {
    const world = openTaskWorld({ context: () => air(3) });
    world.submitWorkflow(purify());
    await world.quiet();
    expect(world.story()).toEqual(['FAILED a STATE_CONDITION_FAILED', 'FAILED wf-1 STATE_CONDITION_FAILED']);
    expect(world.events()[0]?.message).toBe('"context.air_quality.pm2_5 > 15" is false');
    expect(world.runs).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['stale', air(40, { usable: false, stale: true }), 'stale: air_quality'],
    ['never seen', air(null, { usable: false, observed_at_ms: null }), 'unknown: air_quality'],
    [
      'warming up',
      air(40, { usable: false, source_state: 'warming_up' }),
      'unknown: air_quality (warming_up)',
    ],
    ['not measured', air(null), 'unknown: air_quality.pm2_5'],
    ['not there at all', {}, 'unknown: air_quality'],
  ])('are false over a value that is %s', async (_what, context, why) => {
    const world = openTaskWorld({ context: () => context });
    world.submitWorkflow(purify({ on_condition_false: 'SKIP' }));
    await world.quiet();
    expect(world.events()[0]).toMatchObject({
      event: 'WORKFLOW_STEP_COMPLETED',
      skipped: true,
      output: null,
      reason_code: 'STATE_CONDITION_FAILED',
      message: why,
    });
    expect(world.story().at(-1)).toBe('COMPLETED wf-1');
  });

  it.each<[string, boolean]>([
    ['context.air_quality.usable && context.air_quality.pm2_5 > 15', false],
    ['context.cleaning.mode == null', true],
    ['context.air_quality.pm2_5 > 15 || context.cleaning.mode == null', true],
    ['context.air_quality.usable', false],
    ['!context.air_quality.stale', false],
  ])('over a stale value: %s is %s', async (condition, holds) => {
    const world = openTaskWorld({ context: () => air(40, { usable: false, stale: true }) });
    world.submitWorkflow([{ step_id: 'a', method: 'note', condition }]);
    await world.quiet();
    expect(world.runs.length).toBe(holds ? 1 : 0);
    if (!holds) expect(world.events()[0]?.message).toBe('stale: air_quality');
  });

  it('calculate with numbers as planners write them', async () => {
    const world = openTaskWorld({ context: () => air(40) });
    world.submitWorkflow([
      {
        step_id: 'a',
        method: 'note',
        condition: 'context.air_quality.pm2_5 / 2 + 1 > 20 && 2 * context.air_quality.pm2_5 == 80',
      },
    ]);
    await world.quiet();
    expect(world.runs.length).toBe(1);
  });

  it('look at outputs of earlier steps', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      { step_id: 'b', method: 'say', depends_on: ['a'], condition: 'steps.a.output.area_id == "2"' },
    ]);
    await complete(world, 'note', { area_id: '2', summary: null });
    expect(world.run('say')).toBeDefined();
  });

  it('are looked at again when the step gets its turn after a wait', async () => {
    let context = air(40);
    const world = openTaskWorld({ context: () => context });
    world.submit('purify');
    world.submitWorkflow(purify({ on_condition_false: 'SKIP' }));
    await world.quiet();
    expect(step(world, 'a')?.state).toBe('WAITING');
    await world.clock.advanceAsync(1_000);
    context = air(3);
    await complete(world, 'purify');
    expect(step(world, 'a')).toMatchObject({ state: 'SKIPPED' });
    expect(world.story().slice(-3)).toEqual([
      'CANCELLED purify CANCELLED_BY_SYSTEM',
      'WORKFLOW_STEP_COMPLETED a skipped STATE_CONDITION_FAILED',
      'COMPLETED wf-1',
    ]);
    expect(world.runs.length).toBe(1);
  });

  it('skip the steps that need the output of a skipped one, and only those', async () => {
    const world = openTaskWorld({ context: () => air(3) });
    world.submitWorkflow([
      ...purify({ on_condition_false: 'SKIP' }),
      { step_id: 'b', method: 'say', depends_on: ['a'], params: { text: '{{a.output.summary}}' } },
      { step_id: 'c', method: 'note', depends_on: ['b'] },
    ]);
    await complete(world, 'note');
    expect(world.tasks.getWorkflow('wf-1')?.steps.map((s) => s.state)).toEqual([
      'SKIPPED',
      'SKIPPED',
      'COMPLETED',
    ]);
    expect(step(world, 'b')?.message).toContain('the output of a, which was skipped');
  });
});

describe('waiting', () => {
  it('until a condition holds, and no longer than allowed', async () => {
    const world = openTaskWorld();
    world.setContext(air(40));
    world.submitWorkflow([
      {
        step_id: 'a',
        method: 'note',
        wait_until: { condition: 'context.air_quality.pm2_5 < 15', timeout_ms: 60_000 },
      },
    ]);
    await world.quiet();
    expect(step(world, 'a')).toMatchObject({ state: 'WAITING' });
    expect(world.events().at(-1)).toMatchObject({
      event: 'WORKFLOW_STEP_WAITING',
      domain_stage: 'condition',
    });
    await world.clock.advanceAsync(30_000);
    world.setContext(air(10));
    await world.quiet();
    expect(world.runs.length).toBe(1);
    await complete(world, 'note');
    await world.clock.advanceAsync(120_000);
    expect(world.story().at(-1)).toBe('COMPLETED wf-1');
  });

  it('ends TIMEOUT and says what was waited for', async () => {
    const world = openTaskWorld({ context: () => air(40) });
    world.submitWorkflow([
      {
        step_id: 'a',
        method: 'note',
        wait_until: { condition: 'context.air_quality.pm2_5 < 15', timeout_ms: 5_000 },
      },
    ]);
    await world.clock.advanceAsync(4_999);
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('RUNNING');
    await world.clock.advanceAsync(1);
    await world.quiet();
    expect(world.story().slice(-2)).toEqual(['FAILED a TIMEOUT', 'FAILED wf-1 TIMEOUT']);
    expect(world.events().at(-1)?.message).toContain('pm2_5 < 15');
  });

  it('for a time after the end of another step', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      { step_id: 'b', method: 'say', after_step: { step_id: 'a', delay_ms: 300_000 } },
    ]);
    await complete(world, 'note');
    expect(step(world, 'b')?.waitingFor).toBe('300000 ms after the end of a');
    await world.clock.advanceAsync(299_999);
    expect(world.runs.length).toBe(1);
    await world.clock.advanceAsync(1);
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['note', 'say']);
  });
});
