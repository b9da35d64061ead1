/**
 * The database's schema, as forward migrations. `user_version` counts those that ran. A migration that was ever
 * released is never changed: a new one is added behind it. Times are robot time, epoch ms, unless named otherwise.
 */

/** "DAgt": marks the file as ours (`PRAGMA application_id`). */
export const APPLICATION_ID = 0x44416774;

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- Counters of the outbox, written once per commit; see daemon/store/outbox.ts.
  CREATE TABLE outbox_state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    next_id INTEGER NOT NULL,
    next_seq INTEGER NOT NULL,
    next_telemetry_seq INTEGER NOT NULL,
    -- Every ordered row up to here was acknowledged.
    acked_seq INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    telemetry_rows INTEGER NOT NULL,
    dead_rows INTEGER NOT NULL,
    dead_bytes INTEGER NOT NULL,
    published INTEGER NOT NULL,
    dropped_telemetry INTEGER NOT NULL,
    dropped_ordered INTEGER NOT NULL
  );
  INSERT INTO outbox_state VALUES (1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  -- Unsent rows, and behind acked_seq a bounded history of sent ones.
  CREATE TABLE outbox_ordered (
    seq INTEGER PRIMARY KEY,
    id INTEGER NOT NULL UNIQUE,
    topic TEXT NOT NULL,
    key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    -- Acknowledged before one of its predecessors was.
    acked INTEGER NOT NULL,
    tombstone INTEGER NOT NULL,
    payload TEXT NOT NULL
  );
  CREATE INDEX outbox_ordered_ahead ON outbox_ordered (seq) WHERE acked = 1;
  CREATE TABLE outbox_responses (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    payload TEXT NOT NULL
  );
  CREATE TABLE outbox_telemetry (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    compact_key TEXT UNIQUE,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    payload TEXT NOT NULL
  );
  CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY,
    lane TEXT NOT NULL,
    topic TEXT NOT NULL,
    seq INTEGER,
    key TEXT,
    reason TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    payload TEXT NOT NULL
  );

  CREATE TABLE timers (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    -- 'duration': so long from when it was set; 'calendar': at that time of the robot's clock.
    basis TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) WITHOUT ROWID;

  CREATE TABLE snapshots (key TEXT PRIMARY KEY, saved_at INTEGER NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE settings (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;

  -- keep_until: wall time, epoch ms.
  CREATE TABLE commands (
    command_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    response TEXT NOT NULL,
    keep_until INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX commands_keep_until ON commands (keep_until);

  CREATE TABLE tasks (
    n INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    -- Why it is being stopped, while it is: JSON.
    stopping TEXT,
    -- What was asked for, JSON; never changes.
    request TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    -- How it ended, JSON.
    outcome TEXT
  );
  CREATE INDEX tasks_live ON tasks (n) WHERE ended_at IS NULL;

  CREATE TABLE lease_fences (resource TEXT PRIMARY KEY, fence INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE workflows (
    n INTEGER PRIMARY KEY,
    workflow_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    -- The document as it came, who sent it, and the steps with capabilities resolved: JSON.
    request TEXT NOT NULL,
    -- How it is ending, while it is, and how it ended: JSON.
    ending TEXT,
    created_at INTEGER NOT NULL,
    ended_at INTEGER
  );
  CREATE INDEX workflows_live ON workflows (n) WHERE ended_at IS NULL;
  -- A step's whole state is one JSON value: it is read and written as a whole.
  CREATE TABLE workflow_steps (
    workflow_n INTEGER NOT NULL REFERENCES workflows (n) ON DELETE CASCADE,
    step_id TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (workflow_n, step_id)
  ) WITHOUT ROWID;
  `,
  `
  -- Why a task is paused or was, and what it carries on: JSON.
  ALTER TABLE tasks ADD COLUMN pause TEXT;
  `,
  `
  CREATE TABLE schedules (
    n INTEGER PRIMARY KEY,
    schedule_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    -- The first occurrence that is not settled; null: none, or paused.
    next_at INTEGER,
    -- Occurrences up to here are settled: run, reported as missed, or passed over while it was paused.
    settled_at INTEGER NOT NULL,
    -- The run of next_at while it cannot be admitted.
    blocked_run TEXT,
    -- What was asked for, JSON; never changes.
    request TEXT NOT NULL,
    created_at INTEGER NOT NULL
  );
  CREATE INDEX schedules_due ON schedules (next_at) WHERE state = 'ACTIVE' AND blocked_run IS NULL;
  CREATE INDEX schedules_blocked ON schedules (n) WHERE blocked_run IS NOT NULL;
  CREATE INDEX schedules_open ON schedules (n) WHERE state <> 'ENDED';
  CREATE INDEX schedules_ended ON schedules (n) WHERE state = 'ENDED';
  -- At most one run of each occurrence.
  CREATE TABLE schedule_runs (
    run_id TEXT PRIMARY KEY,
    schedule_n INTEGER NOT NULL REFERENCES schedules (n) ON DELETE CASCADE,
    scheduled_for INTEGER NOT NULL,
    state TEXT NOT NULL,
    task_id TEXT,
    workflow_id TEXT,
    reason TEXT,
    message TEXT,
    at INTEGER NOT NULL,
    UNIQUE (schedule_n, scheduled_for)
  ) WITHOUT ROWID;
  `,
  `
  CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    approval_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    -- What waits for it, e.g. a task id.
    about TEXT NOT NULL,
    -- What was shown, and its digest: JSON; never changes.
    request TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    -- What takes it back, while and after it does.
    undo_id TEXT
  );
  CREATE INDEX approvals_about ON approvals (about);
  CREATE INDEX approvals_pending ON approvals (n) WHERE status = 'pending';
  -- Each row carries the hash of the one before it; see daemon/policy/audit-log.ts.
  CREATE TABLE audit (n INTEGER PRIMARY KEY, entry TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL);
  `,
];
