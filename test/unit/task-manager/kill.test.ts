import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { entryPath } from '../../../config/contracts/entry.js';
import { openStoreWorld, removeTemporaryDirectories, temporaryDirectory } from '../store/store-world.js';
import { isTerminal, openTaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

const KILLS = 6;

/** Runs the worker on `file` and kills it with SIGKILL after it promised `lines` things; gives what it promised. */
function runAndKill(file: string, lines: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entryPath(import.meta.url, './kill-child.js'), file], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.split('\n').length > lines) child.kill('SIGKILL');
    });
    child.on('close', (code, signal) => {
      // A line that was cut off is a promise that nobody heard.
      if (signal === 'SIGKILL') resolve(text.split('\n').slice(0, -1));
      else reject(new Error(`the worker ended by itself (${code}): ${errors}`));
    });
  });
}

describe('kill -9 at random moments', () => {
  it('loses no accepted task, no event and no order, and ends nothing twice', async () => {
    const file = path.join(temporaryDirectory(), 'deviceagent.db');
    const promised: string[] = [];
    for (let kill = 1; kill <= KILLS; kill++) promised.push(...(await runAndKill(file, 37 * kill)));

    const world = openTaskWorld({ file, recover: false });
    expect(world.store.movedAside).toBeNull();
    const rows = world.store.db
      .prepare<[], { seq: number; payload: string }>('SELECT seq, payload FROM outbox_ordered ORDER BY seq')
      .all();
    const events = rows.map((row) => JSON.parse(row.payload));
    const first = rows[0]?.seq ?? 1;
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_row, i) => first + i));
    expect(events.map((e) => e.seq)).toEqual(rows.map((row) => row.seq));
    const keys = events.map((e) => e.idempotency_key);
    expect(new Set(keys).size).toBe(keys.length);
    const ends = events
      .filter(isTerminal)
      .map((e) => e.task_id ?? (e.step_id === null ? e.workflow_id : e.event_id));
    expect(new Set(ends).size).toBe(ends.length);
    for (const id of promised) {
      expect(world.tasks.getTask(id) ?? world.tasks.getWorkflow(id), `${id} was accepted`).not.toBeNull();
    }
    expect(promised.length).toBeGreaterThan(300);
    world.store.close();
    const unacknowledged = openStoreWorld({ file }).outbox.stats();
    expect(unacknowledged.nextSeq).toBe(first + rows.length);
  }, 60_000);
});
