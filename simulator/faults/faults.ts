/**
 * What can be made to go wrong in the simulation, as commands of words: `deviceagent sim inject …`. Everything
 * about the home, the robot's body and its devices is done here; what belongs to others (network, broker,
 * clock) is handed in as further handlers.
 */
import type { Point } from '../../config/contracts/geometry.js';
import { insidePolygon } from '../../config/contracts/geometry.js';
import type { Devices } from '../devices/index.js';
import { DEVICE_NAMES, type DeviceName } from '../types.js';
import { findRoom, type Room } from '../world/layout.js';
import { fits, OBSTACLE_RADIUS, PERSON_RADIUS } from '../world/visitors.js';
import type { World } from '../world/world.js';
import { driveCommands } from './drive-faults.js';
import { stationCommands } from './station-faults.js';

/** Carries out one command; gets the words behind its name. Throws an Error with one sentence when they are wrong. */
export type FaultHandler = (words: readonly string[]) => string | Promise<string>;

export interface Faults {
  /**
   * Carries out a command such as `['person', '거실']`; answers with one sentence that says what was done. Throws
   * an Error whose message says what is allowed.
   */
  apply(command: readonly string[]): string | Promise<string>;
  /** One line per command, for a help text. */
  usage(): string[];
}

export interface FaultsOptions {
  /** Handlers of commands that do not concern the world, by name. */
  extra?: Readonly<Record<string, FaultHandler>>;
}

const EXTRA_USAGE: Readonly<Record<string, string>> = {
  network: 'network up|down',
  broker: 'broker stop|start|restart|half-open',
  clock: 'clock ±SECONDS',
  ros: 'ros abort CODE|silent on|off|lies on|off|inactive NODE on|off|stop odom|scan|tf|battery on|off|cut|mend',
};

interface Command {
  usage: string;
  run: FaultHandler;
}

/** How long a bumper is pressed, a cliff held under the sensors, and the stop button pressed, ms. */
const BUMP_MS = 400;
const CLIFF_MS = 1000;
const BUTTON_MS = 1000;

export function createFaults(world: World, devices: Devices, options: FaultsOptions = {}): Faults {
  const commands: Record<string, Command> = commandsOf(world, devices);
  for (const [name, run] of Object.entries(options.extra ?? {})) {
    commands[name] = { usage: EXTRA_USAGE[name] ?? name, run };
  }
  return {
    apply: ([name = '', ...words]) => {
      const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
      if (command === undefined) {
        throw new Error(`unknown fault "${name}"; known are: ${Object.keys(commands).join(', ')}`);
      }
      return command.run(words);
    },
    usage: () => Object.values(commands).map((c) => c.usage),
  };
}

function commandsOf(world: World, devices: Devices): Record<string, Command> {
  return {
    ...homeCommands(world),
    ...bodyCommands(world, devices),
    ...driveCommands(world),
    ...stationCommands(world),
    ...lineCommands(world, devices),
  };
}

