/** A process that plays the missions it is told, one after the other. */
import { planMission } from './plan.js';
import { playMission } from './play.js';
import type { Family } from './types.js';

process.on('message', (message: { seed: number; only: Family | null }) => {
  playMission(planMission(message.seed, message.only)).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ seed: message.seed, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
