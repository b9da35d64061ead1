/** How well a map that the robot made fits the world that it was made in. */
import { compose, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import type { MapView } from '../../../daemon/runtime.js';
import type { Home } from '../../support/home.js';

/** Half the width of the reference robot's body, m. */
const RADIUS = 0.17;
const STEP = 0.05;

export interface MapQuality {
  /** Of the ground that the robot's middle can get to in the world, so much is free on the map, 0…1. */
  covered: number;
  /** m² of that ground. */
  reachable: number;
  /** Of the map's obstacles, so many lie within 0.1 m of a surface of the world, 0…1. */
  nearSurface: number;
}

/** `onMap`, `inWorld`: one place in both. */
export function mapQuality(home: Home, map: MapView, onMap: Pose, inWorld: Pose): MapQuality {
  const { layout } = home.session.world;
  const near = new Int32Array(1);
  const isNear = (x: number, y: number, d: number) =>
    layout.seen.near(x, y, d, near) > 0 || layout.isOccupied(x, y);
  const cellAt = (p: { x: number; y: number }) => {
    const at = compose(onMap, relativeTo(inWorld, { ...p, theta: 0 }));
    const local = relativeTo(map.origin, at);
    const [x, y] = [Math.floor(local.x / map.resolution), Math.floor(local.y / map.resolution)];
    const inside = x >= 0 && y >= 0 && x < map.width && y < map.height;
    return inside ? (map.cells[y * map.width + x] ?? -1) : -1;
  };
  const { minX, minY, maxX, maxY } = layout.bounds;
  const columns = Math.ceil((maxX - minX) / STEP);
  const rows = Math.ceil((maxY - minY) / STEP);
  const place = (i: number) => ({
    x: minX + ((i % columns) + 0.5) * STEP,
    y: minY + (Math.floor(i / columns) + 0.5) * STEP,
  });
  // Where it stands clear of its station.
  const start = compose(inWorld, { x: -0.5, y: 0, theta: 0 });
  const first = Math.floor((start.y - minY) / STEP) * columns + Math.floor((start.x - minX) / STEP);
  const seen = new Uint8Array(columns * rows);
  const stack = [first];
  seen[first] = 1;
  let reachable = 0;
  let free = 0;
  for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
    reachable += 1;
    if (cellAt(place(i)) === 0) free += 1;
    for (const next of [i - 1, i + 1, i - columns, i + columns]) {
      if (next < 0 || next >= seen.length || seen[next] === 1) continue;
      const p = place(next);
      if (isNear(p.x, p.y, RADIUS)) continue;
      seen[next] = 1;
      stack.push(next);
    }
  }
  let occupied = 0;
  let right = 0;
  for (let i = 0; i < map.cells.length; i++) {
    if ((map.cells[i] ?? 0) < 65) continue;
    occupied += 1;
    const local = {
      x: ((i % map.width) + 0.5) * map.resolution,
      y: (Math.floor(i / map.width) + 0.5) * map.resolution,
      theta: 0,
    };
    const p = compose(inWorld, relativeTo(onMap, compose(map.origin, local)));
    if (isNear(p.x, p.y, 0.1)) right += 1;
  }
  return { covered: free / reachable, reachable: reachable * STEP ** 2, nearSurface: right / occupied };
}
