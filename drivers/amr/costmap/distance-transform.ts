/**
 * Exact squared Euclidean distances, in cells between cell centres, from every cell to the nearest cell whose
 * `mask` is not 0; `Infinity` when there is none. Linear time: one pass over columns, then the lower envelope of
 * parabolas over each row (P. Felzenszwalb, D. Huttenlocher, "Distance Transforms of Sampled Functions", 2012).
 */
export function squaredDistances(mask: Uint8Array, width: number, height: number): Float32Array {
  const out = new Float32Array(width * height);
  columnDistances(mask, width, height, out);
  const scratch = new RowScratch(width);
  for (let y = 0; y < height; y++) transformRow(out, y * width, width, scratch);
  return out;
}

/** Squared distance to the nearest masked cell of the same column. */
function columnDistances(mask: Uint8Array, width: number, height: number, out: Float32Array): void {
  // Row by row in both directions, which is how the memory lies.
  const gap = new Float64Array(width).fill(Number.POSITIVE_INFINITY);
  for (let y = 0; y < height; y++) {
    for (let x = 0, i = y * width; x < width; x++, i++) {
      const d = mask[i] === 0 ? (gap[x] ?? 0) + 1 : 0;
      gap[x] = d;
      out[i] = d;
    }
  }
  gap.fill(Number.POSITIVE_INFINITY);
  for (let y = height - 1; y >= 0; y--) {
    for (let x = 0, i = y * width; x < width; x++, i++) {
      const below = mask[i] === 0 ? (gap[x] ?? 0) + 1 : 0;
      gap[x] = below;
      const d = Math.min(below, out[i] ?? 0);
      out[i] = d * d;
    }
  }
}

class RowScratch {
  readonly values: Float64Array;
  /** Columns of the parabolas on the envelope, and where each begins to be the lowest. */
  readonly apex: Int32Array;
  readonly from: Float64Array;
  constructor(width: number) {
    this.values = new Float64Array(width);
    this.apex = new Int32Array(width);
    this.from = new Float64Array(width + 1);
  }
}

function transformRow(out: Float32Array, start: number, width: number, scratch: RowScratch): void {
  const { values, apex, from } = scratch;
  let count = 0;
  for (let q = 0; q < width; q++) {
    const height = out[start + q] ?? 0;
    values[q] = height;
    if (height === Number.POSITIVE_INFINITY) continue;
    let begins = Number.NEGATIVE_INFINITY;
    while (count > 0) {
      const p = apex[count - 1] ?? 0;
      begins = (height + q * q - ((values[p] ?? 0) + p * p)) / (2 * (q - p));
      if (begins > (from[count - 1] ?? 0)) break;
      count--;
      begins = Number.NEGATIVE_INFINITY;
    }
    apex[count] = q;
    from[count] = begins;
    count++;
  }
  if (count === 0) return;
  from[count] = Number.POSITIVE_INFINITY;
  for (let x = 0, k = 0; x < width; x++) {
    while ((from[k + 1] ?? 0) < x) k++;
    const p = apex[k] ?? 0;
    out[start + x] = (x - p) * (x - p) + (values[p] ?? 0);
  }
}
