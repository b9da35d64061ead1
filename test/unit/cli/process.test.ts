/** The command as a process of its own, as `npm run build` leaves it in dist/. */
import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { entryPath } from '../../../config/contracts/entry.js';
import { ALLOCATOR_ENV, NODE_FLAGS } from '../../../daemon/cli/start-flags.js';
import { serve } from '../../support/api/serve.js';

const main = entryPath(import.meta.url, '../../../daemon/cli/main.js');
const empty = mkdtempSync(join(tmpdir(), 'da-process-'));
afterAll(() => rmSync(empty, { recursive: true }));

const deviceagent = (...args: string[]) => deviceagentIn({ LC_ALL: 'C' }, ...args);

function deviceagentIn(
  more: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, ...more };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
}

describe.skipIf(!existsSync(main))('the built deviceagent command', () => {
  it('is a script that node runs', () => {
    expect(readFileSync(main, 'utf8').split('\n', 1)[0]).toBe('#!/usr/bin/env node');
  });

  it('is started by the unit in docs/operations.md as simulations and benchmarks start it', () => {
    const docs = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    expect(docs).toContain(`ExecStart=/usr/bin/node ${NODE_FLAGS.join(' ')} /opt`);
    for (const [name, value] of Object.entries(ALLOCATOR_ENV)) {
      expect(docs).toContain(`Environment=${name}=${value}\n`);
    }
  });

  it('prints help and its version, and ends with 2 for wrong usage', async () => {
    expect(await deviceagent('--help')).toMatchObject({ code: 0, err: '' });
    expect((await deviceagent('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await deviceagent('nonsense')).code).toBe(2);
    expect((await deviceagent()).code).toBe(2);
  });

  it('ends with 3 and one line when no daemon answers', async () => {
    const ran = await deviceagent('task', 'list', '--state-dir', empty);
    expect(ran.code).toBe(3);
    expect(ran.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('ends with 1 and one line when the daemon cannot be put together, so that its supervisor tries again', async () => {
    const stateDir = join(empty, 'robot');
    mkdirSync(stateDir);
    writeFileSync(join(stateDir, 'no-folder'), '');
    const ran = await deviceagent('run', '--config', 'sim', '--state-dir', join(stateDir, 'no-folder', 'x'));
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/^deviceagent: the state directory .* cannot be made \(ENOTDIR\)/);
    const sim = await deviceagent('sim', '--once', '--state-dir', join(stateDir, 'no-folder', 'x'));
    expect(sim).toMatchObject({ code: 1, err: ran.err });
    const holder = new Database(join(stateDir, 'deviceagent.db'));
    holder.exec('BEGIN EXCLUSIVE');
    const second = await deviceagent('run', '--config', 'sim', '--state-dir', stateDir);
    holder.close();
    expect(second.code).toBe(1);
    expect(second.err).toMatch(/^deviceagent: .*another process holds it/);
    expect(second.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('says in the language of the terminal why a profile cannot be used', async () => {
    const file = join(empty, 'bad.yaml');
    writeFileSync(file, 'version: 1\nprofile: create2\ndevice_id: r1\napi: {port: 99999}\n');
    const run = (lang: string) =>
      deviceagentIn({ LC_ALL: lang }, 'run', '--config', file, '--state-dir', join(empty, 'bad'));
    expect(await run('C')).toMatchObject({
      code: 1,
      err: `deviceagent: ${file}: api.port is 99999: it has to be at most 65535\n`,
    });
    expect((await run('ko_KR.UTF-8')).err).toBe(
      `deviceagent: ${file}: api.port: 99999. 65535 이하여야 해요\n`,
    );
  });

  it('says which port a simulation was given that is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    for (const option of ['--mqtt-port', '--api-port']) {
      const ran = await deviceagent('sim', '--once', option, String(port), '--state-dir', join(empty, 'sim'));
      expect(ran).toMatchObject({ code: 1, out: '' });
      expect(ran.err).toBe(
        `deviceagent: ${option} ${port} is in use; choose another, or leave it out and a free one is found\n`,
      );
    }
    holder.close();
  });

  it('does not outlive a simulation that dies while its daemon is still loading', async () => {
    const args = ['run', '--config', 'sim', '--state-dir', join(empty, 'orphan')];
    const env = { ...process.env, DEVICEAGENT_API_PORT: '0' };
    const child = fork(main, args, { env, execArgv: [], stdio: 'ignore' });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.disconnect();
    expect(await gone).toBe(0);
  });

  it('takes nobody but the daemon at his word: an e-stop that somebody else confirms is none', async () => {
    const dir = mkdtempSync(join(empty, 'foreign-'));
    const stranger = createHttpServer((_request, response) => response.end('{}')).listen(
      join(dir, 'api.sock'),
    );
    await once(stranger, 'listening');
    for (const command of [['estop'], ['task', 'list'], ['context'], ['events']]) {
      const ran = await deviceagent(...command, '--state-dir', dir);
      expect(ran).toMatchObject({ code: 3, out: '' });
      expect(ran.err).toMatch(
        /^deviceagent: what answers at .* is no deviceagent daemon; the robot was told nothing\n$/,
      );
    }
    stranger.close();
  });

  it('talks to a daemon over its socket', async () => {
    const served = await serve();
    const { code, out } = await deviceagent('task', 'list', '--json', '--state-dir', served.dir);
    await served.stop();
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ tasks: [{ task_id: 't-s2' }, {}, {}, {}] });
  });

  it('stops following on Ctrl-C', async () => {
    const served = await serve();
    const child = spawn(process.execPath, [main, 'events', '--follow', '--state-dir', served.dir]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await gone).toBe(0);
    await served.stop();
  });

  it('is content with a reader that has had enough', async () => {
    const served = await serve();
    for (let i = 0; i < 2000; i++)
      served.runtime.append('events/task', { event: 'STARTED', message: 'x'.repeat(500) });
    const child = spawn('sh', [
      '-c',
      `"$0" "$1" events --since 0 --state-dir "$2" | head -1; exit 0`,
      process.execPath,
      main,
      served.dir,
    ]);
    let err = '';
    child.stderr.on('data', (chunk) => {
      err += String(chunk);
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    await served.stop();
    expect([code, err]).toEqual([0, '']);
  });
});
