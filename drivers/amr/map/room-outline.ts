/** Outlines of rooms that were found in a map: simple, of few vertices, and none on the ground of another. */
import type { Point } from '../../../config/contracts/geometry.js';
import { squaredDistances } from '../costmap/distance-transform.js';
import type { GridFrame } from '../costmap/grid-frame.js';
import { maskOf } from './area-checks.js';
import { largestRegion, outlineOf } from './outline.js';

/** What a person can still edit. */
const MAX_VERTICES = 200;
/** Tried in this order until the outline is simple and short enough; times the tolerance that is asked for. */
const TOLERANCES = [1, 0.5, 2, 3, 4, 6];
/** Ground narrower than twice this is a ray that went through a window, or a crack, m. */
const NARROW = 0.14;
/** Ground of another room inside the outline from which on the outline is led around it, cells. */
const ENCLOSED = 20;
/** Half the width of the slit from an enclosed room outward, cells. */
const SLIT = 1;

export class RoomOutlines {
  readonly #labels: Int32Array;
  readonly #frame: GridFrame;
  readonly #tolerance: number;
  /** Ground inside of outlines that were given. */
  readonly #taken: Uint8Array;

  constructor(labels: Int32Array, frame: GridFrame, tolerance: number) {
    this.#labels = labels;
    this.#frame = frame;
    this.#tolerance = tolerance;
    this.#taken = new Uint8Array(labels.length);
  }

  /** Counter-clockwise, in the map's frame; empty when nothing of the room is wide enough. */
  of(label: number): Point[] {
    const mask = this.#cleaned(label);
    let outline = this.#simple(mask);
    if (outline.length < 3) return [];
    let inside = maskOf(outline, this.#frame);
    for (const other of this.#enclosed(inside, label)) {
      cutOpen(mask, this.#labels, other, this.#frame);
      outline = this.#simple(mask);
      inside = maskOf(outline, this.#frame);
    }
    for (let i = 0; i < inside.length; i++) if (inside[i] === 1) this.#taken[i] = 1;
    return outline;
  }

  /** Without what is too narrow to be a part of a room: what a disc of that size cannot reach. */
  #cleaned(label: number): Uint8Array {
    const { width, height, resolution } = this.#frame;
    const outside = this.#labels.map((one, i) => (one === label && this.#taken[i] === 0 ? 0 : 1));
    const reach = (NARROW / resolution) ** 2;
    const core = Uint8Array.from(squaredDistances(Uint8Array.from(outside), width, height), (d) =>
      d > reach ? 1 : 0,
    );
    const away = squaredDistances(core, width, height);
    const opened = Uint8Array.from(away, (d, i) => (d <= reach && outside[i] === 0 ? 1 : 0));
    return largestRegion(opened, width, height);
  }

  #simple(mask: Uint8Array): Point[] {
    let shortest: Point[] = [];
    for (const times of TOLERANCES) {
      const outline = outlineOf(mask, this.#frame, times * this.#tolerance).map((p) => ({
        x: rounded(p.x),
        y: rounded(p.y),
      }));
      if (outline.length <= MAX_VERTICES) return outline;
      if (shortest.length === 0 || outline.length < shortest.length) shortest = outline;
    }
    return shortest.length <= 5 * MAX_VERTICES ? shortest : [];
  }

  /** Other rooms on whose ground the outline would lie: a hall around a core has them. */
  #enclosed(mask: Uint8Array, label: number): number[] {
    const inside = new Map<number, number>();
    for (let i = 0; i < mask.length; i++) {
      const other = this.#labels[i] ?? 0;
      if (mask[i] === 0 || other === 0 || other === label || this.#taken[i] === 1) continue;
      inside.set(other, (inside.get(other) ?? 0) + 1);
    }
    const sizes = new Map<number, number>();
    for (const other of this.#labels) if (inside.has(other)) sizes.set(other, (sizes.get(other) ?? 0) + 1);
    return [...inside]
      .filter(([other, cells]) => cells >= ENCLOSED && cells > 0.5 * (sizes.get(other) ?? 0))
      .map(([other]) => other);
  }
}

/** Takes a slit from another room to the left out of a mask, so that its outline can go around that room. */
function cutOpen(mask: Uint8Array, labels: Int32Array, other: number, { width, height }: GridFrame): void {
  let leftmost = -1;
  labels.forEach((one, i) => {
    if (one === other && (leftmost < 0 || i % width < leftmost % width)) leftmost = i;
  });
  const row = Math.floor(leftmost / width);
  for (let y = Math.max(0, row - SLIT); y <= Math.min(height - 1, row + SLIT); y++) {
    for (let x = 0; x <= leftmost % width; x++) mask[y * width + x] = 0;
  }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