/** People, air, light and things in the way. */
function homeCommands(world: World): Record<string, Command> {
  return {
    person: {
      usage: 'person ROOM',
      run: (words) => {
        const { room } = roomOf(world, words, 'person ROOM');
        const spot = standingSpot(world, room.person, (p) => insidePolygon(p, room.polygon));
        if (spot === null) throw new Error(`there is no room for a person in ${room.name}`);
        world.visitors.addPerson(spot);
        return told(world, `person ${room.name}`, `a person stands in ${room.name} at ${at(spot)}`);
      },
    },
    'remove-person': {
      usage: 'remove-person',
      run: (words) => {
        none(words, 'remove-person');
        const n = world.visitors.removePeople();
        return told(world, 'remove-person', whoLeft(n));
      },
    },
    'person-walks': {
      usage: 'person-walks SPEED X Y X Y…   (m/s; metres in the map: from the first point over the others)',
      run: (words) => {
        if (words.length < 5 || words.length % 2 === 0) throw new Error('usage: person-walks SPEED X Y X Y…');
        const { minX, maxX, minY, maxY } = world.layout.bounds;
        const speed = number(words[0], 'SPEED', 0.05, 2);
        const points: Point[] = [];
        for (let i = 1; i < words.length; i += 2) {
          points.push({ x: number(words[i], 'X', minX, maxX), y: number(words[i + 1], 'Y', minY, maxY) });
        }
        const [from, ...walk] = points;
        if (from === undefined || !fits(world.layout, from, PERSON_RADIUS, world.body.pose)) {
          throw new Error('a person does not fit at the first point: something is there');
        }
        world.visitors.addPerson(from, { walk, speed, again: false });
        return told(
          world,
          `person-walks ${words.join(' ')}`,
          `a person walks from ${at(from)} at ${speed} m/s`,
        );
      },
    },
    'dirty-air': {
      usage: 'dirty-air ROOM PM25   (µg/m³, 0…1000)',
      run: (words) => {
        const { index, room } = roomOf(world, words, 'dirty-air ROOM PM25', 1);
        const pm2_5 = number(words[words.length - 1], 'PM25', 0, 1000);
        world.air.makeDirty(index, pm2_5);
        return told(world, `dirty-air ${room.name} ${pm2_5}`, `PM2.5 in ${room.name} is now ${pm2_5} µg/m³`);
      },
    },
    dark: {
      usage: 'dark ROOM [on|off]',
      run: (words) => {
        const last = words[words.length - 1];
        const given = last === 'on' || last === 'off';
        const { room } = roomOf(world, words, 'dark ROOM [on|off]', given ? 1 : 0);
        if (last === 'off') world.darkRooms.delete(room.id);
        else world.darkRooms.add(room.id);
        const state = last === 'off' ? 'light' : 'dark';
        return told(world, `${state} ${room.name}`, `it is ${state} in ${room.name}`);
      },
    },
    obstacle: {
      usage: 'obstacle X Y   (metres in the map) | obstacle clear',
      run: (words) => {
        if (words.length === 1 && words[0] === 'clear') {
          const n = world.visitors.removeObstacles();
          return told(world, 'obstacle clear', whatLeft(n));
        }
        if (words.length !== 2) throw new Error('usage: obstacle X Y | obstacle clear');
        const { minX, maxX, minY, maxY } = world.layout.bounds;
        const spot = { x: number(words[0], 'X', minX, maxX), y: number(words[1], 'Y', minY, maxY) };
        const radius = OBSTACLE_RADIUS;
        if (!fits(world.layout, spot, radius, world.body.pose)) {
          throw new Error(
            `an obstacle of ${radius} m radius does not fit at ${at(spot)}: something is there`,
          );
        }
        world.visitors.addObstacle(spot);
        return told(
          world,
          `obstacle ${spot.x} ${spot.y}`,
          `an obstacle of ${radius} m radius stands at ${at(spot)}`,
        );
      },
    },
  };
}

/** The robot's body. */
function bodyCommands(world: World, devices: Devices): Record<string, Command> {
  return {
    battery: {
      usage: 'battery PCT   (0…100)',
      run: (words) => {
        const percent = number(one(words, 'battery PCT'), 'PCT', 0, 100);
        world.battery.set(percent);
        return told(world, `battery ${percent}`, `the battery is at ${percent} %`);
      },
    },
    'worn-battery': {
      usage: 'worn-battery TIMES   (how many times faster it runs empty, 1…100)',
      run: (words) => {
        const times = number(one(words, 'worn-battery TIMES'), 'TIMES', 1, 100);
        world.battery.wear = times;
        return told(world, `worn-battery ${times}`, `the battery runs empty ${times} times faster`);
      },
    },
    'block-wheels': {
      usage: 'block-wheels on|off',
      run: (words) => {
        const on = choice(one(words, 'block-wheels on|off'), ['on', 'off']) === 'on';
        world.body.wheelsBlocked = on;
        return told(
          world,
          `block-wheels ${on ? 'on' : 'off'}`,
          on ? 'the wheels are held fast' : 'the wheels are free',
        );
      },
    },
    'block-lidar': {
      usage: 'block-lidar DEG   (width of the covered sector in front, 0…360; 0 uncovers)',
      run: (words) => {
        const degrees = number(one(words, 'block-lidar DEG'), 'DEG', 0, 360);
        world.lidar.blockedSector = (degrees * Math.PI) / 180;
        return told(
          world,
          `block-lidar ${degrees}`,
          degrees === 0 ? 'the lidar is uncovered' : `${degrees}° in front of the lidar are covered`,
        );
      },
    },
    bump: {
      usage: 'bump left|right',
      run: (words) => {
        const side = choice(one(words, 'bump left|right'), ['left', 'right']);
        world.body.stimulate(side === 'left' ? 'bumpLeft' : 'bumpRight', BUMP_MS);
        return told(world, `bump ${side}`, `the ${side} bumper is pressed for ${BUMP_MS / 1000} s`);
      },
    },
    cliff: {
      usage: 'cliff',
      run: (words) => {
        none(words, 'cliff');
        world.body.stimulate('cliff', CLIFF_MS);
        return told(world, 'cliff', `the cliff sensors see no floor for ${CLIFF_MS / 1000} s`);
      },
    },
    estop: {
      usage: 'estop   (presses the stop button of the base, CLEAN or B0, for a second)',
      run: (words) => {
        none(words, 'estop');
        devices.base.pressStop(BUTTON_MS);
        return told(world, 'estop', 'the stop button on the robot was pressed');
      },
    },
  };
}

