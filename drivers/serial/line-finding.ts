/** What is on a serial line that does not work, told from what was heard on it. */
import type { LineFinding } from '../../config/contracts/amr.js';
import { guessKind } from './replay.js';
import type { SerialDriver } from './types.js';

/** Fewer bytes are chatter of a plug, not a device. */
const CHATTER = 8;

/** `nothing`, `garbled` (bytes, and no frame of any device known here), or the device whose frames these are. */
export function heardIn(bytes: Uint8Array): LineFinding['heard'] {
  if (bytes.length < CHATTER) return 'nothing';
  return guessKind(bytes) ?? 'garbled';
}

export function lineFinding(driver: SerialDriver): LineFinding {
  if (driver.connected) return { heard: 'frames', reason: '' };
  const reason = driver.link?.reason ?? '';
  return { heard: heardIn(driver.unknownBytes?.() ?? new Uint8Array(0)), reason };
}
