/** The simulated robot's rosbridge as an independent client sees it: roslib from npm. */
import * as roslib from 'roslib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSimRos, type SimRos } from '../../../simulator/ros/index.js';
import { createWorld, type World } from '../../../simulator/world/index.js';

interface Ros {
  on(event: string, listener: (value: unknown) => void): void;
  close(): void;
}
/** As much of roslib 2.1 as is used; its own declarations do not resolve under `nodenext`. */
interface Roslib {
  Ros: new (options: { url: string }) => Ros;
  Topic: new <T>(options: object) => { subscribe(listener: (message: T) => void): void; unsubscribe(): void };
  Service: new <Q, R>(
    options: object,
  ) => { callService(request: Q, done: (response: R) => void, failed: (error: unknown) => void): void };
  Action: new <G, F, R>(
    options: object,
  ) => {
    sendGoal(
      goal: G,
      done: (result: R) => void,
      feedback: (value: F) => void,
      failed: (error: unknown) => void,
    ): void;
  };
}
const { Action, Ros: RosConnection, Service, Topic } = roslib as unknown as Roslib;

let world: World;
let sim: SimRos;
let ros: Ros;

beforeAll(async () => {
  world = createWorld(undefined, { seed: 1 });
  sim = createSimRos(world, { flavour: 'jazzy', startMs: 1_790_000_000_000 });
  const url = await sim.bridge.listen(0);
  ros = new RosConnection({ url });
  await new Promise<void>((resolve, reject) => {
    ros.on('connection', () => resolve());
    ros.on('error', reject);
  });
});
afterAll(async () => {
  ros.close();
  await sim.bridge.close();
});

/** Lets the world go on until something has arrived. */
async function goOn<T>(promise: Promise<T>): Promise<T> {
  let settled = false;
  const mark = () => {
    settled = true;
  };
  promise.then(mark, mark);
  for (let i = 0; i < 20_000 && !settled; i++) {
    world.step(15);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return promise;
}

it('hears scans, and the map that was published before it came', async () => {
  const scan = new Topic<{ ranges: (number | null)[] }>({
    ros,
    name: '/scan',
    messageType: 'sensor_msgs/msg/LaserScan',
  });
  const map = new Topic<{ info: { width: number } }>({
    ros,
    name: '/map',
    messageType: 'nav_msgs/msg/OccupancyGrid',
  });
  const heard = Promise.all([
    new Promise<number>((resolve) => scan.subscribe((m) => resolve(m.ranges.length))),
    new Promise<number>((resolve) => map.subscribe((m) => resolve(m.info.width))),
  ]);
  const [rays, width] = await goOn(heard);
  expect(rays).toBe(360);
  expect(width).toBeGreaterThan(50);
  scan.unsubscribe();
  map.unsubscribe();
});

it('asks for the state of a node', async () => {
  const service = new Service<object, { current_state: { label: string } }>({
    ros,
    name: '/bt_navigator/get_state',
    serviceType: 'lifecycle_msgs/srv/GetState',
  });
  const answer = new Promise<string>((resolve, reject) =>
    service.callService({}, (r) => resolve(r.current_state.label), reject),
  );
  expect(await goOn(answer)).toBe('active');
});

it('undocks it and sends it somewhere, with feedback and a result', async () => {
  const send = (name: string, actionType: string, goal: object) => {
    const action = new Action<object, object, { error_code: number }>({ ros, name, actionType });
    let feedback = 0;
    const ended = new Promise<{ feedback: number; result: { error_code: number } }>((resolve, reject) =>
      action.sendGoal(
        goal,
        (result) => resolve({ feedback, result }),
        () => {
          feedback += 1;
        },
        (error) => reject(new Error(String(error))),
      ),
    );
    return goOn(ended);
  };
  await send('/undock_robot', 'nav2_msgs/action/UndockRobot', { dock_type: '' });
  const goal = world.layout.rooms[1]?.goal ?? { x: 0, y: 0, theta: 0 };
  const { feedback, result } = await send('/navigate_to_pose', 'nav2_msgs/action/NavigateToPose', {
    pose: {
      header: { frame_id: 'map', stamp: { sec: 0, nanosec: 0 } },
      pose: { position: { x: goal.x, y: goal.y, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } },
    },
  });
  expect(feedback).toBeGreaterThan(5);
  expect(result.error_code).toBe(0);
  expect(Math.hypot(world.body.pose.x - goal.x, world.body.pose.y - goal.y)).toBeLessThan(0.2);
}, 60_000);
