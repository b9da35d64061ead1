/** From the byte that reports a bumper to the bytes that stop the wheels, and the control loop meanwhile. */
import { join } from 'node:path';
import { SystemClock } from '../../../config/contracts/clock.js';
import { saveMapBundle } from '../../../drivers/amr/map/bundle.js';
import { goBeforeOthers } from '../../../drivers/rt/precedence.js';
import { ptyPort } from '../../../simulator/ports/pty.js';
import { Create2Peer } from '../../support/rt/create2-peer.js';
import { Ld19Peer } from '../../support/rt/ld19-peer.js';
import { farPairs, largeMap, MIDDLE, ROUND_ROOM_M } from '../compute/large-map.js';
import type { Bench } from '../report.js';
import { Child } from '../support/children.js';
import { median, percentile, round, wait } from '../support/stats.js';
import { BumperTrials, type Trial } from './bumper-trials.js';
import { type RobotReport, robotReady, robotReport } from './messages.js';

/** Besides: localising, and commits of half a second. Voice and vision are their arithmetic in worker threads. */
const LOAD = 'voice+vision+plan';
const COMMIT_MS = 500;
const COMMIT_EVERY_MS = 1500;
const PLANS_AT_ONCE = 2;
const CONTROL_HZ = 20;

export const estopBench: Bench = {
  groups: ['estop', 'control'],
  method:
    'The forked motion process with its planner thread on pseudo-terminals, under a process with the real client, beat ' +
    'thread and store: turning, localising, two plans on 1000 × 1000 cells under way all the time, a commit of 500 ms ' +
    'every 1.5 s, and two worker threads with the arithmetic of a wake word and of a detector at ten pictures a second. A frame with the bumper is written to the terminal at random moments, left and right in turn; the clock ' +
    'runs from before that write until "drive 0 0" was read back. Control: lateness of the 20 Hz cycles over the last ' +
    'minute, and cycles left out, from the counters of the motion process.',
  async run({ quick, dir, progress }) {
    const trials = quick ? 60 : 500;
    // This process stands for the base's electronics, which wait for no scheduler.
    goBeforeOthers();
    const rig = openRig(dir);
    const robot = startRobot(dir);
    try {
      await robot.next(robotReady, 'a robot that may drive', 30_000);
      // Code is compiled, the robot localised.
      await wait(5_000);
      const before = await latestReport(robot);
      const seen: Trial[] = [];
      for (let n = 0; n < trials; n++) {
        seen.push(await rig.trials.press(n % 2 === 0 ? 'bumpLeft' : 'bumpRight'));
        if (n % 100 === 99) progress(`${n + 1} presses`);
      }
      const after = await latestReport(robot);
      return resultOf(seen, before, after);
    } finally {
      await robot.stop();
      rig.close();
    }
  },
};

function openRig(dir: string) {
  const clock = new SystemClock();
  const base = ptyPort('base', join(dir, 'dev'));
  const lidar = ptyPort('lidar', join(dir, 'dev'));
  const basePeer = new Create2Peer(base, clock);
  const lidarPeer = new Ld19Peer(lidar, clock);
  lidarPeer.distance = ROUND_ROOM_M * 1000;
  const stopPolling = clock.every(1, () => {
    base.poll();
    lidar.poll();
  });
  return {
    trials: new BumperTrials(base, basePeer, clock),
    close: () => {
      stopPolling();
      basePeer.close();
      lidarPeer.close();
      base.close();
      lidar.close();
    },
  };
}

function startRobot(dir: string): Child {
  const mapYaml = join(dir, 'map.yaml');
  saveMapBundle(mapYaml, largeMap());
  const port = (name: string, baud_rate: number) => ({
    kind: 'serial',
    path: join(dir, 'dev', name),
    baud_rate,
  });
  const options = {
    rt: {
      stateDir: dir,
      base: { driver: 'create2', port: port('base', 115_200) },
      lidar: { driver: 'ld19', port: port('lidar', 230_400) },
      motion: {},
    },
    mapYaml,
    pose: MIDDLE,
    plans: farPairs(),
    plansAtOnce: PLANS_AT_ONCE,
    commitMs: COMMIT_MS,
    commitEveryMs: COMMIT_EVERY_MS,
  };
  return Child.start(import.meta.url, './loaded-robot.js', { args: [JSON.stringify(options)] });
}

/** The one that comes next: what waits in the inbox is from before. */
async function latestReport(robot: Child): Promise<RobotReport> {
  robot.forget();
  return robot.next(robotReport, 'its report', 10_000);
}

function resultOf(trials: readonly Trial[], before: RobotReport, after: RobotReport) {
  const ms = trials.map((trial) => trial.ms);
  const driving = trials.filter((trial) => trial.driving).map((trial) => trial.ms);
  const count = (name: string) => (after.rt[name] ?? 0) - (before.rt[name] ?? 0);
  const moved = (name: 'plans' | 'slowCommits' | 'heard' | 'seen') => after[name] > before[name];
  if (!moved('plans') || !moved('slowCommits') || !moved('heard') || !moved('seen')) {
    throw new Error('the load was not there');
  }
  return {
    figures: {
      estop: {
        p50_ms: round(median(ms), 2),
        p99_ms: round(percentile(ms, 0.99), 2),
        max_ms: round(Math.max(...ms), 2),
        load: LOAD,
      },
      control: {
        hz: CONTROL_HZ,
        jitter_p99_ms: round((after.rt.control_late_p99_us ?? Number.NaN) / 1000, 2),
        missed: count('control_missed'),
      },
    },
    notes: [
      `${ms.length} presses, ${driving.length} of them while the wheels were driven` +
        (driving.length === 0 ? '' : ` (their p99 ${percentile(driving, 0.99).toFixed(2)} ms)`),
      `meanwhile ${after.plans - before.plans} plans (${(after.planMs ?? 0).toFixed(0)} ms each, two at a time) and ` +
        `${after.slowCommits - before.slowCommits} commits of ${COMMIT_MS} ms, ` +
        `${after.heard - before.heard} × 80 ms of sound and ${after.seen - before.seen} pictures; ${count('control_cycles')} control cycles; ` +
        `localised: ${after.localized}`,
    ],
  };
}
