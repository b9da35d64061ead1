/**
 * Entry of the motion process, forked by the daemon with its configuration as the one argument. It stops the base
 * first and loads the rest of the program afterwards, unless it is started ahead and has the time to load it before.
 */
import { SystemClock } from '../../config/contracts/clock.js';
import { stopBaseFirst } from './first-stop.js';
import { configurationText, HELD } from './held.js';

const machineClock = new SystemClock();
const [, , argument] = process.argv;
if (argument === HELD) await import('./process.js');
const text = await configurationText(argument);
const base = await stopBaseFirst(text, machineClock);
const { runMotionProcess } = await import('./process.js');
await runMotionProcess(machineClock, text, base);
