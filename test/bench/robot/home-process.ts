/** A simulated home in real time: devices on pseudo-terminals, and a broker. The robot's software is not in it. */
import { SystemClock } from '../../../config/contracts/clock.js';
import { SimSession } from '../../../simulator/session/session.js';
import { childOptions, endWithParent, tell } from '../support/children.js';
import { homeOptions } from './messages.js';

endWithParent();
const { stateDir } = childOptions(homeOptions);
const session = new SimSession({
  stateDir,
  worldFile: null,
  mapFile: null,
  seed: 1,
  speed: 1,
  transport: 'pty',
  mqttPort: 0,
  cloud: false,
  baseWatchdog: false,
  deviceId: 'da-sim',
  wall: new SystemClock(),
  onError: (error) => {
    throw error;
  },
});
await session.start();
await session.run();
process.on('SIGTERM', () => void session.stop().finally(() => process.exit(0)));
await tell({ t: 'home', mqttUrl: session.brokerUrl });
