/** What can be made to go wrong with the charging station, and with a robot that stands on it. */
import { compose } from '../../config/contracts/geometry.js';
import { moveDock } from '../world/layout.js';
import type { World } from '../world/world.js';

export interface StationCommand {
  usage: string;
  run: (words: readonly string[]) => string;
}

const SWITCHED = ['power', 'contacts'] as const;
const INFRARED = ['on', 'off', 'mirrored'] as const;
const STATION =
  'station power on|off | station contacts on|off | station infrared on|off|mirrored | station move OUT LEFT [DEG]';
const PUSH = 'push AHEAD LEFT [DEG]';
/** Farther than this a station is not moved by a broom, nor a robot by a foot, m; and not turned more, degrees. */
const FAR = 1;
const TURNED = 90;

export function stationCommands(world: World): Record<string, StationCommand> {
  return {
    station: {
      usage: `${STATION}   (m out of the wall and to its left as it looks into the room, degrees to the left)`,
      run: (words) => setStation(world, words),
    },
    push: {
      usage: `${PUSH}   (somebody shoves the robot: m ahead and to its left, degrees to the left)`,
      run: (words) => push(world, words),
    },
  };
}

function setStation(world: World, words: readonly string[]): string {
  const [what, ...rest] = words;
  if (world.layout.dock === null) throw new Error('this home has no station');
  if (what === 'move') return moveStation(world, rest);
  const [state] = rest;
  const part = SWITCHED.find((one) => one === what);
  if (rest.length === 1 && part !== undefined && (state === 'on' || state === 'off')) {
    world.station[part === 'power' ? 'powered' : 'contacts'] = state === 'on';
    return told(world, `station ${part} ${state}`, `${part} of the station: ${state}`);
  }
  const beams = INFRARED.find((one) => one === state);
  if (rest.length !== 1 || what !== 'infrared' || beams === undefined) throw new Error(`usage: ${STATION}`);
  world.station.infrared = beams;
  return told(world, `station infrared ${beams}`, `infrared of the station: ${beams}`);
}

function moveStation(world: World, words: readonly string[]): string {
  const [x, y, theta] = offset(words, `usage: ${STATION}`);
  moveDock(world.layout, { x, y, theta });
  return told(world, `station move ${words.join(' ')}`, `the station was moved by ${words.join(' ')}`);
}

function push(world: World, words: readonly string[]): string {
  const [x, y, theta] = offset(words, `usage: ${PUSH}`);
  world.place(compose(world.body.pose, { x, y, theta }));
  return told(world, `push ${words.join(' ')}`, `the robot was pushed by ${words.join(' ')}`);
}

/** Metres, metres, radians. */
function offset(words: readonly string[], usage: string): [number, number, number] {
  const numbers = words.map((word) => (word.trim() === '' ? Number.NaN : Number(word)));
  const [x = Number.NaN, y = Number.NaN, degrees = 0] = numbers;
  const good = Math.abs(x) <= FAR && Math.abs(y) <= FAR && Math.abs(degrees) <= TURNED;
  if (!good || words.length > 3) {
    throw new Error(`found "${words.join(' ')}"; within ±${FAR} m and ±${TURNED}°; ${usage}`);
  }
  return [x, y, (degrees * Math.PI) / 180];
}

function told(world: World, text: string, answer: string): string {
  world.tell(`inject ${text}`);
  return answer;
}
