/** Making maps, over the channel to the motion process. */
import type { AmrMapping } from '../../config/contracts/amr.js';
import { TaskFailure } from '../../config/contracts/errors.js';
import type { RtAnswer, RtRequest } from '../../config/contracts/rt-protocol.js';

type Ask = (what: string, request: RtRequest, timeoutMs: number) => Promise<RtAnswer | undefined>;

/** Answers are due within this long, ms of robot time. */
const ANSWER_MS = 5_000;
const WRITE_MS = 20_000;

export function mappingOver(ask: Ask): AmrMapping {
  return {
    async start() {
      await ask('startMapping', { op: 'startMapping' }, ANSWER_MS);
    },
    async frontier(request) {
      const result = await ask('frontier', { op: 'frontier', request }, ANSWER_MS);
      if (result !== undefined && 'next' in result) return result;
      throw new TaskFailure('HARDWARE_FAULT', 'the motion process did not say where to explore');
    },
    async write(folder, keep) {
      const result = await ask('writeMapping', { op: 'writeMapping', folder, keep }, WRITE_MS);
      if (result !== undefined && 'bridge' in result) return result;
      throw new TaskFailure('HARDWARE_FAULT', 'the motion process did not say what it has mapped');
    },
    async drop() {
      await ask('dropMapping', { op: 'dropMapping' }, ANSWER_MS);
    },
  };
}
