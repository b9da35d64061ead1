/** What each family of missions is made of. Everything comes from the mission's own randomness. */
import type { Point } from '../../config/contracts/geometry.js';
import { anyPlace, home } from './places.js';
import {
  between,
  carriedOff,
  contact,
  covered,
  doorCloses,
  injected,
  lidarTrouble,
  obstacleAhead,
  person,
  pick,
  stopButton,
  unplugged,
  wheelTrouble,
} from './troubles.js';
import type { Family, Leg, Place, Trouble } from './types.js';

export interface Plan {
  place: Place;
  legs: Leg[];
  /** A base that stops by itself when its line is silent. */
  baseWatchdog: boolean;
  /** Rooms by name instead of a point, where given: for doors that have to lie on the way. */
  rooms: readonly (string | null)[];
  /** What is wrong while the robot goes home. */
  homeward: Trouble[];
  /** The robot goes home by itself. */
  goesHomeItself: boolean;
  /** Carried off before the first leg, as it stands on its station. */
  carriedOffStation: boolean;
}

/** Doors of the simulator's home that are the only way into a room: jamb to jamb. */
const DOORS: readonly { room: string; line: readonly [Point, Point] }[] = [
  {
    room: '안방',
    line: [
      { x: 3.4, y: 3.5 },
      { x: 3.4, y: 4.3 },
    ],
  },
  {
    room: '주방',
    line: [
      { x: 6.4, y: 1.4 },
      { x: 6.4, y: 2.4 },
    ],
  },
  {
    room: '작은방',
    line: [
      { x: 6.4, y: 4.5 },
      { x: 6.4, y: 5.12 },
    ],
  },
  {
    room: '현관',
    line: [
      { x: 1.9, y: 1.5 },
      { x: 1.9, y: 2.4 },
    ],
  },
];
const DARK_ROOMS = ['거실', '안방', '주방', '작은방', '현관'] as const;

export function planMission(family: Family, random: () => number): Plan {
  const drawn = anyPlace(random);
  const legs = (...troubles: Trouble[][]): Leg[] => troubles.map((t) => ({ troubles: t, expect: null }));
  const plan: Plan = {
    place: drawn,
    legs: [],
    baseWatchdog: random() < 0.5,
    rooms: [],
    homeward: [],
    goesHomeItself: false,
    carriedOffStation: false,
  };
  const several = (make: (random: () => number) => Trouble) =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => make(random));
  switch (family) {
    case 'plain':
      return { ...plan, legs: legs([], [], []) };
    case 'obstacles':
      return { ...plan, legs: legs(several(obstacleAhead), several(obstacleAhead)) };
    case 'people':
      return { ...plan, legs: legs(several(person), several(person)) };
    case 'doors':
      return closedDoor(plan, random);
    case 'lidar':
      return { ...plan, legs: legs([lidarTrouble(random)], [lidarTrouble(random)]) };
    case 'wheels':
      return { ...plan, legs: legs([wheelTrouble(random)], [wheelTrouble(random)]) };
    case 'lines':
      return { ...plan, baseWatchdog: true, legs: legs([unplugged(random)], []) };
    case 'covered':
      return { ...plan, legs: legs([covered(random)], []) };
    case 'battery':
      return runningLow(plan, random);
    case 'kidnap':
      return carried(plan, random);
    case 'dark':
      return inTheDark(plan, random);
    case 'contact':
      return { ...plan, legs: legs(several(contact), several(contact)) };
    case 'refused':
      return {
        ...plan,
        legs: [
          { troubles: [], expect: null, impossible: true },
          { troubles: [], expect: null },
        ],
      };
    case 'stopped':
      return { ...plan, legs: legs([stopButton(random)], []) };
    case 'docking':
      return {
        ...plan,
        legs: legs([]),
        homeward: several(obstacleAhead).map((t) => ({ ...t, lastsMs: t.lastsMs ?? 20_000 })),
      };
  }
}

/** A door closes before the robot is through; it opens again, or it does not. */
function closedDoor(plan: Plan, random: () => number): Plan {
  plan.place.cleanUp();
  const door = pick(DOORS, random);
  const opens = random() < 0.5;
  const trouble = doorCloses(
    door.line,
    between(0.1, 0.6, random),
    opens ? between(8, 25, random) * 1000 : null,
  );
  return {
    ...plan,
    place: home(),
    rooms: [door.room],
    legs: [{ troubles: [trouble], expect: null }],
  };
}

function runningLow(plan: Plan, random: () => number): Plan {
  const percent = Math.round(between(9, 14, random));
  const trouble = injected(`the battery is at ${percent} %`, {
    begin: ['battery', String(percent)],
    afterM: between(0.5, 3, random),
    lastsMs: null,
    excuses: ['LOW_BATTERY'],
  });
  return { ...plan, legs: [{ troubles: [trouble], expect: 'LOW_BATTERY' }], goesHomeItself: true };
}

function carried(plan: Plan, random: () => number): Plan {
  if (random() < 0.3) return { ...plan, legs: [{ troubles: [], expect: null }], carriedOffStation: true };
  const trouble = carriedOff(random, random() < 0.5);
  return {
    ...plan,
    legs: [
      { troubles: [trouble], expect: null },
      { troubles: [], expect: null },
    ],
  };
}

/** The lidar brings its own light. */
function inTheDark(plan: Plan, random: () => number): Plan {
  plan.place.cleanUp();
  const dark = DARK_ROOMS.map((room) =>
    injected(`it is dark in ${room}`, { begin: ['dark', room, 'on'], afterM: 0, lastsMs: null }),
  );
  return {
    ...plan,
    place: home(),
    legs: [
      { troubles: dark.slice(0, 1 + Math.floor(random() * dark.length)), expect: null },
      { troubles: [], expect: null },
    ],
  };
}
