/** The language and the brightness of the page, remembered in this browser. */
import { en } from './strings-en.js';
import { ko } from './strings-ko.js';

const catalogues = { ko, en };

const stored = (key) => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};
const store = (key, value) => {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Private windows may refuse; the choice then holds for this visit.
  }
};

let language = stored('language') ?? (navigator.language.startsWith('ko') ? 'ko' : 'en');
if (!(language in catalogues)) language = 'en';

export const currentLanguage = () => language;

export function setLanguage(next) {
  language = next;
  store('language', next);
}

/** The sentence for `key`; `fallback` (or the key) where there is none. */
export function t(key, values = {}, fallback = key) {
  const sentence = catalogues[language][key] ?? fallback;
  if (typeof sentence !== 'string') return sentence;
  return withParticle(
    sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? '')),
    language,
  );
}

export const known = (key) => key in catalogues[language];

/** "(으)로" after a name: "으로" after a final consonant other than ㄹ, otherwise "로". */
function withParticle(sentence, lang) {
  if (lang !== 'ko') return sentence;
  return sentence.replace(/(.)\(으\)로/g, (_, last) => {
    const code = last.charCodeAt(0) - 0xac00;
    const final = code >= 0 && code <= 11171 ? code % 28 : 0;
    return `${last}${final === 0 || final === 8 ? '로' : '으로'}`;
  });
}

/** How long ago, in words: seconds below 90 s, minutes below 90 min, then hours. */
export function age(ms) {
  const seconds = Math.max(0, ms / 1000);
  if (seconds < 10) return t('seconds', { n: seconds.toFixed(1).replace(/\.0$/, '') });
  if (seconds < 90) return t('seconds', { n: Math.round(seconds) });
  if (seconds < 5400) return t('minutes', { n: Math.round(seconds / 60) });
  return t('hours', { n: Math.round(seconds / 3600) });
}

export function clockTime(epochMs) {
  return new Date(epochMs).toLocaleTimeString(language === 'ko' ? 'ko-KR' : 'en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  });
}

const THEMES = ['auto', 'light', 'dark'];
const systemDark = matchMedia('(prefers-color-scheme: dark)');
let theme = THEMES.includes(stored('theme')) ? stored('theme') : 'auto';

export const currentTheme = () => theme;

export function nextTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  store('theme', theme);
  applyTheme();
}

export function applyTheme() {
  const dark = theme === 'dark' || (theme === 'auto' && systemDark.matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

export function onSystemTheme(listener) {
  systemDark.addEventListener('change', () => {
    applyTheme();
    listener();
  });
}
