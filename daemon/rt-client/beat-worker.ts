/**
 * Entry of the beat thread: it passes on to the motion process, over a socket of its own, that the main loop has come
 * round, at once and only then; so the motion process counts its limit from the main loop's own last sign of life.
 * While the main loop is held up by a commit, and for a moment when the machine has no processor for it, the thread
 * speaks for it. It holds nothing else, so nothing else can make it late.
 */
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { SystemClock } from '../../config/contracts/clock.js';
import { HEARTBEAT_EVERY_MS } from '../../config/contracts/rt-protocol.js';
import { beatLines, heartbeatLine, parseHeartbeat } from '../../drivers/rt/heartbeat-line.js';
import { CommitExcuse, Liveness, StarvationExcuse } from './liveness.js';
import { seeMainThread } from './main-thread.js';

/** What `beat-sender.ts` hands to the thread. */
export interface BeatWorkerData {
  socketPath: string;
  shared: SharedArrayBuffer;
}

const data: BeatWorkerData = workerData;

const clock = new SystemClock();
const liveness = new Liveness(data.shared);
const commits = new CommitExcuse();
const starvation = new StarvationExcuse();
let lastRound = clock.mono();
let beat = 0;
let line: Socket | null = null;
let ready = false;

/** On Linux a priority belongs to a thread, and 0 names the one that asks. Needs CAP_SYS_NICE. */
function goBeforeOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, constants.priority.PRIORITY_HIGH);
  } catch {
    // Not allowed: on an overloaded machine a beat may be late, and the robot then stops once too often.
  }
}

function open(): void {
  const socket = connect(data.socketPath);
  line = socket;
  socket.setEncoding('utf8');
  const take = beatLines(
    (text) => {
      if (parseHeartbeat(text) !== null) liveness.answered();
    },
    () => socket.destroy(),
  );
  socket.on('connect', () => {
    ready = true;
  });
  socket.on('data', (text: string) => take(text));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    line = null;
    ready = false;
  });
}

function sendBeat(): void {
  // One that is still unsent says the same.
  if (line !== null && ready && line.writableLength === 0) line.write(heartbeatLine(++beat));
}

/** The main loop has come round. */
function cameRound(): void {
  lastRound = clock.mono();
  starvation.reset();
  sendBeat();
}

/** Whether the main loop, which should have come round by now, is kept from it by what is no fault of its own. */
function isExcused(): boolean {
  const mono = clock.mono();
  if (commits.holds(mono, liveness.commit)) return true;
  const late = mono - lastRound;
  return late > HEARTBEAT_EVERY_MS && starvation.holds(mono, late, seeMainThread());
}

goBeforeOthers();
parentPort?.on('message', cameRound);
clock.every(HEARTBEAT_EVERY_MS, () => {
  if (line === null) open();
  else if (isExcused()) sendBeat();
});
