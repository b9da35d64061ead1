/** Real requests to the local API, served in front of a whole robot: any method, path, header and body. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { createApi } from '../../../daemon/api/api.js';
import { allRoutes } from '../../../daemon/api/routes/all.js';
import type { Api } from '../../../daemon/api/types.js';
import { mutateBytes } from '../mutate-bytes.js';
import { type JsonObject, mutateFreely, spoil, spoilText } from '../mutate-json.js';
import { below, chance, pick } from '../pick.js';
import { FuzzRobot, shortened } from '../robot.js';
import { command, scheduleCommand, workflowCommand } from '../seeds/commands.js';
import type { Finding, Random, Target, TargetSession } from '../types.js';
import { knownTo } from './commands.js';

interface Call {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  spoiled: string | null;
}

interface Answer {
  status: number;
  text: string;
}

const BATCH = 60;
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];
const ODD_PATHS = [
  '/',
  '/api',
  '/api/tasks/../estop',
  '/api/%2e%2e/%2e%2e/etc/passwd',
  '/api/tasks/%00',
  '/api//tasks',
];
const ODD_IDS = ['none', '..', '%2e%2e%2f', 'a'.repeat(300), '%ff', '__proto__', "';--", '0', '-1', '가'];
const ODD_QUERIES = [
  '?limit=1e9',
  '?limit=-1',
  '?active=yes',
  '?since=x',
  '?a[]=1&a[]=2',
  '?%',
  '?version=9',
  '?limit=5&limit=6',
];
/** Fields that the channel sets itself; nobody may send them. */
const ENVELOPE = ['command_id', 'correlation_id', 'reply_to', 'issued_at', 'expires_at', 'kind'];
const PATIENCE_MS = 20_000;

export const httpTarget: Target = {
  name: 'http',
  share: 0.1,
  open: async (seed) => {
    const robot = await FuzzRobot.start(seed);
    const api = createApi(robot.runtime, { tcp: { port: 0 } });
    await api.start();
    return new HttpSession(robot, api);
  },
};

class HttpSession implements TargetSession {
  readonly #robot: FuzzRobot;
  readonly #api: Api;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #n = 0;

  constructor(robot: FuzzRobot, api: Api) {
    this.#robot = robot;
    this.#api = api;
  }

  async run(random: Random): Promise<Finding[]> {
    const robot = this.#robot;
    const { socketPath } = this.#api.address();
    if (chance(random, 0.03)) await garbage(random, socketPath);
    else {
      const call = this.#call(random);
      // The robot's own time goes on while somebody waits for it.
      const answer = await send(socketPath, this.#agent, call);
      this.#judge(answer, call);
    }
    this.#n += 1;
    if (chance(random, 0.03)) await robot.pass(15 * (1 + below(random, 20)));
    if (this.#n % BATCH === 0) await robot.rest();
    return robot.takeFindings();
  }

  accepted(): number {
    return this.#robot.accepted;
  }

  async close(): Promise<Finding[]> {
    this.#agent.destroy();
    await this.#api.stop();
    return this.#robot.close();
  }

  #judge({ status, text }: Answer, call: Call): void {
    const robot = this.#robot;
    const what = `${call.method} ${call.path} ${shortened(call.body.toString())}`;
    if (status === 500) robot.note('crash', `500 ${shortened(text)} to ${what}`);
    if (status === 202) robot.judge(JSON.parse(text), call.spoiled, what);
    else if (status >= 400 && call.method !== 'HEAD') this.#judgeError(text, what);
    else if (status < 400 && call.spoiled !== null)
      robot.note('wrong', `${status}, though ${call.spoiled}: ${what}`);
  }

  #judgeError(text: string, what: string): void {
    try {
      const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
      if (typeof error?.code === 'string' && typeof error.message === 'string') return;
    } catch {
      // Said below.
    }
    this.#robot.note('wrong', `a refusal that is none of ours: ${shortened(text)} to ${what}`);
  }