/** The serial lines of the devices. */
function lineCommands(world: World, devices: Devices): Record<string, Command> {
  return {
    unplug: {
      usage: `unplug ${DEVICE_NAMES.join('|')}`,
      run: (words) => {
        const name = device(one(words, `unplug ${DEVICE_NAMES.join('|')}`));
        if (!devices.byName[name].end.plugged) return `${name} was unplugged already`;
        devices.byName[name].unplug();
        return told(world, `unplug ${name}`, `${name} is unplugged`);
      },
    },
    plug: {
      usage: `plug ${DEVICE_NAMES.join('|')}`,
      run: (words) => {
        const name = device(one(words, `plug ${DEVICE_NAMES.join('|')}`));
        if (devices.byName[name].end.plugged) return `${name} was plugged in already`;
        devices.byName[name].plug();
        return told(world, `plug ${name}`, `${name} is plugged in`);
      },
    },
    noise: {
      usage: 'noise base|lidar RATE   (share of frames with wrong bits, 0…1)',
      run: (words) => {
        if (words.length !== 2) throw new Error('usage: noise base|lidar RATE');
        const name = choice(words[0] ?? '', ['base', 'lidar']);
        const rate = number(words[1], 'RATE', 0, 1);
        devices.byName[name].faults.noise = rate;
        return told(
          world,
          `noise ${name} ${rate}`,
          `${Math.round(rate * 100)} % of the frames of ${name} are damaged`,
        );
      },
    },
  };
}

/** Puts a fault on the world's trace; answers for the person who asked for it. */
function told(world: World, text: string, answer: string): string {
  world.tell(`inject ${text}`);
  return answer;
}

/** The room named by all words but the last `rest`. */
function roomOf(
  world: World,
  words: readonly string[],
  usage: string,
  rest = 0,
): { index: number; room: Room } {
  if (words.length <= rest) throw new Error(`usage: ${usage}`);
  const index = findRoom(world.layout, words.slice(0, words.length - rest).join(' '));
  const room = world.layout.rooms[index];
  if (room === undefined) throw new Error(`usage: ${usage}`);
  return { index, room };
}

/** The wished spot, or the nearest one on rings around it where a person fits. */
function standingSpot(world: World, wished: Point, allowed: (p: Point) => boolean): Point | null {
  for (let ring = 0; ring <= 20; ring++) {
    for (let i = 0; i < Math.max(1, 8 * ring); i++) {
      const angle = (2 * Math.PI * i) / Math.max(1, 8 * ring);
      const p = { x: wished.x + 0.1 * ring * Math.cos(angle), y: wished.y + 0.1 * ring * Math.sin(angle) };
      if (!allowed(p) || !fits(world.layout, p, PERSON_RADIUS, world.body.pose)) continue;
      const { people, obstacles } = world.visitors;
      const isClear = (t: { x: number; y: number; radius: number }) =>
        Math.hypot(t.x - p.x, t.y - p.y) > t.radius + PERSON_RADIUS;
      if (people.every(isClear) && obstacles.every(isClear)) return p;
    }
  }
  return null;
}

function at(p: Point): string {
  return `(${p.x.toFixed(2)}, ${p.y.toFixed(2)})`;
}

function one(words: readonly string[], usage: string): string {
  const [word] = words;
  if (words.length !== 1 || word === undefined) throw new Error(`usage: ${usage}`);
  return word;
}

function whoLeft(people: number): string {
  if (people === 0) return 'nobody was there';
  return people === 1 ? 'the person went away' : `all ${people} people went away`;
}

function whatLeft(obstacles: number): string {
  if (obstacles === 0) return 'nothing was in the way';
  return obstacles === 1 ? 'the obstacle was taken away' : `${obstacles} obstacles were taken away`;
}

function none(words: readonly string[], usage: string): void {
  if (words.length !== 0) throw new Error(`usage: ${usage}`);
}

function number(word: string | undefined, name: string, min: number, max: number): number {
  const value = word === undefined || word.trim() === '' ? Number.NaN : Number(word);
  if (value >= min && value <= max) return value;
  throw new Error(`${name}: found "${word ?? ''}"; it must be a number from ${min} to ${max}`);
}

function choice<T extends string>(word: string, allowed: readonly T[]): T {
  const found = allowed.find((a) => a === word);
  if (found !== undefined) return found;
  throw new Error(`found "${word}"; allowed are: ${allowed.join(', ')}`);
}

function device(word: string): DeviceName {
  return choice(word, DEVICE_NAMES);
}
