import { afterEach, describe, expect, it } from 'vitest';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { air, complete, openTaskWorld, step } from './task-world.js';

afterEach(removeTemporaryDirectories);

describe('steps', () => {
  it('run one after the other, each when the one before is done', async () => {
    const world = openTaskWorld();
    const record = world.submitWorkflow(
      [
        { step_id: 's1', method: 'move', params: { to: '거실' } },
        {
          step_id: 's2',
          capability: 'move_to_room',
          params: { to: '안방' },
          depends_on: ['s1'],
          cloud_output_key: 'bedroom',
        },
      ],
      { plan_id: 'p-1', goal: '거실로 갔다가 안방으로' },
    );
    expect(record).toMatchObject({ state: 'RUNNING', revision: 1, goal: '거실로 갔다가 안방으로' });
    await complete(world, 'move', { area_id: '2' });
    expect(world.run('move').context.params).toEqual({ to: '안방' });
    await complete(world, 'move', { area_id: '3' });
    expect(world.story()).toEqual([
      'WORKFLOW_STEP_STARTED s1',
      'STARTED move',
      'COMPLETED move',
      'WORKFLOW_STEP_COMPLETED s1',
      'WORKFLOW_STEP_STARTED s2',
      'STARTED move',
      'COMPLETED move',
      'WORKFLOW_STEP_COMPLETED s2',
      'COMPLETED wf-1',
    ]);
    const events = world.events();
    expect(events[0]).toMatchObject({
      idempotency_key: 'wf-1:s1:WORKFLOW_STEP_STARTED:1',
      workflow_id: 'wf-1',
      plan_id: 'p-1',
      revision: 1,
      correlation_id: 'co-1',
      trace_id: 'tr-1',
    });
    expect(events[3]?.output).toEqual({ area_id: '2' });
    expect(events.at(-1)).toMatchObject({
      idempotency_key: 'wf-1:COMPLETED:1',
      task_id: null,
      step_id: null,
      output: { bedroom: { area_id: '3' } },
    });
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('COMPLETED');
  });

  it('run at once where nothing is in the way, and say what they wait for where something is', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'move' },
      { step_id: 'b', method: 'say' },
      { step_id: 'c', method: 'rotate' },
    ]);
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'say']);
    expect(step(world, 'c')).toMatchObject({ state: 'WAITING' });
    expect(step(world, 'c')?.waitingFor).toMatch(/motion is held by move t-/);
    const waiting = world.events().find((e) => e.event === 'WORKFLOW_STEP_WAITING');
    expect(waiting).toMatchObject({ step_id: 'c', domain_stage: 'queue' });
    expect(waiting?.idempotency_key).toBe('wf-1:c:WORKFLOW_STEP_WAITING:1:1');
  });

  it('take outputs of earlier steps, with their type or inside a text', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      {
        step_id: 'b',
        method: 'say',
        depends_on: ['a'],
        params: { text: '결과: {{a.output.summary}} ({{ a.output.area_id }})', list: ['{{a.output}}'] },
      },
    ]);
    await complete(world, 'note', { summary: '좋음', area_id: '2' });
    expect(world.run('say').context.params).toEqual({
      text: '결과: 좋음 (2)',
      list: [{ summary: '좋음', area_id: '2' }],
    });
  });

  it('fail by name when an output has no value after all', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      { step_id: 'b', method: 'say', depends_on: ['a'], params: { text: '{{a.output.summary}}' } },
    ]);
    await complete(world, 'note', { area_id: '2', summary: null });
    expect(world.events().at(-2)).toMatchObject({
      event: 'FAILED',
      step_id: 'b',
      task_id: null,
      idempotency_key: 'wf-1:b:FAILED:1',
      reason_code: 'STATE_CONDITION_FAILED',
      message: 'a.output.summary has no value',
    });
    expect(world.story().at(-1)).toBe('FAILED wf-1 STATE_CONDITION_FAILED');
  });

  it('do not wait for the end of a step that is only to be accepted', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'guard', wait_policy: 'ACCEPTED' },
      { step_id: 'b', method: 'note', depends_on: ['a'] },
    ]);
    await complete(world, 'note');
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('RUNNING');
    await complete(world, 'guard');
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('COMPLETED');
  });

  it('do not wait at all for a step with wait_policy NONE', async () => {
    const world = openTaskWorld();
    world.submit('move');
    world.submitWorkflow([
      { step_id: 'a', method: 'move', wait_policy: 'NONE' },
      { step_id: 'b', method: 'note', depends_on: ['a'] },
    ]);
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'note']);
  });
});

