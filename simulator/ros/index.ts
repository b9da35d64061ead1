/** A simulated robot with ROS 2 and Nav2 in a world, offered through a rosbridge. */
import type { Pose } from '../../config/contracts/geometry.js';
import { worldToMap } from '../world/survey.js';
import type { World } from '../world/world.js';
import { RosGraph } from './graph.js';
import { rosPose, stamp } from './messages.js';
import { type Nav2Flavour, SimNav2 } from './nav2.js';
import { RosRobot } from './robot.js';
import { RosbridgeServer } from './rosbridge-server.js';

export interface SimRosOptions {
  flavour: Nav2Flavour;
  namespace?: string;
  /** ROS time at the world's beginning, epoch ms. */
  startMs: number;
  /** Whether its rosbridge can send goals; default: yes. */
  actions?: boolean;
}

export interface SimRos {
  graph: RosGraph;
  robot: RosRobot;
  nav2: SimNav2;
  bridge: RosbridgeServer;
}

/** Takes part in every step of the world from now on; to be called after the serial devices were attached. */
export function createSimRos(world: World, options: SimRosOptions): SimRos {
  const { flavour, namespace = '', startMs, actions = true } = options;
  const graph = new RosGraph();
  const robot = new RosRobot(world, { graph, namespace, startMs });
  const nav2 = new SimNav2(world, robot, flavour, mapMessage(world, startMs));
  world.attach(robot);
  world.attach(nav2);
  return { graph, robot, nav2, bridge: new RosbridgeServer({ graph, actions }) };
}

/** Only its frame matters to those who have the map already: the cells are left out. */
function mapMessage(world: World, atMs: number): object {
  const { pgm, mapYaml } = worldToMap(world);
  const [, width = '0', height = '0'] = /^P5\s+(?:#[^\n]*\n)?\s*(\d+)\s+(\d+)/.exec(headOf(pgm)) ?? [];
  const resolution = Number(/resolution:\s*([\d.]+)/.exec(mapYaml)?.[1] ?? 0.05);
  const [x = 0, y = 0, theta = 0] = (/origin:\s*\[([^\]]*)\]/.exec(mapYaml)?.[1] ?? '')
    .split(',')
    .map(Number);
  const origin: Pose = { x, y, theta };
  const header = { stamp: stamp(atMs), frame_id: 'map' };
  const info = {
    map_load_time: stamp(atMs),
    resolution,
    width: Number(width),
    height: Number(height),
    origin: rosPose(origin),
  };
  return { header, info, data: [] };
}

function headOf(pgm: Uint8Array): string {
  return new TextDecoder('latin1').decode(pgm.subarray(0, 200));
}

export type { Nav2Flavour } from './nav2.js';
