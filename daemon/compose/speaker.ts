/** The speaker a profile asks for. */
import type { Clock } from '../../config/contracts/clock.js';
import type { Config } from '../../config/schema.js';
import type { Speaker } from '../../drivers/audio/types.js';
import { VirtualSpeaker } from '../../drivers/audio/virtual-speaker.js';

/** Null: what would be said ends `CAPABILITY_UNAVAILABLE`. */
export function createSpeaker(config: Config, clock: Clock): Speaker | null {
  switch (config.speaker) {
    case 'virtual':
      return new VirtualSpeaker(clock);
    case 'none':
      return null;
  }
}
