/**
 * Serves the console around the `FakeRuntime` with a robot that drives its path over and over, to look at the
 * page without a simulation: prints one address per line asked for. Arguments: `--state-dir DIR`, and any of
 * `estop`, `stale`, `unknown`, `empty` to put it into that state.
 */
import { SystemClock } from '../../../config/contracts/clock.js';
import { createApi } from '../../../daemon/api/api.js';
import { FakeRuntime } from './fake-runtime.js';
import { PATH_TO_BEDROOM } from './home-map.js';
import { taskEvent } from './work.js';

const [stateDir = '', ...states] = process.argv.slice(2);
const runtime = new FakeRuntime(stateDir, new SystemClock());
const api = createApi(runtime, { tcp: { port: 0 } });

/** Shifts the recorded story so that it began a minute ago. */
function makeRecent(): void {
  const shift = Date.now() - 40_000 - Math.min(...runtime.workflowRecords.map((w) => w.createdAt));
  const moved = (t: number | null) => (t === null ? null : t + shift);
  for (const record of [
    ...runtime.taskRecords,
    ...runtime.workflowRecords,
    ...runtime.workflowRecords.flatMap((w) => w.steps),
  ]) {
    if ('createdAt' in record) record.createdAt += shift;
    if ('startedAt' in record) record.startedAt = moved(record.startedAt);
    record.endedAt = moved(record.endedAt);
  }
}

let travelled = 1.2;
function drive(): void {
  const { robot } = runtime;
  if (robot === null || states.includes('stale')) return;
  if (!robot.safety.estop.latched) travelled = (travelled + 0.04) % 5.2;
  let left = travelled;
  for (let i = 0; i + 1 < PATH_TO_BEDROOM.length; i++) {
    const [a, b] = [PATH_TO_BEDROOM[i], PATH_TO_BEDROOM[i + 1]];
    if (a === undefined || b === undefined) return;
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    if (left > length) {
      left -= length;
      continue;
    }
    const share = left / length;
    robot.pose = { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share, theta: a.theta };
    runtime.path = [robot.pose, ...PATH_TO_BEDROOM.slice(i + 1)];
    break;
  }
  const now = Date.now();
  robot.at = now;
  robot.poseAt = now;
  robot.lidar.lastScanAt = now;
  robot.base.lastFrameAt = now;
  if (robot.base.battery !== null) robot.base.battery.at = now - 700;
  runtime.facts.last_publish_ack_at = now - 900;
}

makeRecent();
if (states.includes('unknown')) {
  runtime.robot = null;
  runtime.air = { pm2_5: null, source_state: 'warming_up' };
}
if (states.includes('empty')) {
  runtime.mapView = null;
  runtime.taskRecords = [];
  runtime.workflowRecords = [];
  runtime.events.length = 0;
}
await api.start();
if (states.includes('estop')) await runtime.estop('console');
setInterval(drive, 150);
setInterval(() => {
  runtime.taskEvents.emit(
    taskEvent({
      event: 'PROGRESS',
      domain_stage: 'navigation.driving',
      progress: { remaining_m: 5.2 - travelled },
    }),
  );
}, 1000);
process.stdin.on('data', () => console.log(api.consoleAddress()));
console.log(api.consoleAddress());
