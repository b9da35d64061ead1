import { beforeEach, describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import type { FromChild } from '../../../drivers/ros2/rclnodejs/ipc.js';
import { type RclModule, RclWorker } from '../../../drivers/ros2/rclnodejs/node.js';

const CALL = {
  op: 'call',
  id: 'c1',
  service: '/amcl/get_state',
  type: 'lifecycle_msgs/srv/GetState',
  request: {},
  timeoutMs: 900,
} as const;
const GOAL = {
  op: 'goal',
  id: 'g1',
  action: '/navigate_to_pose',
  type: 'nav2_msgs/action/NavigateToPose',
  goal: {},
} as const;

/** What rclnodejs is asked to do; answers and results come when the test says so. */
class PlayedRcl {
  readonly open = new Set<string>();
  readonly cancels: string[] = [];
  answer: (value: unknown) => void = () => {};
  accept: () => void = () => {};
  feedback: (value: unknown) => void = () => {};
  finish: (value: unknown) => void = () => {};
  status: 'succeeded' | 'canceled' | 'aborted' = 'succeeded';

  readonly module: RclModule = {
    init: async () => {},
    shutdown: () => {},
    QoS: class {},
    createNode: () => ({
      createPublisher: () => ({ publish: () => {} }),
      createSubscription: () => ({}),
      createClient: (_type: string, service: string) => {
        this.open.add(service);
        return {
          waitForService: async () => true,
          sendRequest: (_request: object, callback: (value: unknown) => void) => {
            this.answer = callback;
          },
        };
      },
      destroyPublisher: () => {},
      destroySubscription: () => {},
      destroyClient: () => this.open.clear(),
      spin: () => {},
    }),
    ActionClient: this.#actionClient(),
  };

  #actionClient(): RclModule['ActionClient'] {
    const played = this;
    return class {
      readonly action: string;
      constructor(_node: unknown, _type: string, action: string) {
        this.action = action;
        played.open.add(action);
      }
      async waitForServer() {
        return true;
      }
      sendGoal(_goal: object, feedback: (value: unknown) => void) {
        played.feedback = feedback;
        const handle = {
          isAccepted: () => true,
          cancelGoal: async () => played.cancels.push(this.action),
          getResult: () =>
            new Promise<unknown>((resolve) => {
              played.finish = resolve;
            }),
          isSucceeded: () => played.status === 'succeeded',
          isCanceled: () => played.status === 'canceled',
        };
        return new Promise<typeof handle>((resolve) => {
          played.accept = () => resolve(handle);
        });
      }
      destroy() {
        played.open.delete(this.action);
      }
    };
  }
}

describe('the process that has rclnodejs loaded', () => {
  let clock: SimClock;
  let rcl: PlayedRcl;
  let told: FromChild[];
  let worker: RclWorker;
  beforeEach(async () => {
    clock = new SimClock(1_790_000_000_000);
    rcl = new PlayedRcl();
    told = [];
    worker = await RclWorker.start(rcl.module, 'deviceagent', (message) => told.push(message), clock);
  });

  it('answers a call, and keeps nothing of it', async () => {
    worker.take(CALL);
    await clock.advanceAsync(0);
    rcl.answer({ current_state: { id: 3, label: 'active' } });
    await clock.advanceAsync(0);
    expect(told).toEqual([{ op: 'answer', id: 'c1', value: { current_state: { id: 3, label: 'active' } } }]);
    expect([...rcl.open]).toEqual([]);
  });

  it('keeps no client for a node that never answers', async () => {
    worker.take(CALL);
    await clock.advanceAsync(899);
    expect([...rcl.open]).toEqual(['/amcl/get_state']);
    await clock.advanceAsync(2);
    expect([...rcl.open]).toEqual([]);
    expect(told).toEqual([]);
  });

  it('cancels a goal as soon as it is accepted when it was cancelled before', async () => {
    worker.take(GOAL);
    await clock.advanceAsync(0);
    worker.take({ op: 'cancel', id: 'g1' });
    expect(rcl.cancels).toEqual([]);
    rcl.accept();
    await clock.advanceAsync(0);
    expect(rcl.cancels).toEqual(['/navigate_to_pose']);
    rcl.status = 'canceled';
    rcl.finish({});
    await clock.advanceAsync(0);
    expect(told).toEqual([{ op: 'result', id: 'g1', status: 'canceled', value: {} }]);
    expect([...rcl.open]).toEqual([]);
  });

  it('waits for a server that takes long to cancel while it is heard, and not for one that is silent', async () => {
    worker.take(GOAL);
    await clock.advanceAsync(0);
    rcl.accept();
    await clock.advanceAsync(60_000);
    worker.take({ op: 'cancel', id: 'g1' });
    await clock.advanceAsync(9_000);
    rcl.feedback({ distance_remaining: 1 });
    await clock.advanceAsync(9_000);
    expect([...rcl.open]).toEqual(['/navigate_to_pose']);
    await clock.advanceAsync(1_001);
    expect(told.at(-1)).toMatchObject({ op: 'goal_ended', id: 'g1', kind: 'unavailable' });
    expect([...rcl.open]).toEqual([]);
  });
});
