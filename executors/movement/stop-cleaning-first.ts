/** A stationary cleaning ends before the robot drives off, and is read back at rest first. */
import type { RunContext } from '../method.js';
import type { Services } from '../services.js';

export async function stopCleaningFirst(services: Services, ctx: RunContext<unknown>): Promise<void> {
  if (services.cleaning?.status().running !== true) return;
  ctx.progress('cleaning.stopping', {});
  await services.cleaning.stop('the robot is about to move', ctx.signal);
  ctx.progress('cleaning.stopped', {});
}
