/**
 * Looks at a payload without building anything from it: how deep it nests, and what its top-level `kind` and
 * `method` say. Works on bytes that are no JSON at all, in one pass and constant memory, so that an emergency stop
 * is recognised and a hostile payload is refused before a parser touches it.
 */
export interface Scan {
  depth: number;
  kind: string | null;
  method: string | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = [0x7b, 0x5b];
const CLOSE = [0x7d, 0x5d];
const COLON = 0x3a;
const COMMA = 0x2c;
/** Longer strings are neither of the words looked for. */
const MAX_WORD = 200;

export function scanPayload(bytes: Uint8Array): Scan {
  const scan: Scan = { depth: 0, kind: null, method: null };
  let depth = 0;
  let key: string | null = null;
  let expectKey = true;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) {
      const end = endOfString(bytes, i);
      if (depth === 1) {
        const word = wordAt(bytes, i, end);
        if (expectKey) key = word;
        else if (key === 'kind' || key === 'method') scan[key] = word;
      }
      i = end;
    } else if (OPEN.includes(byte)) {
      depth += 1;
      if (depth > scan.depth) scan.depth = depth;
      if (depth === 1) expectKey = true;
    } else if (CLOSE.includes(byte)) depth -= 1;
    else if (depth === 1 && byte === COLON) expectKey = false;
    else if (depth === 1 && byte === COMMA) expectKey = true;
  }
  return scan;
}

/** Index of the closing quote, or of the last byte. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let i = start + 1; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === BACKSLASH) i += 1;
    else if (byte === QUOTE) return i;
  }
  return bytes.length - 1;
}

function wordAt(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start > MAX_WORD) return null;
  try {
    const word: unknown = JSON.parse(Buffer.from(bytes.subarray(start, end + 1)).toString('utf8'));
    return typeof word === 'string' ? word : null;
  } catch {
    return null;
  }
}
