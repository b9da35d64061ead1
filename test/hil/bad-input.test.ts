/** What is wrong with a command is refused by name, once; nothing moves, and the daemon goes on. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isoWithOffset } from '../../config/contracts/clock.js';
import { contextOf, expectCleanLane, sharedHome } from './support/in-home.js';

/** The living room and the kitchen are both called "lounge", and a rug must not be driven over. */
function withTwoLounges(yaml: string): string {
  const edited = yaml
    .replace('aliases: [kitchen]', 'aliases: [kitchen, lounge]')
    .replace(
      'keepout:',
      'keepout:\n  - {id: rug, polygon: [[5.2, 1.2], [6.2, 1.2], [6.2, 2.4], [5.2, 2.4]]}',
    );
  if (!edited.includes('[kitchen, lounge]') || !edited.includes('rug'))
    throw new Error(`not edited:\n${yaml}`);
  return edited;
}

describe('a bad command', () => {
  const place = sharedHome({ editAreas: withTwoLounges });
  let startedAt: number;
  beforeEach(() => {
    startedAt = place.home.world.timeMs;
  });
  afterEach(async () => {
    const { home, witness } = place;
    await home.run(500);
    expect(witness.diary.travelled(startedAt)).toBe(0);
    expect(home.wheelCommands(startedAt).filter((c) => c.left !== 0 || c.right !== 0)).toEqual([]);
    expect(witness.events.filter((e) => e.event === 'STARTED')).toEqual([]);
    expect(home.daemon.runtime.tasks.listTasks({ active: true })).toEqual([]);
    // The daemon is up, and answers the next one.
    expect((await contextOf(home)).main_state).not.toBe('busy');
    expectCleanLane(place);
  });

  const move = (params: unknown, more: object = {}) =>
    place.witness.envelope({ kind: 'task', method: 'setMoveTo', params, task: {}, ...more });
  const workflow = (steps: object[], more: object = {}) =>
    place.witness.envelope({
      kind: 'workflow',
      workflow: { workflow_id: `wf-${randomUUID()}`, steps, ...more },
    });
  const wall = () => place.home.session.clock.wall();

  it.each<[string, unknown, string, string]>([
    ['a room that does not exist', { positionName: '서재' }, 'UNKNOWN_TARGET', 'positionName'],
    ['an id of no room', { positionId: '99' }, 'UNKNOWN_TARGET', 'positionId'],
    ['one unknown room among known ones', { positionIds: ['2', '99'] }, 'UNKNOWN_TARGET', 'positionIds.1'],
    ['a name that two rooms bear', { positionName: 'lounge' }, 'AMBIGUOUS_TARGET', 'positionName'],
    ['a part of a name that fits two rooms', { roomName: '방' }, 'AMBIGUOUS_TARGET', 'roomName'],
    ['a number for a name', { positionName: 2 }, 'INVALID_PARAMS', 'positionName'],
    ['numbers as strings', { position: { x: '2.6', y: '4.3', theta: '0' } }, 'INVALID_PARAMS', 'position.x'],
    ['null for a number', { position: { x: null, y: 4.3, theta: 0 } }, 'INVALID_PARAMS', 'position.x'],
    ['a position without a heading', { position: { x: 2.6, y: 4.3 } }, 'INVALID_PARAMS', 'position.theta'],
    ['a position off the map', { position: { x: 50, y: 50, theta: 0 } }, 'INVALID_PARAMS', 'position'],
    [
      'a position beyond all bounds',
      { position: { x: 1e9, y: 0, theta: 0 } },
      'INVALID_PARAMS',
      'position.x',
    ],
    ['a position in a wall', { position: { x: 3.4, y: 6, theta: 0 } }, 'TARGET_UNREACHABLE', 'position'],
    ['a position in the bed', { position: { x: 1, y: 5.9, theta: 0 } }, 'TARGET_UNREACHABLE', 'position'],
    [
      'a position too near to a wall',
      { position: { x: 3.2, y: 6, theta: 0 } },
      'TARGET_UNREACHABLE',
      'position',
    ],
    [
      'a position in a keep-out',
      { position: { x: 5.7, y: 1.8, theta: 0 } },
      'TARGET_UNREACHABLE',
      'position',
    ],
    ['no target', {}, 'INVALID_PARAMS', 'positionName'],
    ['two targets', { positionName: '거실', positionId: '2' }, 'INVALID_PARAMS', 'positionName'],
    ['a field that the method does not know', { positionName: '거실', speed: 9 }, 'INVALID_PARAMS', 'speed'],
    ['params that are a list', ['거실'], 'INVALID_PARAMS', 'params'],
    ['params that are a text', '거실', 'INVALID_PARAMS', 'params'],
  ])('with %s is refused', async (_name, params, reason, field) => {
    const answer = await place.witness.ask(move(params));
    expect(answer).toMatchObject({
      status: 'rejected',
      reason_code: reason,
      task_id: null,
      duplicate: false,
    });
    expect(answer.message).toContain(field);
  });

  it('with NaN or Infinity is no JSON, and is refused as that', async () => {
    for (const word of ['NaN', 'Infinity', '-Infinity']) {
      const text = JSON.stringify(move({ position: { x: 'HERE', y: 4.3, theta: 0 } })).replace(
        '"HERE"',
        word,
      );
      const answer = await place.witness.ask(text);
      expect(answer).toMatchObject({ status: 'rejected', reason_code: 'MALFORMED', command_id: null });
    }
  });

  it('with a number too large for any number is refused by its field', async () => {
    const text = JSON.stringify(move({ position: { x: 'HERE', y: 4.3, theta: 0 } })).replace(
      '"HERE"',
      '1e999',
    );
    const answer = await place.witness.ask(text);
    expect(answer).toMatchObject({ status: 'rejected', reason_code: 'MALFORMED' });
    expect(answer.message).toContain('params.position.x');
  });

  it.each<[string, object, string, string]>([
    ['method', { method: 'fly' }, 'UNKNOWN_METHOD', 'fly'],
    ['capability', { method: undefined, capability: 'fly' }, 'UNKNOWN_CAPABILITY', 'fly'],
    ['kind', { kind: 'wish' }, 'INVALID_PARAMS', 'kind'],
    ['field of the envelope', { urgency: 'high' }, 'INVALID_PARAMS', 'urgency'],
    ['field of the task', { task: { speed: 'high' } }, 'INVALID_PARAMS', 'speed'],
    ['priority', { task: { priority: 101 } }, 'INVALID_PARAMS', 'priority'],
    ['priority as a string', { task: { priority: '50' } }, 'INVALID_PARAMS', 'priority'],
    ['time-out', { task: { timeoutMs: -1 } }, 'INVALID_PARAMS', 'timeoutMs'],
    ['command_id', { command_id: 'a b' }, 'INVALID_PARAMS', 'command_id'],
    ['command_id that is none', { command_id: undefined }, 'INVALID_PARAMS', 'command_id'],
    ['source in the payload', { source: 'LOCAL' }, 'POLICY_DENIED', 'source'],
    ['stateAware:false', { task: { stateAware: false } }, 'POLICY_DENIED', 'stateAware'],
    ['cancellable:false', { task: { cancellable: false } }, 'POLICY_DENIED', 'cancellable'],
    ['cancelMethod', { task: { cancelMethod: 'stopCleaning' } }, 'POLICY_DENIED', 'cancelMethod'],
    ['preemptPolicy', { task: { preemptPolicy: 'PREEMPT_SAME_QUEUE' } }, 'POLICY_DENIED', 'preemptPolicy'],
    ['reply_to outside the root', { reply_to: 'other/command/response' }, 'INVALID_PARAMS', 'reply_to'],
    [
      'reply_to with a wildcard',
      { reply_to: 'deviceagent/da-sim/command/response/#' },
      'INVALID_PARAMS',
      'reply_to',
    ],
    [
      'replyTo that differs',
      { task: { replyTo: 'deviceagent/da-sim/command/response/a' } },
      'INVALID_PARAMS',
      'replyTo',
    ],
    ['correlationId that differs', { task: { correlationId: 'other' } }, 'INVALID_PARAMS', 'correlationId'],
  ])('with a wrong %s is refused', async (_name, fields, reason, named) => {
    const answer = await place.witness.ask(move({ positionName: '거실' }, fields));
    expect(answer).toMatchObject({ status: 'rejected', reason_code: reason, task_id: null });
    expect(answer.message).toContain(named);
    expect(answer.topic).toBe('command/response');
  });

  it('that names both a method and a capability, or none, is refused', async () => {
    for (const fields of [{ capability: 'move_to' }, { method: undefined }]) {
      const answer = await place.witness.ask(move({ positionName: '거실' }, fields));
      expect(answer).toMatchObject({ status: 'rejected', reason_code: 'INVALID_PARAMS' });
      expect(answer.message).toMatch(/method|capability/);
    }
  });

  it('is answered on the response topic that it names', async () => {
    const reply_to = 'deviceagent/da-sim/command/response/planner-1';
    const answer = await place.witness.ask(move({ positionName: '서재' }, { reply_to }));
    expect(answer).toMatchObject({ topic: 'command/response/planner-1', reason_code: 'UNKNOWN_TARGET' });
  });

  it.each<[string, () => object, string]>([
    ['an hour old', () => ({ issued_at: isoWithOffset(wall() - 3_600_000) }), 'STALE_COMMAND'],
    [
      'from the future',
      () => ({ issued_at: isoWithOffset(wall() + 3_600_000) }),
      'TIMESTAMP_INVALID|STALE_COMMAND',
    ],
    ['without an offset', () => ({ issued_at: isoWithOffset(wall()).slice(0, 19) }), 'TIMESTAMP_INVALID'],
    ['no time at all', () => ({ issued_at: 'now' }), 'TIMESTAMP_INVALID'],
    ['a number', () => ({ issued_at: wall() }), 'INVALID_PARAMS|TIMESTAMP_INVALID'],
    ['missing', () => ({ issued_at: undefined }), 'INVALID_PARAMS|TIMESTAMP_INVALID'],
    ['expired', () => ({ expires_at: isoWithOffset(wall() - 1_000) }), 'EXPIRED'],
    [
      'expiring without an offset',
      () => ({ expires_at: isoWithOffset(wall() + 60_000).slice(0, 19) }),
      'TIMESTAMP_INVALID',
    ],
    [
      'expiring in a month',
      () => ({ expires_at: isoWithOffset(wall() + 30 * 86_400_000) }),
      'TIMESTAMP_INVALID|INVALID_PARAMS',
    ],
  ])('whose time is %s is refused', async (_name, fields, reason) => {
    const answer = await place.witness.ask(move({ positionName: '거실' }, fields()));
    expect(answer).toMatchObject({ status: 'rejected', task_id: null });
    expect(answer.reason_code).toMatch(new RegExp(`^(${reason})$`));
    expect(answer.message).toMatch(/issued_at|expires_at/);
  });

  it.each<[string, object[], string]>([
    [
      'a step that depends on itself',
      [{ step_id: 's1', method: 'setMoveTo', params: { positionName: '거실' }, depends_on: ['s1'] }],
      's1',
    ],
    [
      'steps that wait for each other',
      [
        { step_id: 's1', method: 'setMoveTo', params: { positionName: '거실' }, depends_on: ['s2'] },
        { step_id: 's2', method: 'setMoveTo', params: { positionName: '안방' }, depends_on: ['s1'] },
      ],
      's1',
    ],
    [
      'a step that waits for one that is not there',
      [{ step_id: 's1', method: 'undock', depends_on: ['s9'] }],
      's9',
    ],
    [
      'two steps of one id',
      [
        { step_id: 's1', method: 'undock' },
        { step_id: 's1', method: 'undock' },
      ],
      's1',
    ],
    ['no steps', [], 'steps'],
    [
      'a condition that does not parse',
      [{ step_id: 's1', method: 'undock', condition: 'context.battery.level >' }],
      'condition',
    ],
    [
      'an output that no earlier step gives',
      [{ step_id: 's1', method: 'setLlmTts', params: { text: '{{s9.output.summary}}' } }],
      's9',
    ],
    [
      'a bad room in its last step',
      [
        { step_id: 's1', method: 'undock' },
        { step_id: 's2', method: 'setMoveTo', params: { positionName: '서재' }, depends_on: ['s1'] },
      ],
      'positionName',
    ],
    ['65 steps', Array.from({ length: 65 }, (_, i) => ({ step_id: `s${i}`, method: 'undock' })), 'steps'],
  ])('that is a workflow with %s is refused whole', async (_name, steps, named) => {
    const answer = await place.witness.ask(workflow(steps));
    expect(answer).toMatchObject({ status: 'rejected', workflow_id: null });
    expect(['INVALID_PARAMS', 'UNKNOWN_TARGET']).toContain(answer.reason_code);
    expect(answer.message).toContain(named);
  });

  it('that is a workflow with an unknown method in a step is refused by that', async () => {
    const answer = await place.witness.ask(workflow([{ step_id: 's1', method: 'fly' }]));
    expect(answer).toMatchObject({ status: 'rejected', reason_code: 'UNKNOWN_METHOD' });
    expect(answer.message).toContain('fly');
  });

  it.each<[string, string | Buffer, string]>([
    ['a mebibyte of text', Buffer.alloc(1024 * 1024, 'x'), 'PAYLOAD_TOO_LARGE'],
    [
      'a mebibyte of a valid beginning',
      Buffer.from(`{"kind":"task","x":"${'x'.repeat(1024 * 1024)}"}`),
      'PAYLOAD_TOO_LARGE',
    ],
    ['no JSON', 'go to the living room', 'MALFORMED'],
    ['half a JSON', '{"command_id":"c-1","kind":"task"', 'MALFORMED'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80]), 'MALFORMED'],
    ['a list', '[]', 'MALFORMED'],
    ['a number', '42', 'MALFORMED'],
    ['null', 'null', 'MALFORMED'],
    ['JSON nested 40 deep', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 'MALFORMED'],
    ['lists nested 100 000 deep', '['.repeat(100_000), 'MALFORMED'],
  ])('that is %s is refused without an id', async (_name, payload, reason) => {
    const answer = await place.witness.ask(payload);
    expect(answer).toMatchObject({ status: 'rejected', reason_code: reason, command_id: null });
    expect((answer.message ?? '').length).toBeLessThan(500);
  });

  it('that is empty is ignored', async () => {
    const before = place.witness.responses.length;
    await place.witness.publish('');
    await place.home.run(1_000);
    expect(place.witness.responses.length).toBe(before);
  });

  it('that belongs to a person is refused, whoever asks', async () => {
    for (const method of ['releaseEmergencyStop', 'submitVerification', 'approve']) {
      const answer = await place.witness.ask(
        place.witness.envelope({ kind: 'task', method, params: {}, task: {} }),
      );
      expect(answer.status).toBe('rejected');
      expect(['POLICY_DENIED', 'UNKNOWN_METHOD']).toContain(answer.reason_code);
    }
  });

  it.each(['cancelTask', 'cancelWorkflow', 'pauseWorkflow'])(
    '%s of something unknown is refused NOT_FOUND',
    async (method) => {
      const params = method === 'cancelTask' ? { task_id: 't-none' } : { workflow_id: 'wf-none' };
      const answer = await place.witness.ask(place.witness.envelope({ kind: 'control', method, params }));
      expect(answer).toMatchObject({ status: 'rejected', reason_code: 'NOT_FOUND' });
    },
  );

  it('that sets off from a state it does not hold in is refused or FAILS by that, without moving', async () => {
    // Paused moves and cleanings that do not exist.
    for (const method of ['pauseCleaning', 'resumeCleaning', 'setCleaningMode']) {
      const params = method === 'setCleaningMode' ? { mode: 'turbo' } : {};
      const answer = await place.witness.ask(
        place.witness.envelope({ kind: 'task', method, params, task: {} }),
      );
      if (answer.status === 'rejected') expect(answer.reason_code).toBe('STATE_CONDITION_FAILED');
      else {
        expect(await place.witness.end(answer.task_id ?? '')).toMatchObject({
          event: 'FAILED',
          reason_code: 'STATE_CONDITION_FAILED',
        });
      }
    }
  });
});