describe('cancelling a workflow', () => {
  it('ends CANCELLED once everything has stopped and the completed steps are taken back', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'purify' },
      { step_id: 'b', method: 'move', depends_on: ['a'] },
      { step_id: 'c', method: 'note', depends_on: ['b'] },
    ]);
    await complete(world, 'purify');
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(true);
    expect(world.runs.map((r) => r.method)).toEqual(['purify', 'move']);
    world.run('move').proveStop();
    await complete(world, 'stop purify');
    expect(world.events().at(-1)).toMatchObject({
      event: 'CANCELLED',
      workflow_id: 'wf-1',
      task_id: null,
      reason_code: 'CANCELLED_BY_USER',
      evidence: { stopped: true },
    });
    expect(world.story()).toContain('CANCELLED move CANCELLED_BY_USER');
    expect(() => world.tasks.cancelWorkflow('wf-1', 'USER')).toThrow(/CANCELLED already/);
  });

  it('takes nothing back when the document says so, or a step has no way back', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(
      [
        { step_id: 'a', method: 'purify' },
        { step_id: 'b', method: 'move', depends_on: ['a'] },
      ],
      { on_cancel: 'NONE' },
    );
    world.submitWorkflow([{ step_id: 'a', method: 'note', compensation: null }], { workflow_id: 'wf-2' });
    await complete(world, 'purify');
    world.tasks.cancelWorkflow('wf-1', 'CLOUD');
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    expect(world.story().at(-1)).toBe('CANCELLED wf-1 CANCELLED_BY_CLOUD');
    expect(world.runs.some((r) => r.method === 'stop purify')).toBe(false);
  });

  it('ends FAILED when a step does not prove its stop', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 'a', method: 'move' }]);
    await world.quiet();
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.clock.advanceAsync(5_000);
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED wf-1 HARDWARE_FAULT');
    expect(world.cuts.length).toBe(1);
  });

  it('drops steps that wait, with their timers', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      { step_id: 'b', method: 'say', after_step: { step_id: 'a', delay_ms: 10_000 } },
    ]);
    await complete(world, 'note');
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.quiet();
    expect(world.story().at(-1)).toBe('CANCELLED wf-1 CANCELLED_BY_USER');
    expect(world.timers.list('workflow')).toEqual([]);
    await world.clock.advanceAsync(60_000);
    expect(world.runs.length).toBe(1);
  });

  it('happens on its own when one of its steps is cancelled', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'move' },
      { step_id: 'b', method: 'note', depends_on: ['a'] },
    ]);
    await world.quiet();
    world.tasks.cancelTask(step(world, 'a')?.taskId ?? '', 'USER');
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED wf-1 CANCELLED_BY_USER');
    expect(world.runs.length).toBe(1);
  });

  it('refuses what is unknown', () => {
    const world = openTaskWorld();
    expect(() => world.tasks.cancelWorkflow('wf-9', 'USER')).toThrow(
      expect.objectContaining({ reason: 'NOT_FOUND' }),
    );
  });
});

