/** What the robot's work is done with. */
import type { Ids } from '../../config/contracts/ids.js';
import type { Machines } from '../../state-machines/machines.js';
import type { DaemonOptions } from './options.js';
import type { Robot } from './robot.js';
import type { Storage } from './storage.js';

export interface Ground {
  options: DaemonOptions;
  ids: Ids;
  bootId: string;
  robot: Robot;
  storage: Storage;
  machines: Machines;
}
