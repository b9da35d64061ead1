import { generateKeyPairSync, sign } from 'node:crypto';
import canonicalize from 'canonicalize';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCommandKey } from '../../../daemon/intake/signature.js';
import type { SubmitTask } from '../../../daemon/task-manager/types.js';
import { envelope, IntakeHarness, LOCAL, move, workflow } from './harness.js';

const control = (method: string, params?: unknown) =>
  envelope({ kind: 'control', method, ...(params === undefined ? {} : { params }) });
const query = (method: string, params?: unknown) =>
  envelope({ kind: 'query', method, ...(params === undefined ? {} : { params }) });
const spoken: SubmitTask = {
  method: 'setLlmTts',
  params: { text: '아빠 왔다' },
  task: {},
  source: 'VOICE',
  legacy: false,
  correlationId: null,
};

describe('what each kind of command does', () => {
  let h: IntakeHarness;
  beforeEach(() => {
    h = new IntakeHarness();
  });
  afterEach(() => h.dispose());

  describe('workflow', () => {
    it('is stored whole and answered with its id and revision', () => {
      const command = workflow([{ step_id: 's1', method: 'setMoveTo', params: {} }]);
      expect(h.send(command)).toMatchObject({
        status: 'accepted',
        workflow_id: expect.stringMatching(/^wf-/),
        task_id: null,
        result: { revision: 1 },
      });
    });

    it('gives its steps the defaults of task, and a step its own word', () => {
      const steps = [
        { step_id: 's1', method: 'setMoveTo' },
        { step_id: 's2', method: 'setMoveTo', priority: 10, timeout_ms: 5000, failure_policy: 'CONTINUE' },
      ];
      const task = { priority: 60, timeoutMs: 90_000, failurePolicy: 'RETRY', wait_policy: 'ACCEPTED' };
      h.send(workflow(steps, { task }));
      expect(h.tasks.workflows[0]?.steps).toEqual([
        {
          step_id: 's1',
          method: 'setMoveTo',
          priority: 60,
          timeout_ms: 90_000,
          failure_policy: 'RETRY',
          wait_policy: 'ACCEPTED',
        },
        {
          step_id: 's2',
          method: 'setMoveTo',
          priority: 10,
          timeout_ms: 5000,
          failure_policy: 'CONTINUE',
          wait_policy: 'ACCEPTED',
        },
      ]);
    });

    it('has the caps of policy applied to every step', () => {
      const response = h.send(
        workflow([{ step_id: 's1', method: 'setMoveTo', priority: 99, timeout_ms: 9_999_999 }]),
      );
      expect(response.result).toMatchObject({
        clamped: [
          { field: 'workflow.steps.0.priority', applied: 80 },
          { field: 'workflow.steps.0.timeout_ms', applied: 3_600_000 },
        ],
      });
    });

    it.each([
      ['dryRun', { dryRun: true }],
      ['queueKey', { queueKey: 'fan' }],
      ['managed', { managed: false }],
      ['cloud_workflow_id', { cloud_workflow_id: 'other' }],
    ])('refuses metadata that cannot be kept for a whole workflow: %s', (field, task) => {
      expect(h.send(workflow([{ step_id: 's1', method: 'setMoveTo' }], { task }))).toMatchObject({
        reason_code: 'INVALID_PARAMS',
        message: expect.stringContaining(field),
      });
    });

    it.each([
      ['a step without a method', [{ step_id: 's1' }], /workflow\.steps\.0\.method/],
      ['a step with both', [{ step_id: 's1', method: 'setMoveTo', capability: 'move_to' }], /both/],
      [
        'a step id that no condition could name',
        [{ step_id: '1-a', method: 'setMoveTo' }],
        /step_id: found "1-a"/,
      ],
      ['no steps', [], /workflow\.steps/],
      ['an unknown field in a step', [{ step_id: 's1', method: 'setMoveTo', speed: 1 }], /steps\.0\.speed/],
      [
        'numbers as strings',
        [{ step_id: 's1', method: 'setMoveTo', timeout_ms: '5' }],
        /timeout_ms: found "5"/,
      ],
    ])('is refused with %s', (_name, steps, message) => {
      expect(h.send(workflow(steps))).toMatchObject({
        status: 'rejected',
        reason_code: 'INVALID_PARAMS',
        message: expect.stringMatching(message),
      });
      expect(h.tasks.workflows).toEqual([]);
    });

    it('does not let a compensation do what its caller may not', () => {
      const steps = [{ step_id: 's1', method: 'setMoveTo', compensation: { method: 'approveFilingSubmit' } }];
      expect(h.send(workflow(steps))).toMatchObject({
        reason_code: 'POLICY_DENIED',
        message: expect.stringContaining('workflow.steps.0.compensation.method'),
      });
    });
  });

  describe('control', () => {
    it('reaches the task or workflow, and says who asked', () => {
      h.send(move());
      h.send(
        workflow([{ step_id: 's1', method: 'setMoveTo' }], {
          workflow: { workflow_id: 'wf-1', steps: [{ step_id: 's1', method: 'setMoveTo' }] },
        }),
      );
      expect(h.send(control('cancelTask', { task_id: 't-1' }))).toMatchObject({
        status: 'accepted',
        task_id: 't-1',
      });
      for (const method of ['pauseTask', 'resumeTask']) {
        expect(h.send(control(method, { task_id: 't-1' }))).toMatchObject({ task_id: 't-1' });
      }
      for (const method of ['pauseWorkflow', 'resumeWorkflow', 'cancelWorkflow']) {
        expect(h.send(control(method, { workflow_id: 'wf-1' }))).toMatchObject({
          status: 'accepted',
          workflow_id: 'wf-1',
        });
      }
      h.intake.handle(control('cancelTask', { task_id: 't-1' }), LOCAL);
      expect(h.tasks.calls).toEqual([
        'cancelTask t-1 CLOUD',
        'pauseTask t-1',
        'resumeTask t-1',
        'pauseWorkflow wf-1',
        'resumeWorkflow wf-1',
        'cancelWorkflow wf-1 CLOUD',
        'cancelTask t-1 USER',
      ]);
    });

    it.each([
      ['cancelTask', {}, 'INVALID_PARAMS', /params\.task_id: found nothing/],
      ['cancelTask', { task_id: 5 }, 'INVALID_PARAMS', /params\.task_id: found 5/],
      ['cancelTask', { task_id: 't-1', why: 'x' }, 'INVALID_PARAMS', /params\.why/],
      ['cancelTask', { task_id: 't-unknown' }, 'NOT_FOUND', /t-unknown/],
      ['pauseTask', {}, 'INVALID_PARAMS', /params\.task_id: found nothing/],
      ['resumeTask', { task_id: 't-unknown' }, 'NOT_FOUND', /t-unknown/],
      ['amendWorkflow', {}, 'INVALID_PARAMS', /params\.base_revision: found nothing/],
      ['explode', {}, 'UNKNOWN_METHOD', /no control; allowed are cancelTask/],
      ['toString', {}, 'UNKNOWN_METHOD', /no control/],
    ])('%s %j is refused', (method, params, reason, message) => {
      expect(h.send(control(method, params))).toMatchObject({
        reason_code: reason,
        message: expect.stringMatching(message),
      });
    });
  });

  describe('query', () => {
    it.each([
      [{}, 'device_context.v1', null],
      [{ version: 2 }, 'device_context.v2', null],
      [{ version: 'device_context.v2', max_bytes: 4096 }, 'device_context.v2', 4096],
    ])('getDevicePlanningContext %j', (params, contract_version, maxBytes) => {
      expect(h.send(query('getDevicePlanningContext', params)).result).toEqual({
        contract_version,
        maxBytes,
      });
    });

    it('lists and shows tasks and workflows, capabilities and the outbox', () => {
      h.send(move());
      h.send(
        workflow([], {
          workflow: { workflow_id: 'wf-1', goal: '거실', steps: [{ step_id: 's1', method: 'setMoveTo' }] },
        }),
      );
      expect(h.send(query('listTasks')).result).toMatchObject({
        tasks: [{ task_id: 't-1', method: 'setMoveTo' }],
      });
      expect(h.send(query('getTask', { task_id: 't-1' })).result).toMatchObject({
        params: { positionName: '거실' },
      });
      expect(h.send(query('getWorkflow', { workflow_id: 'wf-1' })).result).toMatchObject({
        revision: 1,
        goal: '거실',
      });
      expect(h.send(query('listCapabilities')).result).toMatchObject({
        capabilities: [{ id: 'move_to_room', cloud_ids: ['move_to'] }],
      });
      expect(h.send(query('outboxStatus')).result).toMatchObject({
        depth: expect.any(Number),
        dead_letters: 0,
      });
    });

    it('answers a repetition with the first answer, or anew where that was too long to keep', () => {
      const short = query('outboxStatus');
      const first = h.send(short);
      h.send(move());
      expect(h.send(short)).toEqual({ ...first, duplicate: true });
      for (let i = 0; i < 20; i++) h.send(move());
      const long = query('listTasks');
      const answer = h.send(long);
      expect(JSON.stringify(answer.result).length).toBeGreaterThan(2048);
      expect(h.send(long)).toEqual({ ...answer, duplicate: true });
      expect(h.send({ ...long, params: { limit: 1 } })).toMatchObject({ reason_code: 'COMMAND_ID_REUSED' });
    });

    it('does not tell the cloud what somebody said at home', () => {
      h.tasks.submit(spoken);
      const shown = h.send(query('getTask', { task_id: 't-1' }));
      expect(shown.result).toMatchObject({ method: 'setLlmTts', source: 'VOICE' });
      expect(JSON.stringify(shown)).not.toContain('아빠');
      expect(JSON.stringify(h.send(query('listTasks')))).not.toContain('아빠');
      expect(JSON.stringify(h.intake.handle(query('getTask', { task_id: 't-1' }), LOCAL))).toContain('아빠');
    });

    it.each([
      ['getTask', { task_id: 't-9' }, 'NOT_FOUND'],
      ['getWorkflow', { workflow_id: 'wf-9' }, 'NOT_FOUND'],
      ['getDevicePlanningContext', { version: 3 }, 'INVALID_PARAMS'],
      ['listTasks', { limit: 0 }, 'INVALID_PARAMS'],
      ['listCapabilities', { x: 1 }, 'INVALID_PARAMS'],
      ['listSchedules', { limit: 0 }, 'INVALID_PARAMS'],
      ['selfDestruct', {}, 'UNKNOWN_METHOD'],
    ])('%s %j is refused', (method, params, reason) => {
      expect(h.send(query(method, params))).toMatchObject({ status: 'rejected', reason_code: reason });
    });
  });

  it.each(['experience'])('refuses %s by name: not built yet', (kind) => {
    expect(h.send(envelope({ kind }))).toMatchObject({
      reason_code: 'UNKNOWN_METHOD',
      message: expect.stringContaining(`${kind} is not built in this version`),
    });
  });

  it.each(['dance', 5, null, undefined, 'toString'])('refuses the kind %j', (kind) => {
    expect(h.send(envelope({ kind }))).toMatchObject({
      reason_code: 'INVALID_PARAMS',
      message: expect.stringContaining('kind: found'),
    });
  });
});

