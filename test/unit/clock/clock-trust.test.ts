import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { ClockTrust } from '../../../daemon/clock/clock-trust.js';
import { hostTime } from '../../../daemon/clock/host-time.js';
import {
  type ClockEvidence,
  type ClockTrustMode,
  judgeClock,
  WRITTEN_MS,
} from '../../../daemon/clock/judge.js';
import { openStoreWorld, removeTemporaryDirectories, temporaryDirectory } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

const DAY = 24 * 3_600_000;
const NOW = WRITTEN_MS + 30 * DAY;
const nothing = { synchronised: null, rtc: null };

describe('whether the clock can be believed', () => {
  const cases: [string, ClockTrustMode, Partial<ClockEvidence>, boolean][] = [
    [
      '1970, whatever the host says',
      'auto',
      { nowMs: 5_000, host: { synchronised: true, rtc: true } },
      false,
    ],
    [
      'a time before the program, from an empty battery',
      'auto',
      { nowMs: Date.UTC(2000, 0, 1), host: { synchronised: false, rtc: true } },
      false,
    ],
    ['before anybody was asked', 'auto', { host: null }, false],
    ['kept by NTP', 'auto', { host: { synchronised: true, rtc: false } }, true],
    ['not yet set by NTP, and no battery', 'auto', { host: { synchronised: false, rtc: false } }, false],
    ['not yet set by NTP, but from a battery', 'auto', { host: { synchronised: false, rtc: true } }, true],
    ['plausible, with nobody to ask', 'auto', { host: nothing }, true],
    [
      'behind what the robot knows',
      'auto',
      { newestMs: NOW + 2 * DAY, host: { synchronised: false, rtc: true } },
      false,
    ],
    [
      'a little behind it',
      'auto',
      { newestMs: NOW + 3_600_000, host: { synchronised: false, rtc: true } },
      true,
    ],
    [
      'behind it, and set by NTP',
      'auto',
      { newestMs: NOW + 400 * DAY, host: { synchronised: true, rtc: false } },
      true,
    ],
    ['1970, by the profile', 'always', { nowMs: 5_000 }, true],
    ['by an older profile', true, { nowMs: 5_000 }, true],
    ['never, by the profile', 'never', { host: { synchronised: true, rtc: true } }, false],
    ['never, by an older profile', false, { host: { synchronised: true, rtc: true } }, false],
  ];
  it.each(cases)('%s', (_what, mode, evidence, trusted) => {
    const all = { nowMs: NOW, newestMs: null, host: nothing, ...evidence };
    expect(judgeClock(mode, all).trusted).toBe(trusted);
  });
});

describe('a robot without a battery-backed clock', () => {
  it('does not know the time until NTP has set it, says so once, and remembers it', async () => {
    const { store, clock } = openStoreWorld({ clock: new SimClock(3_000) });
    let synchronised = false;
    const trust = new ClockTrust({
      mode: 'auto',
      clock,
      store,
      log: SILENT_LOG,
      host: async () => ({ synchronised, rtc: false }),
    });
    const told: boolean[] = [];
    trust.onChange(() => told.push(trust.trusted()));
    await trust.start();
    expect(trust.trusted()).toBe(false);
    await clock.advanceAsync(60_000);
    clock.jump(NOW - clock.now());
    expect(trust.trusted()).toBe(false);
    synchronised = true;
    await clock.advanceAsync(30_000);
    expect([trust.trusted(), told]).toEqual([true, [false, true]]);
    // Set back to 1970: not believed from that moment on.
    clock.jump(-NOW);
    expect(trust.trusted()).toBe(false);
    clock.jump(NOW);
    await store.committed();
    trust.close();
    const later = new ClockTrust({
      mode: 'auto',
      clock: new SimClock(NOW - 20 * DAY),
      store,
      log: SILENT_LOG,
      host: async () => ({ synchronised: false, rtc: true }),
    });
    await later.start();
    expect(later.verdict()).toMatchObject({
      trusted: false,
      why: { en: expect.stringContaining('left behind') },
    });
    later.close();
  });

  it('goes on when the host cannot be asked', async () => {
    const { store, clock } = openStoreWorld({ clock: new SimClock(NOW) });
    const host = async () => {
      throw new Error('no such host');
    };
    const trust = new ClockTrust({ mode: 'auto', clock, store, log: SILENT_LOG, host });
    await trust.start();
    expect(trust.trusted()).toBe(true);
    trust.close();
  });
});

describe('what Linux says', () => {
  const root = (files: Record<string, string>) => {
    const folder = temporaryDirectory();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  };
  const systemd = { 'run/systemd/system/x': '' };

  it.each([
    ['nothing', {}, 'yes', { synchronised: null, rtc: null }],
    [
      'timesyncd has set it',
      { 'run/systemd/timesync/synchronized': '' },
      null,
      { synchronised: true, rtc: null },
    ],
    ['timedatectl: yes', systemd, 'yes', { synchronised: true, rtc: null }],
    ['timedatectl: no', systemd, 'no', { synchronised: false, rtc: null }],
    ['timedatectl is not there', systemd, null, { synchronised: null, rtc: null }],
    [
      'a battery-backed clock',
      { 'sys/class/rtc/rtc0/hctosys': '1\n' },
      null,
      { synchronised: null, rtc: true },
    ],
    [
      'one that was not used',
      { 'sys/class/rtc/rtc0/hctosys': '0\n' },
      null,
      { synchronised: null, rtc: false },
    ],
  ])('%s', async (_what, files, answer, facts) => {
    expect(await hostTime(root(files), async () => answer)()).toEqual(facts);
  });
});
