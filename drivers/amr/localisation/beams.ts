import type { Scan } from '../../../config/contracts/amr.js';

/** Ends of rays in `base_link`, metres. */
export interface Beams {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly count: number;
}

/**
 * At most `limit` rays of a scan, evenly over those that hit something. A ray that saw nothing says little on its
 * own (glass, black cloth, a lost frame) and is left out.
 */
export function pickBeams(scan: Scan, limit: number): Beams {
  const hits: number[] = [];
  for (let i = 0; i < scan.ranges.length; i++) {
    const r = scan.ranges[i] ?? Number.NaN;
    if (r >= scan.rangeMin && r < scan.rangeMax) hits.push(i);
  }
  const count = Math.min(limit, hits.length);
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    const i = hits[Math.floor((k * hits.length) / count)] ?? 0;
    const angle = scan.angleMin + i * scan.angleIncrement;
    const r = scan.ranges[i] ?? 0;
    x[k] = r * Math.cos(angle);
    y[k] = r * Math.sin(angle);
  }
  return { x, y, count };
}
