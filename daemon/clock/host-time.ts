/**
 * What Linux says about its clock. Sources: `/run/systemd/timesync/synchronized` (systemd-timesyncd touches it whenever
 * it has set the clock), `timedatectl` (the kernel's STA_UNSYNC, whoever keeps the clock), and `hctosys` of
 * `/sys/class/rtc/rtc*` (1: the kernel's clock was set from it at boot).
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostTimeFacts } from './judge.js';

/** Never rejects. */
export type HostTime = () => Promise<HostTimeFacts>;

const TIMEDATECTL_MS = 5_000;

/** `root`: for tests. `ask`: the answer of timedatectl, null when there is none. */
export function hostTime(root = '/', ask: () => Promise<string | null> = timedatectl): HostTime {
  return async () => ({ synchronised: await synchronised(root, ask), rtc: setFromRtc(root) });
}

async function synchronised(root: string, ask: () => Promise<string | null>): Promise<boolean | null> {
  if (existsSync(join(root, 'run/systemd/timesync/synchronized'))) return true;
  // The documented way to find out whether systemd runs: sd_booted(3).
  if (!existsSync(join(root, 'run/systemd/system'))) return null;
  const answer = await ask();
  return answer === 'yes' ? true : answer === 'no' ? false : null;
}

function setFromRtc(root: string): boolean | null {
  const folder = join(root, 'sys/class/rtc');
  try {
    return readdirSync(folder).some(
      (name) => readFileSync(join(folder, name, 'hctosys'), 'utf8').trim() === '1',
    );
  } catch {
    return null;
  }
}

function timedatectl(): Promise<string | null> {
  return new Promise((resolve) => {
    const args = ['show', '--property=NTPSynchronized', '--value'];
    execFile('timedatectl', args, { timeout: TIMEDATECTL_MS }, (error, stdout) =>
      resolve(error === null ? stdout.trim() : null),
    );
  });
}
