/** A simulated action server: one goal at a time, a newer one takes its place, as in Nav2's simple action server. */
import { type ActionServer, type ClientGoal, GOAL, type RosGraph } from './graph.js';

export interface Job {
  /** Set when a client, or a newer goal, wants it to end. */
  cancelRequested: boolean;
  feedback(values: object): void;
  /** Ends it: see `GOAL`. */
  finish(status: number, values: object): void;
  readonly ended: boolean;
}

export interface ActionOptions {
  graph: RosGraph;
  name: string;
  type: string;
  /** Epoch ms of ROS time. */
  now: () => number;
  /** Of a goal that is given up before it was pursued. */
  emptyResult: () => object;
  /** Null where the goal is taken; otherwise why it is rejected. */
  admit: (goal: unknown) => string | null;
  begin: (goal: unknown, job: Job) => void;
  /** Goals are taken, and nothing is ever said of them. */
  silent: () => boolean;
}

interface Listed {
  id: number[];
  stamp: { sec: number; nanosec: number };
  status: number;
}

const KEPT_STATUSES = 5;

export class SimActionServer implements ActionServer {
  readonly type: string;
  readonly #options: ActionOptions;
  #current: Job | null = null;
  #statuses: Listed[] = [];
  #numbers = 0;

  constructor(options: ActionOptions) {
    this.#options = options;
    this.type = options.type;
    options.graph.offerAction(options.name, this);
  }

  get active(): boolean {
    return this.#current !== null;
  }

  send(goal: unknown, client: ClientGoal): (() => void) | null {
    if (this.#options.admit(goal) !== null) return null;
    this.#current?.finish(GOAL.aborted, this.#options.emptyResult());
    const job = this.#job(client);
    this.#current = job;
    if (!this.#options.silent()) this.#options.begin(goal, job);
    return () => {
      job.cancelRequested = true;
    };
  }

  cancelAll(): number {
    if (this.#current === null) return 0;
    this.#current.cancelRequested = true;
    return 1;
  }

  #job(client: ClientGoal): Job {
    this.#numbers += 1;
    const ms = this.#options.now();
    const listed: Listed = {
      id: Array.from({ length: 16 }, (_, i) =>
        i === 15 ? this.#numbers & 255 : i === 14 ? this.#numbers >> 8 : 7,
      ),
      stamp: { sec: Math.floor(ms / 1000), nanosec: Math.round((ms % 1000) * 1e6) },
      status: GOAL.executing,
    };
    this.#statuses = [...this.#statuses.slice(1 - KEPT_STATUSES), listed];
    this.#tell();
    let ended = false;
    const job: Job = {
      cancelRequested: false,
      feedback: (values) => {
        if (!ended && !this.#options.silent()) client.onFeedback(values);
      },
      finish: (status, values) => {
        if (ended) return;
        ended = true;
        if (this.#current === job) this.#current = null;
        listed.status = status;
        this.#tell();
        client.onResult(status, values);
      },
      get ended() {
        return ended;
      },
    };
    return job;
  }

  #tell(): void {
    const { graph, name } = this.#options;
    const status_list = this.#statuses.map(({ id, stamp, status }) => ({
      goal_info: { goal_id: { uuid: id }, stamp },
      status,
    }));
    graph.publish(`${name}/_action/status`, 'action_msgs/msg/GoalStatusArray', { status_list }, true);
  }
}
