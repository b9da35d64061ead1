/** Drawing new particles from weighted ones. */

/** Poses in grid coordinates with weights that sum to 1; arrays may be longer than `count`. */
export interface ParticleSet {
  count: number;
  x: Float64Array;
  y: Float64Array;
  theta: Float64Array;
  weight: Float64Array;
}

export function particleSet(count: number): ParticleSet {
  return {
    count,
    x: new Float64Array(count),
    y: new Float64Array(count),
    theta: new Float64Array(count),
    weight: new Float64Array(count),
  };
}

/**
 * Indices of `wanted` draws by the low-variance method: one random offset (0…1) and equal steps through the
 * weights, so that equal weights lose nobody.
 */
export function lowVarianceIndices(
  weight: Float64Array,
  count: number,
  wanted: number,
  offset: number,
): Int32Array {
  const out = new Int32Array(wanted);
  let i = 0;
  let sum = weight[0] ?? 0;
  for (let k = 0; k < wanted; k++) {
    const at = (k + offset) / wanted;
    while (at > sum && i < count - 1) {
      i++;
      sum += weight[i] ?? 0;
    }
    out[k] = i;
  }
  return out;
}

/** Size of the bins that count as one place: metres and radians. */
const BIN_XY = 0.1;
const BIN_THETA = Math.PI / 18;
/** The sampled distribution is within ERROR of the true one with 99 % certainty (upper quantile of the normal). */
const ERROR = 0.05;
const QUANTILE = 2.326;

/** How many particles the present spread needs (KLD sampling: D. Fox, 2003, with the Wilson–Hilferty bound). */
export function adaptiveCount(
  set: ParticleSet,
  resolution: number,
  random: () => number,
  least: number,
  most: number,
): number {
  if (least >= most) return most;
  const bins = new Set<number>();
  const draws = lowVarianceIndices(set.weight, set.count, most, random());
  for (const i of draws) {
    const bx = Math.floor(((set.x[i] ?? 0) * resolution) / BIN_XY);
    const by = Math.floor(((set.y[i] ?? 0) * resolution) / BIN_XY);
    const bt = Math.floor(((set.theta[i] ?? 0) + Math.PI) / BIN_THETA);
    bins.add((bx * 65_536 + by) * 64 + bt);
  }
  const k = bins.size;
  if (k <= 1) return least;
  const a = 2 / (9 * (k - 1));
  const n = ((k - 1) / (2 * ERROR)) * (1 - a + Math.sqrt(a) * QUANTILE) ** 3;
  return Math.max(least, Math.min(most, Math.ceil(n)));
}
