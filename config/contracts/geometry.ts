/** Geometry shared by every layer. Metres and radians; frames are named where they matter. */

export interface Point {
  x: number;
  y: number;
}

/** A pose in the plane; `theta` counter-clockwise from +x, radians. */
export interface Pose {
  x: number;
  y: number;
  theta: number;
}

/** Body velocity: `v` forward m/s, `w` counter-clockwise rad/s. */
export interface Twist {
  v: number;
  w: number;
}

/** A simple polygon: vertices in order, not repeated at the end. */
export type Polygon = readonly Point[];

/** Wraps an angle to (−π, π]. */
export function wrapAngle(a: number): number {
  const t = a - 2 * Math.PI * Math.floor((a + Math.PI) / (2 * Math.PI));
  return t <= -Math.PI ? t + 2 * Math.PI : t;
}

/** `value` kept between `low` and `high`. */
export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Expresses `local` (in the frame of `base`) in the frame that `base` is expressed in. */
export function compose(base: Pose, local: Pose): Pose {
  const c = Math.cos(base.theta);
  const s = Math.sin(base.theta);
  return {
    x: base.x + c * local.x - s * local.y,
    y: base.y + s * local.x + c * local.y,
    theta: wrapAngle(base.theta + local.theta),
  };
}

/** Expresses `pose` in the frame of `base`; the inverse of `compose`. */
export function relativeTo(base: Pose, pose: Pose): Pose {
  const dx = pose.x - base.x;
  const dy = pose.y - base.y;
  const c = Math.cos(base.theta);
  const s = Math.sin(base.theta);
  return { x: c * dx + s * dy, y: -s * dx + c * dy, theta: wrapAngle(pose.theta - base.theta) };
}

/** Even-odd test; points on an edge may fall on either side. */
export function insidePolygon(p: Point, polygon: Polygon): boolean {
  let inside = false;
  let previous = polygon[polygon.length - 1];
  for (const vertex of polygon) {
    if (
      previous !== undefined &&
      vertex.y > p.y !== previous.y > p.y &&
      p.x < ((previous.x - vertex.x) * (p.y - vertex.y)) / (previous.y - vertex.y) + vertex.x
    ) {
      inside = !inside;
    }
    previous = vertex;
  }
  return inside;
}
