import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { entryPath } from '../../../config/contracts/entry.js';

/** Linux's numbers of scheduling policies. */
const ORDINARY = 0;
const ROUND_ROBIN = 2;

const allowed = spawnSync('chrt', ['--rr', '1', 'true']).status === 0;
const why = allowed ? '' : ' (skipped: needs Linux, chrt and CAP_SYS_NICE)';

/** Runs in a process of its own: calls it, then starts a thread, and says how each thread is scheduled. */
const SCRIPT = `
import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
const { goBeforeOthers } = await import(process.argv[1]);
const stat = (tid) => {
  const text = readFileSync('/proc/self/task/' + tid + '/stat', 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { tid: Number(tid), priority: Number(fields[37]), policy: Number(fields[38]) };
};
const threads = () => readdirSync('/proc/self/task').map(stat);
const main = () => threads().find((t) => t.tid === process.pid);
goBeforeOthers();
for (let i = 0; i < 200 && main().priority < 20; i++) await new Promise((r) => setTimeout(r, 10));
const before = threads();
const known = new Set(before.map((t) => t.tid));
new Worker('setInterval(() => {}, 1000)', { eval: true });
await new Promise((r) => setTimeout(r, 300));
const later = threads().filter((t) => !known.has(t.tid));
console.log(JSON.stringify({ main: main(), engine: before.filter((t) => t.tid !== process.pid), later }));
process.exit();
`;

interface Thread {
  priority: number;
  policy: number;
}

describe('the motion process among others', () => {
  it.runIf(allowed)(
    `gives its main thread precedence over the engine's, and those over threads that come later${why}`,
    () => {
      const module = entryPath(import.meta.url, '../../../drivers/rt/precedence.js');
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT, module], {
        encoding: 'utf8',
        timeout: 20_000,
      });
      expect(stderr).toBe('');
      const seen: { main: Thread; engine: Thread[]; later: Thread[] } = JSON.parse(stdout);
      expect(seen.main.policy).toBe(ROUND_ROBIN);
      expect(seen.engine.length).toBeGreaterThan(0);
      for (const thread of seen.engine) {
        expect(thread.policy).toBe(ROUND_ROBIN);
        expect(thread.priority).toBeLessThan(seen.main.priority);
      }
      expect(seen.later.length).toBeGreaterThan(0);
      for (const thread of seen.later) expect(thread.policy).toBe(ORDINARY);
    },
    30_000,
  );
});
