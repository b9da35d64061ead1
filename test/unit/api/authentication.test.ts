import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { createApi } from '../../../daemon/api/api.js';
import { FakeRuntime } from '../../support/api/fake-runtime.js';
import {
  type Call,
  origin,
  overTcp,
  overUnix,
  type Served,
  serve,
  signIn,
  withToken,
} from '../../support/api/serve.js';
import { until } from '../../support/until.js';

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.stop());

const denied = (message: unknown, field?: string) => ({
  error: { code: 'POLICY_DENIED', message, ...(field === undefined ? {} : { field }) },
});

describe('who is let in', () => {
  const matrix: { who: string; call: (call: Call) => Promise<{ status: number }>; expected: number[] }[] = [
    { who: 'nobody over TCP', call: (c) => overTcp(served, c), expected: [200, 401, 401, 401, 401] },
    { who: 'the Unix socket', call: (c) => overUnix(served, c), expected: [200, 200, 200, 202, 200] },
    { who: 'the token over TCP', call: (c) => withToken(served, c), expected: [200, 200, 200, 202, 403] },
    {
      who: 'a console session',
      call: async (c) => {
        const cookie = await signIn(served);
        return overTcp(served, { ...c, headers: { cookie, origin: origin(served) } });
      },
      expected: [200, 200, 200, 202, 200],
    },
    {
      who: 'a wrong token',
      call: (c) => overTcp(served, { ...c, headers: { authorization: `Bearer ${'x'.repeat(43)}` } }),
      expected: [200, 401, 401, 401, 401],
    },
    {
      who: 'a token of another scheme',
      call: (c) => overTcp(served, { ...c, headers: { authorization: 'Basic dTpw' } }),
      expected: [200, 401, 401, 401, 401],
    },
    {
      who: 'an invented session',
      call: (c) => overTcp(served, { ...c, headers: { cookie: `deviceagent_session_${served.port}=abc` } }),
      expected: [200, 401, 401, 401, 401],
    },
  ];
  const calls: Call[] = [
    { path: '/ready' },
    { path: '/metrics' },
    { path: '/api/tasks' },
    { method: 'POST', path: '/api/tasks', body: { method: 'stopMove' } },
    { method: 'POST', path: '/api/estop/release', body: {} },
  ];
  for (const { who, call, expected } of matrix) {
    it(`${who}: readiness, metrics, reading, commanding, releasing the e-stop → ${expected.join(' ')}`, async () => {
      const found: number[] = [];
      for (const c of calls) found.push((await call(c)).status);
      expect(found).toEqual(expected);
    });
  }

  it('acts for LOCAL over the Unix socket and for APP with a token or from the console', async () => {
    const submit: Call = { method: 'POST', path: '/api/tasks', body: { method: 'stopMove' } };
    await overUnix(served, submit);
    await withToken(served, submit);
    const cookie = await signIn(served);
    await overTcp(served, { ...submit, headers: { cookie, origin: origin(served) } });
    expect(served.runtime.handled.map((h) => h.principal)).toEqual([
      { source: 'LOCAL', name: 'unix-socket' },
      { source: 'APP', name: 'token:state-dir' },
      { source: 'APP', name: 'console' },
    ]);
  });

  it('says how to authenticate, in the shape of every error', async () => {
    const answer = await overTcp(served, { path: '/api/tasks' });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="deviceagent"');
    expect(answer.json).toEqual(denied(expect.stringContaining('token')));
  });

  it('answers 429 after ten wrong tokens in a minute, but serves the right one all the same', async () => {
    const wrong: Call = { path: '/api/tasks', headers: { authorization: 'Bearer nope' } };
    for (let i = 0; i < 10; i++) expect((await overTcp(served, wrong)).status).toBe(401);
    const throttled = await overTcp(served, wrong);
    expect(throttled.status).toBe(429);
    expect(throttled.headers['retry-after']).toBe('60');
    expect(throttled.json).toEqual(denied('too many failed attempts; wait 60 s'));
    expect((await withToken(served, { method: 'POST', path: '/api/estop', body: {} })).status).toBe(200);
    served.clock.advance(60_000);
    expect((await overTcp(served, wrong)).status).toBe(401);
  });

  it('gives a configured token only the scopes it was given', async () => {
    const value = 'r'.repeat(40);
    const other = await serve({
      tcp: { port: 0, tokens: [{ name: 'dashboard', value, scopes: ['read'] }] },
    });
    const headers = { authorization: `Bearer ${value}` };
    expect((await overTcp(other, { path: '/api/tasks', headers })).status).toBe(200);
    const answer = await overTcp(other, { method: 'POST', path: '/api/estop', headers, body: {} });
    expect(answer.status).toBe(403);
    expect(answer.json).toEqual(denied('this token does not have the scope "control"'));
    await other.stop();
  });
});

