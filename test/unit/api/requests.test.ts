import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';
import { errorBodySchema } from '../../../daemon/api/http/errors.js';
import { StoreError } from '../../../daemon/store/store-error.js';
import { taskView, workflowView } from '../../../daemon/views.js';
import { overTcp, overUnix, type Served, serve, withToken } from '../../support/api/serve.js';
import { DOCUMENT } from '../../support/api/work.js';

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.stop());

const get = (path: string) => withToken(served, { path });
const post = (path: string, body?: string | object, headers = {}) =>
  withToken(served, { method: 'POST', path, headers, ...(body === undefined ? {} : { body }) });

describe('a command over HTTP', () => {
  it('reaches the intake as an envelope with its own id and time, managed', async () => {
    const answer = await post('/api/tasks', { method: 'setMoveTo', params: { positionName: '거실' } });
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ status: 'accepted', task_id: 't-1' });
    const raw = served.runtime.handled[0]?.raw as Record<string, unknown>;
    expect(raw).toMatchObject({
      kind: 'task',
      method: 'setMoveTo',
      params: { positionName: '거실' },
      task: {},
      command_id: expect.stringMatching(/^api-/),
    });
    expect(Date.parse(String(raw.issued_at))).toBeCloseTo(Date.now(), -4);
  });

  it('is answered only after the commit that makes it durable', async () => {
    served.runtime.heldCommits = [];
    let answered = false;
    const pending = post('/api/tasks', { method: 'stopMove' }).then((answer) => {
      answered = true;
      return answer;
    });
    while (served.runtime.heldCommits.length === 0) await new Promise((r) => setImmediate(r));
    for (let i = 0; i < 20; i++) await new Promise((r) => setImmediate(r));
    expect(answered).toBe(false);
    for (const resolve of served.runtime.heldCommits) resolve();
    expect((await pending).status).toBe(202);
  });

  it('can be named by its sender, so that asking twice does nothing twice', async () => {
    await post('/api/tasks', { method: 'stopMove' }, { 'idempotency-key': 'order-17' });
    expect(served.runtime.handled[0]?.raw).toMatchObject({ command_id: 'api:order-17' });
    const bad = await post('/api/tasks', { method: 'stopMove' }, { 'idempotency-key': 'a b' });
    expect(bad.status).toBe(400);
    expect(bad.json).toMatchObject({ error: { code: 'INVALID_PARAMS', field: 'Idempotency-Key' } });
  });

  it('submits a workflow, controls it, and tasks', async () => {
    expect((await post('/api/workflows', { workflow: DOCUMENT })).json).toMatchObject({
      workflow_id: 'wf-1',
    });
    for (const verb of ['pause', 'resume', 'cancel']) {
      expect((await post(`/api/workflows/wf-1/${verb}`)).status).toBe(202);
    }
    for (const verb of ['pause', 'resume', 'cancel']) {
      expect((await post(`/api/tasks/t-s2/${verb}`, {})).status).toBe(202);
    }
    const controls = served.runtime.handled.slice(1).map(({ raw }) => raw);
    expect(controls).toMatchObject([
      { kind: 'control', method: 'pauseWorkflow', params: { workflow_id: 'wf-1' } },
      { kind: 'control', method: 'resumeWorkflow', params: { workflow_id: 'wf-1' } },
      { kind: 'control', method: 'cancelWorkflow', params: { workflow_id: 'wf-1' } },
      { kind: 'control', method: 'pauseTask', params: { task_id: 't-s2' } },
      { kind: 'control', method: 'resumeTask', params: { task_id: 't-s2' } },
      { kind: 'control', method: 'cancelTask', params: { task_id: 't-s2' } },
    ]);
  });

  const refusals: [ReasonCode, number][] = [
    ['UNKNOWN_METHOD', 400],
    ['POLICY_DENIED', 403],
    ['NOT_FOUND', 404],
    ['ILLEGAL_STATE', 409],
    ['COMMAND_ID_REUSED', 409],
    ['EMERGENCY_STOP', 409],
    ['AMBIGUOUS_TARGET', 422],
    ['TASK_MANAGER_BUSY', 503],
    ['CAPABILITY_UNAVAILABLE', 503],
    ['INTERNAL_ERROR', 500],
  ];
  for (const [reason, status] of refusals) {
    it(`that the intake refuses with ${reason} is answered ${status}, in its words`, async () => {
      served.runtime.refuse.set('setMoveTo', { reason, message: 'the reason in words' });
      const answer = await post('/api/tasks', { method: 'setMoveTo' });
      expect(answer.status).toBe(status);
      expect(answer.json).toEqual({ error: { code: reason, message: 'the reason in words' } });
    });
  }

  it.each([
    ['FULL', 'TASK_MANAGER_BUSY', /the disk is full.*only stops are carried out/],
    ['IO', 'CAPABILITY_UNAVAILABLE', /the database fails.*only stops are carried out/],
  ] as const)(
    'that cannot be stored (%s) is refused in plain words, and is no defect',
    async (why, code, words) => {
      served.runtime.notStored = new StoreError(why, 'disk trouble');
      const answer = await post('/api/tasks', { method: 'setMoveTo' });
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({ error: { code, message: expect.stringMatching(words) } });
    },
  );

  it('says when to try again while the queue is full', async () => {
    served.runtime.refuse.set('setMoveTo', { reason: 'TASK_MANAGER_BUSY', message: 'full' });
    expect((await post('/api/tasks', { method: 'setMoveTo' })).headers['retry-after']).toBe('1');
  });
});

