/** A 4-ary min-heap of (key, cell) in typed arrays; a cell may be in it more than once. */
export class OpenHeap {
  #keys = new Float64Array(4096);
  #cells = new Int32Array(4096);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  clear(): void {
    this.#size = 0;
  }

  push(key: number, cell: number): void {
    if (this.#size === this.#keys.length) this.#grow();
    const keys = this.#keys;
    const cells = this.#cells;
    let i = this.#size++;
    while (i > 0) {
      const parent = (i - 1) >> 2;
      const parentKey = keys[parent] ?? 0;
      if (parentKey <= key) break;
      keys[i] = parentKey;
      cells[i] = cells[parent] ?? 0;
      i = parent;
    }
    keys[i] = key;
    cells[i] = cell;
  }

  /** Removes the entry with the smallest key and returns its cell; call only when `size` > 0. */
  pop(): number {
    const keys = this.#keys;
    const cells = this.#cells;
    const top = cells[0] ?? 0;
    const last = --this.#size;
    const key = keys[last] ?? 0;
    const cell = cells[last] ?? 0;
    let i = 0;
    for (let child = 1; child < last; child = 4 * i + 1) {
      let best = child;
      let bestKey = keys[child] ?? 0;
      const end = Math.min(child + 4, last);
      for (let c = child + 1; c < end; c++) {
        const k = keys[c] ?? 0;
        if (k < bestKey) {
          best = c;
          bestKey = k;
        }
      }
      if (bestKey >= key) break;
      keys[i] = bestKey;
      cells[i] = cells[best] ?? 0;
      i = best;
    }
    keys[i] = key;
    cells[i] = cell;
    return top;
  }

  #grow(): void {
    const keys = new Float64Array(this.#keys.length * 2);
    keys.set(this.#keys);
    this.#keys = keys;
    const cells = new Int32Array(this.#cells.length * 2);
    cells.set(this.#cells);
    this.#cells = cells;
  }
}
