/** What can go wrong on the way, and what ends of a move it excuses. */
import { type Point, type Pose, wrapAngle } from '../../config/contracts/geometry.js';
import { ROBOT } from '../../simulator/world/layout.js';
import { fits, OBSTACLE_RADIUS, PERSON_RADIUS } from '../../simulator/world/visitors.js';
import { COMFORTABLE } from './ground.js';
import type { Scene, Trouble } from './types.js';

const NO_EXCUSE: readonly string[] = [];
const SENSORS = ['HARDWARE_FAULT'];

export function between(low: number, high: number, random: () => number): number {
  return low + (high - low) * random();
}

export function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** Something is put down on the way ahead; `lastsMs` later it is taken away. */
export function obstacleAhead(random: () => number): Trouble {
  const [ahead, aside] = [between(0.8, 2.5, random), between(-0.2, 0.2, random)];
  let id: string | null = null;
  return {
    what: 'an obstacle on the way',
    afterM: between(0.3, 4, random),
    lastsMs: random() < 0.5 ? between(5, 40, random) * 1000 : null,
    begin: (scene) => {
      const spot = onTheWay(scene, ahead, aside);
      const { world } = scene.home.session;
      if (spot !== null && fits(world.layout, spot, OBSTACLE_RADIUS, world.body.pose))
        id = world.visitors.addObstacle(spot).id;
    },
    end: ({ home }) => {
      if (id !== null) home.session.world.visitors.removeObstacle(id);
    },
    excuses: NO_EXCUSE,
  };
}

/** A panel as wide as the door, which nothing gets past. */
export function doorCloses(line: readonly [Point, Point], afterM: number, lastsMs: number | null): Trouble {
  const ids: string[] = [];
  const [a, b] = line;
  const metres = Math.hypot(b.x - a.x, b.y - a.y);
  const steps = Math.ceil(metres / 0.05);
  return {
    what: 'a door closes',
    afterM,
    lastsMs,
    begin: ({ home }) => {
      for (let i = 0; i <= steps; i++) {
        const at = { x: a.x + ((b.x - a.x) * i) / steps, y: a.y + ((b.y - a.y) * i) / steps };
        ids.push(home.session.world.visitors.addObstacle(at, 0.03).id);
      }
    },
    end: ({ home }) => {
      for (const id of ids.splice(0)) home.session.world.visitors.removeObstacle(id);
    },
    excuses: NO_EXCUSE,
  };
}

/** Somebody walks from one place to another and back, all the time or for a while; or only stands there. */
export function person(random: () => number): Trouble {
  const walks = random() < 0.75;
  const speed = between(0.3, 1, random);
  let who: { id: string } | null = null;
  return {
    what: walks ? 'a person walks about' : 'a person stands',
    afterM: between(0, 3, random),
    lastsMs: random() < 0.5 ? between(20, 90, random) * 1000 : null,
    begin: (scene) => {
      const { world } = scene.home.session;
      const from = walks ? anywhere(scene) : onTheWay(scene, between(1, 3, scene.random), 0);
      if (from === null || !fits(world.layout, from, PERSON_RADIUS, world.body.pose)) return;
      const to = walks ? anywhere(scene) : null;
      const way = to === null ? null : scene.ground.shortest(from, to, COMFORTABLE);
      const there = way?.points.slice(1) ?? [];
      const back = (way?.points ?? []).slice(0, -1).reverse();
      who = world.visitors.addPerson(from, { walk: [...there, ...back], speed });
    },
    end: ({ home }) => {
      const { visitors } = home.session.world;
      if (who !== null) visitors.removePerson(who.id);
    },
    excuses: NO_EXCUSE,
  };
}

/** Words of `deviceagent sim inject`, and others that take it back. */
export function injected(
  what: string,
  given: {
    begin: readonly string[];
    end?: readonly string[];
    afterM: number;
    lastsMs: number | null;
    excuses?: readonly string[];
    stopsWithinMs?: number;
  },
): Trouble {
  const { begin, end, ...rest } = given;
  return {
    what,
    excuses: NO_EXCUSE,
    ...rest,
    begin: async ({ home }) => void (await home.inject(...begin)),
    ...(end === undefined ? {} : { end: async ({ home }: Scene) => void (await home.inject(...end)) }),
  };
}

export function lidarTrouble(random: () => number): Trouble {
  const afterM = between(0.2, 4, random);
  if (random() < 0.5) {
    const share = between(0.1, 0.6, random);
    return injected(`${(share * 100).toFixed(0)} % of the lidar's frames are damaged`, {
      begin: ['noise', 'lidar', share.toFixed(2)],
      end: ['noise', 'lidar', '0'],
      afterM,
      lastsMs: between(3, 60, random) * 1000,
      excuses: share > 0.25 ? [...SENSORS, 'OBSTRUCTED'] : NO_EXCUSE,
    });
  }
  const lastsMs = between(0.4, 8, random) * 1000;
  return {
    what: 'the lidar says nothing',
    afterM,
    lastsMs,
    begin: ({ home }) => {
      home.session.devices.byName.lidar.faults.silent = true;
    },
    end: ({ home }) => {
      home.session.devices.byName.lidar.faults.silent = false;
    },
    stopsWithinMs: 1200,
    excuses: NO_EXCUSE,
  };
}

