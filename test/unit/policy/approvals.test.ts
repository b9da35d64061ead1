import { afterEach, describe, expect, it } from 'vitest';
import type { Source } from '../../../config/contracts/wire/events.js';
import { filesAfterPowerCut, removeTemporaryDirectories } from '../store/store-world.js';
import { complete } from '../task-manager/task-world.js';
import { EXPIRES_MS, openPolicyWorld, PERSON, type PolicyWorld } from './policy-world.js';

afterEach(removeTemporaryDirectories);

/** A high risk that waits for its approval. */
async function held(world: PolicyWorld, method = 'reset', source: Source = 'CLOUD') {
  const task = world.submit(method, {}, { source });
  await world.quiet();
  const { approvalId } = world.tasks.getTask(task.taskId) ?? {};
  if (approvalId == null) throw new Error('no approval was asked for');
  return { taskId: task.taskId, approvalId };
}

const terminal = (world: PolicyWorld) =>
  world.story().filter((line) => /^(COMPLETED|FAILED|CANCELLED)/.test(line));

function afterPowerCut(world: PolicyWorld): PolicyWorld {
  return openPolicyWorld({ file: filesAfterPowerCut(world.file), clock: world.clock, seed: 9 });
}

describe('a task of high risk', () => {
  it('waits outside its line for a person, says so, and shows what was decided', async () => {
    const world = openPolicyWorld();
    const { taskId, approvalId } = await held(world);
    expect(world.tasks.getTask(taskId)).toMatchObject({
      state: 'PENDING',
      decision: { effect: 'approve', rule: 'high_risk', risk: 'high' },
      approvalId,
    });
    expect(world.runs).toEqual([]);
    const [card] = world.approvals.list({ language: 'en' });
    expect(card).toMatchObject({
      id: approvalId,
      source: 'policy',
      risk: 'high',
      status: 'pending',
      detail: 'Asked for by the cloud: reset. It can be undone afterwards.',
      undo_label: 'Undo',
      decided_by: null,
      decided_at: null,
    });
    expect(card?.values_digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has cards in Korean that say beforehand what cannot be undone', async () => {
    const world = openPolicyWorld();
    await held(world, 'wipe');
    const [card] = world.approvals.list();
    expect(card).toMatchObject({ cta: '승인', alt: '하지 않기', undo_label: null });
    expect(card?.detail).toContain('되돌릴 수 없어요');
  });

  it('runs once it was approved, and the approval counts as executed only with its evidence', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    expect(world.approvals.decide(approvalId, 'approve', PERSON).status).toBe('approved');
    await complete(world, 'reset');
    expect(world.approvals.get(approvalId)).toMatchObject({
      status: 'executed',
      decidedBy: 'LOCAL:unix-socket',
    });
    expect(terminal(world)).toEqual(['COMPLETED reset']);
  });

  it('ends FAILED APPROVAL_DENIED when a person denies it', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    world.approvals.decide(approvalId, 'deny', PERSON);
    await world.quiet();
    expect(terminal(world)).toEqual(['FAILED reset APPROVAL_DENIED']);
  });

  it('ends FAILED APPROVAL_DENIED when nobody decides in time', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    await world.clock.advance(EXPIRES_MS - 1);
    expect(terminal(world)).toEqual([]);
    await world.clock.advance(2);
    await world.quiet();
    expect(terminal(world)).toEqual(['FAILED reset APPROVAL_DENIED']);
    expect(world.approvals.get(approvalId)?.status).toBe('expired');
    expect(() => world.approvals.decide(approvalId, 'approve', PERSON)).toThrow(/is expired/);
  });

  it('cannot be IMMEDIATE or legacy: those cannot wait', () => {
    const world = openPolicyWorld();
    for (const more of [{ task: { executionMode: 'IMMEDIATE' } }, { task: {}, legacy: true }] as const) {
      expect(() => world.submit('reset', more.task, more)).toThrow(
        expect.objectContaining({ reason: 'APPROVAL_REQUIRED' }),
      );
    }
    expect(world.tasks.listTasks()).toEqual([]);
  });

  it('voids its approval when it is cancelled', async () => {
    const world = openPolicyWorld();
    const { taskId, approvalId } = await held(world);
    world.tasks.cancelTask(taskId, 'CLOUD');
    await world.quiet();
    expect(world.approvals.get(approvalId)).toMatchObject({
      status: 'expired',
      decidedBy: 'system:cancelled',
    });
    expect(() => world.approvals.decide(approvalId, 'approve', PERSON)).toThrow(/is expired/);
    expect(world.runs).toEqual([]);
  });

  it('is decided by people only, whatever anybody else says', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    for (const source of ['CLOUD', 'SCHEDULE', 'PROACTIVE', 'SUPERVISOR'] as const) {
      for (const verdict of ['approve', 'deny', 'undo'] as const) {
        expect(() => world.approvals.decide(approvalId, verdict, { source, name: 'x' })).toThrow(
          expect.objectContaining({ reason: 'POLICY_DENIED' }),
        );
      }
    }
    expect(world.approvals.get(approvalId)?.status).toBe('pending');
  });

  it('is void when what would run is not what was shown', async () => {
    const world = openPolicyWorld();
    const { taskId, approvalId } = await held(world);
    world.store.db
      .prepare(
        'UPDATE tasks SET request = replace(request, \'"params":{}\', \'"params":{"all":true}\') WHERE task_id = ?',
      )
      .run(taskId);
    const later = afterPowerCut(world);
    later.approvals.decide(approvalId, 'approve', PERSON);
    await later.quiet();
    expect(later.runs).toEqual([]);
    expect(later.tasks.getTask(taskId)).toMatchObject({ state: 'FAILED', reasonCode: 'APPROVAL_DENIED' });
    expect(later.approvals.get(approvalId)).toMatchObject({ status: 'expired', decidedBy: 'system:digest' });
  });
});

