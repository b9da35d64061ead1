/**
 * Seeded randomness. Each consumer (lidar noise, wheel slip, …) has a stream of its own, named after it, so
 * that one more draw in one place changes nothing elsewhere.
 */

export interface Random {
  /** 0 ≤ x < 1, 32 bits. */
  next(): number;
  /** Standard normal. */
  gauss(): number;
  /** Whole number, 0 ≤ n < `limit`. */
  below(limit: number): number;
}

/** A stream of its own for `name`, the same for the same seed. */
export function randomStream(seed: number, name: string): Random {
  return new Sfc32(hash(`${seed}/${name}`));
}

/** sfc32, a small fast generator of Chris Doty-Humphrey's PractRand suite. */
class Sfc32 implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  #spare = Number.NaN;

  constructor(state: [number, number, number]) {
    [this.#a, this.#b, this.#c] = state;
    for (let i = 0; i < 15; i++) this.next();
  }

  next(): number {
    const t = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  }

  /** Marsaglia's polar method; the second of each pair is kept. */
  gauss(): number {
    if (!Number.isNaN(this.#spare)) {
      const spare = this.#spare;
      this.#spare = Number.NaN;
      return spare;
    }
    let u: number;
    let v: number;
    let s: number;
    do {
      u = 2 * this.next() - 1;
      v = 2 * this.next() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s === 0);
    const scale = Math.sqrt((-2 * Math.log(s)) / s);
    this.#spare = v * scale;
    return u * scale;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
}

/** Three words from a string: FNV-1a with three offsets, each finished with a mixing step. */
function hash(text: string): [number, number, number] {
  const word = (offset: number) => {
    let h = offset;
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) | 0;
  };
  return [word(0x811c9dc5 | 0), word(0x01234567), word(0x3c6ef372)];
}
