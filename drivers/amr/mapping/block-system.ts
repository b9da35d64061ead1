/**
 * Symmetric positive definite systems of 3 × 3 blocks, most of them empty, as pose graphs give them. Blocks are
 * eliminated in the order of their number of neighbours: a way with a few loops stays nearly as sparse as it is.
 */

/** 3 × 3, row-major. */
export type Block = Float64Array;

export class BlockSystem {
  readonly #diagonal: Block[];
  /** Blocks beside the diagonal, both ways: `#beside[i].get(j)` is row i, column j. */
  readonly #beside: Map<number, Block>[];
  readonly #right: Float64Array;

  constructor(size: number) {
    this.#diagonal = Array.from({ length: size }, () => new Float64Array(9));
    this.#beside = Array.from({ length: size }, () => new Map());
    this.#right = new Float64Array(3 * size);
  }

  get size(): number {
    return this.#diagonal.length;
  }

  addDiagonal(i: number, block: Block): void {
    const own = this.#diagonal[i];
    if (own !== undefined) addTo(own, block);
  }

  /** Row i, column j; the mirrored block is added as well. */
  addBeside(i: number, j: number, block: Block): void {
    addTo(this.#block(i, j), block);
    addTo(this.#block(j, i), transposed(block));
  }

  addRight(i: number, values: readonly [number, number, number]): void {
    for (let k = 0; k < 3; k++) this.#right[3 * i + k] = (this.#right[3 * i + k] ?? 0) + (values[k] ?? 0);
  }

  /** The solution, three values a block; null when the system has none. Uses the system up. */
  solve(): Float64Array | null {
    const order: { node: number; inverse: Block; others: [number, Block][] }[] = [];
    const queue = new ByDegree(this.#beside.map((row) => row.size));
    for (;;) {
      const node = queue.next();
      if (node === null) break;
      const inverse = inverted(this.#diagonal[node] ?? new Float64Array(9));
      if (inverse === null) return null;
      const others = [...(this.#beside[node] ?? [])];
      this.#eliminate(node, inverse, others, queue);
      order.push({ node, inverse, others });
    }
    const x = new Float64Array(3 * this.size);
    for (const { node, inverse, others } of order.reverse()) {
      const rest = this.#right.slice(3 * node, 3 * node + 3);
      for (const [other, block] of others) subtractProduct(rest, block, x.subarray(3 * other, 3 * other + 3));
      x.set(product(inverse, rest), 3 * node);
    }
    return x;
  }

  #eliminate(node: number, inverse: Block, others: readonly [number, Block][], queue: ByDegree): void {
    const right = this.#right.subarray(3 * node, 3 * node + 3);
    for (const [a, toA] of others) {
      // Row a, column node, times the inverse of the diagonal.
      const factor = multiplied(transposed(toA), inverse);
      subtractProduct(this.#right.subarray(3 * a, 3 * a + 3), factor, right);
      this.#beside[a]?.delete(node);
      for (const [b, toB] of others) {
        if (b === a) subtractFrom(this.#diagonal[a] ?? new Float64Array(9), multiplied(factor, toB));
        else subtractFrom(this.#block(a, b), multiplied(factor, toB));
      }
    }
    this.#beside[node]?.clear();
    for (const [a] of others) queue.put(a, this.#beside[a]?.size ?? 0);
  }

  #block(i: number, j: number): Block {
    const row = this.#beside[i];
    const known = row?.get(j);
    if (known !== undefined) return known;
    const made = new Float64Array(9);
    row?.set(j, made);
    return made;
  }
}

/** Nodes by their number of neighbours, the least first; old entries are passed over. */
class ByDegree {
  readonly #degree: number[];
  readonly #done: Uint8Array;
  readonly #buckets: number[][] = [];
  #lowest = 0;

  constructor(degrees: readonly number[]) {
    this.#degree = [...degrees];
    this.#done = new Uint8Array(degrees.length);
    degrees.forEach((degree, node) => {
      this.#bucket(degree).push(node);
    });
  }

  put(node: number, degree: number): void {
    this.#degree[node] = degree;
    this.#bucket(degree).push(node);
    this.#lowest = Math.min(this.#lowest, degree);
  }

  next(): number | null {
    for (; this.#lowest < this.#buckets.length; this.#lowest++) {
      const bucket = this.#bucket(this.#lowest);
      for (let node = bucket.pop(); node !== undefined; node = bucket.pop()) {
        if (this.#done[node] === 1 || this.#degree[node] !== this.#lowest) continue;
        this.#done[node] = 1;
        return node;
      }
    }
    return null;
  }

  #bucket(degree: number): number[] {
    while (this.#buckets.length <= degree) this.#buckets.push([]);
    return this.#buckets[degree] ?? [];
  }
}

export function transposed(m: Block): Block {
  const t = new Float64Array(9);
  for (let r = 0; r < 3; r++) for (let c = 0; c < 3; c++) t[3 * c + r] = m[3 * r + c] ?? 0;
  return t;
}

export function multiplied(a: Block, b: Block): Block {
  const m = new Float64Array(9);
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 3; c++) {
      let sum = 0;
      for (let k = 0; k < 3; k++) sum += (a[3 * r + k] ?? 0) * (b[3 * k + c] ?? 0);
      m[3 * r + c] = sum;
    }
  }
  return m;
}

export function product(m: Block, v: ArrayLike<number>): [number, number, number] {
  const row = (r: number) =>
    (m[3 * r] ?? 0) * (v[0] ?? 0) + (m[3 * r + 1] ?? 0) * (v[1] ?? 0) + (m[3 * r + 2] ?? 0) * (v[2] ?? 0);
  return [row(0), row(1), row(2)];
}

/** Null for a block without an inverse. */
export function inverted(m: Block): Block | null {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = m;
  const det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  if (!(Math.abs(det) > 1e-300)) return null;
  return Float64Array.from(
    [
      e * i - f * h,
      c * h - b * i,
      b * f - c * e,
      f * g - d * i,
      a * i - c * g,
      c * d - a * f,
      d * h - e * g,
      b * g - a * h,
      a * e - b * d,
    ],
    (value) => value / det,
  );
}

function addTo(target: Float64Array, values: Float64Array): void {
  for (let k = 0; k < 9; k++) target[k] = (target[k] ?? 0) + (values[k] ?? 0);
}

function subtractFrom(target: Float64Array, values: Float64Array): void {
  for (let k = 0; k < 9; k++) target[k] = (target[k] ?? 0) - (values[k] ?? 0);
}

function subtractProduct(target: Float64Array, m: Block, v: ArrayLike<number>): void {
  const p = product(m, v);
  for (let k = 0; k < 3; k++) target[k] = (target[k] ?? 0) - (p[k] ?? 0);
}