describe('a step of a workflow of high risk', () => {
  it('waits, says what for, and goes on when it is approved', async () => {
    const world = openPolicyWorld();
    world.submitWorkflow([{ step_id: 's1', method: 'reset' }]);
    await world.quiet();
    const [card] = world.approvals.list({ pendingOnly: true });
    expect(world.story()).toEqual(['WORKFLOW_STEP_WAITING s1']);
    expect(world.events()[0]?.message).toContain(`approval ${card?.id}`);
    world.approvals.decide(card?.id ?? '', 'approve', PERSON);
    await complete(world, 'reset');
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('COMPLETED');
  });

  it('stays out of its line while the workflow is paused, also when it was approved meanwhile', async () => {
    const world = openPolicyWorld();
    world.submitWorkflow([{ step_id: 's1', method: 'reset' }]);
    await world.quiet();
    world.tasks.pauseWorkflow('wf-1');
    world.approvals.decide(world.approvals.list()[0]?.id ?? '', 'approve', PERSON);
    await world.quiet();
    expect(world.runs).toEqual([]);
    world.tasks.resumeWorkflow('wf-1');
    await complete(world, 'reset');
    expect(terminal(world)).toEqual(['COMPLETED reset', 'COMPLETED wf-1']);
  });

  it('fails the workflow when it is denied, and is not tried again', async () => {
    const world = openPolicyWorld();
    world.submitWorkflow([{ step_id: 's1', method: 'reset', retry: { max: 3, backoff_ms: 0 } }]);
    await world.quiet();
    world.approvals.decide(world.approvals.list()[0]?.id ?? '', 'deny', PERSON);
    await world.quiet();
    expect(terminal(world)).toEqual(['FAILED reset APPROVAL_DENIED', 'FAILED wf-1 APPROVAL_DENIED']);
  });
});

describe('undoing', () => {
  it('is a task of its own that brings back what was, and needs no second approval', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    world.approvals.decide(approvalId, 'approve', PERSON);
    await complete(world, 'reset');
    const undoing = world.approvals.decide(approvalId, 'undo', PERSON);
    const undo = world.tasks.getTask(undoing.undoId ?? '');
    expect(undo).toMatchObject({
      method: 'restore',
      params: { from: 'before' },
      source: 'LOCAL',
      decision: { effect: 'allow', rule: 'undo' },
    });
    expect(() => world.approvals.decide(approvalId, 'undo', PERSON)).toThrow(/being undone already/);
    await complete(world, 'restore');
    expect(world.approvals.get(approvalId)?.status).toBe('undone');
  });

  it('can be tried again when it failed, and is refused for what cannot be undone or was not done', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    expect(() => world.approvals.decide(approvalId, 'undo', PERSON)).toThrow(
      expect.objectContaining({ reason: 'ILLEGAL_STATE' }),
    );
    world.approvals.decide(approvalId, 'approve', PERSON);
    await complete(world, 'reset');
    world.approvals.decide(approvalId, 'undo', PERSON);
    await world.quiet();
    world.run('restore').fail('HARDWARE_FAULT');
    await world.quiet();
    expect(world.approvals.decide(approvalId, 'undo', PERSON).undoId).not.toBeNull();

    const wipe = await held(world, 'wipe');
    world.approvals.decide(wipe.approvalId, 'approve', PERSON);
    await complete(world, 'wipe');
    expect(() => world.approvals.decide(wipe.approvalId, 'undo', PERSON)).toThrow(/cannot be undone/);
  });
});