describe('the one-time code', () => {
  it('becomes an HttpOnly, SameSite=Strict cookie, once', async () => {
    const address = new URL(served.api.consoleAddress() ?? '');
    expect(address.searchParams.get('code')).toMatch(/^[\w-]{32}$/);
    const path = `${address.pathname}${address.search}`;
    const first = await overTcp(served, { path });
    expect(first.status).toBe(200);
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(
          `^deviceagent_session_${served.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$`,
        ),
      ),
    ]);
    const second = await overTcp(served, { path });
    expect(second.status).toBe(401);
    expect(second.headers['set-cookie']).toBeUndefined();
    expect(second.text).toContain('deviceagent console');
  });

  it('expires after a quarter of an hour', async () => {
    const address = new URL(served.api.consoleAddress() ?? '');
    served.clock.advance(15 * 60_000);
    const answer = await overTcp(served, { path: `/${address.search}` });
    expect(answer.status).toBe(401);
  });

  it('comes anew from the command line, and not to the holder of a token', async () => {
    const fresh = await overUnix(served, { method: 'POST', path: '/api/console/address' });
    expect(fresh.json).toMatchObject({ url: expect.stringContaining(`:${served.port}/?code=`) });
    expect((await withToken(served, { method: 'POST', path: '/api/console/address' })).status).toBe(403);
  });

  it('counts wrong codes like wrong tokens', async () => {
    for (let i = 0; i < 10; i++) await overTcp(served, { path: '/?code=guess' });
    expect((await overTcp(served, { path: '/?code=guess' })).status).toBe(429);
  });

  it('opens the page for as long as the session lasts', async () => {
    const cookie = await signIn(served);
    const page = await overTcp(served, { path: '/', headers: { cookie } });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    served.clock.advance(12 * 60 * 60_000);
    expect((await overTcp(served, { path: '/', headers: { cookie } })).status).toBe(401);
    expect((await overTcp(served, { path: '/api/tasks', headers: { cookie } })).status).toBe(401);
  });

  it('gives a session that outlives a restart of the daemon; codes do not', async () => {
    const cookie = await signIn(served);
    const address = new URL(served.api.consoleAddress() ?? '');
    await served.api.stop();
    const again = createApi(served.runtime, { tcp: { port: served.port }, clock: served.clock });
    await again.start();
    expect((await overTcp(served, { path: '/api/tasks', headers: { cookie } })).status).toBe(200);
    expect((await overTcp(served, { path: `/${address.search}` })).status).toBe(401);
    await again.stop();
    const file = join(served.dir, 'console-sessions.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(cookie.split('=')[1]);
    // A file that others can write to lets nobody in, and a broken one keeps nobody out of a new session.
    for (const spoil of [() => chmodSync(file, 0o666), () => writeFileSync(file, '{')]) {
      spoil();
      const next = createApi(served.runtime, { tcp: { port: served.port }, clock: served.clock });
      await next.start();
      expect((await overTcp(served, { path: '/api/tasks', headers: { cookie } })).status).toBe(401);
      await next.stop();
      chmodSync(file, 0o600);
    }
  });

  it('is needed for every file of the page', async () => {
    const cookie = await signIn(served);
    for (const path of ['/', '/index.html', '/base.css', '/app.js']) {
      expect([path, (await overTcp(served, { path })).status]).toEqual([path, 401]);
      expect([path, (await overTcp(served, { path, headers: { cookie } })).status]).toEqual([path, 200]);
    }
  });

  it('opens no file beside those of the page', async () => {
    const cookie = await signIn(served);
    for (const path of [
      '/../console-files.js',
      '/%2e%2e/console-files.js',
      '/..%2fconsole-files.js',
      '/.',
      '/app.js/',
    ]) {
      expect([path, (await overTcp(served, { path, headers: { cookie } })).status]).toEqual([path, 404]);
    }
  });

  it('is asked for a file again only when that has changed', async () => {
    const cookie = await signIn(served);
    const path = '/base.css';
    const first = await overTcp(served, { path, headers: { cookie } });
    expect(first.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'no-cache',
    });
    const { etag } = first.headers;
    const again = await overTcp(served, { path, headers: { cookie, 'if-none-match': String(etag) } });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    const old = await overTcp(served, { path, headers: { cookie, 'if-none-match': '"another"' } });
    expect([old.status, old.text]).toEqual([200, first.text]);
    const head = await overTcp(served, { method: 'HEAD', path, headers: { cookie } });
    expect([head.status, head.text, head.headers['content-type']]).toEqual([
      200,
      '',
      first.headers['content-type'],
    ]);
  });
});

