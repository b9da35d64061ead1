/** Whether what the lidar sees can be right: sectors in which nothing is seen, and a view in the mirror. Pure. */
import type { Scan } from '../../config/contracts/amr.js';
import type { MapBundle } from '../../drivers/amr/types.js';

const DEG = 180 / Math.PI;

/** The widest run of rays without a return, degrees; null when every ray has one. */
export function darkSector(scan: Scan): { middle: number; width: number } | null {
  const n = scan.ranges.length;
  let best = 0;
  let bestEnd = 0;
  let run = 0;
  for (let i = 0; i < 2 * n; i++) {
    run = Number.isNaN(scan.ranges[i % n] ?? Number.NaN) ? run + 1 : 0;
    if (run > best) {
      best = Math.min(run, n);
      bestEnd = i;
    }
  }
  if (best === 0) return null;
  const middle = scan.angleMin + (bestEnd - (best - 1) / 2) * scan.angleIncrement;
  return {
    middle: Math.atan2(Math.sin(middle), Math.cos(middle)) * DEG,
    width: best * scan.angleIncrement * DEG,
  };
}

/** A point belongs to the map within so many cells of something occupied. */
const NEAR_CELLS = 3;
const FITS = 0.6;
const BETTER = 1.5;

/** Seen from the station, the scan's mirror image fits the map and the scan does not. */
export function looksMirrored(scan: Scan, map: MapBundle): boolean {
  const as = share(scan, map, 1);
  const mirrored = share(scan, map, -1);
  return mirrored > FITS && mirrored > BETTER * as;
}

function share(scan: Scan, { grid, areas }: MapBundle, hand: 1 | -1): number {
  const pose = areas.station?.pose;
  if (pose === undefined) return 0;
  let seen = 0;
  let fits = 0;
  for (let i = 0; i < scan.ranges.length; i++) {
    const range = scan.ranges[i] ?? Number.NaN;
    if (!(range > 0.3 && range < scan.rangeMax)) continue;
    const angle = pose.theta + hand * (scan.angleMin + i * scan.angleIncrement);
    seen += 1;
    if (occupiedNear(grid, pose.x + range * Math.cos(angle), pose.y + range * Math.sin(angle))) fits += 1;
  }
  return seen === 0 ? 0 : fits / seen;
}

function occupiedNear(grid: MapBundle['grid'], x: number, y: number): boolean {
  const { origin, resolution, width, height } = grid;
  const dx = x - origin.x;
  const dy = y - origin.y;
  const c = Math.cos(origin.theta);
  const s = Math.sin(origin.theta);
  const col = Math.floor((c * dx + s * dy) / resolution);
  const row = Math.floor((c * dy - s * dx) / resolution);
  for (let r = row - NEAR_CELLS; r <= row + NEAR_CELLS; r++) {
    for (let q = col - NEAR_CELLS; q <= col + NEAR_CELLS; q++) {
      if (r < 0 || q < 0 || r >= height || q >= width) continue;
      if ((grid.cells[r * width + q] ?? 0) > 50) return true;
    }
  }
  return false;
}
