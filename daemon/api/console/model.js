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