describe('signed commands', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const other = generateKeyPairSync('ed25519');
  const signed = (body: Record<string, unknown>, key = privateKey) => ({
    ...body,
    sig: sign(null, Buffer.from(canonicalize(body) ?? ''), key).toString('base64url'),
  });
  let h: IntakeHarness;
  beforeEach(() => {
    h = new IntakeHarness({ commandKey: readCommandKey(publicKey.export({ type: 'spki', format: 'pem' })) });
  });
  afterEach(() => h.dispose());

  it('are taken whatever the order of their keys', () => {
    const command = signed(move());
    expect(h.send(Object.fromEntries(Object.entries(command).reverse()))).toMatchObject({
      status: 'accepted',
    });
  });

  it.each([
    ['no signature', (body: Record<string, unknown>) => body],
    ['an empty one', (body: Record<string, unknown>) => ({ ...body, sig: '' })],
    ["somebody else's", (body: Record<string, unknown>) => signed(body, other.privateKey)],
    [
      'one of another body',
      (body: Record<string, unknown>) => ({ ...signed(body), params: { positionName: '안방' } }),
    ],
    ['no base64url', (body: Record<string, unknown>) => ({ ...body, sig: '*'.repeat(86) })],
  ])('are refused with %s', (_name, change) => {
    expect(h.send(change(move()))).toMatchObject({
      status: 'rejected',
      reason_code: 'POLICY_DENIED',
      message: expect.stringContaining('sig'),
    });
  });

  it('keep their id when somebody without the key uses it first', () => {
    const command = move();
    h.send({ ...command, params: { positionName: '안방' } });
    expect(h.send(signed(command))).toMatchObject({ status: 'accepted', duplicate: false });
  });

  it('are not needed for stops', () => {
    expect(h.send(envelope({ kind: 'task', method: 'stopMove' }))).toMatchObject({ status: 'accepted' });
    expect(h.send(envelope({ kind: 'control', method: 'emergencyStop' }))).toMatchObject({
      status: 'accepted',
    });
  });

  it('are needed to end a security session', () => {
    h.tasks.submit({ ...spoken, method: 'startSecurityMode' });
    const end = envelope({ kind: 'control', method: 'cancelTask', params: { task_id: 't-1' } });
    expect(h.send(end)).toMatchObject({ reason_code: 'POLICY_DENIED' });
    expect(h.send(signed(end))).toMatchObject({ status: 'accepted' });
  });

  it('need an Ed25519 key', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
      type: 'spki',
      format: 'pem',
    });
    expect(() => readCommandKey(rsa)).toThrow(/found rsa key; allowed is an Ed25519 public key/);
    expect(() => readCommandKey('a host name')).toThrow(/found no key; allowed is an Ed25519 public key/);
  });
});
