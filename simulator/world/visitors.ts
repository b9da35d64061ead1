/** People who stand or walk in the home on two legs, and round things that somebody left in the way. */
import type { Point } from '../../config/contracts/geometry.js';
import type { RoundThing } from './body.js';
import { type Gait, LEG_RADIUS, settled, standing, walked } from './gait.js';
import { clearanceAt, type Layout, ROBOT } from './layout.js';

export const PERSON_RADIUS = 0.16;
export const OBSTACLE_RADIUS = 0.15;
/** A walking person does not come closer to the robot than this, hull to hull, m. */
const POLITE = 0.05;

/** `radius`: of the ground a person takes up; what the robot sees, and can touch, are the legs. */
export interface Person extends RoundThing {
  id: string;
  /** Points walked to in turn; empty for one who stands. */
  walk: Point[];
  /** Whether the walk begins again at its end; otherwise the person stays there. */
  again: boolean;
  speed: number;
  next: number;
  gait: Gait;
}

export interface PersonOptions {
  walk?: Point[];
  /** m/s */
  speed?: number;
  /** Default true. */
  again?: boolean;
  /** Where somebody who stands faces, rad. */
  facing?: number;
}

export interface Obstacle extends RoundThing {
  id: string;
}

export class Visitors {
  readonly people: Person[] = [];
  readonly obstacles: Obstacle[] = [];
  /** Legs and obstacles, for those who only care where something is. Rebuilt when something changes. */
  things: readonly RoundThing[] = [];
  #numbers = 0;

  constructor(layout: Layout) {
    for (const r of layout.residents) this.addPerson(r.at, { walk: [...r.walk, r.at], speed: r.speed });
  }

  addPerson(at: Point, options: PersonOptions = {}): Person {
    const { walk = [], again = true } = options;
    const onWay = walk.length > (again ? 1 : 0);
    const [first] = walk;
    const ahead = onWay && first !== undefined ? Math.atan2(first.y - at.y, first.x - at.x) : 0;
    const person: Person = {
      id: `person-${++this.#numbers}`,
      x: at.x,
      y: at.y,
      radius: PERSON_RADIUS,
      walk: onWay ? walk : [],
      again,
      speed: options.speed ?? 0.6,
      next: 0,
      gait: standing(at, options.facing ?? ahead),
    };
    this.people.push(person);
    this.#changed();
    return person;
  }

  addObstacle(at: Point, radius: number = OBSTACLE_RADIUS): Obstacle {
    const obstacle = { id: `obstacle-${++this.#numbers}`, x: at.x, y: at.y, radius };
    this.obstacles.push(obstacle);
    this.#changed();
    return obstacle;
  }

  /** Takes one away; nothing when it is gone already. */
  removeObstacle(id: string): void {
    const i = this.obstacles.findIndex((obstacle) => obstacle.id === id);
    if (i >= 0) this.obstacles.splice(i, 1);
    this.#changed();
  }

  removePerson(id: string): void {
    const i = this.people.findIndex((person) => person.id === id);
    if (i >= 0) this.people.splice(i, 1);
    this.#changed();
  }

  removePeople(): number {
    const n = this.people.length;
    this.people.length = 0;
    this.#changed();
    return n;
  }

  removeObstacles(): number {
    const n = this.obstacles.length;
    this.obstacles.length = 0;
    this.#changed();
    return n;
  }

  step(dtMs: number, robot: Point): void {
    let moved = false;
    for (const person of this.people) {
      if (person.walk.length > 0 && walkOn(person, dtMs, robot)) moved = true;
    }
    if (moved) this.#changed();
  }

  #changed(): void {
    this.things = [...this.people.flatMap((person) => person.gait.legs), ...this.obstacles];
  }
}

/** Whether somebody or something of this radius fits there without touching walls, furniture or the robot. */
export function fits(layout: Layout, at: Point, radius: number, robot: Point): boolean {
  if (layout.isOccupied(at.x, at.y)) return false;
  if (clearanceAt(layout, at.x, at.y, radius) < radius) return false;
  return Math.hypot(at.x - robot.x, at.y - robot.y) >= radius + ROBOT.radius + POLITE;
}

/** One step on the way, or none while the robot is in it. Whether a leg moved. */
function walkOn(person: Person, dtMs: number, robot: Point): boolean {
  const { gait } = person;
  const stride = strideOf(person, dtMs);
  const at = stride === null ? person : { x: person.x + stride.dx, y: person.y + stride.dy };
  const next =
    stride === null || stride.metres === 0
      ? settled(gait, at, dtMs)
      : walked(gait, at, Math.atan2(stride.dy, stride.dx), stride.metres, dtMs);
  if (next === gait || walksInto(person, at, next, robot)) return false;
  person.x = at.x;
  person.y = at.y;
  person.gait = next;
  return true;
}

/** The next piece of the way; null for somebody who has arrived. */
function strideOf(person: Person, dtMs: number): { dx: number; dy: number; metres: number } | null {
  const goal = person.walk[person.next];
  if (goal === undefined) return null;
  const dx = goal.x - person.x;
  const dy = goal.y - person.y;
  const left = Math.hypot(dx, dy);
  const metres = (person.speed * dtMs) / 1000;
  if (left > metres) return { dx: (dx / left) * metres, dy: (dy / left) * metres, metres };
  person.next += 1;
  if (person.again) person.next %= person.walk.length;
  return { dx: 0, dy: 0, metres: 0 };
}

/** Comes nearer to the robot than is polite, with the body or with a leg. */
function walksInto(person: Person, at: Point, next: Gait, robot: Point): boolean {
  const near = Math.hypot(at.x - robot.x, at.y - robot.y);
  const nearer = near < Math.hypot(person.x - robot.x, person.y - robot.y);
  if (nearer && near < person.radius + ROBOT.radius + POLITE) return true;
  return next.legs.some((leg, i) => {
    const before = person.gait.legs[i];
    const now = Math.hypot(leg.x - robot.x, leg.y - robot.y);
    const comes = before !== undefined && now < Math.hypot(before.x - robot.x, before.y - robot.y);
    return comes && now < LEG_RADIUS + ROBOT.radius + POLITE;
  });
}
