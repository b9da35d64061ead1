/** Whether the robot's managed nodes are active, asked again and again (`lifecycle_msgs/srv/GetState`). */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { errorText } from '../../../config/contracts/errors.js';
import { type Ros2Config, rosName } from '../../../config/ros2.js';
import { LIFECYCLE_ACTIVE, lifecycleStateType } from '../messages.js';
import type { RosPort } from '../types.js';

const EVERY_MS = 1_000;
const TIMEOUT_MS = 900;

export type Part = 'navigator' | 'localizer' | 'docking';
const PARTS: readonly Part[] = ['navigator', 'localizer', 'docking'];

export class Readiness {
  readonly counters = { lifecycle_asked: 0, lifecycle_unanswered: 0 };
  readonly #port: RosPort;
  readonly #clock: Clock;
  readonly #config: Ros2Config;
  readonly #log: (message: string) => void;
  /** What each part last answered; null: nothing yet. */
  readonly #found = new Map<Part, string>();
  #cancel: CancelTimer = () => {};

  constructor(port: RosPort, clock: Clock, config: Ros2Config, log: (message: string) => void) {
    this.#port = port;
    this.#clock = clock;
    this.#config = config;
    this.#log = log;
  }

  start(): void {
    this.#port.onLink(({ connected }) => {
      this.#found.clear();
      if (connected) this.#askAll();
    });
    this.#cancel = this.#clock.every(EVERY_MS, () => this.#askAll());
  }

  stop(): void {
    this.#cancel();
  }

  /** Null: it is active, or not a managed node; otherwise what is wrong, in a sentence. */
  missing(part: Part): string | null {
    const node = this.#config.lifecycle[part];
    if (node === null) return null;
    if (!this.#port.connected) return 'there is no connection to ROS';
    const found = this.#found.get(part);
    if (found === 'active') return null;
    return `${rosName(this.#config, node)} is ${found ?? 'not known yet'}; it has to be active`;
  }

  #askAll(): void {
    if (!this.#port.connected) return;
    for (const part of PARTS) {
      const node = this.#config.lifecycle[part];
      if (node !== null) void this.#ask(part, rosName(this.#config, node));
    }
  }

  async #ask(part: Part, node: string): Promise<void> {
    this.counters.lifecycle_asked += 1;
    try {
      const { current_state } = await this.#port.call({
        service: `${node}/get_state`,
        type: lifecycleStateType.name,
        request: {},
        response: lifecycleStateType,
        timeoutMs: TIMEOUT_MS,
      });
      this.#set(part, node, current_state.id === LIFECYCLE_ACTIVE ? 'active' : current_state.label);
    } catch (error) {
      this.counters.lifecycle_unanswered += 1;
      this.#set(part, node, `not answering (${errorText(error)})`);
    }
  }

  #set(part: Part, node: string, state: string): void {
    if (this.#found.get(part) === state) return;
    this.#found.set(part, state);
    this.#log(`${node} is ${state}`);
  }
}
