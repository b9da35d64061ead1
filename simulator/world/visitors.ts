/** People who stand or walk in the home, and things somebody left in the way. All are round. */
import type { Point } from '../../config/contracts/geometry.js';
import type { RoundThing } from './body.js';
import { clearanceAt, type Layout, ROBOT } from './layout.js';

export const PERSON_RADIUS = 0.16;
export const OBSTACLE_RADIUS = 0.15;
/** A walking person does not come closer to the robot than this, hull to hull, m. */
const POLITE = 0.05;

export interface Person extends RoundThing {
  id: string;
  /** Points walked to in turn, there and back; empty for one who stands. */
  walk: Point[];
  speed: number;
  next: number;
}

export interface Obstacle extends RoundThing {
  id: string;
}

export class Visitors {
  readonly people: Person[] = [];
  readonly obstacles: Obstacle[] = [];
  /** Both, for those who only care where something is. Rebuilt when somebody comes or goes. */
  things: readonly RoundThing[] = [];
  #numbers = 0;

  constructor(layout: Layout) {
    for (const r of layout.residents) this.addPerson(r.at, { walk: [...r.walk, r.at], speed: r.speed });
  }

  addPerson(at: Point, options: { walk?: Point[]; speed?: number } = {}): Person {
    const walk = options.walk ?? [];
    const person: Person = {
      id: `person-${++this.#numbers}`,
      x: at.x,
      y: at.y,
      radius: PERSON_RADIUS,
      walk: walk.length > 1 ? walk : [],
      speed: options.speed ?? 0.6,
      next: 0,
    };
    this.people.push(person);
    this.#changed();
    return person;
  }

  addObstacle(at: Point): Obstacle {
    const obstacle = { id: `obstacle-${++this.#numbers}`, x: at.x, y: at.y, radius: OBSTACLE_RADIUS };
    this.obstacles.push(obstacle);
    this.#changed();
    return obstacle;
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
    for (const person of this.people) if (person.walk.length > 0) walkOn(person, dtMs, robot);
  }

  #changed(): void {
    this.things = [...this.people, ...this.obstacles];
  }
}

/** Whether somebody or something of this radius fits there without touching walls, furniture or the robot. */
export function fits(layout: Layout, at: Point, radius: number, robot: Point): boolean {
  if (layout.isOccupied(at.x, at.y)) return false;
  if (clearanceAt(layout, at.x, at.y, radius) < radius) return false;
  return Math.hypot(at.x - robot.x, at.y - robot.y) >= radius + ROBOT.radius + POLITE;
}

function walkOn(person: Person, dtMs: number, robot: Point): void {
  const goal = person.walk[person.next];
  if (goal === undefined) return;
  const dx = goal.x - person.x;
  const dy = goal.y - person.y;
  const left = Math.hypot(dx, dy);
  const stride = (person.speed * dtMs) / 1000;
  if (left <= stride) {
    person.next = (person.next + 1) % person.walk.length;
    return;
  }
  const x = person.x + (dx / left) * stride;
  const y = person.y + (dy / left) * stride;
  const near = Math.hypot(x - robot.x, y - robot.y);
  const nearer = near < Math.hypot(person.x - robot.x, person.y - robot.y);
  if (nearer && near < person.radius + ROBOT.radius + POLITE) return;
  person.x = x;
  person.y = y;
}
