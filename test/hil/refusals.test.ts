/** The refusal table: over MQTT, the local API and the command line alike, with one code and the same words. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isoWithOffset } from '../../config/contracts/clock.js';
import { REASON_CODES } from '../../config/contracts/reason-codes.js';
import { createApi } from '../../daemon/api/api.js';
import type { Api } from '../../daemon/api/types.js';
import { run } from '../support/cli/fake-io.js';
import { closeHome, expectCleanLane, type InHome, openHome } from './support/in-home.js';
import {
  A_SECOND_AGO,
  AN_HOUR_AGO,
  type CliAsk,
  ENDED_WORKFLOW,
  type HttpAsk,
  NOT_HERE,
  REFUSALS,
  type RefusalRow,
  type Scene,
  USED_ID,
} from './support/refusal-table.js';

interface Refused {
  code: string;
  message: string;
}

/** The living room and the kitchen are both called "lounge". */
const twoLounges = (yaml: string) => yaml.replace('aliases: [kitchen]', 'aliases: [kitchen, lounge]');

const SCENES: readonly Scene[] = [
  'as it is',
  'a workflow has ended',
  'a cleaning runs',
  'clock not trusted',
  'store full',
];

it('every code of the contract has a row, or a reason why it has none', () => {
  const rows = new Set(REFUSALS.map(({ code }) => code));
  expect(REASON_CODES.filter((code) => !rows.has(code) && NOT_HERE[code] === undefined)).toEqual([]);
  expect(REASON_CODES.filter((code) => rows.has(code) && NOT_HERE[code] !== undefined)).toEqual([]);
});

describe.each(SCENES)('refused with the home %s', (scene) => {
  let place: InHome;
  let api: Api;
  let startedAt: number;
  let busy = new Set<string>();

  beforeAll(async () => {
    const trusted = scene !== 'clock not trusted';
    place = await openHome({
      editAreas: twoLounges,
      editConfig: (config) => ({ ...config, clock_trusted: trusted }),
    });
    api = createApi(place.home.daemon.runtime, { tcp: null });
    await api.start();
    if (trusted) await setUp(place, api, scene);
    startedAt = place.home.world.timeMs;
    busy = activeTasks(place);
  });
  afterAll(async () => {
    await api.stop();
    await closeHome(place);
  });

  it.each(
    REFUSALS.filter((row) => (row.scene ?? 'as it is') === scene).map(
      (row) => [row.code, row.what, row] as const,
    ),
  )('%s: %s', async (_code, _what, row) => {
    const answers: Record<string, Refused> = {};
    if (!excused(row.mqtt)) answers.mqtt = await overMqtt(place, row);
    if (!excused(row.http)) answers.http = await overHttp(api, row.http);
    if (!excused(row.cli)) answers.cli = await byCommandLine(place, row.cli);
    const [first] = Object.values(answers);
    expect(first?.code).toBe(row.code);
    expect(first?.message).toContain(row.says);
    for (const [channel, answer] of Object.entries(answers))
      expect({ channel, ...answer }).toEqual({ channel, ...first });
    await expectNothingHappened(place, startedAt, busy);
  });
});

async function setUp(place: InHome, api: Api, scene: Scene): Promise<void> {
  const { home, witness } = place;
  const used = { kind: 'task', method: 'syncState', params: {}, task: {}, command_id: USED_ID };
  await witness.end((await witness.ask(witness.envelope(used))).task_id ?? '');
  await post(api, {
    path: '/api/tasks',
    body: { method: 'syncState', params: {}, task: {} },
    headers: { 'idempotency-key': USED_ID },
  });
  if (scene === 'a workflow has ended') {
    const document = { workflow_id: ENDED_WORKFLOW, steps: [{ step_id: 'a', method: 'syncState' }] };
    await witness.ask(witness.envelope({ kind: 'workflow', workflow: document }));
    await witness.end(ENDED_WORKFLOW);
  }
  if (scene === 'a cleaning runs') {
    // By a person: the cloud's own would give way to one.
    const cleaning = {
      method: 'startCleaning',
      params: { mode: 'quiet', cleanMinTimeMs: 600_000 },
      task: {},
    };
    expect((await post(api, { path: '/api/tasks', body: cleaning })).status).toBe(202);
  }
  await home.run(1000);
  if (scene === 'store full') {
    const { outbox } = home.daemon.runtime;
    // The outbox that the gate asks is the one that the API shows.
    Object.assign(outbox, { hasRoom: () => false });
  }
}

function excused(ask: object | string): ask is { why: string } {
  return typeof ask === 'object' && 'why' in ask;
}

async function overMqtt({ home, witness }: InHome, { mqtt }: RefusalRow): Promise<Refused> {
  const wall = home.session.clock.wall();
  const payload =
    typeof mqtt === 'string' || Buffer.isBuffer(mqtt) ? mqtt : witness.envelope(withTimes(mqtt, wall));
  const answer = await witness.ask(payload);
  expect(answer).toMatchObject({ status: 'rejected', task_id: null, workflow_id: null, schedule_id: null });
  return { code: answer.reason_code ?? '', message: answer.message ?? '' };
}

function withTimes(fields: object, wall: number): Record<string, unknown> {
  const times: Record<string, string> = {
    [AN_HOUR_AGO]: isoWithOffset(wall - 3_600_000),
    [A_SECOND_AGO]: isoWithOffset(wall - 1000),
  };
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' ? (times[value] ?? value) : value,
    ]),
  );
}

async function overHttp(api: Api, ask: HttpAsk): Promise<Refused> {
  const { status, text } = await post(api, ask);
  expect(status, text).toBeGreaterThanOrEqual(400);
  return errorIn(text);
}

async function byCommandLine({ home }: InHome, { argv, stdin = '' }: CliAsk): Promise<Refused> {
  const { code, err } = await run([...argv, '--json', '--state-dir', home.stateDir], { stdin });
  expect(code).toBe(1);
  return errorIn(err);
}

function errorIn(text: string): Refused {
  const { error } = JSON.parse(text) as { error: Refused };
  return { code: error.code, message: error.message };
}

/** No wheel turned, nothing started, nothing is stored that could start. */
async function expectNothingHappened(
  { home, witness }: InHome,
  since: number,
  busy: Set<string>,
): Promise<void> {
  await home.run(200);
  expect(witness.diary.travelled(since)).toBe(0);
  expect(home.wheelCommands(since).filter(({ left, right }) => left !== 0 || right !== 0)).toEqual([]);
  expect(activeTasks({ home, witness })).toEqual(busy);
  const { tasks } = home.daemon.runtime;
  expect(tasks.listWorkflows({ active: true })).toEqual([]);
  expect(tasks.schedules.list(10)).toEqual([]);
  expectCleanLane({ home, witness });
}

function activeTasks({ home }: InHome): Set<string> {
  return new Set(home.daemon.runtime.tasks.listTasks({ active: true }).map(({ taskId }) => taskId));
}

function post(api: Api, { path, body, headers = {} }: HttpAsk): Promise<{ status: number; text: string }> {
  const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
  return new Promise((resolve, reject) => {
    const { socketPath } = api.address();
    const all = { ...headers, ...(text === '' ? {} : { 'content-type': 'application/json' }) };
    const req = request({ socketPath, method: 'POST', path, headers: all, agent: false }, (res) => {
      let answer = '';
      res.setEncoding('utf8').on('data', (chunk: string) => {
        answer += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text: answer }));
    });
    req.on('error', reject);
    req.end(text);
  });
}
