/** What is left on the disk: whether the database is sound, and what it says against what the cloud has received. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface DatabaseFindings {
  /** Databases that the robot had to give up, and the present one if it is damaged. */
  corrupt: number;
  problems: string[];
  /** Null when it cannot be read. */
  epoch: string | null;
  /** The next `seq` it would give. */
  nextSeq: number;
  /** Rows that wait to be published: neither received nor lost. */
  pendingSeqs: ReadonlySet<number>;
  /** Tasks and workflows that have not ended. */
  unfinished: string[];
}

/** Reads the database of a robot that has stopped. */
export function examineDatabase(stateDir: string): DatabaseFindings {
  const problems = readdirSync(stateDir)
    .filter((name) => name.includes('.unusable-') && !/-(wal|shm)$/.test(name))
    .map((name) => `moved aside: ${name}`);
  const findings = {
    corrupt: problems.length,
    problems,
    epoch: null,
    nextSeq: 1,
    pendingSeqs: new Set<number>(),
    unfinished: [],
  };
  const file = join(stateDir, 'deviceagent.db');
  if (!existsSync(file))
    return { ...findings, corrupt: findings.corrupt + 1, problems: [...problems, 'gone'] };
  try {
    return { ...findings, ...readThrough(file, problems) };
  } catch (error) {
    const why = `${file}: ${error instanceof Error ? error.message : String(error)}`;
    return { ...findings, corrupt: findings.corrupt + 1, problems: [...problems, why] };
  }
}

function readThrough(file: string, movedAside: readonly string[]): DatabaseFindings {
  // Not read-only: what a killed process left in the log belongs to the database.
  const db = new Database(file, { fileMustExist: true, timeout: 5000 });
  try {
    const text = (sql: string) => db.prepare<[], string>(sql).pluck().all();
    const number = (sql: string) => Number(db.prepare(sql).pluck().get());
    const complaints = [
      ...text('PRAGMA integrity_check').filter((line) => line !== 'ok'),
      ...db
        .prepare('PRAGMA foreign_key_check')
        .all()
        .map((row) => `foreign key: ${JSON.stringify(row)}`),
    ];
    const pending = db
      .prepare<[], number>(
        'SELECT seq FROM outbox_ordered WHERE acked = 0 AND seq > (SELECT acked_seq FROM outbox_state)',
      )
      .pluck()
      .all();
    return {
      corrupt: movedAside.length + Math.min(1, complaints.length),
      problems: [...movedAside, ...complaints],
      epoch: text("SELECT value FROM meta WHERE key = 'store_epoch'")[0] ?? null,
      nextSeq: number('SELECT next_seq FROM outbox_state'),
      pendingSeqs: new Set(pending),
      unfinished: [
        ...text('SELECT task_id FROM tasks WHERE ended_at IS NULL'),
        ...text('SELECT workflow_id FROM workflows WHERE ended_at IS NULL'),
      ],
    };
  } finally {
    db.close();
  }
}