describe('pages elsewhere', () => {
  it('are refused when they address the robot by a name of their own (DNS rebinding)', async () => {
    for (const host of ['evil.example', `evil.example:${served.port}`, '127.0.0.1.evil.example']) {
      const answer = await withToken(served, { path: '/api/tasks', headers: { host } });
      expect([host, answer.status]).toEqual([host, 421]);
      expect(answer.json).toEqual(denied(expect.stringContaining('127.0.0.1'), 'Host'));
    }
  });

  it('are refused by their origin, whatever they carry', async () => {
    const cookie = await signIn(served);
    for (const from of [
      'https://evil.example',
      'http://localhost:1',
      'null',
      `https://127.0.0.1:${served.port + 1}`,
    ]) {
      const headers = { cookie, origin: from };
      const answer = await overTcp(served, { method: 'POST', path: '/api/estop', headers, body: {} });
      expect([from, answer.status]).toEqual([from, 403]);
      expect(answer.json).toEqual(denied(expect.any(String), 'Origin'));
    }
    expect(served.runtime.estops).toEqual([]);
  });

  it('cannot ride on the session: a change without an Origin is refused', async () => {
    const cookie = await signIn(served);
    const answer = await overTcp(served, {
      method: 'POST',
      path: '/api/estop',
      headers: { cookie },
      body: {},
    });
    expect(answer.status).toBe(403);
    expect(answer.json).toEqual(denied(expect.any(String), 'Origin'));
  });

  it('on another port of this machine are another origin although they are the same site', async () => {
    const cookie = await signIn(served);
    const headers = { cookie, 'sec-fetch-site': 'same-site' };
    const answer = await overTcp(served, { path: '/api/context', headers });
    expect(answer.status).toBe(403);
    expect(answer.json).toEqual(denied(expect.any(String), 'Sec-Fetch-Site'));
  });

  it('may not frame, sniff or embed what the robot answers', async () => {
    const { headers } = await withToken(served, { path: '/api/tasks' });
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
    });
  });

  it('are let in under a configured name and through a tunnel of another port', async () => {
    const other = await serve({ tcp: { port: 0, allowedHosts: ['robot.local'] } });
    for (const host of ['robot.local', 'ROBOT.local:8443', 'localhost:9000', '[::1]:9000']) {
      expect([host, (await withToken(other, { path: '/api/tasks', headers: { host } })).status]).toEqual([
        host,
        200,
      ]);
    }
    await other.stop();
  });
});

describe('a person at the robot', () => {
  it('releases the e-stop from the console of this machine, not through a proxy', async () => {
    const cookie = await signIn(served);
    const headers = { cookie, origin: origin(served) };
    const release: Call = { method: 'POST', path: '/api/estop/release', body: {} };
    const proxied = await overTcp(served, {
      ...release,
      headers: { ...headers, 'x-forwarded-for': '10.0.0.9' },
    });
    expect(proxied.status).toBe(403);
    expect(proxied.json).toEqual(denied(expect.stringContaining('person at the robot')));
    expect((await overTcp(served, { ...release, headers })).status).toBe(200);
  });
});

