import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The version in package.json, which lies two folders up in the sources and three in `dist`. */
export function version(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const text = readFileSync(fileURLToPath(new URL(up, import.meta.url)), 'utf8');
      const { name, version: found } = JSON.parse(text) as { name?: string; version?: string };
      if (name === 'deviceagent' && found !== undefined) return found;
    } catch {
      // Not at this place.
    }
  }
  return 'unknown';
}
