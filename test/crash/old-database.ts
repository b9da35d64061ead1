/** A database of the first released schema with live work in it: the robot's first start has to migrate it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { APPLICATION_ID, MIGRATIONS } from '../../daemon/store/schema.js';

/** Tasks that were under way; each has to end once. */
const OLD_TASKS = [
  ['t-old-1', 'STARTED'],
  ['t-old-2', 'PENDING'],
  ['t-old-3', 'PENDING'],
] as const;
/** As the first version stored it. */
const REQUEST = {
  method: 'syncState',
  params: {},
  priority: 50,
  queueKey: 'syncState',
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

/** Returns the ids that must end. */
export function leaveOldDatabase(stateDir: string): string[] {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const db = new Database(join(stateDir, 'deviceagent.db'));
  try {
    db.pragma('auto_vacuum = INCREMENTAL');
    db.exec(MIGRATIONS[0] ?? '');
    db.pragma('user_version = 1');
    db.pragma(`application_id = ${APPLICATION_ID}`);
    const insert = db.prepare(
      'INSERT INTO tasks (n, task_id, state, attempt, request, created_at, started_at) VALUES (?, ?, ?, 1, ?, ?, ?)',
    );
    const now = Date.now();
    OLD_TASKS.forEach(([id, state], i) => {
      insert.run(i + 1, id, state, JSON.stringify(REQUEST), now, state === 'STARTED' ? now : null);
    });
  } finally {
    db.close();
  }
  return OLD_TASKS.map(([id]) => id);
}

/** Migrations that the first start has to run. */
export const MIGRATIONS_DUE = MIGRATIONS.length - 1;
