/** What can be made to go wrong with the simulated robot's ROS: `deviceagent sim inject ros …`. */
import type { World } from '../world/world.js';
import type { SimRos } from './index.js';

const USAGE =
  'ros abort CODE | silent on|off | lies on|off | inactive NODE on|off | stop odom|scan|tf|battery on|off | cut | mend';
const STREAMS = { odom: 'odometry', scan: 'scan', tf: 'transforms', battery: 'battery' } as const;

/** Answers with one sentence; throws an Error that says what is allowed. */
export function injectRos(world: World, ros: SimRos | null, words: readonly string[]): string {
  if (ros === null) throw new Error('ros: this robot has no ROS; start with --back-end nav2');
  const [what = '', ...rest] = words;
  const answer = apply(ros, what, rest);
  world.tell(`inject ros ${words.join(' ')}`);
  return answer;
}

function apply({ nav2, robot, bridge }: SimRos, what: string, words: readonly string[]): string {
  const last = words[words.length - 1];
  const on = last === 'on';
  switch (what) {
    case 'abort': {
      const code = Number(words[0]);
      if (!Number.isInteger(code) || code < 0)
        throw new Error(`CODE: found "${words[0] ?? ''}"; usage: ${USAGE}`);
      nav2.faults.abortNext = code;
      return `the next goal is aborted with code ${code}`;
    }
    case 'silent':
      nav2.faults.silent = onOff(last);
      return on ? 'goals are taken and nothing is said of them' : 'goals are answered';
    case 'lies':
      nav2.faults.lies = onOff(last);
      return on ? 'Nav2 says that it arrived without driving' : 'Nav2 drives';
    case 'inactive': {
      const node = words[0] ?? '';
      if (onOff(last)) nav2.faults.inactive.add(node);
      else nav2.faults.inactive.delete(node);
      return on ? `${node} is inactive` : `${node} is active`;
    }
    case 'stop': {
      const stream = words[0];
      if (stream !== 'odom' && stream !== 'scan' && stream !== 'tf' && stream !== 'battery')
        throw new Error(`usage: ${USAGE}`);
      robot.faults[STREAMS[stream]] = onOff(last);
      return on ? `${stream} is not published` : `${stream} is published`;
    }
    case 'cut':
      bridge.setRefusing(true);
      return 'the rosbridge is cut off';
    case 'mend':
      bridge.setRefusing(false);
      return 'the rosbridge can be reached';
    default:
      throw new Error(`usage: ${USAGE}`);
  }
}

function onOff(word: string | undefined): boolean {
  if (word !== 'on' && word !== 'off') throw new Error(`found "${word ?? ''}"; allowed are: on, off`);
  return word === 'on';
}