describe('what is refused before it reaches anybody', () => {
  const bodies: [string, string | object, number, string, string | undefined][] = [
    ['neither method nor capability', {}, 400, 'INVALID_PARAMS', 'method'],
    ['both method and capability', { method: 'a', capability: 'b' }, 400, 'INVALID_PARAMS', 'method'],
    ['a field that is not known', { method: 'stopMove', urgency: 'high' }, 400, 'INVALID_PARAMS', 'urgency'],
    ['who is asking', { method: 'stopMove', source: 'CLOUD' }, 403, 'POLICY_DENIED', 'source'],
    [
      'a number as text',
      { method: 'stopMove', task: { priority: '50' } },
      400,
      'INVALID_PARAMS',
      'task.priority',
    ],
    ['a list', [], 400, 'MALFORMED', undefined],
    ['no body', '', 400, 'INVALID_PARAMS', 'body'],
    ['not JSON', '{"method":', 400, 'MALFORMED', undefined],
    ['NaN', '{"method":NaN}', 400, 'MALFORMED', undefined],
    ['a key twice', '{"method":"stopMove","method":"rotate"}', 400, 'MALFORMED', 'method'],
    [
      'a key twice inside',
      '{"method":"stopMove","params":{"a":1,"\\u0061":2}}',
      400,
      'MALFORMED',
      'params.a',
    ],
    ['a prototype', '{"method":"stopMove","params":{"__proto__":{"x":1}}}', 400, 'MALFORMED', '__proto__'],
    ['33 levels', nested(33), 400, 'MALFORMED', undefined],
    ['100 000 levels', nested(100_000), 400, 'MALFORMED', undefined],
    ['a mebibyte', `{"method":"${'x'.repeat(1_048_576)}"}`, 413, 'PAYLOAD_TOO_LARGE', undefined],
  ];
  for (const [what, body, status, code, field] of bodies) {
    it(`${what} → ${status} ${code}${field === undefined ? '' : `, naming ${field}`}`, async () => {
      const answer = await overUnix(served, { method: 'POST', path: '/api/tasks', body });
      expect([answer.status, errorBodySchema.parse(answer.json).error]).toMatchObject([status, { code }]);
      expect((answer.json as { error: { field?: string } }).error.field).toBe(field);
      expect(served.runtime.handled).toEqual([]);
    });
  }

  it('a body of another type → 415', async () => {
    const answer = await post('/api/tasks', 'method=stopMove', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(answer.status).toBe(415);
    expect(answer.json).toMatchObject({ error: { code: 'MALFORMED', field: 'Content-Type' } });
  });

  it('names the step and the field of a bad workflow', async () => {
    const workflow = { workflow_id: 'w', steps: [{ step_id: 's1', method: 'undock', timeout_ms: 0 }] };
    const answer = await post('/api/workflows', { workflow });
    expect(answer.json).toMatchObject({
      error: { code: 'INVALID_PARAMS', field: 'workflow.steps.0.timeout_ms' },
    });
  });

  const paths: [string, number, string, string | undefined][] = [
    ['/api/tasks?limit=0', 400, 'INVALID_PARAMS', 'limit'],
    ['/api/tasks?limit=1e3', 400, 'INVALID_PARAMS', 'limit'],
    ['/api/tasks?active=yes', 400, 'INVALID_PARAMS', 'active'],
    ['/api/tasks?unknown=1', 400, 'INVALID_PARAMS', 'unknown'],
    ['/api/context?version=3', 400, 'INVALID_PARAMS', 'version'],
    ['/api/context?max_bytes=1', 400, 'INVALID_PARAMS', 'max_bytes'],
    ['/api/events?since=-1', 400, 'INVALID_PARAMS', 'since'],
    ['/api/tasks/none', 404, 'NOT_FOUND', 'id'],
    ['/api/workflows/none', 404, 'NOT_FOUND', 'id'],
    ['/api/nothing', 404, 'NOT_FOUND', undefined],
    ['/api/../../etc/passwd', 404, 'NOT_FOUND', undefined],
    ['/%2e%2e/%2e%2e/token', 404, 'NOT_FOUND', undefined],
    ['/api/tasks/%E0%A4%A', 400, 'MALFORMED', undefined],
  ];
  for (const [path, status, code, field] of paths) {
    it(`GET ${path} → ${status} ${code}`, async () => {
      const answer = await get(path);
      expect([answer.status, errorBodySchema.parse(answer.json).error]).toMatchObject([status, { code }]);
      expect((answer.json as { error: { field?: string } }).error.field).toBe(field);
    });
  }

  it('says which methods an address takes', async () => {
    const answer = await withToken(served, { method: 'DELETE', path: '/api/tasks' });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('POST, GET');
    expect(answer.json).toEqual({ error: { code: 'UNKNOWN_METHOD', message: 'allowed here: POST, GET' } });
    expect(
      (await withToken(served, { method: 'PUT', path: '/api/workflows/wf-1/pause' })).headers.allow,
    ).toBe('POST');
  });

  it('answers bytes that are not HTTP in the same shape and goes on', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: served.port }, () =>
        socket.write('\x16\x03\x01 nonsense\r\n\r\n'),
      );
      let received = '';
      socket.on('data', (chunk) => {
        received += String(chunk);
      });
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request/);
    expect(text).toContain('{"error":{"code":"MALFORMED","message":"the request cannot be read"}}');
    expect((await get('/ready')).status).toBe(200);
  });

  it('keeps the inside of a defect inside and gives an id to look for', async () => {
    const logged: object[] = [];
    const other = await serve({
      log: { info: () => {}, warn: () => {}, error: (data) => void logged.push(data) },
    });
    other.runtime.broken = true;
    const answer = await withToken(other, { path: '/api/context' });
    expect(answer.status).toBe(500);
    const { error } = errorBodySchema.parse(answer.json);
    expect(error.code).toBe('INTERNAL_ERROR');
    const errorId = /err-[\w-]+/.exec(error.message)?.[0];
    expect(logged).toMatchObject([{ errorId, err: { name: 'TypeError' } }]);
    expect(answer.text).not.toContain('undefined');
    await other.stop();
  });
});

