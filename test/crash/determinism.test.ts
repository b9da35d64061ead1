/** The main job from start to end, as `deviceagent sim --once --speed max` runs it: real processes on PTYs, in lock-step. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryPath } from '../../config/contracts/entry.js';

/** Unhurried it takes ten seconds; a busy machine takes longer. */
const RUN_MS = 180_000;

describe('the world trace of the main job', { timeout: 3 * RUN_MS }, () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'da-determinism-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('is the same to the byte for two runs over PTYs and for one in memory, from one seed', async () => {
    const first = await traceOf(join(dir, 'first'), 'pty', 7);
    const second = await traceOf(join(dir, 'second'), 'pty', 7);
    const memory = await traceOf(join(dir, 'memory'), 'memory', 7);
    expect(first.split('\n').length).toBeGreaterThan(100);
    expect(second).toBe(first);
    expect(memory).toBe(first);
  });
});

async function traceOf(stateDir: string, transport: 'pty' | 'memory', seed: number): Promise<string> {
  const { code, output } = await run([
    'sim',
    ...['--once', '--speed', 'max', '--seed', String(seed)],
    ...['--transport', transport, '--state-dir', stateDir],
  ]);
  expect(code, output).toBe(0);
  return readFileSync(join(stateDir, 'world-trace.txt'), 'utf8');
}

function run(args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entryPath(import.meta.url, '../../daemon/cli/main.js'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const late = setTimeout(() => child.kill('SIGKILL'), RUN_MS);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(late);
      resolve({ code, output });
    });
  });
}
