/**
 * The seam to ROS 2: as little of it as this robot needs, and the same whether it goes through memory, rosbridge or
 * rclnodejs. Names are absolute ROS names (`/odom`), types full ROS 2 type names (`nav_msgs/msg/Odometry`), messages
 * plain JSON values. Whoever subscribes or calls says what a valid message is; what is not valid never arrives.
 */

export interface QosProfile {
  reliability: 'reliable' | 'best_effort';
  durability: 'volatile' | 'transient_local';
  /** Messages kept (history: keep last). */
  depth: number;
}

/** The profiles that Nav2 and its sensors use (REP 2003 and `rmw_qos_profile_sensor_data`). */
export const QOS = {
  sensor: { reliability: 'best_effort', durability: 'volatile', depth: 5 },
  reliable: { reliability: 'reliable', durability: 'volatile', depth: 10 },
  /** For what is published once and must reach those who come later: `/map`, `/tf_static`. */
  latched: { reliability: 'reliable', durability: 'transient_local', depth: 1 },
  staticTransforms: { reliability: 'reliable', durability: 'transient_local', depth: 100 },
  /** A command that is late is worth nothing. */
  command: { reliability: 'reliable', durability: 'volatile', depth: 1 },
} as const satisfies Record<string, QosProfile>;

/** A ROS type and the check of what arrives under it. `parse` throws an Error that names what is wrong. */
export interface RosType<T> {
  readonly name: string;
  parse(value: unknown): T;
}

export type RosErrorKind =
  /** There is no connection to ROS, or it was lost before an answer came. */
  | 'not_connected'
  | 'timeout'
  /** No such service or action server, or the bridge cannot do this. */
  | 'unavailable'
  /** The server answered that it failed. */
  | 'failed'
  /** The answer is not of the type that was agreed on. */
  | 'invalid'
  /** A bound of the port is reached. */
  | 'busy';

export class RosError extends Error {
  override readonly name = 'RosError';
  constructor(
    readonly kind: RosErrorKind,
    message: string,
  ) {
    super(message);
  }
}

export interface Publisher {
  /** False when it was not sent: no connection, or the line is full. Never waits. */
  publish(message: object): boolean;
  close(): void;
}

/** `action_msgs/msg/GoalStatus` of an ended goal. */
export type GoalStatus = 'succeeded' | 'canceled' | 'aborted';

export type GoalEnd<R> =
  | { kind: 'result'; status: GoalStatus; result: R }
  /** The server did not take the goal. */
  | { kind: 'rejected'; message: string }
  /** There is no such server, or the bridge cannot send goals. */
  | { kind: 'unavailable'; message: string }
  /** Neither result nor feedback for `silenceMs`; it was asked to cancel. */
  | { kind: 'silent'; message: string }
  /** The connection went away, and with it all knowledge of the goal: the robot may still pursue it. */
  | { kind: 'lost'; message: string };

export interface GoalOptions<F, R> {
  action: string;
  /** E.g. `nav2_msgs/action/NavigateToPose`. */
  type: string;
  goal: object;
  feedback: RosType<F>;
  result: RosType<R>;
  onFeedback?: (feedback: F) => void;
  /** Exactly once, also after `cancel`. */
  onEnd: (end: GoalEnd<R>) => void;
  /** So long without feedback or result and the goal ends `silent`, ms. */
  silenceMs: number;
}

export interface RosGoal {
  /** Asks the server to cancel; the end comes through `onEnd`. Safe to repeat. */
  cancel(): void;
  readonly ended: boolean;
}

export interface CallOptions<R> {
  service: string;
  /** E.g. `nav2_msgs/srv/LoadMap`. */
  type: string;
  request: object;
  response: RosType<R>;
  timeoutMs: number;
}

export interface LinkState {
  connected: boolean;
  reason: string;
}

export interface RosPort {
  /** Which way it takes, for messages and counters. */
  readonly kind: 'memory' | 'rosbridge' | 'rclnodejs';
  start(): void;
  readonly connected: boolean;
  /** Work that a lock-step simulation waits for: connections being opened. */
  readonly opening: boolean;
  onLink(listener: (change: LinkState) => void): void;
  /** Kept across reconnections. Throws `RosError` `busy` when too many are open. */
  advertise(topic: string, type: string, qos: QosProfile): Publisher;
  /** Kept across reconnections. Returns a function that ends it. Throws `RosError` `busy`. */
  subscribe<T>(topic: string, type: RosType<T>, qos: QosProfile, listener: (message: T) => void): () => void;
  /** Rejects with a `RosError`. */
  call<R>(options: CallOptions<R>): Promise<R>;
  /** Never throws: what cannot be sent ends through `onEnd`, after this returned. */
  sendGoal<F, R>(options: GoalOptions<F, R>): RosGoal;
  /** Totals since the start: messages, invalid ones, drops, time-outs, reconnections. */
  counters(): Record<string, number>;
  /** Bytes of its line, where it has one that a lock-step simulation counts. */
  lineCounts(): { rx: number; tx: number; opens: number } | null;
  close(): Promise<void>;
}

/** Bounds of every port. */
export const PORT_LIMITS = {
  topics: 128,
  calls: 32,
  goals: 16,
} as const;
