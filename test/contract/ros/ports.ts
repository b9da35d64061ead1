/** The ways to ROS that the contract holds for, each with a small robot behind it that the suite can play. */
import type { Clock } from '../../../config/contracts/clock.js';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { MemoryRosGraph, MemoryRosPort } from '../../../drivers/ros2/memory-port.js';
import { RosbridgePort } from '../../../drivers/ros2/rosbridge/client.js';
import type { OpenRosbridge } from '../../../drivers/ros2/rosbridge/line.js';
import { openWebSocket } from '../../../drivers/ros2/rosbridge/websocket.js';
import { QOS, type RosPort } from '../../../drivers/ros2/types.js';
import { GOAL, RosGraph } from '../../../simulator/ros/graph.js';
import { RosbridgeServer } from '../../../simulator/ros/rosbridge-server.js';

export interface PlayedGoal {
  goal: unknown;
  feedback(values: object): void;
  finish(status: 'succeeded' | 'canceled' | 'aborted', values: object): void;
  cancelAsked: boolean;
}

/** The robot's side. */
export interface Peer {
  publish(topic: string, type: string, message: object, latched?: boolean): void;
  /** What reached the robot on a topic. */
  heard(topic: string): unknown[];
  /** `null` from `serve`: no answer ever. */
  serve(service: string, type: string, serve: (request: unknown) => object | null): void;
  act(action: string, type: string, taken: (goal: unknown) => boolean): PlayedGoal[];
  cut(): void;
  mend(): void;
}

export interface Bench {
  port: RosPort;
  peer: Peer;
  /** Lets messages arrive, and this much time pass. */
  pass(ms?: number): Promise<void>;
  close(): Promise<void>;
}

const STATUS = { succeeded: GOAL.succeeded, canceled: GOAL.canceled, aborted: GOAL.aborted } as const;

export async function memoryBench(): Promise<Bench> {
  const clock = new SimClock(1_790_000_000_000);
  const graph = new MemoryRosGraph();
  const port = new MemoryRosPort(graph, clock);
  const robot = new MemoryRosPort(graph, clock);
  robot.start();
  return {
    port,
    peer: {
      publish: (topic, type, message, latched = false) =>
        graph.publish(topic, type, message, latched ? QOS.latched : QOS.reliable),
      heard: (topic) => {
        const heard: unknown[] = [];
        robot.subscribe(topic, { name: 'any', parse: (v) => v }, QOS.reliable, (m) => heard.push(m));
        return heard;
      },
      serve: (service, _type, serve) =>
        graph.services.set(service, (request) => serve(request) ?? new Promise<never>(() => {})),
      act: (action, _type, taken) => {
        const goals: PlayedGoal[] = [];
        graph.actions.set(action, (served) => {
          if (!taken(served.goal)) return false;
          const played: PlayedGoal = {
            goal: served.goal,
            feedback: (values) => served.feedback(values),
            finish: (status, values) => served.finish(status, values),
            cancelAsked: false,
          };
          served.onCancel(() => {
            played.cancelAsked = true;
          });
          goals.push(played);
          return true;
        });
        return goals;
      },
      cut: () => graph.setUp(false, 'cut'),
      mend: () => graph.setUp(true, 'mended'),
    },
    pass: (ms = 0) => clock.advanceAsync(ms),
    close: () => port.close(),
  };
}

export async function rosbridgeBench(): Promise<Bench> {
  const clock = new SimClock(1_790_000_000_000);
  const graph = new RosGraph();
  const server = new RosbridgeServer({ graph });
  const open: OpenRosbridge = async () => server.connect();
  return bridged(clock, graph, server, open, (ms) => clock.advanceAsync(ms));
}

/** The same over a real socket, on the machine's clock. */
export async function webSocketBench(): Promise<Bench> {
  const graph = new RosGraph();
  const server = new RosbridgeServer({ graph });
  const url = await server.listen(0);
  const clock = new SystemClock();
  return bridged(clock, graph, server, openWebSocket(url), async (ms) => {
    const until = clock.mono() + Math.max(ms, 40);
    while (clock.mono() < until) await settle();
  });
}

function bridged(
  clock: Clock,
  graph: RosGraph,
  server: RosbridgeServer,
  open: OpenRosbridge,
  pass: (ms: number) => Promise<void>,
): Bench {
  const port = new RosbridgePort({ open, clock, random: () => 0, log: () => {} });
  return {
    port,
    peer: {
      publish: (topic, type, message, latched = false) => graph.publish(topic, type, message, latched),
      heard: (topic) => {
        const heard: unknown[] = [];
        graph.subscribe(topic, null, (m) => heard.push(m));
        return heard;
      },
      serve: (service, type, serve) => graph.serve(service, type, serve),
      act: (action, type, taken) => {
        const goals: PlayedGoal[] = [];
        graph.offerAction(action, {
          type,
          cancelAll: () => 0,
          send: (goal, client) => {
            if (!taken(goal)) return null;
            const played: PlayedGoal = {
              goal,
              feedback: (values) => client.onFeedback(values),
              finish: (status, values) => client.onResult(STATUS[status], values),
              cancelAsked: false,
            };
            goals.push(played);
            return () => {
              played.cancelAsked = true;
            };
          },
        });
        return goals;
      },
      cut: () => server.setRefusing(true),
      mend: () => server.setRefusing(false),
    },
    pass: (ms = 0) => pass(ms),
    close: async () => {
      await port.close();
      await server.close();
    },
  };
}
