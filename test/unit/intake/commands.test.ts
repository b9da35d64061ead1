import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { envelope, IntakeHarness, LOCAL, move, ROOT, workflow } from './harness.js';

describe('the command intake', () => {
  let h: IntakeHarness;
  beforeEach(() => {
    h = new IntakeHarness();
  });
  afterEach(() => h.dispose());

  describe('a task', () => {
    it('is accepted, stored and answered through the outbox in one transaction', async () => {
      const command = move();
      const response = h.send(command);
      expect(response).toEqual({
        command_id: command.command_id,
        correlation_id: command.correlation_id,
        status: 'accepted',
        task_id: 't-1',
        workflow_id: null,
        schedule_id: null,
        duplicate: false,
        legacy: false,
        reason_code: null,
        message: null,
        result: null,
        at: expect.stringMatching(/^2026-11-30T/),
      });
      expect(await h.answers()).toEqual([{ topic: 'command/response', payload: response }]);
      expect(h.tasks.submitted).toMatchObject([
        {
          method: 'setMoveTo',
          params: { positionName: '거실' },
          source: 'CLOUD',
          legacy: false,
          task: { managed: true },
        },
      ]);
    });

    it('works the same by capability, by card id and by cloud id', () => {
      for (const capability of ['move_to_room', 'move_to']) {
        expect(h.send(move({ method: undefined, capability }))).toMatchObject({ status: 'accepted' });
      }
      expect(h.tasks.submitted.map((task) => task.method)).toEqual(['setMoveTo', 'setMoveTo']);
    });

    it.each([
      [{ method: undefined }, 'neither'],
      [{ capability: 'move_to' }, 'both'],
    ])('names exactly one of method and capability: %j', (fields, found) => {
      expect(h.send(move(fields))).toMatchObject({
        status: 'rejected',
        reason_code: 'INVALID_PARAMS',
        message: expect.stringContaining(found),
      });
    });

    it('is refused by name when the method or the card is not there', () => {
      expect(h.send(move({ method: 'fly' }))).toMatchObject({
        reason_code: 'UNKNOWN_METHOD',
        message: expect.stringMatching(/method: found "fly".*setMoveTo/),
      });
      expect(h.send(move({ method: undefined, capability: 'fly' }))).toMatchObject({
        reason_code: 'UNKNOWN_CAPABILITY',
      });
      expect(h.tasks.submitted).toEqual([]);
    });

    it("passes on the TaskManager's own refusal, and keeps nothing of the try", async () => {
      const { Refusal } = await import('../../../config/contracts/errors.js');
      h.tasks.refuse = new Refusal(
        'AMBIGUOUS_TARGET',
        'positionName: 방 fits 안방 and 작은방',
        'params.positionName',
      );
      expect(h.send(move())).toMatchObject({
        status: 'rejected',
        task_id: null,
        reason_code: 'AMBIGUOUS_TARGET',
        message: expect.stringContaining('안방'),
      });
    });

    it('answers a defect with an error id instead of dying of it', () => {
      h.tasks.refuse = new TypeError('cannot read x of undefined');
      expect(h.send(move())).toMatchObject({
        status: 'rejected',
        reason_code: 'INTERNAL_ERROR',
        message: expect.stringMatching(/err-[0-9A-Z]{26}/),
      });
      h.tasks.refuse = null;
      expect(h.send(move())).toMatchObject({ status: 'accepted' });
    });

    it.each([
      ['task.priority', { task: { priority: '80' } }, /task\.priority: found "80"; it has to be a number/],
      ['task.priority', { task: { priority: 101 } }, /task\.priority: found 101.*100/],
      ['task.priority', { task: { priority: null } }, /task\.priority: found null/],
      ['task.executionMode', { task: { executionMode: 'LATER' } }, /found "LATER".*QUEUED/],
      ['unknown field', { colour: 'red' }, /colour: found "red"; this field is not known here/],
      ['unknown metadata', { task: { speed: 1 } }, /task\.speed: found 1; this field is not known/],
      ['params', { params: [1] }, /params: found \[1\]/],
    ])('is refused with field, value and what is allowed: %s', (_name, fields, message) => {
      expect(h.send(move(fields))).toMatchObject({
        status: 'rejected',
        reason_code: 'INVALID_PARAMS',
        message: expect.stringMatching(message),
      });
      expect(h.tasks.submitted).toEqual([]);
    });

    it('is refused when it says itself who is asking', () => {
      expect(h.send(move({ source: 'LOCAL' }))).toMatchObject({
        reason_code: 'POLICY_DENIED',
        message: expect.stringContaining('source'),
      });
    });
  });

  describe('the compatibility path', () => {
    it.each([
      ['kind legacy', { kind: 'legacy', task: undefined }],
      ['no task object', { task: undefined }],
      ['managed false', { task: { managed: false } }],
    ])('is taken for %s: immediate, with defaults, marked', (_name, fields) => {
      expect(h.send(move(fields))).toMatchObject({ status: 'accepted', legacy: true, task_id: 't-1' });
      expect(h.tasks.submitted[0]).toMatchObject({
        legacy: true,
        task: { managed: false, executionMode: 'IMMEDIATE' },
      });
    });

    it('says which metadata it does not use, and honours a dry run', () => {
      const response = h.send(move({ kind: 'legacy', task: { priority: 70, dryRun: true, traceId: 't' } }));
      expect(response.result).toEqual({ ignored: ['task.priority'] });
      expect(h.tasks.submitted[0]?.task).toEqual({
        managed: false,
        executionMode: 'IMMEDIATE',
        dryRun: true,
        traceId: 't',
      });
    });

    it('contradicts managed true', () => {
      expect(h.send(move({ kind: 'legacy', task: { managed: true } }))).toMatchObject({
        reason_code: 'INVALID_PARAMS',
        legacy: true,
      });
    });
  });

  describe('policy', () => {
    it('lowers what is over a cap and says so', () => {
      const response = h.send(move({ task: { priority: 100, timeoutMs: 86_400_000 } }));
      expect(response).toMatchObject({
        status: 'accepted',
        result: {
          clamped: [
            { field: 'task.priority', requested: 100, applied: 80 },
            { field: 'task.timeoutMs', requested: 86_400_000, applied: 3_600_000 },
          ],
        },
      });
      expect(h.tasks.submitted[0]?.task).toMatchObject({ priority: 80, timeoutMs: 3_600_000 });
    });

    it.each([
      ['task.preemptPolicy', { preemptPolicy: 'PREEMPT_SAME_QUEUE' }, 'NONE, PREEMPT_LOWER'],
      ['task.stateAware', { stateAware: false }, 'true'],
      ['task.cancellable', { cancellable: false }, 'true'],
      ['task.completionTarget', { completionTarget: 'dock.docked' }, 'movement.arrived'],
      ['task.cancelMethod', { cancelMethod: 'stopTts' }, 'stopMove'],
      ['task.compensationMethod', { compensationMethod: 'startCleaning' }, 'has none'],
    ])('refuses to the cloud, naming the field: %s', (field, task, allowed) => {
      const response = h.send(move({ task }));
      expect(response).toMatchObject({ status: 'rejected', reason_code: 'POLICY_DENIED' });
      expect(response.message).toContain(field);
      expect(response.message).toContain(allowed);
      expect(h.tasks.submitted).toEqual([]);
    });

    it("takes metadata that repeats the method's own, and a dry run from everybody", () => {
      const task = {
        completionTarget: 'movement.arrived',
        cancelMethod: 'stopMove',
        compensationMethod: null,
        preemptPolicy: 'PREEMPT_LOWER',
        dryRun: true,
      };
      expect(h.send(move({ task }))).toMatchObject({ status: 'accepted', result: null });
    });

    it.each(['confirmFilingLogin', 'approveFilingSubmit', 'submitVerification'])(
      'never lets the cloud act for a person: %s',
      (method) => {
        expect(h.send(move({ method }))).toMatchObject({ reason_code: 'POLICY_DENIED' });
        expect(h.send(workflow([{ step_id: 's1', method }]))).toMatchObject({ reason_code: 'POLICY_DENIED' });
      },
    );
  });

  describe('times', () => {
    it.each([
      ['no offset', { issued_at: '2026-11-30T09:00:00' }, 'TIMESTAMP_INVALID'],
      ['no time', { issued_at: '2026-11-30' }, 'TIMESTAMP_INVALID'],
      ['a number', { issued_at: 1790000000000 }, 'INVALID_PARAMS'],
      ['a day that does not exist', { issued_at: '2026-02-30T09:00:00+09:00' }, 'TIMESTAMP_INVALID'],
      ['too old', { issued_at: '2026-11-30T08:57:59+09:00' }, 'STALE_COMMAND'],
      ['too far ahead', { issued_at: '2026-11-30T09:02:01+09:00' }, 'TIMESTAMP_INVALID'],
      ['expired', { expires_at: '2026-11-30T08:59:59+09:00' }, 'EXPIRED'],
      ['valid for more than seven days', { expires_at: '2026-12-07T09:00:01+09:00' }, 'TIMESTAMP_INVALID'],
    ])('refuses a command with %s', (_name, fields, reason) => {
      const response = h.send(move(fields));
      expect(response).toMatchObject({ status: 'rejected', reason_code: reason });
      expect(response.message).toMatch(/issued_at|expires_at/);
      expect(h.tasks.submitted).toEqual([]);
    });

    it.each([
      ['in UTC', { issued_at: '2026-11-30T00:00:00Z' }],
      ['at the edge of the window', { issued_at: '2026-11-30T08:58:00+09:00' }],
      [
        'older than the window, but still valid',
        { issued_at: '2026-11-29T09:00:00+09:00', expires_at: '2026-11-30T09:00:01+09:00' },
      ],
    ])('takes a command %s', (_name, fields) => {
      expect(h.send(move(fields))).toMatchObject({ status: 'accepted' });
    });

    it('refuses timed commands while the clock is not trusted', () => {
      h.clockTrusted = false;
      expect(h.send(move())).toMatchObject({ reason_code: 'CLOCK_UNTRUSTED' });
    });

    it.each([
      ['a stop', () => envelope({ kind: 'task', method: 'stopMove' })],
      ['a stop by capability', () => envelope({ kind: 'task', capability: 'stop_movement' })],
      ['a legacy stop', () => envelope({ kind: 'legacy', method: 'stopTts' })],
    ])('takes %s whatever the time stamps say', (_name, command) => {
      h.clockTrusted = false;
      expect(h.send({ ...command(), issued_at: 'yesterday', expires_at: 5 })).toMatchObject({
        status: 'accepted',
      });
      expect(h.send({ ...command(), issued_at: undefined })).toMatchObject({ status: 'accepted' });
    });

    it('takes a cancellation with any time stamp, except one that would end a security session', () => {
      const patrol = {
        method: 'startSecurityMode',
        params: {},
        task: {},
        source: 'CLOUD' as const,
        legacy: false,
        correlationId: null,
      };
      h.tasks.submit({ ...patrol, method: 'setMoveTo' });
      h.tasks.submit(patrol);
      const cancel = (id: string) =>
        h.send({
          ...envelope({ kind: 'control', method: 'cancelTask', params: { task_id: id } }),
          issued_at: '',
        });
      expect(cancel('t-1')).toMatchObject({ status: 'accepted', task_id: 't-1' });
      expect(cancel('t-2')).toMatchObject({ status: 'rejected', reason_code: 'TIMESTAMP_INVALID' });
      h.tasks.submitWorkflow(
        { workflow_id: 'wf-sec', steps: [{ step_id: 's1', capability: 'security_patrol' }] },
        { source: 'CLOUD', correlationId: null, traceId: null },
      );
      const end = {
        ...envelope({ kind: 'control', method: 'cancelWorkflow', params: { workflow_id: 'wf-sec' } }),
        issued_at: '',
      };
      expect(h.send(end)).toMatchObject({ reason_code: 'TIMESTAMP_INVALID' });
      expect(h.tasks.calls).toEqual(['cancelTask t-1 CLOUD']);
    });
  });

  describe('a command_id', () => {
    it('answers a repetition with the first response and does nothing twice, also after a restart', async () => {
      const command = move();
      const first = h.send(command);
      expect(h.send(command)).toEqual({ ...first, duplicate: true });
      await h.store.committed();
      h.restart();
      expect(h.send(command)).toEqual({ ...first, duplicate: true });
      expect(h.tasks.submitted).toHaveLength(1);
      expect((await h.answers()).map((answer) => answer.payload.duplicate)).toEqual([false, true, true]);
    });

    it('means the same body whatever the order of its keys', () => {
      const command = move();
      h.send(command);
      const reordered = Object.fromEntries(Object.entries(command).reverse());
      expect(h.send(reordered)).toMatchObject({ status: 'accepted', duplicate: true });
    });

    it('is refused over another body', () => {
      const command = move();
      h.send(command);
      expect(h.send({ ...command, params: { positionName: '안방' } })).toMatchObject({
        status: 'rejected',
        reason_code: 'COMMAND_ID_REUSED',
        command_id: command.command_id,
      });
      expect(h.tasks.submitted).toHaveLength(1);
    });

    it('keeps a refusal, so that a redelivery cannot turn it into an acceptance', () => {
      h.clockTrusted = false;
      const command = move();
      h.send(command);
      h.clockTrusted = true;
      expect(h.send(command)).toMatchObject({
        status: 'rejected',
        reason_code: 'CLOCK_UNTRUSTED',
        duplicate: true,
      });
    });

    it('is remembered for a day past the time it could be accepted, and forgotten then', async () => {
      const command = move({ expires_at: '2026-12-01T09:00:00+09:00' });
      h.send(command);
      h.clock.advance(47 * 3_600_000);
      expect(h.send(command)).toMatchObject({ duplicate: true });
      await h.store.committed();
      h.clock.advance(2 * 3_600_000);
      h.send(
        envelope({
          kind: 'query',
          method: 'outboxStatus',
          issued_at: new Date(h.clock.wall()).toISOString(),
        }),
      );
      expect(h.send(command)).toMatchObject({ duplicate: false, reason_code: 'EXPIRED' });
    });

    it('of one channel says nothing about another', () => {
      const command = move();
      h.send(command);
      expect(h.intake.handle(command, LOCAL)).toMatchObject({ status: 'accepted', duplicate: false });
      expect(h.tasks.submitted.map((task) => task.source)).toEqual(['CLOUD', 'LOCAL']);
    });

    it('on the local channel does not depend on when the request was made', () => {
      const first = h.intake.handle(move({ command_id: 'api:1', correlation_id: null }), LOCAL);
      h.clock.advance(1000);
      const again = move({
        command_id: 'api:1',
        correlation_id: null,
        issued_at: '2026-11-30T09:00:01+09:00',
      });
      expect(h.intake.handle(again, LOCAL)).toEqual({ ...first, duplicate: true });
    });

    it.each([undefined, '', 'a b', 5, 'x'.repeat(129), null])('must be readable: %j', (command_id) => {
      expect(h.send(move({ command_id }))).toMatchObject({
        command_id: null,
        reason_code: 'INVALID_PARAMS',
        message: expect.stringContaining('command_id'),
      });
    });
  });

  describe('where the answer goes', () => {
    it.each([
      [`${ROOT}/command/response`, 'command/response'],
      [`${ROOT}/command/response/planner-1`, 'command/response/planner-1'],
    ])('%s', async (reply_to, topic) => {
      h.send(move({ reply_to, task: { replyTo: reply_to } }));
      expect((await h.answers())[0]?.topic).toBe(topic);
    });

    it.each([
      'deviceagent/other/command/response',
      `${ROOT}/command/response/#`,
      `${ROOT}/command/response/a/b`,
      `${ROOT}/command/response/`,
      `${ROOT}/command`,
      'x',
    ])('is refused, to the usual topic: %s', async (reply_to) => {
      expect(h.send(move({ reply_to }))).toMatchObject({ reason_code: 'INVALID_PARAMS' });
      expect((await h.answers())[0]?.topic).toBe('command/response');
    });

    it.each([
      [{ task: { replyTo: `${ROOT}/command/response/x` } }, 'task.replyTo'],
      [{ task: { correlationId: 'other' } }, 'task.correlationId'],
    ])('must not be contradicted by the metadata: %j', (fields, field) => {
      expect(h.send(move(fields))).toMatchObject({
        reason_code: 'INVALID_PARAMS',
        message: expect.stringContaining(field),
      });
    });

    it('for a local caller is the caller alone', async () => {
      expect(h.intake.handle(move(), LOCAL)).toMatchObject({ status: 'accepted' });
      expect(await h.answers()).toEqual([]);
    });
  });

  it('takes no new work while the outbox has no room, but still every stop', () => {
    const full = h.outbox;
    Object.defineProperty(full, 'hasRoom', { value: () => false });
    expect(h.send(move())).toMatchObject({ reason_code: 'TASK_MANAGER_BUSY' });
    expect(h.send(envelope({ kind: 'task', method: 'stopMove' }))).toMatchObject({ status: 'accepted' });
  });

  it('counts what it refuses', () => {
    h.send(move({ issued_at: 'x' }));
    h.send('no json');
    expect(h.intake.counters()).toMatchObject({
      intake_rejected_total: 2,
      intake_rejected_malformed_total: 1,
      intake_rejected_timestamp_invalid_total: 1,
    });
  });

  it('keeps nothing and says nothing when the store fails, so that the command comes again', async () => {
    h.store.faults.commitError = Object.assign(new Error('database or disk is full'), {
      code: 'SQLITE_FULL',
    });
    const command = move();
    h.send(command);
    await expect(h.store.committed()).rejects.toThrow();
    h.store.faults.commitError = null;
    expect(h.send(command)).toMatchObject({ status: 'accepted', duplicate: false });
    expect(await h.answers()).toHaveLength(1);
  });
});