describe('a repeated command', () => {
  const place = sharedHome();

  it('does nothing twice: the first answer comes again, marked as a duplicate, with the same task', async () => {
    const { home, witness } = place;
    const command = witness.envelope({
      kind: 'task',
      method: 'setMoveTo',
      params: { positionName: '거실' },
      task: {},
    });
    const first = await witness.ask(command);
    const second = await witness.ask(command);
    expect(first).toMatchObject({ status: 'accepted', duplicate: false });
    expect(second).toMatchObject({ status: 'accepted', duplicate: true, task_id: first.task_id });
    expect((await witness.end(first.task_id ?? '')).event).toBe('COMPLETED');
    const third = await witness.ask(command);
    expect(third).toMatchObject({ duplicate: true, task_id: first.task_id });
    const at = home.world.timeMs;
    await home.run(2_000);
    expect(witness.diary.travelled(at)).toBeLessThan(0.001);
    expect(witness.endsOf(first.task_id ?? '')).toEqual(['COMPLETED']);
    expect(witness.events.filter((e) => e.event === 'STARTED')).toHaveLength(1);
  });

  it('with another body under the same id is refused COMMAND_ID_REUSED, and the first one stands', async () => {
    const { witness } = place;
    const command = witness.envelope({
      kind: 'task',
      method: 'setMoveTo',
      params: { positionName: '현관' },
      task: {},
    });
    const first = await witness.ask(command);
    const other = await witness.ask({ ...command, params: { positionName: '안방' } });
    expect(other).toMatchObject({ status: 'rejected', reason_code: 'COMMAND_ID_REUSED', task_id: null });
    const end = await witness.end(first.task_id ?? '');
    expect(end).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '1' } });
    expect(end.truth.room).toBe('1');
  });

  it('is known after a restart as well', async () => {
    const { home, witness } = place;
    const command = witness.envelope({
      kind: 'task',
      method: 'setMoveTo',
      params: { positionName: '거실' },
      task: {},
    });
    const first = await witness.ask(command);
    await witness.end(first.task_id ?? '');
    home.killDaemon();
    await home.startDaemon();
    const again = await witness.ask(command);
    expect(again).toMatchObject({ duplicate: true, task_id: first.task_id });
    expect(witness.endsOf(first.task_id ?? '')).toEqual(['COMPLETED']);
    expectCleanLane(place);
  });

  it('of a workflow id is refused by name', async () => {
    const { witness } = place;
    const workflow = { workflow_id: 'wf-once', steps: [{ step_id: 's1', method: 'syncState' }] };
    const first = await witness.ask(witness.envelope({ kind: 'workflow', workflow }));
    expect(first).toMatchObject({ status: 'accepted', workflow_id: 'wf-once' });
    await witness.end('wf-once');
    const second = await witness.ask(witness.envelope({ kind: 'workflow', workflow }));
    expect(second).toMatchObject({ status: 'rejected', reason_code: 'INVALID_PARAMS' });
    expect(second.message).toContain('workflow_id');
  });

  it('that was retained at the broker is refused and cleared when the robot comes back, and nothing moves', async () => {
    const { home, witness } = place;
    home.killDaemon();
    const command = witness.envelope({
      kind: 'task',
      method: 'setMoveTo',
      params: { positionName: '안방' },
      task: {},
    });
    await witness.publish(command, { retain: true });
    const from = home.world.timeMs;
    const before = witness.responses.length;
    await home.startDaemon();
    await home.run(5_000);
    // Once as the live copy that waited in the session, once as the retained one; never carried out twice.
    const answers = witness.responses.slice(before).filter((a) => a.command_id === command.command_id);
    const accepted = answers.filter((a) => a.status === 'accepted' && !a.duplicate);
    expect(accepted.length).toBeLessThan(2);
    for (const one of accepted) await witness.end(one.task_id ?? '');
    if (accepted.length === 0) expect(witness.diary.travelled(from)).toBe(0);
    expect(witness.messages.filter((m) => m.topic === 'command').at(-1)?.text).toBe('');
  });
});