export function wheelTrouble(random: () => number): Trouble {
  const side = pick(['left', 'right'] as const, random);
  const kind = pick(['slips', 'is blocked', 'has a dead encoder'] as const, random);
  const share = between(0.1, 0.5, random);
  const both = kind === 'is blocked' && random() < 0.5;
  return {
    what: both ? 'both wheels are blocked' : `the ${side} wheel ${kind}`,
    afterM: between(0.3, 4, random),
    lastsMs: between(1, kind === 'slips' ? 8 : 5, random) * 1000,
    begin: ({ home }) => {
      const { body } = home.session.world;
      if (both) body.wheelsBlocked = true;
      else if (kind === 'slips') body.wheelStates[side].slip = share;
      else if (kind === 'is blocked') body.wheelStates[side].blocked = true;
      else body.wheelStates[side].encoder = 'dead';
    },
    end: ({ home }) => {
      const { body } = home.session.world;
      body.wheelsBlocked = false;
      Object.assign(body.wheelStates[side], { blocked: false, slip: 0, encoder: 'ok' });
    },
    excuses: ['HARDWARE_FAULT', 'LOCALIZATION_LOST', ...(kind === 'slips' ? [] : ['OBSTRUCTED'])],
  };
}

export function unplugged(random: () => number): Trouble {
  const name = pick(['base', 'lidar'] as const, random);
  const lastsMs = between(0.5, 25, random) * 1000;
  return injected(`the ${name} is unplugged`, {
    begin: ['unplug', name],
    end: ['plug', name],
    afterM: between(0.3, 4, random),
    lastsMs,
    stopsWithinMs: 1500,
    excuses: lastsMs > 8000 ? SENSORS : NO_EXCUSE,
  });
}

export function covered(random: () => number): Trouble {
  const degrees = Math.round(between(20, 360, random));
  const lastsMs = between(1, 20, random) * 1000;
  return injected(`${degrees}° of the lidar are covered`, {
    begin: ['block-lidar', String(degrees)],
    end: ['block-lidar', '0'],
    afterM: between(0.3, 4, random),
    lastsMs,
    ...(degrees >= 120 ? { stopsWithinMs: 1500 } : {}),
    excuses: [...SENSORS, 'OBSTRUCTED', 'LOCALIZATION_LOST'],
  });
}

export function contact(random: () => number): Trouble {
  const words = pick([['bump', 'left'], ['bump', 'right'], ['cliff']] as const, random);
  return injected(words.join(' '), {
    begin: words,
    afterM: between(0.3, 5, random),
    lastsMs: null,
    stopsWithinMs: 500,
  });
}

/** Somebody presses the stop button, and releases the robot some seconds later. */
export function stopButton(random: () => number): Trouble {
  return {
    ...injected('the stop button is pressed', {
      begin: ['estop'],
      afterM: between(0.3, 4, random),
      lastsMs: between(2000, 8000, random),
      stopsWithinMs: 500,
      excuses: ['EMERGENCY_STOP'],
    }),
    end: async ({ home }) => {
      await home.settled(home.daemon.runtime.releaseEstop('somebody at the robot'), 5000, 'it is released');
    },
  };
}

/** Lifted, carried, put down somewhere else. With `noticed`, its wheels hang for a moment. */
export function carriedOff(random: () => number, noticed: boolean): Trouble {
  const afterM = between(0.5, 4, random);
  const put = (scene: Scene) => {
    const { world } = scene.home.session;
    const spot = anywhere(scene);
    if (spot === null) return;
    const pose: Pose = { ...spot, theta: wrapAngle(scene.random() * 2 * Math.PI) };
    world.place(pose);
    world.tell(`carried to ${pose.x.toFixed(2)} ${pose.y.toFixed(2)}`);
    scene.recorder.carried();
  };
  return {
    what: noticed ? 'lifted and put down elsewhere' : 'put down elsewhere without noticing',
    afterM,
    lastsMs: noticed ? 3000 : 1,
    begin: (scene) => {
      if (noticed) scene.home.session.world.body.lifted = true;
      else put(scene);
    },
    end: (scene) => {
      if (!noticed) return;
      put(scene);
      scene.home.session.world.body.lifted = false;
    },
    ...(noticed ? { stopsWithinMs: 500 } : {}),
    excuses: ['LOCALIZATION_LOST', 'HARDWARE_FAULT', 'OBSTRUCTED', 'TARGET_UNREACHABLE'],
    carriesOff: true,
  };
}

/** A place with room for anybody, a way from the robot. */
function anywhere({ ground, home, random }: Scene): Point | null {
  return ground.spot(random, 0.2, home.world.pose, { least: 1, most: 12 });
}

/** So many metres ahead on the shortest way to the goal, and so far beside it. */
function onTheWay({ ground, home, goal }: Scene, metres: number, aside: number): Point | null {
  const way = ground.shortest(home.world.pose, goal, COMFORTABLE)?.points ?? [];
  let left = metres;
  for (let i = 1; i < way.length; i++) {
    const [a, b] = [way[i - 1], way[i]];
    if (a === undefined || b === undefined) return null;
    const step = Math.hypot(b.x - a.x, b.y - a.y);
    if (step >= left && step > 0) {
      const [dx, dy] = [(b.x - a.x) / step, (b.y - a.y) / step];
      const spot = { x: a.x + dx * left - dy * aside, y: a.y + dy * left + dx * aside };
      return Math.hypot(spot.x - goal.x, spot.y - goal.y) < ROBOT.radius + 0.5 ? null : spot;
    }
    left -= step;
  }
  return null;
}
