/** Watches the world for touches, and tells those that the robot's own motion brought about from the others. */
import type { Point } from '../../config/contracts/geometry.js';
import { ROBOT } from '../../simulator/world/layout.js';
import type { World } from '../../simulator/world/world.js';

/** Hull to leg or thing, m: nearer is a touch. */
const TOUCH = 0.015;
/** Speed towards what is touched from which on a touch is the robot's own, m/s. */
const OWN_SPEED = 0.02;
/** The station is there to be touched: this near to being docked, m. */
const AT_STATION = 0.3;

export class Touches {
  readonly #world: World;
  readonly #detach: () => void;
  readonly own: string[] = [];
  /** Somebody walked into the robot. */
  others = 0;
  #touching = false;
  #carried = false;

  constructor(world: World) {
    this.#world = world;
    this.#detach = world.attach({ after: (dtMs) => this.#look(dtMs / 1000) });
  }

  /** What follows is not the robot's doing until it stands free again. */
  carried(): void {
    this.#carried = true;
  }

  close(): void {
    this.#detach();
  }

  #look(dt: number): void {
    const { body, timeMs } = this.#world;
    const touching = body.touching && !body.seated;
    const began = touching && !this.#touching;
    this.#touching = touching;
    if (!touching) this.#carried = false;
    if (!began || this.#carried || this.#atStation()) return;
    const velocity = { x: (body.pose.x - body.before.x) / dt, y: (body.pose.y - body.before.y) / dt };
    const wheels = (Math.abs(body.wheels.left) + Math.abs(body.wheels.right)) / 2;
    const person = this.#personTouched();
    const own = person === null ? wheels > OWN_SPEED : towards(body.pose, person, velocity) > OWN_SPEED;
    if (!own) {
      this.others++;
      return;
    }
    const where = `(${body.pose.x.toFixed(2)}, ${body.pose.y.toFixed(2)})`;
    const what = person === null ? 'a thing or a wall' : 'a person';
    this.own.push(
      `${what} at ${where} after ${(timeMs / 1000).toFixed(1)} s, wheels at ${wheels.toFixed(2)} m/s`,
    );
  }

  #personTouched(): Point | null {
    const { body, visitors } = this.#world;
    for (const { gait } of visitors.people) {
      const leg = gait.legs.find(
        ({ x, y, radius }) => Math.hypot(x - body.pose.x, y - body.pose.y) < ROBOT.radius + radius + TOUCH,
      );
      if (leg !== undefined) return leg;
    }
    return null;
  }

  #atStation(): boolean {
    const { dock } = this.#world.layout;
    const { pose } = this.#world.body;
    return dock !== null && Math.hypot(dock.station.x - pose.x, dock.station.y - pose.y) < AT_STATION;
  }
}

/** How fast a moves towards b, m/s. */
function towards(a: Point, b: Point, velocity: Point): number {
  const away = Math.hypot(b.x - a.x, b.y - a.y);
  return away === 0 ? 0 : (velocity.x * (b.x - a.x) + velocity.y * (b.y - a.y)) / away;
}
