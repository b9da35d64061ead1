import type { Target } from '../types.js';
import { checksumTargets } from './checksums.js';
import { commandTargets } from './commands.js';
import { fileTargets } from './files.js';
import { httpTarget } from './http.js';
import { mqttTarget } from './mqtt.js';
import { serialTargets } from './serial.js';

/** Everything that takes in what somebody else wrote. */
export const TARGETS: readonly Target[] = [
  ...serialTargets,
  ...checksumTargets,
  ...commandTargets,
  ...fileTargets,
  httpTarget,
  mqttTarget,
];
