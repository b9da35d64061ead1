/** A motion process that was started ahead: a real process, because what it must not do is touch anything. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldMotionProcess } from '../../../daemon/rt-client/rt-process.js';
import { rtConfigSchema } from '../../../drivers/rt/config.js';

describe('a motion process that is started ahead', { timeout: 30_000 }, () => {
  let dir: string;
  let held: HeldMotionProcess;
  let child: ChildProcess | null;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'rt-held-'));
    held = new HeldMotionProcess(process.env);
    child = null;
  });
  afterEach(() => {
    held.discard();
    child?.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  const config = () =>
    rtConfigSchema.parse({
      stateDir: dir,
      base: { driver: 'create2', port: { kind: 'serial', path: join(dir, 'base'), baud_rate: 115_200 } },
      lidar: null,
      motion: {},
    });
  const pidFile = () => existsSync(join(dir, 'rt.pid'));
  const until = async (true_: () => boolean) => {
    for (let i = 0; i < 2000 && !true_(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(true_()).toBe(true);
  };

  it('touches nothing until it gets its configuration, and works from then on', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(pidFile()).toBe(false);
    child = held.take(config());
    const messages: { t?: string }[] = [];
    child?.on('message', (message: { t?: string }) => messages.push(message));
    await until(pidFile);
    await until(() => messages.some(({ t }) => t === 'ready'));
  });

  it('can be given its configuration before it has loaded its program', async () => {
    child = held.take(config());
    expect(child).not.toBeNull();
    await until(pidFile);
  });

  it('is given away once', () => {
    child = held.take(config());
    expect(held.take(config())).toBeNull();
  });

  it('is not given away once it has died', async () => {
    held.discard();
    expect(held.take(config())).toBeNull();
  });
});
