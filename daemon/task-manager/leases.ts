/** Who holds which resource, under which fencing token. Tokens only ever grow, also over restarts. */
import { RESOURCES, type Resource, type ResourceClaim } from '../../executors/method.js';
import type { Store } from '../store/store.js';

interface Holding {
  fence: number;
  mode: ResourceClaim['mode'];
  /** Task ids; several only when shared. */
  owners: string[];
}

export class Leases {
  readonly #store: Store;
  readonly #save;
  readonly #fences = new Map<string, number>();
  readonly #held = new Map<Resource, Holding>();

  constructor(store: Store) {
    this.#store = store;
    this.#save = store.db.prepare<[string, number]>(
      'INSERT OR REPLACE INTO lease_fences (resource, fence) VALUES (?, ?)',
    );
    const rows = store.db
      .prepare<[], { resource: string; fence: number }>('SELECT resource, fence FROM lease_fences')
      .all();
    for (const row of rows) this.#fences.set(row.resource, row.fence);
  }

  /** Grants all claims at once; that they are free was decided before. Inside a `write`. */
  grant(taskId: string, claims: readonly ResourceClaim[]): void {
    for (const { resource, mode } of claims) {
      const held = this.#held.get(resource);
      if (held === undefined)
        this.#put(resource, { fence: this.#nextFence(resource), mode, owners: [taskId] });
      else if (held.mode === 'shared' && mode === 'shared') {
        this.#put(resource, { ...held, owners: [...held.owners, taskId] });
      } else throw new Error(`lease of ${resource} for ${taskId}: it is held by ${held.owners.join(', ')}`);
    }
  }

  /** Gives back whatever the task holds. Inside a `write`. */
  release(taskId: string, claims: readonly ResourceClaim[]): void {
    for (const { resource } of claims) {
      const held = this.#held.get(resource);
      if (held === undefined || !held.owners.includes(taskId)) continue;
      const owners = held.owners.filter((owner) => owner !== taskId);
      this.#put(resource, owners.length === 0 ? null : { ...held, owners });
    }
  }

  /** The token under which `taskId` holds the resource; null when it does not. */
  fence(taskId: string, resource: Resource): number | null {
    const held = this.#held.get(resource);
    return held?.owners.includes(taskId) ? held.fence : null;
  }

  list(): { resource: string; owner: string | null; fence: number }[] {
    return RESOURCES.map((resource) => ({
      resource,
      owner: this.#held.get(resource)?.owners[0] ?? null,
      fence: this.#fences.get(resource) ?? 0,
    }));
  }

  /** Owners of a resource, and how they hold it; null: nobody does. */
  holding(resource: Resource): { owners: readonly string[]; mode: ResourceClaim['mode'] } | null {
    return this.#held.get(resource) ?? null;
  }

  #nextFence(resource: Resource): number {
    const before = this.#fences.get(resource) ?? 0;
    const fence = before + 1;
    this.#save.run(resource, fence);
    this.#fences.set(resource, fence);
    this.#store.onUndo(() => {
      this.#fences.set(resource, before);
    });
    return fence;
  }

  #put(resource: Resource, holding: Holding | null): void {
    const before = this.#held.get(resource) ?? null;
    this.#replace(resource, holding);
    this.#store.onUndo(() => this.#replace(resource, before));
  }

  #replace(resource: Resource, holding: Holding | null): void {
    if (holding === null) this.#held.delete(resource);
    else this.#held.set(resource, holding);
  }
}
