/** Serial devices that are plugged in, by the names that stay the same. */
import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

const BY_ID = '/dev/serial/by-id';

/** Empty where the system has no such names. */
export function serialNames(folder = BY_ID): { name: string; device: string }[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => ({ name, device: realpathSync(join(folder, name)) }));
  } catch {
    return [];
  }
}
