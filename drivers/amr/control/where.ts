import { compose, type Point, type Pose } from '../../../config/contracts/geometry.js';

/** An obstacle's place in the `map` frame; the robot's own when it is not known, null without a pose. */
export function obstacleInMap(pose: Pose | null, at: Point | null): Point | null {
  if (pose === null) return null;
  const p = at === null ? pose : compose(pose, { x: at.x, y: at.y, theta: 0 });
  return { x: p.x, y: p.y };
}