describe('pausing a workflow', () => {
  it('lets what runs go on, and starts nothing new until it is resumed', async () => {
    const world = openTaskWorld();
    const heard: string[] = [];
    world.tasks.onEvent((e) => {
      if (e.event === 'PROGRESS' && e.domain_stage !== 'workflow.progress')
        heard.push(`${e.workflow_id} ${e.domain_stage}`);
    });
    world.submitWorkflow([
      { step_id: 'a', method: 'move' },
      { step_id: 'b', method: 'rotate' },
      { step_id: 'c', method: 'note', depends_on: ['a'] },
    ]);
    await world.quiet();
    world.tasks.pauseWorkflow('wf-1');
    expect(() => world.tasks.pauseWorkflow('wf-1')).toThrow(/is PAUSED: it cannot be paused/);
    await complete(world, 'move');
    await world.clock.advanceAsync(60_000);
    expect(world.runs.map((r) => r.method)).toEqual(['move']);
    expect(heard).toEqual(['wf-1 paused']);
    world.tasks.resumeWorkflow('wf-1');
    await world.quiet();
    expect(world.runs.map((r) => r.method).sort()).toEqual(['move', 'note', 'rotate']);
    expect(heard).toEqual(['wf-1 paused', 'wf-1 resumed']);
  });

  it('lets others use the resources meanwhile, and stops the clock of a wait', async () => {
    const world = openTaskWorld({ context: () => air(40) });
    world.submitWorkflow([
      {
        step_id: 'a',
        method: 'note',
        wait_until: { condition: 'context.air_quality.pm2_5 < 15', timeout_ms: 10_000 },
      },
    ]);
    await world.clock.advanceAsync(6_000);
    world.tasks.pauseWorkflow('wf-1');
    await world.clock.advanceAsync(3_600_000);
    world.tasks.resumeWorkflow('wf-1');
    await world.clock.advanceAsync(3_900);
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('RUNNING');
    await world.clock.advanceAsync(200);
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED wf-1 TIMEOUT');
  });

  it('can be cancelled while it is paused', async () => {
    const world = openTaskWorld();
    world.submit('move');
    world.submitWorkflow([{ step_id: 'a', method: 'rotate' }]);
    world.tasks.pauseWorkflow('wf-1');
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.quiet();
    expect(world.story().at(-1)).toBe('CANCELLED wf-1 CANCELLED_BY_USER');
  });
});

describe('several workflows', () => {
  it('can be live at once and share the robot', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 'a', method: 'move' }], { workflow_id: 'wf-1' });
    world.submitWorkflow([{ step_id: 'a', method: 'say' }], { workflow_id: 'wf-2' });
    world.submitWorkflow([{ step_id: 'a', method: 'move' }], { workflow_id: 'wf-3' });
    await world.quiet();
    expect(world.tasks.listWorkflows({ active: true }).map((w) => w.workflowId)).toEqual([
      'wf-3',
      'wf-2',
      'wf-1',
    ]);
    await complete(world, 'move');
    await complete(world, 'say');
    await complete(world, 'move');
    expect(world.story().filter((line) => /wf-\d$/.test(line))).toEqual([
      'COMPLETED wf-1',
      'COMPLETED wf-2',
      'COMPLETED wf-3',
    ]);
  });
});

describe('a defect in the engine', () => {
  it('ends the workflow for it, and lets every task end', async () => {
    const world = openTaskWorld({ brokenEvent: 'WORKFLOW_STEP_COMPLETED' });
    world.submitWorkflow([
      { step_id: 'a', method: 'move' },
      { step_id: 'b', method: 'say' },
    ]);
    world.submit('move');
    await world.quiet();
    world.run('move').complete();
    await world.quiet();
    world.run('say').proveStop();
    await world.quiet();
    expect(world.story().slice(2)).toEqual([
      'WORKFLOW_STEP_STARTED b',
      'STARTED say',
      'COMPLETED move',
      'STARTED move',
      'CANCELLED say CANCELLED_BY_SYSTEM',
      'FAILED wf-1 INTERNAL_ERROR',
    ]);
    expect(world.logged.some(({ fields }) => String(fields.error).includes('a defect'))).toBe(true);
  });

  it('at the start of a step fails that step, and is in nobody else’s way', async () => {
    const world = openTaskWorld({ brokenEvent: 'WORKFLOW_STEP_STARTED' });
    world.submitWorkflow([{ step_id: 'a', method: 'move' }]);
    world.submit('move');
    await world.quiet();
    expect(world.story()).toEqual([
      'FAILED move INTERNAL_ERROR',
      'FAILED wf-1 INTERNAL_ERROR',
      'STARTED move',
    ]);
  });

  it('in the context makes conditions false, not the robot fall over', async () => {
    const world = openTaskWorld({
      context: () => {
        throw new TypeError('a defect');
      },
    });
    world.submitWorkflow([{ step_id: 'a', method: 'note', condition: 'context.air_quality.usable' }]);
    await world.quiet();
    expect(world.story()[0]).toBe('FAILED a STATE_CONDITION_FAILED');
  });
});