describe('where it listens', () => {
  const dirs: string[] = [];
  const newDir = () => {
    const dir = mkdtempSync(join(tmpdir(), 'da-api-'));
    dirs.push(dir);
    return dir;
  };
  afterEach(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  });
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const apiIn = (dir: string, tcp: Parameters<typeof createApi>[1]['tcp'] = null) =>
    createApi(new FakeRuntime(dir, new SystemClock()), { tcp });

  it('keeps the directory and the socket at 0700 and the token at 0600', () => {
    expect([served.dir, join(served.dir, 'api.sock'), join(served.dir, 'token')].map(mode)).toEqual([
      '700',
      '700',
      '600',
    ]);
    expect(served.token).toMatch(/^[\w-]{43}$/);
  });

  it('makes a directory that others could read private', async () => {
    const dir = newDir();
    chmodSync(dir, 0o755);
    const api = apiIn(join(dir, 'state'));
    await api.start();
    expect(mode(join(dir, 'state'))).toBe('700');
    await api.stop();
    const again = apiIn(dir);
    await again.start();
    expect(mode(dir)).toBe('700');
    await again.stop();
  });

  it('does not live in a directory that everybody may write to', async () => {
    const dir = newDir();
    chmodSync(dir, 0o1777);
    await expect(apiIn(dir).start()).rejects.toThrow('choose a state directory of its own');
    expect(mode(dir)).toBe('777');
  });

  it('keeps its token over a restart and refuses one that others could read', async () => {
    const dir = newDir();
    const api = apiIn(dir);
    await api.start();
    const token = readFileSync(join(dir, 'token'), 'utf8');
    await api.stop();
    const second = apiIn(dir);
    await second.start();
    expect(readFileSync(join(dir, 'token'), 'utf8')).toBe(token);
    await second.stop();
    chmodSync(join(dir, 'token'), 0o644);
    await expect(apiIn(dir).start()).rejects.toThrow(/token can be read by others \(mode 644\); delete it/);
    chmodSync(join(dir, 'token'), 0o600);
    writeFileSync(join(dir, 'token'), 'short\n');
    await expect(apiIn(dir).start()).rejects.toThrow(/fewer than 32 characters/);
  });

  it('replaces the socket of a killed daemon, but not that of a running one', async () => {
    const dir = newDir();
    const path = join(dir, 'api.sock');
    const killed = spawn(process.execPath, ['-e', `require('node:net').createServer().listen('${path}')`]);
    await until(() => existsSync(path));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(existsSync(path)).toBe(true);
    const api = apiIn(dir);
    await api.start();
    await expect(apiIn(dir).start()).rejects.toThrow(/already running in this state directory/);
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ path }, () => {
        socket.destroy();
        resolve();
      });
      socket.once('error', reject);
    });
    await api.stop();
    expect(existsSync(path)).toBe(false);
  });

  it('leaves a file that is no socket alone', async () => {
    const dir = newDir();
    writeFileSync(join(dir, 'api.sock'), 'mine');
    await expect(apiIn(dir).start()).rejects.toThrow(/is no socket; remove it/);
    expect(readFileSync(join(dir, 'api.sock'), 'utf8')).toBe('mine');
  });

  it('says so when the path is too long for a socket', async () => {
    await expect(apiIn(join(newDir(), 'x'.repeat(100))).start()).rejects.toThrow(
      /use a shorter state directory/,
    );
  });

  it('binds beyond loopback only with a configured token', async () => {
    await expect(apiIn(newDir(), { host: '0.0.0.0', port: 0 }).start()).rejects.toThrow(
      'the API does not listen on 0.0.0.0 without a configured token',
    );
    const short = [{ name: 'lan', value: 'short', scopes: ['read'] as const }];
    await expect(apiIn(newDir(), { host: '0.0.0.0', port: 0, tokens: short }).start()).rejects.toThrow(
      'the API token "lan" is shorter than 32 characters',
    );
    const tokens = [{ name: 'lan', value: 'l'.repeat(32), scopes: ['read'] as const }];
    const api = apiIn(newDir(), { host: '0.0.0.0', port: 0, tokens });
    await api.start();
    await api.stop();
  });

  it('names the port that is in use and leaves nothing behind', async () => {
    const dir = newDir();
    await expect(apiIn(dir, { port: served.port }).start()).rejects.toThrow(
      `port ${served.port} is in use; set api.port in the profile, or DEVICEAGENT_API_PORT, to another one`,
    );
    expect(existsSync(join(dir, 'api.sock'))).toBe(false);
  });
});
