/**
 * A priority queue over whole distances that lie less than `span` apart: a ring of linked lists, so that adding and
 * taking cost the same however many wait. What is added farther from the rest than that counts as just within it. A
 * node may be in it more than once; of equals the one added last comes first.
 */
export class BucketQueue {
  readonly #head: Int32Array;
  #next = new Int32Array(4096);
  #node = new Int32Array(4096);
  /** Entries used so far, and the first of the list of those that are free again; −1: none. */
  #used = 0;
  #free = -1;
  #queued = 0;
  /** No node waits with a smaller one; after `pop`, that of the node taken. */
  #distance = 0;
  /** No node waits with a larger one. */
  #farthest = 0;

  constructor(readonly span: number) {
    this.#head = new Int32Array(span).fill(-1);
  }

  get distance(): number {
    return this.#distance;
  }

  clear(): void {
    this.#head.fill(-1);
    this.#used = 0;
    this.#free = -1;
    this.#queued = 0;
  }

  push(distance: number, node: number): void {
    if (this.#queued === 0) {
      this.#distance = distance;
      this.#farthest = distance;
    }
    const within = Math.max(
      this.#farthest - this.span + 1,
      Math.min(distance, this.#distance + this.span - 1),
    );
    if (within < this.#distance) this.#distance = within;
    else if (within > this.#farthest) this.#farthest = within;
    const entry = this.#freeEntry();
    const slot = within % this.span;
    this.#node[entry] = node;
    this.#next[entry] = this.#head[slot] ?? -1;
    this.#head[slot] = entry;
    this.#queued++;
  }

  /** A node with the smallest distance (then in `distance`), or −1. */
  pop(): number {
    if (this.#queued === 0) return -1;
    const head = this.#head;
    let distance = this.#distance;
    let slot = distance % this.span;
    while ((head[slot] ?? -1) < 0) {
      distance++;
      slot = slot + 1 === this.span ? 0 : slot + 1;
    }
    this.#distance = distance;
    const entry = head[slot] ?? -1;
    head[slot] = this.#next[entry] ?? -1;
    this.#next[entry] = this.#free;
    this.#free = entry;
    this.#queued--;
    return this.#node[entry] ?? -1;
  }

  #freeEntry(): number {
    const entry = this.#free;
    if (entry >= 0) {
      this.#free = this.#next[entry] ?? -1;
      return entry;
    }
    if (this.#used === this.#next.length) this.#grow();
    return this.#used++;
  }

  #grow(): void {
    const next = new Int32Array(this.#next.length * 2);
    next.set(this.#next);
    this.#next = next;
    const node = new Int32Array(this.#node.length * 2);
    node.set(this.#node);
    this.#node = node;
  }
}
