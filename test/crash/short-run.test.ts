/** The real harness in a short form: real processes, real speed, SIGKILL. Bounded by the harness's own time limits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCrash } from './run.js';

describe('a robot whose processes are killed at work', { timeout: 420_000 }, () => {
  it('loses nothing, doubles nothing, keeps its order and stops its wheels', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'da-crash-test-'));
    const report = await runCrash({
      kills: 4,
      seed: 21,
      broker: 'aedes',
      mqtt: '3.1.1',
      oldDatabase: true,
      smallDisk: true,
      baseWatchdog: false,
      stateDir,
      aimPatienceMs: 2000,
      say: () => {},
    });
    expect(report).toMatchObject({
      // Two of them inside a migration.
      kills: 6,
      accepted_lost: 0,
      events_lost: 0,
      out_of_order: 0,
      second_terminals: 0,
      corrupt_dbs: 0,
      key_conflicts: 0,
      unanswered: 0,
      motion_over_bound: 0,
      problems: [],
    });
    expect(report.accepted).toBeGreaterThan(5);
    rmSync(stateDir, { recursive: true, force: true });
  });
});
