/** The profiles that come with the program. */
import { fileURLToPath } from 'node:url';

export const PROFILES = ['sim', 'create2', 'kobuki', 'ros2'] as const;
export type Profile = (typeof PROFILES)[number];

export function profilePath(name: Profile): string {
  return fileURLToPath(new URL(`./profiles/${name}.yaml`, import.meta.url));
}
