/**
 * A small transform buffer, since there is no tf2 for Node: planar poses between frames over the last seconds,
 * interpolated, never extrapolated beyond a bound. Frames and chains of `/tf` and `/tf_static`.
 */
import { compose, type Pose, relativeTo, wrapAngle } from '../../config/contracts/geometry.js';
import { stampMs, type TransformStamped, yawOf } from './messages.js';

export interface TransformBufferOptions {
  /** How far back transforms are kept, ms. */
  keepMs: number;
  /** A lookup this far beyond the newest transform takes the newest, ms; further it fails. */
  extrapolateMs: number;
}

interface Entry {
  /** ROS time, ms. */
  at: number;
  pose: Pose;
  /** Upside down: its z axis points to the floor. */
  flipped: boolean;
}

interface Edge {
  readonly parent: string;
  /** By time, oldest first; one entry when static. */
  readonly entries: Entry[];
  readonly isStatic: boolean;
}

/** Bounds: no robot has more frames, and no chain is longer. */
const MAX_FRAMES = 512;
const MAX_CHAIN = 32;
const MAX_ENTRIES = 2000;

export type Lookup = { ok: true; pose: Pose; flipped: boolean } | { ok: false; why: string };

export class TransformBuffer {
  readonly counters = { tf_received: 0, tf_dropped: 0, tf_lookup_failures: 0 };
  readonly #options: TransformBufferOptions;
  readonly #edges = new Map<string, Edge>();

  constructor(options: TransformBufferOptions) {
    this.#options = options;
  }

  add(message: TransformStamped, isStatic: boolean): void {
    const child = frameName(message.child_frame_id);
    const parent = frameName(message.header.frame_id);
    const known = this.#edges.get(child);
    if (child === '' || child === parent || (known === undefined && this.#edges.size >= MAX_FRAMES)) {
      this.counters.tf_dropped += 1;
      return;
    }
    this.counters.tf_received += 1;
    const entry = entryOf(message);
    if (known === undefined || known.parent !== parent || known.isStatic !== isStatic || isStatic) {
      this.#edges.set(child, { parent, entries: [entry], isStatic });
      return;
    }
    this.#insert(known.entries, entry);
  }

  clear(): void {
    this.#edges.clear();
  }

  /** ROS time of the newest transform of this frame to its parent, ms; null when it has none, or is fixed. */
  newest(child: string): number | null {
    const edge = this.#edges.get(frameName(child));
    return edge === undefined || edge.isStatic ? null : (edge.entries.at(-1)?.at ?? null);
  }

  /** The pose of `source` in `target` at ROS time `at`, ms; null: at the newest time that all links of the chain have. */
  lookup(target: string, source: string, at: number | null): Lookup {
    const found = this.#lookup(frameName(target), frameName(source), at);
    if (!found.ok) this.counters.tf_lookup_failures += 1;
    return found;
  }

  #lookup(target: string, source: string, at: number | null): Lookup {
    const up = this.#chain(source);
    const down = this.#chain(target);
    const common = up.find((frame) => down.includes(frame));
    if (common === undefined) return { ok: false, why: `there is no transform from ${source} to ${target}` };
    const links = [...up.slice(0, up.indexOf(common)), ...down.slice(0, down.indexOf(common))];
    const time = at ?? this.#commonTime(links);
    const from = this.#poseIn(up, common, time);
    const to = this.#poseIn(down, common, time);
    if (!from.ok) return from;
    if (!to.ok) return to;
    const flipped = from.flipped !== to.flipped;
    return { ok: true, pose: relativeTo(to.pose, from.pose), flipped };
  }

  /** A frame and its ancestors. */
  #chain(frame: string): string[] {
    const chain = [frame];
    for (let i = 0; i < MAX_CHAIN; i++) {
      const edge = this.#edges.get(chain[chain.length - 1] ?? '');
      if (edge === undefined || chain.includes(edge.parent)) break;
      chain.push(edge.parent);
    }
    return chain;
  }

  #commonTime(links: readonly string[]): number {
    let time = Number.POSITIVE_INFINITY;
    for (const link of links) time = Math.min(time, this.newest(link) ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(time) ? time : 0;
  }

  #poseIn(chain: readonly string[], ancestor: string, at: number): Lookup {
    let pose: Pose = { x: 0, y: 0, theta: 0 };
    let flipped = false;
    for (const frame of chain) {
      if (frame === ancestor) break;
      const edge = this.#edges.get(frame);
      const link = edge === undefined ? null : this.#at(edge, at);
      if (link === null) return { ok: false, why: `no transform of ${frame} for the time asked for` };
      // Seen from a frame that hangs upside down, left is right.
      const seen = link.flipped ? { x: pose.x, y: -pose.y, theta: -pose.theta } : pose;
      pose = compose(link.pose, seen);
      flipped = flipped !== link.flipped;
    }
    return { ok: true, pose, flipped };
  }

  #at({ entries, isStatic }: Edge, at: number): Entry | null {
    const last = entries[entries.length - 1];
    const first = entries[0];
    if (last === undefined || first === undefined) return null;
    if (isStatic) return last;
    if (at >= last.at) return at - last.at <= this.#options.extrapolateMs ? last : null;
    // AMCL dates its transform ahead: of one that has just been heard first there is no older one.
    if (at < first.at) return first.at - at <= this.#options.extrapolateMs ? first : null;
    const after = entries.findIndex((entry) => entry.at > at);
    const b = entries[after] ?? last;
    const a = entries[after - 1] ?? first;
    return between(a, b, b.at === a.at ? 0 : (at - a.at) / (b.at - a.at));
  }

  #insert(entries: Entry[], entry: Entry): void {
    const last = entries[entries.length - 1];
    // A clock that was set back, or a simulation that began anew: what is known belongs to another time.
    if (last !== undefined && entry.at < last.at - this.#options.keepMs) entries.length = 0;
    let i = entries.length;
    while (i > 0 && (entries[i - 1]?.at ?? 0) > entry.at) i--;
    if (entries[i - 1]?.at === entry.at) entries[i - 1] = entry;
    else entries.splice(i, 0, entry);
    const newest = entries[entries.length - 1]?.at ?? entry.at;
    const old = entries.findIndex((e) => e.at >= newest - this.#options.keepMs);
    const tooMany = entries.length - MAX_ENTRIES;
    // One older entry stays, so that the oldest time kept can still be interpolated.
    const drop = Math.max(old - 1, tooMany);
    if (drop > 0) entries.splice(0, drop);
  }
}

/** ROS 1 names began with a slash; some drivers still write it. */
export function frameName(name: string): string {
  return name.startsWith('/') ? name.slice(1) : name;
}

function entryOf({ header, transform }: TransformStamped): Entry {
  const { translation, rotation: q } = transform;
  const up = 1 - 2 * (q.x * q.x + q.y * q.y);
  return {
    at: stampMs(header.stamp),
    pose: { x: translation.x, y: translation.y, theta: yawOf(q) },
    flipped: up < 0,
  };
}

function between(a: Entry, b: Entry, share: number): Entry {
  return {
    at: a.at + (b.at - a.at) * share,
    pose: {
      x: a.pose.x + (b.pose.x - a.pose.x) * share,
      y: a.pose.y + (b.pose.y - a.pose.y) * share,
      theta: wrapAngle(a.pose.theta + wrapAngle(b.pose.theta - a.pose.theta) * share),
    },
    flipped: b.flipped,
  };
}
