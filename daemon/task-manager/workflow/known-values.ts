/** The planning context as conditions read it: a value that is stale or unknown cannot be read by mistake. */

/** Thrown by reading a value that is not known now; conditions turn it into `false` and its message. */
export class NotKnown extends Error {
  override readonly name = 'NotKnown';
}

/** Fields of a sensed block that are about the value and not the value itself; always readable. */
const ABOUT: ReadonlySet<string> = new Set([
  'usable',
  'stale',
  'source_valid',
  'source_state',
  'observed_at_ms',
  'freshness_ms',
  'ttl_ms',
]);

/**
 * A copy of `value` whose sensed blocks (those with `usable`) refuse to give what is not usable. `notes` collects,
 * for people, what was looked at and not usable: `stale: air_quality`, `unknown: location.current_room_id`.
 */
export function watched(value: unknown, path: string, notes: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => watched(item, path, notes));
  if (typeof value !== 'object' || value === null) return value ?? null;
  const sensed = 'usable' in value;
  const why = sensed && value.usable !== true ? whyUnusable(value, path) : null;
  const copy = {};
  for (const [key, inner] of Object.entries(value)) {
    const innerPath = path === '' ? key : `${path}.${key}`;
    Object.defineProperty(copy, key, {
      enumerable: true,
      get() {
        if (why !== null) notes.add(why);
        if (!sensed || ABOUT.has(key)) return watched(inner, innerPath, notes);
        if (why !== null) throw new NotKnown(why);
        if (inner === null || inner === undefined) {
          notes.add(`unknown: ${innerPath}`);
          throw new NotKnown(`unknown: ${innerPath}`);
        }
        return watched(inner, innerPath, notes);
      },
    });
  }
  return copy;
}

function whyUnusable(block: object, path: string): string {
  const state = 'source_state' in block && typeof block.source_state === 'string' ? block.source_state : 'ok';
  const about = state === 'ok' ? path : `${path} (${state})`;
  const seen = 'observed_at_ms' in block && block.observed_at_ms !== null;
  return seen && 'stale' in block && block.stale === true ? `stale: ${about}` : `unknown: ${about}`;
}
