/** What the intake judges of an amendment before the TaskManager sees it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { envelope, IntakeHarness, LOCAL, workflow } from './harness.js';

let h: IntakeHarness;
beforeEach(() => {
  h = new IntakeHarness();
  h.send(envelope({ kind: 'workflow', workflow: { workflow_id: 'wf-1', steps: [FIRST] } }));
});
afterEach(() => h.dispose());

const FIRST = { step_id: 's1', method: 'setMoveTo', params: { positionName: '거실' } };

const amend = (params: object) =>
  envelope({
    kind: 'control',
    method: 'amendWorkflow',
    params: { workflow_id: 'wf-1', base_revision: 1, ...params },
  });

describe('amendWorkflow over the intake', () => {
  it('lowers what is over a cap and lists it, with the new revision and what is left of the budget', () => {
    const response = h.send(
      amend({
        add: [{ step_id: 'd', method: 'setMoveTo', params: { positionName: '거실' }, priority: 99 }],
        replace: [
          { step_id: 's1', method: 'setMoveTo', params: { positionName: '거실' }, timeout_ms: 9_000_000 },
        ],
      }),
    );
    expect(response).toMatchObject({
      status: 'accepted',
      workflow_id: 'wf-1',
      result: {
        revision: expect.any(Number),
        cloud_replans_left: expect.any(Number),
        clamped: [
          { field: 'params.add.0.priority', requested: 99, applied: 80 },
          { field: 'params.replace.0.timeout_ms', requested: 9_000_000, applied: 3_600_000 },
        ],
      },
    });
  });

  it('is denied what belongs to a person, however it is hidden among other steps, and told of all of it', () => {
    const response = h.send(
      amend({
        add: [
          { step_id: 'a', method: 'approveFilingSubmit' },
          { step_id: 'b', method: 'setMoveTo', capability: 'move_to_room' },
          { step_id: 'c', method: 'setMoveTo', compensation: { method: 'submitVerification' } },
        ],
      }),
    );
    expect(response).toMatchObject({ status: 'rejected', reason_code: 'POLICY_DENIED' });
    expect(response.message).toMatch(/^3 problems: params\.add\.0\.method: .*params\.add\.1\.method: /);
    expect(response.message).toContain('params.add.2.compensation.method: found "submitVerification"');
  });

  it('is judged like the steps of a document, which names everything at once, too', () => {
    const response = h.send(
      workflow([
        { step_id: 'a', method: 'confirmFilingLogin' },
        { step_id: 'b', method: 'approveFilingSubmit' },
      ]),
    );
    expect(response).toMatchObject({ reason_code: 'POLICY_DENIED' });
    expect(response.message).toMatch(/workflow\.steps\.0\.method.*workflow\.steps\.1\.method/);
  });

  it('costs the cloud, by its channel, and nobody else', () => {
    h.send(amend({ remove: ['s1'] }));
    h.send({ ...amend({ remove: ['s1'] }), command_id: 'c-local' }, { principal: LOCAL });
    expect(h.tasks.calls).toEqual(['amendWorkflow wf-1 CLOUD', 'amendWorkflow wf-1 LOCAL']);
  });
});
