import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { AuditLog } from '../../../daemon/policy/audit-log.js';
import { HouseSettings } from '../../../daemon/policy/house-settings.js';
import { isQuiet, settingsChangeSchema } from '../../../daemon/policy/setting-values.js';
import { readSafetyFile, safetyFilePath } from '../../../drivers/rt/safety/safety-file.js';
import { openStoreWorld, removeTemporaryDirectories } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

const person = { principal: { source: 'LOCAL', name: 'unix-socket' }, atTheRobot: true } as const;
const token = { principal: { source: 'APP', name: 'token:kitchen' }, atTheRobot: false } as const;

function open(world = openStoreWorld()) {
  const stateDir = dirname(world.file);
  const audit = new AuditLog(world);
  const settings = new HouseSettings({
    ...world,
    wall: new SystemClock(),
    stateDir,
    safety: readSafetyFile(stateDir),
    language: 'ko',
    timezone: 'Asia/Seoul',
    audit,
  });
  return { ...world, stateDir, audit, settings };
}

/** The same robot after a restart; `anew`: its database is gone. */
async function again(home: ReturnType<typeof open>, anew = false) {
  await home.settings.close();
  home.store.close();
  if (anew) rmSync(home.file);
  return open(openStoreWorld({ file: home.file, seed: 7 }));
}

describe('the settings of the household', () => {
  it('begin with what a robot needs that nobody has set up', () => {
    expect(open().settings.values).toEqual({
      privacy_mode: false,
      home_lock: false,
      quiet_hours: null,
      autonomy: 'ask_all',
      rollout_mode: 'RECOMMENDATION_ONLY',
      language: 'ko',
      subscription: 'none',
    });
  });

  it('survive a restart', async () => {
    const home = open();
    await home.settings.change({ privacy_mode: true, autonomy: 'mixed', language: 'en' }, person);
    const later = await again(home);
    expect(later.settings.values).toMatchObject({ privacy_mode: true, autonomy: 'mixed', language: 'en' });
    expect(later.audit.list(1)[0]).toMatchObject({ kind: 'settings.changed', by: 'LOCAL:unix-socket' });
  });

  it('are made stricter by anybody, and less strict by a person at the robot alone', async () => {
    const { settings } = open();
    await settings.change({ autonomy: 'full_auto' }, person);
    await settings.change({ privacy_mode: true, home_lock: true, autonomy: 'mixed' }, token);
    for (const change of [
      { privacy_mode: false },
      { home_lock: false },
      { autonomy: 'full_auto' },
    ] as const) {
      const [key] = Object.keys(change);
      expect(() => settings.change(change, token)).toThrow(
        expect.objectContaining({ reason: 'POLICY_DENIED', field: key }),
      );
    }
    expect(await settings.change({ privacy_mode: false }, person)).toMatchObject({ privacy_mode: false });
  });

  it('take privacy mode on at once, before anything is written', async () => {
    const { settings } = open();
    const told: boolean[] = [];
    settings.onChange(({ privacy_mode }) => told.push(privacy_mode));
    const done = settings.change({ privacy_mode: true }, token);
    expect([settings.forPolicy().privacy_mode, told]).toEqual([true, [true]]);
    await done;
  });

  it('end with privacy mode on when it was switched off and on again in one breath', async () => {
    const home = open();
    await home.settings.change({ privacy_mode: true }, person);
    const off = home.settings.change({ privacy_mode: false }, person);
    const on = home.settings.change({ privacy_mode: true }, person);
    await Promise.all([off, on]);
    expect(home.settings.values.privacy_mode).toBe(true);
    expect(readSafetyFile(home.stateDir).content.privacy_mode).toBe(true);
  });

  it('keep privacy mode and home lock when the database is lost, and then ask about everything', async () => {
    const home = open();
    await home.settings.change(
      { home_lock: true, autonomy: 'full_auto', rollout_mode: 'CONFIRMATION' },
      person,
    );
    const later = await again(home, true);
    expect(later.settings.values).toMatchObject({
      home_lock: true,
      autonomy: 'ask_all',
      rollout_mode: 'SHADOW',
    });
    const twice = await again(later);
    expect(twice.settings.values.rollout_mode).toBe('SHADOW');
  });

  it.each([
    ['garbage', 'not json'],
    ['torn', '{"version":1,"estop":{"lat'],
    ['empty', ''],
  ])(
    'with a %s safety.json, privacy mode is on and the home is locked, and the file is kept',
    async (_how, text) => {
      const world = openStoreWorld();
      const file = safetyFilePath(dirname(world.file));
      writeFileSync(file, text);
      const home = open(world);
      expect(home.settings.unreadable).not.toBeNull();
      expect(home.settings.values).toMatchObject({
        privacy_mode: true,
        home_lock: true,
        rollout_mode: 'SHADOW',
      });
      expect(readFileSync(file, 'utf8')).toBe(text);
      await home.settings.change({ privacy_mode: false }, person);
      expect(readSafetyFile(home.stateDir).content).toMatchObject({
        privacy_mode: false,
        home_lock: true,
        estop: { latched: true },
      });
      expect(readdirSync(home.stateDir).some((name) => name.startsWith('safety.json.unreadable-'))).toBe(
        true,
      );
    },
  );

  it('never touch the e-stop that stands in the same file', async () => {
    const world = openStoreWorld();
    const estop = { latched: true, by: 'button', at: 1 };
    writeFileSync(safetyFilePath(dirname(world.file)), JSON.stringify({ version: 1, estop }));
    const home = open(world);
    await home.settings.change({ privacy_mode: true }, token);
    expect(readSafetyFile(home.stateDir).content.estop).toEqual(estop);
  });

  it('keep privacy mode on in memory and say so when the file cannot be written', async () => {
    const home = open();
    await home.settings.close();
    const file = safetyFilePath(home.stateDir);
    rmSync(file, { force: true });
    // A folder that is not empty stands in the file's place: nothing can be renamed over it.
    mkdirSync(`${file}/in-the-way`, { recursive: true });
    mkdirSync(`${file}.lock`);
    await expect(home.settings.change({ privacy_mode: true }, token)).rejects.toMatchObject({
      reason: 'CAPABILITY_UNAVAILABLE',
    });
    expect(home.settings.forPolicy().privacy_mode).toBe(true);
  }, 15_000);

  it('refuse what they do not know, naming field and value', () => {
    expect(settingsChangeSchema.safeParse({ privacy: true }).success).toBe(false);
    expect(settingsChangeSchema.safeParse({}).success).toBe(false);
    expect(settingsChangeSchema.safeParse({ quiet_hours: { from: '25:00', to: '07:00' } }).success).toBe(
      false,
    );
  });

  it('know quiet hours that pass midnight', () => {
    const night = { from: '22:00', to: '07:00' };
    expect([21, 22, 3, 7].map((hour) => isQuiet(night, hour * 60))).toEqual([false, true, true, false]);
    expect(isQuiet({ from: '13:00', to: '15:00' }, 14 * 60)).toBe(true);
    expect(isQuiet(null, 0)).toBe(false);
  });
});
