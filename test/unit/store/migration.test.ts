import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { APPLICATION_ID, MIGRATIONS } from '../../../daemon/store/schema.js';
import { openTaskWorld } from '../task-manager/task-world.js';
import { removeTemporaryDirectories, temporaryDirectory } from './store-world.js';

afterEach(removeTemporaryDirectories);

it('a database of the first version is opened with its live tasks, which go on', async () => {
  const file = join(temporaryDirectory(), 'deviceagent.db');
  const old = new Database(file);
  old.exec(MIGRATIONS[0] ?? '');
  old.pragma('user_version = 1');
  old.pragma(`application_id = ${APPLICATION_ID}`);
  const request = {
    method: 'drive',
    params: {},
    priority: 50,
    queueKey: 'motion',
    executionMode: 'QUEUED',
    preemptPolicy: 'NONE',
    failurePolicy: 'ABORT',
    compensationMethod: null,
    completionAreaId: null,
    timeoutMs: 60_000,
    cancellable: true,
    dryRun: false,
    source: 'CLOUD',
    legacy: false,
    correlationId: null,
    traceId: null,
    workflowId: null,
    stepId: null,
    planId: null,
    cloudOutputKey: null,
    role: null,
  };
  const insert = old.prepare(
    'INSERT INTO tasks (n, task_id, state, attempt, request, created_at, started_at) VALUES (?, ?, ?, 1, ?, 1, ?)',
  );
  insert.run(1, 't-running', 'STARTED', JSON.stringify(request), 2);
  insert.run(2, 't-waiting', 'PENDING', JSON.stringify(request), null);
  old.close();

  const world = openTaskWorld({ file });
  await world.quiet();
  expect(Number(world.store.db.pragma('user_version', { simple: true }))).toBe(MIGRATIONS.length);
  expect(world.run('drive')).toMatchObject({ taskId: 't-running', context: { attempt: 2, carried: null } });
  world.run('drive').complete();
  await world.quiet();
  expect(world.run('drive').taskId).toBe('t-waiting');
});
