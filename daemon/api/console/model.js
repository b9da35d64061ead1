/** What the page knows, and how old it is. */

export const STALE_AFTER_MS = 1500;
export const LOST_AFTER_MS = 6000;

export const model = {
  status: null,
  context: null,
  robot: null,
  map: null,
  scan: null,
  path: [],
  outbox: null,
  workflows: [],
  tasks: [],
  methods: new Set(),
  events: [],
  newestSeq: 0,
  /** The robot's clock at `frameAt` of this browser's; between frames it is taken to go on. */
  robotNow: null,
  frameAt: null,
  signedOut: false,
};

export function robotNow() {
  return model.robotNow === null ? Date.now() : model.robotNow + (performance.now() - model.frameAt);
}

/** How long nothing has come from the robot, ms. */
export function silence() {
  return model.frameAt === null ? Number.POSITIVE_INFINITY : performance.now() - model.frameAt;
}

export const linkStale = () => silence() > STALE_AFTER_MS;

/** Further back than this a turn is not reckoned: the robot may have done anything meanwhile. */
const RECKON_MS = 1000;

/**
 * Where the robot was at `atMs`, by its speed now. A scan is some tenths of a second older than the pose beside it;
 * drawn from that pose it would stand askew while the robot turns.
 */
export function poseThen(robot, atMs) {
  const { pose, twist, pose_at_ms: poseAt } = robot;
  if (pose === null || twist === null || poseAt === null || Math.abs(atMs - poseAt) > RECKON_MS) return pose;
  const seconds = (atMs - poseAt) / 1000;
  const turned = twist.w * seconds;
  const heading = pose.theta + turned / 2;
  return {
    x: pose.x + twist.v * seconds * Math.cos(heading),
    y: pose.y + twist.v * seconds * Math.sin(heading),
    theta: pose.theta + turned,
  };
}
