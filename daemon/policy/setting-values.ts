/** What a household can set, with the schema of each value and which change only a person at the robot may make. */
import { z } from 'zod';

/** How much the robot does of its own accord, strictest first. */
export const AUTONOMY_LEVELS = ['ask_all', 'mixed', 'full_auto'] as const;
/** What becomes of what the robot thinks of itself, strictest first. */
export const ROLLOUT_MODES = [
  'SHADOW',
  'RECOMMENDATION_ONLY',
  'CONFIRMATION',
  'AUTONOMOUS_LOW_RISK',
] as const;

const time = z
  .string()
  .regex(
    /^([01]\d|2[0-3]):[0-5]\d$/,
    'allowed is a time of day such as "22:30", in the time zone of the robot',
  );

export const settingsSchema = z.strictObject({
  /** Camera and microphone are not used. */
  privacy_mode: z.boolean(),
  /** Nobody outside the home moves the robot or opens its camera. */
  home_lock: z.boolean(),
  /** Of the robot's time zone; may pass midnight. Null: none. */
  quiet_hours: z
    .strictObject({ from: time, to: time })
    .refine(({ from, to }) => from !== to, 'from and to have to differ; null switches them off')
    .nullable(),
  autonomy: z.enum(AUTONOMY_LEVELS),
  rollout_mode: z.enum(ROLLOUT_MODES),
  language: z.enum(['ko', 'en']),
  subscription: z.enum(['none', 'active']),
});
export type SettingsValues = z.infer<typeof settingsSchema>;
export type SettingKey = keyof SettingsValues;

export const SETTING_KEYS = Object.keys(settingsSchema.shape) as SettingKey[];

/** Any part of them; at least one. */
export const settingsChangeSchema = settingsSchema
  .partial()
  .refine((change) => Object.keys(change).length > 0, `at least one of ${SETTING_KEYS.join(', ')} is needed`);
export type SettingsChange = z.infer<typeof settingsChangeSchema>;

/** Of a robot that nobody has set up. The language is the profile's. */
export const DEFAULT_SETTINGS: Omit<SettingsValues, 'language'> = {
  privacy_mode: false,
  home_lock: false,
  quiet_hours: null,
  autonomy: 'ask_all',
  rollout_mode: 'RECOMMENDATION_ONLY',
  subscription: 'none',
};

/**
 * Whether a change opens something. Making the robot stricter is everybody's right; making it less strict is the
 * business of a person at the robot.
 */
const OPENS: { [K in SettingKey]: (from: SettingsValues[K], to: SettingsValues[K]) => boolean } = {
  privacy_mode: (from, to) => from && !to,
  home_lock: (from, to) => from && !to,
  quiet_hours: (from, to) => from !== null && to === null,
  autonomy: (from, to) => AUTONOMY_LEVELS.indexOf(to) > AUTONOMY_LEVELS.indexOf(from),
  rollout_mode: (from, to) => ROLLOUT_MODES.indexOf(to) > ROLLOUT_MODES.indexOf(from),
  language: () => false,
  subscription: (from, to) => from === 'none' && to !== 'none',
};

/** The first setting of `change` that would open something, or null. */
export function opens(before: SettingsValues, change: SettingsChange): SettingKey | null {
  return SETTING_KEYS.find((key) => changeOpens(key, before, change)) ?? null;
}

function changeOpens<K extends SettingKey>(key: K, before: SettingsValues, change: SettingsChange): boolean {
  const to = change[key] as SettingsValues[K] | undefined;
  return to !== undefined && OPENS[key](before[key], to);
}

/** Whether it is quiet at `minute` of the day. */
export function isQuiet(hours: SettingsValues['quiet_hours'], minute: number): boolean {
  if (hours === null) return false;
  const from = minuteOf(hours.from);
  const to = minuteOf(hours.to);
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

function minuteOf(text: string): number {
  const [hours = '0', minutes = '0'] = text.split(':');
  return Number(hours) * 60 + Number(minutes);
}