  #call(random: Random): Call {
    const known = knownTo(this.#robot);
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (chance(random, 0.05))
      headers['content-type'] = pick(random, ['text/plain', 'application/xml', 'a', '']);
    if (chance(random, 0.1))
      headers['idempotency-key'] = pick(random, ['k-1', 'a b', 'x'.repeat(200), 'é', '']);
    const roll = random();
    if (roll < 0.55) return { ...submission(random, this.#robot), headers };
    if (roll < 0.9) {
      const route = pick(random, allRoutes);
      const ids = [...known.tasks, ...known.workflows, ...ODD_IDS];
      const path = route.path.replaceAll(/\{\w+\}/g, () => pick(random, ids));
      const body = chance(random, 0.2)
        ? mutateFreely(random, command(random, known, Date.now()), [{}], 2)
        : null;
      return {
        method: chance(random, 0.9) ? route.method : pick(random, METHODS),
        path: encodeURI(`${path}${chance(random, 0.3) ? pick(random, ODD_QUERIES) : ''}`).replaceAll(
          '%25',
          '%',
        ),
        headers,
        body: Buffer.from(body === null ? '' : JSON.stringify(body)),
        spoiled: null,
      };
    }
    const odd = pick(random, ODD_PATHS);
    return { method: pick(random, METHODS), path: odd, headers, body: Buffer.alloc(0), spoiled: null };
  }
}

/** A document that a person or an app submits. */
function submission(random: Random, robot: FuzzRobot): Omit<Call, 'headers'> {
  const wall = Date.now();
  const [path, made] = pick<readonly [string, () => JsonObject]>(random, [
    ['/api/tasks', () => taskOnly(random, robot, wall)],
    ['/api/tasks', () => taskOnly(random, robot, wall)],
    ['/api/workflows', () => workflowCommand(random, wall)],
    ['/api/workflows', () => workflowCommand(random, wall)],
    ['/api/schedules', () => scheduleCommand(random, wall)],
  ]);
  const document = Object.fromEntries(Object.entries(made()).filter(([key]) => !ENVELOPE.includes(key)));
  const call = (text: string | Uint8Array, spoiled: string | null) => ({
    method: 'POST',
    path,
    body: Buffer.from(text),
    spoiled,
  });
  const roll = random();
  if (roll < 0.15) return call(JSON.stringify(document), null);
  if (roll < 0.5) {
    const { value, how } = spoil(random, document, {
      spared: [],
      required: ['workflow', 'workflow.workflow_id', 'workflow.steps', 'workflow.steps.*.step_id'],
    });
    return call(JSON.stringify(value), how);
  }
  if (roll < 0.6) {
    const { text, how } = spoilText(random, document);
    return call(text, how);
  }
  if (roll < 0.603)
    return call(JSON.stringify({ ...document, x: 'x'.repeat(256 * 1024) }), 'larger than 256 KiB');
  if (roll < 0.63) return call(JSON.stringify({ ...document, source: 'LOCAL' }), 'it names a source');
  const mutated = JSON.stringify(mutateFreely(random, document, [document], 1 + below(random, 3)));
  if (roll < 0.92) return call(mutated, null);
  return call(mutateBytes(random, Buffer.from(mutated), 1 + below(random, 3)), null);
}

function taskOnly(random: Random, robot: FuzzRobot, wall: number): JsonObject {
  for (;;) {
    const body = command(random, knownTo(robot), wall);
    if (body.kind === 'task') return body;
  }
}

function send(socketPath: string, agent: Agent, { method, path, headers, body }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all =
      body.length === 0 && method !== 'POST' ? {} : { ...headers, 'content-length': String(body.length) };
    const req = request({ socketPath, agent, method, path, headers: safe(all) }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text }));
    });
    req.setTimeout(PATIENCE_MS, () => req.destroy(new Error(`no answer to ${method} ${path}`)));
    // A server that has read enough of what is too large hangs up.
    req.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE'
        ? resolve({
            status: 413,
            text: '{"error":{"code":"PAYLOAD_TOO_LARGE","message":"connection closed"}}',
          })
        : reject(error),
    );
    req.end(body);
  });
}

/** Node's client does not send what is no header. */
function safe(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => /^[\x20-\x7e]*$/.test(value)));
}

/** Bytes that are hardly HTTP; whoever sent them may be hung up on. */
function garbage(random: Random, socketPath: string): Promise<void> {
  const right = Buffer.from(
    'POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  );
  const bytes = mutateBytes(random, right, 1 + below(random, 4));
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => {
      socket.end(bytes);
    });
    socket.on('error', () => {});
    socket.on('data', () => {});
    socket.once('close', () => resolve());
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  });
}
