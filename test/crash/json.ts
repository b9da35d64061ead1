/** Reading JSON that somebody else wrote. */

export type JsonObject = Record<string, unknown>;

/** Null for anything but a JSON object. */
export function parseObject(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : null;
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
