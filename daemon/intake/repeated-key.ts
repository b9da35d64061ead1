/**
 * A key that an object has twice: parsers differ on which one counts, so what was checked or signed on its way here
 * need not be what is read (RFC 8785 asks for I-JSON, RFC 7493 §2.3, for that reason).
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** One object or array that is still open. */
interface Open {
  /** Null: an array. */
  keys: Set<string> | null;
  /** Path to it, with a dot behind it. */
  path: string;
  /** The key, or index, of the value that comes next. */
  at: string;
  index: number;
}

/** Path of the first repeated key, or null. `text` is JSON that parses, and nests only so deep. */
export function repeatedKey(text: string): string | null {
  const open: Open[] = [];
  let expectKey = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const inner = open.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, i);
      if (expectKey && inner?.keys != null) {
        const key: unknown = JSON.parse(text.slice(i, end + 1));
        inner.at = String(key);
        if (inner.keys.has(inner.at)) return `${inner.path}${inner.at}`;
        inner.keys.add(inner.at);
      }
      i = end;
    } else if (code === COLON) expectKey = false;
    else if (code === COMMA) {
      if (inner?.keys === null) inner.at = String(++inner.index);
      expectKey = inner?.keys != null;
    } else if (text[i] === '{' || text[i] === '[') {
      const isObject = text[i] === '{';
      const path = inner === undefined ? '' : `${inner.path}${inner.at}.`;
      open.push({ keys: isObject ? new Set() : null, path, at: '0', index: 0 });
      expectKey = isObject;
    } else if (text[i] === '}' || text[i] === ']') {
      open.pop();
      expectKey = false;
    }
  }
  return null;
}

/** Index of the closing quote. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}