describe('a restart', () => {
  it('leaves what waits waiting, under the same approval', async () => {
    const world = openPolicyWorld();
    const { taskId, approvalId } = await held(world);
    const later = afterPowerCut(world);
    await later.quiet();
    expect(later.runs).toEqual([]);
    expect(later.tasks.getTask(taskId)).toMatchObject({ state: 'PENDING', approvalId });
    expect(later.approvals.list()).toHaveLength(1);
    later.approvals.decide(approvalId, 'approve', PERSON);
    await complete(later, 'reset');
    expect(terminal(later)).toEqual(['COMPLETED reset']);
  });

  it('between approval and run leads to exactly one run', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    world.approvals.decide(approvalId, 'approve', PERSON);
    await world.store.committed();
    const later = afterPowerCut(world);
    await later.quiet();
    const ran = later.runs.filter((run) => run.method === 'reset').length;
    // It had begun, and is not safe to begin again; or it had not, and begins now.
    if (ran === 1) await complete(later, 'reset');
    expect(terminal(later).filter((line) => line.includes(' reset'))).toHaveLength(1);
    expect(ran).toBeLessThanOrEqual(1);
  });

  it('before the approval was durable leaves it undecided', async () => {
    const world = openPolicyWorld();
    const { approvalId } = await held(world);
    const file = filesAfterPowerCut(world.file);
    world.approvals.decide(approvalId, 'approve', PERSON);
    const later = openPolicyWorld({ file, clock: world.clock, seed: 9 });
    expect(later.approvals.get(approvalId)?.status).toBe('pending');
    expect(later.runs).toEqual([]);
  });

  it.each(['deny', 'expire'])('after it was refused (%s) starts nothing', async (how) => {
    const world = openPolicyWorld();
    const { taskId, approvalId } = await held(world);
    if (how === 'deny') world.approvals.decide(approvalId, 'deny', PERSON);
    else await world.clock.advance(EXPIRES_MS + 1);
    await world.quiet();
    const later = afterPowerCut(world);
    await later.quiet();
    expect(later.runs).toEqual([]);
    expect(later.tasks.getTask(taskId)?.state).toBe('FAILED');
  });

  it('refuses what expired while the robot was off', async () => {
    const world = openPolicyWorld();
    const { taskId } = await held(world);
    const file = filesAfterPowerCut(world.file);
    await world.clock.advance(EXPIRES_MS + 1);
    const later = openPolicyWorld({ file, clock: world.clock, seed: 9 });
    await later.clock.advance(1);
    await later.quiet();
    expect(later.tasks.getTask(taskId)).toMatchObject({ state: 'FAILED', reasonCode: 'APPROVAL_DENIED' });
  });
});

describe('settings that block', () => {
  it('refuse at intake, at the start of what waited, and end what runs', async () => {
    const world = openPolicyWorld();
    world.submit('look', {}, { source: 'LOCAL' });
    const waiting = world.submit('watch', { queueKey: 'q' }, { source: 'LOCAL' });
    const behind = world.submit('look', { queueKey: 'q' }, { source: 'LOCAL' });
    await world.quiet();
    world.settings.privacy_mode = true;
    expect(() => world.submit('look')).toThrow(expect.objectContaining({ reason: 'PRIVACY_BLOCKED' }));
    world.tasks.policyChanged();
    for (const run of [...world.runs]) run.proveStop();
    await world.quiet();
    expect(world.tasks.getTask(waiting.taskId)).toMatchObject({
      state: 'FAILED',
      reasonCode: 'PRIVACY_BLOCKED',
    });
    expect(world.tasks.getTask(behind.taskId)).toMatchObject({
      state: 'FAILED',
      reasonCode: 'PRIVACY_BLOCKED',
    });
    expect(world.runs.map((run) => run.method)).toEqual(['look', 'watch']);
  });

  it('home lock keeps the cloud from moving the robot, not the people in the home, and never a stop', async () => {
    const world = openPolicyWorld();
    world.settings.home_lock = true;
    expect(() => world.submit('move')).toThrow(/the home is locked/);
    expect(() => world.submit('move', {}, { source: 'SCHEDULE', origin: 'CLOUD' })).toThrow(
      /the home is locked/,
    );
    expect(world.submit('move', {}, { source: 'LOCAL' }).decision).toMatchObject({ effect: 'allow' });
    expect(world.submit('stop move').decision).toMatchObject({ effect: 'allow' });
  });

  it('puts refusals on record, bounded, and says how many were left out', async () => {
    const world = openPolicyWorld();
    world.settings.home_lock = true;
    for (let i = 0; i < 100; i++) expect(() => world.submit('move')).toThrow();
    await world.clock.advance(700_000);
    expect(() => world.submit('move')).toThrow();
    world.submit('note');
    await world.quiet();
    const rows = world.audit.list(1000).filter((row) => row.kind === 'policy.denied');
    expect(rows).toHaveLength(21);
    expect(rows[0]?.data).toMatchObject({ method: 'move', rule: 'home_lock', left_out: 80 });
  });
});
