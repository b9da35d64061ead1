/** One goal at one of the robot's action servers, as the control loop looks at it step by step. */
import type { Clock } from '../../../config/contracts/clock.js';
import { CANCEL_ALL, cancelGoalType, goalStatusType, stampMs } from '../messages.js';
import { type GoalEnd, type GoalOptions, type Publisher, QOS, type RosGoal, type RosPort } from '../types.js';

export interface GoalTarget {
  /** Full name of the action. */
  action: string;
  type: string;
}

/** Goals that are open, and the way to end all of them at once. */
export class OpenGoals {
  readonly counters = { cancels_sent: 0, cancels_unanswered: 0 };
  readonly #port: RosPort;
  readonly #clock: Clock;
  readonly #actions: readonly string[];
  readonly #open = new Set<RosGoal>();
  #lastMono = Number.NEGATIVE_INFINITY;

  /** `actions`: of every server that can move the robot. */
  constructor(port: RosPort, clock: Clock, actions: readonly string[]) {
    this.#port = port;
    this.#clock = clock;
    this.#actions = actions;
  }

  send<F, R>(options: GoalOptions<F, R>): RosGoal {
    let goal: RosGoal | null = null;
    goal = this.#port.sendGoal({
      ...options,
      onEnd: (end: GoalEnd<R>) => {
        if (goal !== null) this.#open.delete(goal);
        options.onEnd(end);
      },
    });
    this.#open.add(goal);
    return goal;
  }

  /** Everything the robot pursues, also what others asked for, or what outlived a lost connection. */
  cancelAll(): void {
    for (const goal of this.#open) goal.cancel();
    const mono = this.#clock.mono();
    if (mono - this.#lastMono < CANCEL_EVERY_MS || !this.#port.connected) return;
    this.#lastMono = mono;
    for (const action of this.#actions) {
      this.counters.cancels_sent += 1;
      this.#port
        .call({
          service: `${action}/_action/cancel_goal`,
          type: cancelGoalType.name,
          request: CANCEL_ALL,
          response: cancelGoalType,
          timeoutMs: 2_000,
        })
        .catch(() => {
          // A robot without this server has nothing to cancel there.
          this.counters.cancels_unanswered += 1;
        });
    }
  }
}

/** Stops come in every control cycle; the request to cancel everything goes out this often, ms. */
const CANCEL_EVERY_MS = 500;

const SUCCEEDED = 4;
const CANCELED = 5;
const ABORTED = 6;
/** A goal that bt_navigator sent to itself must show up within this time, ms. */
const TOPIC_ACCEPT_MS = 3_000;

/**
 * NavigateToPose without actions: the goal goes to `/goal_pose`, which bt_navigator makes a goal of its own, and its
 * end is read from the action's status topic. For a rosbridge that cannot send goals. There is no feedback, no error
 * code, and a goal that somebody else sends meanwhile is not told apart.
 */
export class TopicGoal implements RosGoal {
  ended = false;
  readonly #clock: Clock;
  readonly #cancel: () => void;
  readonly #onEnd: (end: GoalEnd<{ error_code: number; error_msg: string }>) => void;
  readonly #unsubscribe: () => void;
  readonly #cancelWatch: () => void;
  readonly #known = new Set<string>();
  #first = true;
  #cancelAsked = false;
  #id: string | null = null;

  constructor(
    port: RosPort,
    clock: Clock,
    parts: {
      action: string;
      publisher: Publisher;
      goal: object;
      cancel: () => void;
      onEnd: (end: GoalEnd<{ error_code: number; error_msg: string }>) => void;
    },
  ) {
    this.#clock = clock;
    this.#cancel = parts.cancel;
    this.#onEnd = parts.onEnd;
    this.#unsubscribe = port.subscribe(
      `${parts.action}/_action/status`,
      goalStatusType,
      QOS.latched,
      ({ status_list }) => {
        const newest = status_list.toSorted(
          (a, b) => stampMs(a.goal_info.stamp) - stampMs(b.goal_info.stamp),
        );
        for (const { goal_info, status } of newest) this.#saw(JSON.stringify(goal_info.goal_id.uuid), status);
      },
    );
    // What the status topic kept from before has arrived by now, or comes with the first message.
    clock.after(SETTLE_MS, () => {
      if (this.ended) return;
      this.#first = false;
      if (!parts.publisher.publish(parts.goal)) this.#end({ kind: 'lost', message: 'no connection to ROS' });
    });
    clock.after(TOPIC_ACCEPT_MS, () => {
      if (this.#id === null)
        this.#end({ kind: 'unavailable', message: 'the goal on /goal_pose was not taken up' });
    });
    this.#cancelWatch = clock.every(LINK_EVERY_MS, () => {
      if (!port.connected) this.#end({ kind: 'lost', message: 'the connection to ROS was lost' });
      else if (this.#cancelAsked) this.#cancel();
    });
  }

  /** A goal that was not sent yet never is; one that was is cancelled until the robot says how it ended. */
  cancel(): void {
    if (this.ended) return;
    this.#cancelAsked = true;
    if (this.#first) {
      this.#end({ kind: 'result', status: 'canceled', result: { error_code: 0, error_msg: '' } });
    } else this.#cancel();
  }

  #saw(id: string, status: number): void {
    if (this.#first) {
      this.#known.add(id);
      return;
    }
    if (this.#known.has(id)) return;
    this.#id = id;
    const result = { error_code: 0, error_msg: '' };
    if (status === SUCCEEDED) this.#end({ kind: 'result', status: 'succeeded', result });
    else if (status === CANCELED) this.#end({ kind: 'result', status: 'canceled', result });
    else if (status === ABORTED) this.#end({ kind: 'result', status: 'aborted', result });
  }

  #end(end: GoalEnd<{ error_code: number; error_msg: string }>): void {
    if (this.ended) return;
    this.ended = true;
    this.#unsubscribe();
    this.#cancelWatch();
    this.#clock.after(0, () => this.#onEnd(end));
  }
}

const SETTLE_MS = 200;
const LINK_EVERY_MS = 500;
