import type { ScanPoints } from '../localisation/scan-points.js';

/** Points at least `spacing` apart from the one kept before, no farther than `maxRange`: near walls do not outvote far ones. */
export function spacedPoints(points: ScanPoints, spacing: number, maxRange: number): ScanPoints {
  const x = new Float64Array(points.count);
  const y = new Float64Array(points.count);
  let count = 0;
  for (let i = 0; i < points.count; i++) {
    const [px, py] = [points.x[i] ?? 0, points.y[i] ?? 0];
    if (px * px + py * py > maxRange * maxRange) continue;
    if (count > 0 && Math.hypot(px - (x[count - 1] ?? 0), py - (y[count - 1] ?? 0)) < spacing) continue;
    x[count] = px;
    y[count] = py;
    count++;
  }
  return { x: x.slice(0, count), y: y.slice(0, count), count };
}

/** Those within `maxRange`. */
export function withinRange(points: ScanPoints, maxRange: number): ScanPoints {
  return spacedPoints(points, 0, maxRange);
}
