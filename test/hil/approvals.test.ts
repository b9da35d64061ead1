/** What a person is asked about in a whole home: by the cloud over MQTT, decided at the robot. */
import { describe, expect, it } from 'vitest';
import { contextOf, inHome } from './support/in-home.js';

const PERSON = { source: 'LOCAL', name: 'unix-socket' } as const;

describe('a high risk that the cloud asks for', () => {
  it('waits for a person, whatever the cloud sends, and can be taken back', async () => {
    await inHome({}, async ({ home, witness }) => {
      const before = await contextOf(home);
      const answer = await home.command({ kind: 'task', method: 'resetMap', params: {}, task: {} });
      const { approval_id: id } = answer.result as { approval_id: string };
      expect(answer).toMatchObject({
        status: 'accepted',
        result: { approval_id: expect.stringMatching(/^ap-/) },
      });
      for (const method of ['approve', 'deny', 'undo']) {
        expect(await home.command({ kind: 'control', method, params: { id } })).toMatchObject({
          status: 'rejected',
          reason_code: 'POLICY_DENIED',
        });
      }
      const legacy = await home.command({ kind: 'legacy', method: 'resetMap', params: {} });
      expect(legacy).toMatchObject({ status: 'rejected', reason_code: 'APPROVAL_REQUIRED' });
      await home.run(2_000);
      expect((await contextOf(home)).map.available).toBe(true);

      const { policy, tasks } = home.daemon.runtime;
      expect(policy.approvals({ language: 'en' })).toMatchObject([
        { id, status: 'pending', title: 'Stop using the map of the home?', undo_label: 'Undo' },
      ]);
      policy.decide(id, 'approve', PERSON);
      expect(await witness.end(answer.task_id ?? '')).toMatchObject({ event: 'COMPLETED' });
      expect((await contextOf(home)).map.available).toBe(false);

      policy.decide(id, 'undo', PERSON);
      const undo = tasks.listTasks().find((task) => task.method === 'copyMap');
      expect(await witness.end(undo?.taskId ?? '')).toMatchObject({ event: 'COMPLETED' });
      expect((await contextOf(home)).map).toEqual(before.map);
      expect(policy.approvals({})[0]?.status).toBe('undone');
      expect(policy.verifyAudit()).toMatchObject({ ok: true });
      const kinds = policy.audit(50).map(({ kind }) => kind);
      expect(kinds).toContain('policy.denied');
      expect(kinds.filter((kind) => kind.startsWith('approval.'))).toEqual([
        'approval.undone',
        'approval.undo_requested',
        'approval.executed',
        'approval.approved',
        'approval.requested',
      ]);
    });
  });

  it('is not reached round a locked home', async () => {
    await inHome({}, async ({ home }) => {
      const { policy } = home.daemon.runtime;
      await policy.changeSettings({ home_lock: true }, { principal: PERSON, atTheRobot: true });
      const move = { method: 'setMoveTo', params: { positionName: '거실' }, task: {} };
      expect(await home.command({ kind: 'task', ...move })).toMatchObject({
        status: 'rejected',
        reason_code: 'POLICY_DENIED',
        message: expect.stringContaining('the home is locked'),
      });
      const blockers = home.daemon.runtime.context({ version: 2 }) as { policy_blockers: object[] };
      expect(blockers.policy_blockers).toContainEqual({ capability: 'move_to_room', reasons: ['HOME_LOCK'] });
      expect(await home.command({ kind: 'task', method: 'stopMove', params: {}, task: {} })).toMatchObject({
        status: 'accepted',
      });
    });
  });
});
