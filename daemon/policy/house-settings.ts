/**
 * What the household set. Privacy mode and home lock stand in `<state-dir>/safety.json`, which is read before any port
 * or camera opens and outlives the database; the rest stands in the database.
 */
import { z } from 'zod';
import type { Clock } from '../../config/contracts/clock.js';
import { errorText, Refusal, shown } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import {
  type SafetyFileContent,
  type SafetyFileRead,
  updateSafetyFile,
} from '../../drivers/rt/safety/safety-file.js';
import type { Principal } from '../intake/types.js';
import { Settings } from '../store/small-tables.js';
import type { Store } from '../store/store.js';
import type { AuditLog } from './audit-log.js';
import type { PolicySettings } from './decide.js';
import {
  DEFAULT_SETTINGS,
  isQuiet,
  opens,
  SETTING_KEYS,
  type SettingKey,
  type SettingsChange,
  type SettingsValues,
  settingsSchema,
} from './setting-values.js';

export interface HouseSettingsDeps {
  store: Store;
  /** The robot's clock: quiet hours follow it. */
  clock: Clock;
  /** The machine's: another process may hold the file's lock. */
  wall: Clock;
  log: Log;
  stateDir: string;
  /** What the file said before anything was opened. */
  safety: SafetyFileRead;
  /** Of the profile. */
  language: 'ko' | 'en';
  timezone: string;
  audit: AuditLog;
}

/** Who changes a setting. `atTheRobot`: a person at the robot, as the channel established it. */
export interface SettingsCaller {
  principal: Principal;
  atTheRobot: boolean;
}

const IN_FILE = ['privacy_mode', 'home_lock'] as const;
type FileKey = (typeof IN_FILE)[number];

/** What is set in the file could not be written: tried again this much later, ms. */
const RETRY_MS = 5_000;
const STARTED = 'settings_epoch';

export class HouseSettings {
  readonly #d: HouseSettingsDeps;
  readonly #table: Settings;
  readonly #listeners = new Set<(values: SettingsValues) => void>();
  readonly #minuteOf: (at: number) => number;
  #values: SettingsValues;
  /** Changes one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #changes = 0;
  /** By which change a setting of the file was switched on last: an earlier one must not switch it off afterwards. */
  readonly #switchedOn = new Map<FileKey, number>();
  #retry: (() => void) | null = null;
  #closed = false;
  readonly #counters = { settings_changed: 0, settings_refused: 0, safety_file_failures: 0 };

  constructor(deps: HouseSettingsDeps) {
    this.#d = deps;
    this.#table = new Settings(deps.store);
    this.#minuteOf = minuteReader(deps.timezone);
    this.#values = this.#read();
    this.#noticeLoss();
  }

  get values(): SettingsValues {
    return this.#values;
  }

  /** Why the file could not be used at the start; null when it could. */
  get unreadable(): string | null {
    return this.#d.safety.unreadable;
  }

  /** What rules look at. */
  forPolicy(): PolicySettings {
    const { privacy_mode, home_lock, autonomy, rollout_mode, quiet_hours } = this.#values;
    const quiet = quiet_hours !== null && isQuiet(quiet_hours, this.#minuteOf(this.#d.clock.now()));
    return { privacy_mode, home_lock, autonomy, rollout_mode, quiet };
  }

  onChange(listener: (values: SettingsValues) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves with all settings once the change would survive a power cut. What makes the robot stricter holds at once;
   * what makes it less strict, once it is stored. Throws `Refusal` POLICY_DENIED for what only a person at the robot may
   * do, CAPABILITY_UNAVAILABLE when the file cannot be written.
   */
  change(change: SettingsChange, caller: SettingsCaller): Promise<SettingsValues> {
    const number = ++this.#changes;
    try {
      this.#judge(change, caller);
    } catch (error) {
      this.#counters.settings_refused++;
      throw error;
    }
    const stricter = fileFlags(change, true);
    for (const key of IN_FILE) if (stricter[key] === true) this.#switchedOn.set(key, number);
    this.#set(stricter);
    const done = this.#last.catch(() => {}).then(() => this.#store(change, caller, number));
    this.#last = done;
    return done;
  }

  /** Resolves when nothing is being written any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#retry?.();
    await this.#last.catch(() => {});
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  #judge(change: SettingsChange, { atTheRobot }: SettingsCaller): void {
    const opened = opens(this.#values, change);
    if (opened === null || atTheRobot) return;
    throw new Refusal(
      'POLICY_DENIED',
      `${opened}: found ${shown(change[opened])}; only a person at the robot may make this less strict than ${shown(this.#values[opened])}`,
      opened,
    );
  }

  async #store(
    change: SettingsChange,
    { principal }: SettingsCaller,
    number: number,
  ): Promise<SettingsValues> {
    const stricter = fileFlags(change, true);
    const looser = fileFlags(change, false);
    // What makes it stricter must not wait for a database; what opens something is on record before it is open.
    const notWritten = await this.#writeFile(number, stricter).then(
      () => null,
      (error: unknown) => error,
    );
    this.#d.store.write(() => {
      this.#putAll(change);
      this.#d.audit.append('settings.changed', `${principal.source}:${principal.name}`, { ...change });
    });
    await this.#d.store.committed();
    if (notWritten !== null) throw notWritten;
    await this.#writeFile(number, looser);
    this.#counters.settings_changed++;
    this.#set(this.#stillWanted(change, number));
    return this.#values;
  }

  /** Without what a later change switched on meanwhile. */
  #stillWanted(change: SettingsChange, number: number): SettingsChange {
    const later = IN_FILE.filter((key) => change[key] === false && (this.#switchedOn.get(key) ?? 0) > number);
    return Object.fromEntries(Object.entries(change).filter(([key]) => !later.some((l) => l === key)));
  }

  #putAll(change: SettingsChange): void {
    for (const [key, value] of Object.entries(change)) {
      if (!IN_FILE.some((k) => k === key) && value !== undefined) this.#table.set(key, value);
    }
  }

  async #writeFile(number: number, change: SettingsChange): Promise<void> {
    const flags = this.#stillWanted(change, number) as Partial<SafetyFileContent>;
    if (Object.keys(flags).length === 0) return;
    try {
      await updateSafetyFile(this.#d.stateDir, this.#d.wall, (content) => ({ ...content, ...flags }));
    } catch (error) {
      this.#counters.safety_file_failures++;
      this.#d.log.error({ error: errorText(error) }, 'safety.json could not be written');
      this.#retryLater();
      const on = IN_FILE.filter((key) => change[key] === true);
      throw new Refusal(
        'CAPABILITY_UNAVAILABLE',
        on.length > 0
          ? `${on.join(', ')}: switched on, but safety.json could not be written (${errorText(error)}); it is tried again, and until then a restart would forget it`
          : `safety.json could not be written (${errorText(error)}); nothing was changed`,
      );
    }
  }

  /** What is on in memory gets into the file as soon as that can be written. */
  #retryLater(): void {
    if (this.#retry !== null || this.#closed) return;
    this.#retry = this.#d.clock.after(RETRY_MS, () => {
      this.#retry = null;
      const save = () => this.#writeFile(this.#changes, fileFlags(this.#values, true));
      this.#last = this.#last
        .catch(() => {})
        .then(save)
        .catch(() => {});
    });
  }

