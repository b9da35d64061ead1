#!/usr/bin/env node
/** The `deviceagent` command. */
import { runCli } from './program.js';

const interrupting = new AbortController();
const [command] = process.argv.slice(2);
// The daemon and the simulation stop by their own rules; every other command just stops waiting.
if (command !== 'run' && command !== 'sim') {
  process.once('SIGINT', () => interrupting.abort(new Error('interrupted')));
}
// A reader that had enough (`deviceagent events | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const code = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  interrupted: interrupting.signal,
});
// A daemon or a simulation that could not start is over, whatever of it waits already: its supervisor tries again.
if (command === 'run' || command === 'sim') process.exit(code);
process.exitCode = code;
