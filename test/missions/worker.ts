/** A process that runs the missions it is told, one after the other. */
import { runMission } from './run-mission.js';

process.on('message', ({ seed }: { seed: number }) => {
  void runMission(seed).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