  #set(change: SettingsChange): void {
    const next = { ...this.#values, ...change } as SettingsValues;
    const changed = SETTING_KEYS.some((key) => next[key] !== this.#values[key]);
    this.#values = next;
    if (!changed) return;
    for (const listener of this.#listeners) listener(next);
  }

  #read(): SettingsValues {
    const { content } = this.#d.safety;
    const stored: Partial<Record<SettingKey, unknown>> = {};
    for (const key of SETTING_KEYS)
      stored[key] = this.#table.get<unknown>(key, settingsSchema.shape[key], undefined);
    const known = Object.fromEntries(Object.entries(stored).filter(([, value]) => value !== undefined));
    return {
      ...DEFAULT_SETTINGS,
      language: this.#d.language,
      ...known,
      privacy_mode: content.privacy_mode ?? DEFAULT_SETTINGS.privacy_mode,
      home_lock: content.home_lock ?? DEFAULT_SETTINGS.home_lock,
    };
  }

  /**
   * A database that did not have settings yet, on a robot that had some: they were lost. Everything is asked about from
   * now on, and the robot does nothing of its own accord, until a person says otherwise.
   */
  #noticeLoss(): void {
    const { store, safety, audit, log } = this.#d;
    const { store_epoch: known } = safety.content;
    if (this.#table.get(STARTED, z.string().nullable(), null) === null) {
      const lost = safety.unreadable !== null || (known !== undefined && known !== store.epoch);
      store.write(() => {
        this.#table.set(STARTED, store.epoch);
        if (!lost) return;
        this.#putAll({ autonomy: 'ask_all', rollout_mode: 'SHADOW' });
        audit.append('settings.reset', 'system:new-database', {
          autonomy: 'ask_all',
          rollout_mode: 'SHADOW',
        });
      });
      if (lost) {
        this.#values = { ...this.#values, autonomy: 'ask_all', rollout_mode: 'SHADOW' };
        log.warn(
          {},
          'the settings were lost with the database: everything is asked about until a person sets them',
        );
      }
    }
    if (safety.unreadable !== null) {
      log.error(
        { why: safety.unreadable },
        'safety.json cannot be read: the e-stop is latched, privacy mode is on and the home is locked',
      );
    } else if (known !== store.epoch) this.#noteEpoch(store.epoch);
  }

  #noteEpoch(epoch: string): void {
    const { stateDir, wall, store, log } = this.#d;
    this.#last = store
      .committed()
      .then(() => updateSafetyFile(stateDir, wall, (content) => ({ ...content, store_epoch: epoch })))
      .catch((error: unknown) => {
        this.#counters.safety_file_failures++;
        log.warn({ error: errorText(error) }, 'safety.json could not be written; the next start tries again');
      });
  }
}

/** Of a change, what the file keeps and is switched on, or off. */
function fileFlags(change: SettingsChange, to: boolean): SettingsChange {
  return Object.fromEntries(IN_FILE.filter((key) => change[key] === to).map((key) => [key, to]));
}

/** The minute of the day in a time zone. */
function minuteReader(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (at) => {
    const parts = format.formatToParts(at);
    const part = (type: 'hour' | 'minute') => Number(parts.find((p) => p.type === type)?.value ?? 0);
    return part('hour') * 60 + part('minute');
  };
}
