import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../support/cli/fake-io.js';

let dir: string;
let server: Server | null = null;
const requests: string[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'da-sim-'));
  requests.length = 0;
});
afterEach(async () => {
  await new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
  server = null;
  rmSync(dir, { recursive: true });
});

/** A simulation that answers every line with `answer`, in two pieces. */
function simulation(answer: string): Promise<void> {
  const simulated = createServer((socket) => {
    socket.on('data', (line) => {
      requests.push(String(line));
      socket.write(answer.slice(0, 5));
      setImmediate(() => socket.end(answer.slice(5)));
    });
    socket.on('error', () => {});
  });
  server = simulated;
  return new Promise((resolve) => simulated.listen(join(dir, 'sim.sock'), resolve));
}

describe('sim inject', () => {
  it('sends the words as one JSON line and prints what the simulation says', async () => {
    await simulation('{"ok":true,"message":"거실에 사람이 서 있습니다"}\n');
    const ran = await run(['sim', 'inject', 'person', '거실', '--state-dir', dir]);
    expect(ran).toEqual({ code: 0, out: '거실에 사람이 서 있습니다\n', err: '' });
    expect(requests).toEqual(['{"inject":["person","거실"]}\n']);
  });

  it('passes on negative numbers behind --', async () => {
    await simulation('{"ok":true,"message":"clock set back"}\n');
    const ran = await run(['sim', 'inject', '--state-dir', dir, '--', 'clock', '-3600']);
    expect(ran.code).toBe(0);
    expect(requests).toEqual(['{"inject":["clock","-3600"]}\n']);
  });

  it('ends with 1 when the simulation refuses', async () => {
    await simulation('{"ok":false,"error":"there is no room called 서재"}\n');
    const ran = await run(['sim', 'inject', 'person', '서재', '--state-dir', dir]);
    expect(ran).toEqual({ code: 1, out: '', err: 'deviceagent: there is no room called 서재\n' });
  });

  it('ends with 3 when no simulation runs', async () => {
    const ran = await run(['sim', 'inject', 'cliff', '--state-dir', dir]);
    expect([ran.code, ran.err]).toEqual([3, expect.stringContaining('start one with `deviceagent sim`')]);
  });

  it('does not hang on a simulation that says nothing and goes', async () => {
    await simulation('');
    expect((await run(['sim', 'inject', 'cliff', '--state-dir', dir])).code).toBe(3);
  });
});