function nested(levels: number): string {
  return `{"method":"x","params":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
}

describe('before the daemon is ready', () => {
  beforeEach(() => {
    served.runtime.isReady = false;
  });

  it('answers 503 everywhere but for who it is, what is wrong with it, and the e-stop', async () => {
    expect((await overTcp(served, { path: '/ready' })).status).toBe(503);
    for (const path of ['/api/tasks', '/api/context', '/api/map', '/api/events']) {
      const answer = await get(path);
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({ error: { code: 'CAPABILITY_UNAVAILABLE' } });
    }
    expect((await post('/api/tasks', { method: 'stopMove' })).status).toBe(503);
    expect(served.runtime.handled).toEqual([]);
    expect((await get('/api/status')).json).toMatchObject({ ready: false });
    expect((await get('/api/doctor')).status).toBe(200);
    expect((await post('/api/estop', {})).status).toBe(200);
  });
});

describe('the e-stop', () => {
  it('goes straight to the motion process, for everybody who may command, and says who pressed it', async () => {
    const answer = await post('/api/estop', {});
    expect(answer.json).toEqual({ latched: true, by: 'token:state-dir', at_ms: expect.any(Number) });
    expect((await post('/api/estop')).status).toBe(200);
    expect(served.runtime.handled).toEqual([]);
    expect(served.runtime.estops).toEqual(['token:state-dir', 'token:state-dir']);
  });

  it('cannot be released while its button is pressed', async () => {
    await post('/api/estop', {});
    served.runtime.estopButtonHeld = true;
    const release = { method: 'POST', path: '/api/estop/release' };
    const refused = await overUnix(served, release);
    expect(refused.status).toBe(409);
    expect(refused.json).toEqual({
      error: { code: 'ILLEGAL_STATE', message: 'the e-stop button is still pressed' },
    });
    served.runtime.estopButtonHeld = false;
    expect((await overUnix(served, release)).json).toMatchObject({ latched: false });
  });

  it('says so when the motion process does not answer', async () => {
    served.runtime.robot = null;
    const answer = await post('/api/estop', {});
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: { code: 'HARDWARE_FAULT' } });
  });
});

describe('importing a map', () => {
  const call = (path: string) => ({ method: 'POST', path: '/api/map/import', body: { path } });

  it('takes an absolute path, from the Unix socket, while the robot stands', async () => {
    expect((await withToken(served, call('/maps/home.yaml'))).status).toBe(403);
    const relative = await overUnix(served, call('home.yaml'));
    expect(relative.json).toMatchObject({ error: { code: 'INVALID_PARAMS', field: 'path' } });
    expect((await overUnix(served, call('/maps/home.yaml'))).json).toMatchObject({
      error: { code: 'ILLEGAL_STATE' },
    });
    if (served.runtime.robot !== null) served.runtime.robot.stoppedSince = 0;
    expect((await overUnix(served, call('/maps/home.yaml'))).json).toEqual({ map_id: 'home-1' });
    expect((await get('/api/map')).json).toMatchObject({ file: '/maps/home.yaml' });
  });
});

describe('what can be read', () => {
  it('tasks and workflows with their evidence', async () => {
    const { tasks } = (await get('/api/tasks')).json as { tasks: unknown[] };
    expect(tasks.map((t) => taskView.parse(t).task_id)).toEqual(['t-s2', 't-s1', 't-s0', 't-old']);
    expect((await get('/api/tasks?active=true&limit=5')).json).toMatchObject({
      tasks: [{ task_id: 't-s2' }],
    });
    expect((await get('/api/tasks/t-s1')).json).toMatchObject({
      state: 'COMPLETED',
      evidence: { completion_target: 'movement.arrived', idle: true },
    });
    const workflow = workflowView.parse((await get('/api/workflows/wf-1')).json);
    expect(workflow.steps.map((s) => s.state)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'RUNNING',
      'WAITING',
      'PENDING',
      'PENDING',
    ]);
  });

  it('the context in both versions', async () => {
    expect((await get('/api/context')).json).toMatchObject({ contract_version: 'device_context.v1' });
    expect((await get('/api/context?version=2&max_bytes=4096')).json).toMatchObject({
      contract_version: 'device_context.v2',
    });
  });

  it('the map with its cells, and 404 without one', async () => {
    const map = (await get('/api/map')).json as { width: number; height: number; cells: string };
    expect(Buffer.from(map.cells, 'base64')).toHaveLength(map.width * map.height);
    served.runtime.mapView = null;
    expect((await get('/api/map')).json).toMatchObject({
      error: { code: 'NOT_FOUND', message: expect.stringContaining('map import') },
    });
  });

  it('the robot, and null for what it has never reported', async () => {
    expect((await get('/api/robot')).json).toMatchObject({
      state: { pose: { x: 4.1, y: 3.15 }, base: { battery: { percent: 83 } }, safety: { level: 'OK' } },
    });
    served.runtime.robot = null;
    expect((await get('/api/robot')).json).toMatchObject({ state: null });
  });

  it('methods with their schemas, capabilities with the reason why not, and the doctor', async () => {
    expect((await get('/api/methods')).json).toMatchObject({
      methods: [
        {
          name: 'setMoveTo',
          params: { type: 'object', additionalProperties: false },
          completion_target: 'movement.arrived',
          cancel: { method: 'stopMove', proof: 'velocity 0 for 0.3 s' },
          timeout_ms: 300_000,
        },
        { name: 'startCleaning', timeout_ms: null },
        { name: 'returnToStation' },
        { name: 'stopMove', cancel: null },
      ],
    });
    expect((await get('/api/capabilities')).json).toMatchObject({
      capabilities: [
        { built: true, available: true, reason_code: null, reason: null },
        { built: true, available: false, reason: expect.stringContaining('fan') },
        { built: false, available: false, reason_code: 'CAPABILITY_UNAVAILABLE' },
      ],
    });
    expect((await get('/api/doctor')).json).toMatchObject({
      healthy: true,
      checks: [{}, {}, { state: 'missing' }],
    });
  });

  it('the outbox and its dead letters, which can be sent again or dropped', async () => {
    expect((await get('/api/outbox')).json).toMatchObject({ depth: 2, dead_letters: 1, store_epoch: 'e-1' });
    expect((await get('/api/outbox/dead-letters')).json).toEqual({
      dead_letters: [
        {
          id: 7,
          topic: 'events/task',
          seq: 3,
          reason: 'packet too large',
          attempts: 5,
          at_ms: 0,
          payload: { event: 'COMPLETED' },
        },
      ],
    });
    expect((await post('/api/outbox/dead-letters/7/requeue')).json).toEqual({ id: 7 });
    const gone = await withToken(served, { method: 'DELETE', path: '/api/outbox/dead-letters/7' });
    expect([gone.status, gone.json]).toMatchObject([404, { error: { code: 'NOT_FOUND', field: 'id' } }]);
  });

  it('recent events, the newest by default, page by page from a given one', async () => {
    const newest = (await get('/api/events?limit=2')).json as { events: { seq: number }[] };
    expect(newest.events.map((e) => e.seq)).toEqual([6, 7]);
    const page = (await get('/api/events?since=0&limit=3')).json;
    expect(page).toMatchObject({ events: [{ seq: 1 }, { seq: 2 }, { seq: 3 }], next_since: 3 });
    expect((await get('/api/events?since=7')).json).toEqual({ events: [], next_since: 7 });
  });
});

describe('/metrics', () => {
  it('counts what there is', async () => {
    await overTcp(served, { path: '/api/tasks', headers: { authorization: 'Bearer wrong' } });
    const { text, headers } = await get('/metrics');
    expect(headers['content-type']).toContain('text/plain');
    for (const line of [
      'deviceagent_info{device_id="da-sim",boot_id="b-01JTEST",version="0.1.0",profile="sim"} 1',
      'deviceagent_ready 1',
      'deviceagent_battery_percent 83',
      'deviceagent_outbox_depth 2',
      'deviceagent_outbox_dead_letters 1',
      'deviceagent_tasks_queued{queue="motion"} 1',
      'deviceagent_events_total{name="lidar.crc_errors"} 3',
      'deviceagent_level{name="rt.control_late_p99_us"} 900',
      'deviceagent_api_events_total{name="auth_failures"} 1',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('has no sample for what is unknown', async () => {
    served.runtime.robot = null;
    served.runtime.facts = { ...served.runtime.facts, last_publish_ack_at: null };
    const { text } = await get('/metrics');
    expect(text).not.toMatch(/battery|docked|localized|puback_age/);
  });
});
