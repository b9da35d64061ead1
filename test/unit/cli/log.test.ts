import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../daemon/cli/log.js';

/** Every write to it fails with ENOSPC. */
const FULL = '/dev/full';

describe('the log of the daemon', () => {
  it.skipIf(!existsSync(FULL))('on a full disk costs lines, never the process', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.on('uncaughtException', note);
    try {
      const log = createLog({ level: 'info', file: FULL });
      for (let i = 0; i < 20_000; i++)
        log.info({ i }, 'a line of about a hundred bytes that cannot be written anywhere');
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('uncaughtException', note);
    }
    expect(uncaught).toEqual([]);
  });

  it('writes one JSON object a line where there is room', () => {
    const dir = mkdtempSync(join(tmpdir(), 'log-'));
    const file = join(dir, 'daemon.log');
    createLog({ level: 'info', file }).info({ part: 'x' }, 'hello');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ level: 30, part: 'x', msg: 'hello' });
    rmSync(dir, { recursive: true, force: true });
  });
});
