/**
 * Cuts what an RPLIDAR sends into answers and nodes. Nodes have no checksum, so the place where they begin is found
 * by a run of them whose angles go on, and each further one has to go on from the last and lead on to the next.
 */
import {
  ANSWER,
  DESCRIPTOR_BYTES,
  type Descriptor,
  descriptorAt,
  isFirst,
  isNode,
  NODE_BYTES,
  nodeAngle,
  STEPS_PER_TURN,
} from './protocol.js';

export interface RplidarHandlers {
  /** A single answer; the bytes are a copy. */
  onAnswer(type: number, data: Uint8Array): void;
  /** The scan was accepted; nodes follow. */
  onScanStart(): void;
  /** A node at `at`; the bytes are valid only during the call. */
  onNode(bytes: Uint8Array, at: number): void;
}

export interface RplidarParserStats {
  nodes: number;
  answers: number;
  /** Five bytes where a node was due that were none, or whose angle did not go on. */
  broken: number;
  /** Bytes that belong to nothing. */
  discarded: number;
}

/** So many in a row, with angles that go on, are where nodes begin. */
const RUN = 12;
/** … and over all of them the angle goes on by at least this, steps: three degrees. */
const RUN_ADVANCE = 192;
/** An angle may come back by this much, and go on by that much, steps: two and twelve degrees. */
const BACK = 128;
const ON = 768;
const WINDOW_BYTES = RUN * NODE_BYTES;

export class RplidarParser {
  readonly stats: RplidarParserStats = { nodes: 0, answers: 0, broken: 0, discarded: 0 };
  readonly #handlers: RplidarHandlers;
  #work = new Uint8Array(4096);
  #length = 0;
  #scanning = false;
  #pending: Descriptor | null = null;
  /** Angle of the last node; null: it is not known where nodes begin. */
  #last: number | null = null;

  constructor(handlers: RplidarHandlers) {
    this.#handlers = handlers;
  }

  /** Forgets what was begun: the connection broke, or the device was told to do something else. */
  reset(): void {
    this.stats.discarded += this.#length;
    this.#length = 0;
    this.#scanning = false;
    this.#pending = null;
    this.#last = null;
  }

  /** Nodes follow without a descriptor: what was recorded began in the middle of a scan. */
  expectNodes(): void {
    this.#scanning = true;
    this.#last = null;
  }

  /** Bytes kept because they may be the start of something; never more than a run of nodes. */
  get pending(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    this.#append(chunk);
    let at = 0;
    for (;;) {
      const used = this.#scanning ? this.#node(at) : this.#answer(at);
      // Something else was asked for meanwhile: what is left belongs to nothing.
      if (used === 0 || this.#length === 0) break;
      at += used;
    }
    if (this.#length === 0) return;
    this.#work.copyWithin(0, at, this.#length);
    this.#length -= at;
  }

  /** Bytes that were dealt with; 0: more are needed. */
  #answer(at: number): number {
    const left = this.#length - at;
    const pending = this.#pending;
    if (pending !== null) {
      if (left < pending.length) return 0;
      this.#pending = null;
      this.stats.answers += 1;
      this.#handlers.onAnswer(pending.type, this.#work.slice(at, at + pending.length));
      return pending.length;
    }
    if (left < DESCRIPTOR_BYTES) return 0;
    const found = descriptorAt(this.#work.subarray(0, this.#length), at);
    if (found === null) {
      this.stats.discarded += 1;
      return 1;
    }
    if (found.type === ANSWER.node) {
      this.#scanning = true;
      this.#last = null;
      this.#handlers.onScanStart();
    } else this.#pending = found;
    return DESCRIPTOR_BYTES;
  }

  #node(at: number): number {
    const left = this.#length - at;
    if (this.#last === null) return this.#search(at, left);
    // A node counts once the next one follows on it: where bytes were lost, the last one before is made of two halves.
    const next = at + NODE_BYTES;
    if (left < 2 * NODE_BYTES) return 0;
    const follows = isNode(this.#work, at) && this.#goesOn(this.#last, at);
    if (!follows || !isNode(this.#work, next) || !this.#goesOn(nodeAngle(this.#work, at), next)) {
      // It is looked for anew from here: where nothing was lost, the next node is found at once.
      this.stats.broken += 1;
      this.#last = null;
      return this.#search(at, left);
    }
    return this.#accept(at);
  }

  #search(at: number, left: number): number {
    if (left < WINDOW_BYTES) return 0;
    let last: number | null = null;
    const began = nodeAngle(this.#work, at);
    for (let i = at; i < at + WINDOW_BYTES; i += NODE_BYTES) {
      if (!isNode(this.#work, i) || (last !== null && !this.#goesOn(last, i))) {
        this.stats.discarded += 1;
        return 1;
      }
      last = nodeAngle(this.#work, i);
    }
    // Out of step, the quality passes for an angle, and stands still where it is always the same.
    if (((last ?? began) - began + STEPS_PER_TURN) % STEPS_PER_TURN < RUN_ADVANCE) {
      this.stats.discarded += 1;
      return 1;
    }
    return this.#accept(at);
  }

  #accept(at: number): number {
    this.#last = nodeAngle(this.#work, at);
    this.stats.nodes += 1;
    this.#handlers.onNode(this.#work, at);
    return NODE_BYTES;
  }

  /** From the last angle to this one; the flag of a new turn only where the angle passes zero. */
  #goesOn(last: number, at: number): boolean {
    const angle = nodeAngle(this.#work, at);
    const step = (angle - last + STEPS_PER_TURN + BACK) % STEPS_PER_TURN;
    if (step > ON + BACK) return false;
    return !isFirst(this.#work, at) || angle < ON || angle > STEPS_PER_TURN - ON;
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#work.length) {
      const larger = new Uint8Array(2 * needed);
      larger.set(this.#work.subarray(0, this.#length));
      this.#work = larger;
    }
    this.#work.set(chunk, this.#length);
    this.#length = needed;
  }
}
