/** Reading request bodies: strict JSON, bounded in depth, without prototype tricks. */
import { shown } from '../../../config/contracts/errors.js';
import { repeatedKey } from '../../intake/repeated-key.js';
import { MAX_DEPTH } from '../types.js';
import { refused } from './errors.js';

/**
 * Parses a body; an empty one is `undefined`. Throws `MALFORMED`, as on the cloud side also for a key that stands
 * twice: what a proxy or a signature looked at need not be the one that counts.
 */
export function parseBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused('MALFORMED', 'the body is not valid JSON');
  }
  checkShape(value);
  const repeated = repeatedKey(text);
  if (repeated !== null) {
    throw refused('MALFORMED', `${shown(repeated)}: found twice; every key may stand once`, repeated);
  }
  return value;
}

/**
 * Walks the value without recursion: deep nesting must not cost stack. A `__proto__` key is refused because
 * copying such an object would replace the copy's prototype.
 */
function checkShape(root: unknown): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      throw refused('MALFORMED', `the body is nested deeper than the allowed ${MAX_DEPTH} levels`);
    }
    const next: unknown[] = [];
    for (const value of level) {
      if (value === null || typeof value !== 'object') continue;
      if (Object.hasOwn(value, '__proto__')) {
        throw refused('MALFORMED', 'the key "__proto__" is not allowed', '__proto__');
      }
      for (const child of Object.values(value)) next.push(child);
    }
    level = next;
  }
}
