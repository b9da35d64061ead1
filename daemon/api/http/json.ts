/** Reading request bodies as the cloud's commands are read: strict JSON, bounded in depth, without prototype tricks. */
import { shown } from '../../../config/contracts/errors.js';
import { MAX_DEPTH, notJson, requireNoSource, requireObject, tooDeep } from '../../intake/read-payload.js';
import { repeatedKey } from '../../intake/repeated-key.js';
import { scanPayload } from '../../intake/scan.js';
import { refused } from './errors.js';

/**
 * Parses a body; an empty one is `undefined`. Throws `MALFORMED` (or `POLICY_DENIED`
 * for whoever says who is asking), in the words of the cloud side, also for a key that
 * stands twice: what a proxy or a signature looked at need not be the one that counts.
 */
export function parseBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  const { depth } = scanPayload(Buffer.from(text));
  if (depth > MAX_DEPTH) throw tooDeep(depth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson();
  }
  const body = requireObject(value);
  checkKeys(body);
  const repeated = repeatedKey(text);
  if (repeated !== null) {
    throw refused('MALFORMED', `${shown(repeated)}: found twice; every key may stand once`, repeated);
  }
  requireNoSource(body);
  return body;
}

/** A `__proto__` key is refused because copying such an object would replace the copy's prototype. */
function checkKeys(root: object): void {
  for (let level: unknown[] = [root]; level.length > 0; ) {
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
