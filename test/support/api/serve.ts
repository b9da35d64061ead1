/** Starts a real API around a `FakeRuntime` in a directory of its own, and talks to it as clients do. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { createApi } from '../../../daemon/api/api.js';
import type { Api, ApiOptions } from '../../../daemon/api/types.js';
import { FakeRuntime } from './fake-runtime.js';

export interface Served {
  api: Api;
  runtime: FakeRuntime;
  /** Real-time of the API; does not move unless told. */
  clock: SimClock;
  dir: string;
  port: number;
  token: string;
  stop(): Promise<void>;
}

export async function serve(options: Partial<ApiOptions> = {}): Promise<Served> {
  const dir = mkdtempSync(join(tmpdir(), 'da-api-'));
  const runtime = new FakeRuntime(dir, new SystemClock());
  const clock = new SimClock(1_790_000_000_000);
  const api = createApi(runtime, { tcp: { port: 0 }, clock, ...options });
  await api.start();
  const { url } = api.address();
  return {
    api,
    runtime,
    clock,
    dir,
    port: url === null ? 0 : Number(new URL(url).port),
    token: readFileSync(join(dir, 'token'), 'utf8').trim(),
    stop: async () => {
      await api.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: unknown;
}

export interface Call {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | object;
}

export function overUnix(served: Served, call: Call): Promise<Answer> {
  return ask({ socketPath: served.api.address().socketPath }, call);
}

export function overTcp(served: Served, call: Call): Promise<Answer> {
  return ask({ host: '127.0.0.1', port: served.port }, call);
}

export function withToken(served: Served, call: Call): Promise<Answer> {
  return overTcp(served, {
    ...call,
    headers: { authorization: `Bearer ${served.token}`, ...call.headers },
  });
}

/** Opens the printed address, as a browser would, and returns the cookie. */
export async function signIn(served: Served): Promise<string> {
  const address = new URL(served.api.consoleAddress() ?? '');
  const answer = await overTcp(served, { path: `${address.pathname}${address.search}` });
  const [cookie = ''] = [answer.headers['set-cookie']].flat();
  return cookie.split(';', 1)[0] ?? '';
}

export function origin(served: Served): string {
  return `http://127.0.0.1:${served.port}`;
}

function ask(target: { socketPath: string } | { host: string; port: number }, call: Call): Promise<Answer> {
  const body = typeof call.body === 'object' ? JSON.stringify(call.body) : call.body;
  const headers: Record<string, string> = { ...call.headers };
  if (body !== undefined) headers['content-type'] ??= 'application/json';
  return new Promise((resolve, reject) => {
    const req = request(
      { ...target, method: call.method ?? 'GET', path: call.path, headers, agent: false },
      (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => {
          text += chunk;
        });
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json: parse(text) }),
        );
      },
    );
    req.on('error', reject);
    req.end(body);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
