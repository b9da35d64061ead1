/** What goes wrong in a home now and then, and how each of it passes. */
import type { SoakRobot } from './robot.js';

export interface Trouble {
  what: string;
  begin: readonly string[];
  /** Null: it passes by itself. */
  end: readonly string[] | null;
  /** Robot time it lasts, ms. */
  lastsMs: number;
}

const ROOMS = ['거실', '안방', '주방', '현관'];

type Make = (random: () => number) => Trouble;

const KINDS: readonly Make[] = [
  (random) => trouble('a person walks in', ['person', room(random)], ['remove-person'], 60, random),
  (random) =>
    trouble('bad air', ['dirty-air', room(random), String(20 + Math.floor(random() * 180))], null, 1, random),
  (random) => trouble('network down', ['network', 'down'], ['network', 'up'], 300, random),
  (random) => trouble('broker gone', ['broker', 'stop'], ['broker', 'start'], 120, random),
  (random) => trouble('broker restarts', ['broker', 'restart'], null, 1, random),
  (random) => trouble('half-open connection', ['broker', 'half-open'], ['broker', 'restart'], 60, random),
  (random) => trouble('lidar unplugged', ['unplug', 'lidar'], ['plug', 'lidar'], 20, random),
  (random) => trouble('base unplugged', ['unplug', 'base'], ['plug', 'base'], 20, random),
  (random) => trouble('air sensor unplugged', ['unplug', 'air'], ['plug', 'air'], 120, random),
  (random) => trouble('fan unplugged', ['unplug', 'fan'], ['plug', 'fan'], 40, random),
  (random) => trouble('blocked wheels', ['block-wheels', 'on'], ['block-wheels', 'off'], 20, random),
  (random) => trouble('covered lidar', ['block-lidar', '120'], ['block-lidar', '0'], 20, random),
  (random) =>
    trouble('noise on the lidar line', ['noise', 'lidar', '0.05'], ['noise', 'lidar', '0'], 60, random),
  (random) =>
    trouble('noise on the base line', ['noise', 'base', '0.02'], ['noise', 'base', '0'], 60, random),
  (random) => trouble('a bump', ['bump', random() < 0.5 ? 'left' : 'right'], null, 1, random),
  (random) => trouble('an empty battery', ['battery', '12'], ['battery', '90'], 120, random),
  (random) => trouble('the stop button', ['estop'], null, 1, random),
  (random) =>
    trouble('the clock is set', ['clock', String(Math.floor((random() - 0.5) * 7200))], null, 1, random),
];

export function nextTrouble(random: () => number): Trouble {
  const make = KINDS[Math.floor(random() * KINDS.length)];
  if (make === undefined) throw new Error('no trouble');
  return make(random);
}

/** Whatever is still wrong is put right, as far as somebody in the home could. */
export async function mendAll(robot: SoakRobot): Promise<void> {
  const cures = [
    ['network', 'up'],
    ['broker', 'start'],
    ...['lidar', 'base', 'air', 'fan'].map((part) => ['plug', part]),
    ['block-wheels', 'off'],
    ['block-lidar', '0'],
    ['noise', 'lidar', '0'],
    ['noise', 'base', '0'],
    ['battery', '95'],
    ['remove-person'],
  ];
  for (const cure of cures) await attempt(robot, cure);
  await robot.api('POST', '/api/estop/release', {});
}

/** What has passed already cannot be undone again: that is no failure. */
export async function attempt(robot: SoakRobot, words: readonly string[]): Promise<boolean> {
  try {
    await robot.inject(...words);
    return true;
  } catch (error) {
    if (robot.ended !== null) throw error;
    return false;
  }
}

function trouble(
  what: string,
  begin: readonly string[],
  end: readonly string[] | null,
  seconds: number,
  random: () => number,
): Trouble {
  return { what, begin, end, lastsMs: Math.round((0.2 + 0.8 * random()) * seconds * 1000) };
}

function room(random: () => number): string {
  return ROOMS[Math.floor(random() * ROOMS.length)] ?? '거실';
}
