/**
 * Entry of the beat thread: as long as the main loop is alive it sends heartbeats to the motion process, over a
 * socket of its own. It holds nothing else, so nothing else can make it late.
 */
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { SystemClock } from '../../config/contracts/clock.js';
import { HEARTBEAT_EVERY_MS } from '../../config/contracts/rt-protocol.js';
import { beatLines, heartbeatLine, parseHeartbeat } from '../../drivers/rt/heartbeat-line.js';
import { Liveness, LivenessJudge } from './liveness.js';

/** What `beat-sender.ts` hands to the thread. */
export interface BeatWorkerData {
  socketPath: string;
  shared: SharedArrayBuffer;
}

const data: BeatWorkerData = workerData;

const clock = new SystemClock();
const liveness = new Liveness(data.shared);
const judge = new LivenessJudge();
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

goBeforeOthers();
clock.every(HEARTBEAT_EVERY_MS, () => {
  const alive = judge.alive(clock.mono(), liveness.progress, liveness.commit);
  if (line === null) open();
  else if (ready && alive && line.writableLength === 0) line.write(heartbeatLine(++beat));
});
