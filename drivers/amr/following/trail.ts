/** Where a person has walked, as far as it matters for going after them. */
import { distance, type Point } from '../../../config/contracts/geometry.js';

/** Points this far apart, and so many of them. */
const APART = 0.15;
const MOST = 80;

export class Trail {
  #points: Point[] = [];

  add({ x, y }: Point): void {
    const last = this.#points[this.#points.length - 1];
    if (last !== undefined && distance(last, { x, y }) < APART) return;
    this.#points.push({ x, y });
    if (this.#points.length > MOST) this.#points.shift();
  }

  /** The newest point of the trail at least so far from where they are; null when they have not come so far. */
  behind(person: Point, metres: number): Point | null {
    for (let i = this.#points.length - 1; i >= 0; i--) {
      const p = this.#points[i];
      if (p !== undefined && distance(p, person) >= metres) return p;
    }
    return null;
  }
}
