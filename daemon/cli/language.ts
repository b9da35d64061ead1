/** Korean or English, as the terminal's locale says. */
import { inKorean } from '../api/console/robot-words-ko.js';
import { texts } from './texts.js';

export type Language = 'ko' | 'en';
export type TextKey = keyof typeof texts;

/** POSIX: LC_ALL, else LC_MESSAGES, else LANG. */
export function languageOf(env: NodeJS.ProcessEnv): Language {
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || '';
  return locale.toLowerCase().startsWith('ko') ? 'ko' : 'en';
}

export type Translate = (key: TextKey, values?: Record<string, string | number>) => string;

export function translator(language: Language): Translate {
  return (key, values = {}) =>
    texts[key][language].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** The robot's own words, which are English on the wire, in the terminal's language where there is a sentence for it. */
export function robotWords(language: Language, message: string): string {
  return language === 'ko' ? inKorean(message) : message;
}
