/** Numbers, times and places in words. */
import { type Language, robotWords, type Translate } from './language.js';

/** Wall time of an epoch, to the second, in the terminal's zone. */
export function clockTime(epochMs: number | null): string {
  if (epochMs === null) return '';
  const at = new Date(epochMs);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** How long something took; empty when it has not begun. */
export function duration(startedMs: number | null, endedMs: number | null): string {
  if (startedMs === null || endedMs === null) return '';
  return span(endedMs - startedMs);
}

/** 0.4 s · 12 s · 3 min 20 s · 2 h 5 min */
export function span(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(minutes, 'min', Math.round(seconds % 60), 's');
  return withRest(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
}

function withRest(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${restUnit}`;
}

/** Small facts on one line, e.g. evidence; points in time as times of day. */
export function facts(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return fact(value);
  return Object.entries(value)
    .map(([key, inner]) =>
      key.endsWith('_at_ms') && typeof inner === 'number'
        ? `${key.slice(0, -'_ms'.length)} ${clockTime(inner)}`
        : `${key} ${fact(inner)}`,
    )
    .join(', ');
}

function fact(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000);
  if (value === null) return '–';
  if (Array.isArray(value)) return `[${value.map(fact).join(', ')}]`;
  if (typeof value === 'object') return `(${facts(value)})`;
  return String(value);
}

export function yesNo(t: Translate, value: boolean): string {
  return t(value ? 'yes' : 'no');
}

/** A reason with its message. */
export function reason(language: Language, code: string | null, message: string | null): string {
  const said = message === null ? null : robotWords(language, message);
  if (code === null) return said ?? '';
  return said === null ? code : `${code}: ${said}`;
}
