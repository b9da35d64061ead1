/**
 * Entry of the motion process, forked by the daemon with its configuration as the one argument. It stops the base
 * first and loads the rest of the program afterwards.
 */
import { SystemClock } from '../../config/contracts/clock.js';
import { stopBaseFirst } from './first-stop.js';

const machineClock = new SystemClock();
const base = await stopBaseFirst(process.argv[2], machineClock);
const { runMotionProcess } = await import('./process.js');
await runMotionProcess(machineClock, base);
