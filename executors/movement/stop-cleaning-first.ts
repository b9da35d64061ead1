/** A stationary cleaning ends before the robot drives off, and is read back at rest first. */
import type { RunContext } from '../method.js';
import type { Services } from '../services.js';

/** For the motion that is asked for; empty when nothing is being cleaned. */
export function stopCleaningFirst(
  services: Services,
  ctx: RunContext<unknown>,
): { first?: (signal: AbortSignal) => Promise<void> } {
  const { cleaning } = services;
  if (cleaning?.status().running !== true) return {};
  return {
    first: async (signal) => {
      ctx.progress('cleaning.stopping', {});
      await cleaning.stop('the robot is about to move', signal);
      ctx.progress('cleaning.stopped', {});
    },
  };
}
