/** The registry of leases against a plain map, by random commands; a failing run prints its seed to replay it. */
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { Leases } from '../../../../daemon/task-manager/leases.js';
import { RESOURCES, type Resource, type ResourceClaim } from '../../../../executors/method.js';
import {
  filesAfterPowerCut,
  openStoreWorld,
  quiet,
  removeTemporaryDirectories,
  type StoreWorld,
} from '../../store/store-world.js';

afterEach(removeTemporaryDirectories);

interface Held {
  mode: ResourceClaim['mode'];
  fence: number;
  owners: string[];
}

/** Tokens outlive everything; who holds what does not outlive the process. */
class Model {
  readonly fences = new Map<Resource, number>();
  readonly held = new Map<Resource, Held>();

  isFree({ resource, mode }: ResourceClaim): boolean {
    const held = this.held.get(resource);
    return held === undefined || (held.mode === 'shared' && mode === 'shared');
  }

  grant(owner: string, claims: readonly ResourceClaim[]): void {
    for (const { resource, mode } of claims) {
      const held = this.held.get(resource);
      if (held !== undefined) held.owners.push(owner);
      else {
        const fence = (this.fences.get(resource) ?? 0) + 1;
        this.fences.set(resource, fence);
        this.held.set(resource, { mode, fence, owners: [owner] });
      }
    }
  }

  release(owner: string): void {
    for (const [resource, held] of this.held) {
      held.owners = held.owners.filter((other) => other !== owner);
      if (held.owners.length === 0) this.held.delete(resource);
    }
  }
}

interface Real {
  world: StoreWorld;
  leases: Leases;
  claims: Map<string, readonly ResourceClaim[]>;
  /** Every token anybody was ever given, by resource, in order. */
  given: Map<Resource, number[]>;
}

type Step = fc.AsyncCommand<Model, Real>;

class Undone extends Error {}

/** `commits`: the way it goes; otherwise the transaction that it was part of is undone. */
function change(real: Real, commits: boolean, act: () => void): void {
  try {
    real.world.store.write(() => {
      act();
      if (!commits) throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}

function compare(model: Model, real: Real): void {
  for (const { resource, owner, fence } of real.leases.list()) {
    const name = RESOURCES.find((one) => one === resource);
    if (name === undefined) throw new Error(resource);
    const held = model.held.get(name);
    expect({ resource, owner, fence }).toEqual({
      resource,
      owner: held?.owners[0] ?? null,
      fence: model.fences.get(name) ?? 0,
    });
    expect(real.leases.holding(name)?.owners ?? []).toEqual(held?.owners ?? []);
    for (const task of real.claims.keys()) {
      expect(real.leases.fence(task, name)).toBe(held?.owners.includes(task) === true ? held.fence : null);
    }
  }
}

const claimsArbitrary = fc.uniqueArray(
  fc.record({
    resource: fc.constantFrom<Resource>('motion', 'camera', 'speaker', 'fan'),
    mode: fc.constantFrom('exclusive' as const, 'shared' as const),
  }),
  { minLength: 1, maxLength: 3, selector: (claim) => claim.resource },
);

let nextTask = 0;

function grant(claims: readonly ResourceClaim[], commits: boolean): Step {
  return {
    check: () => true,
    async run(model, real) {
      const task = `t-${nextTask++}`;
      if (!claims.every((claim) => model.isFree(claim))) {
        expect(() => real.world.store.write(() => real.leases.grant(task, claims))).toThrow(/held by/);
      } else {
        change(real, commits, () => real.leases.grant(task, claims));
        if (commits) {
          model.grant(task, claims);
          real.claims.set(task, claims);
          for (const { resource } of claims) {
            real.given.set(resource, [
              ...(real.given.get(resource) ?? []),
              real.leases.fence(task, resource) ?? -1,
            ]);
          }
        }
      }
      compare(model, real);
    },
    toString: () => `grant(${claims.map((c) => `${c.mode} ${c.resource}`).join(', ')}, ${commits})`,
  };
}

function release(pick: number, commits: boolean): Step {
  return {
    check: (model) => model.held.size > 0,
    async run(model, real) {
      const owners = [...new Set([...model.held.values()].flatMap((held) => held.owners))];
      const task = owners[pick % owners.length] ?? '';
      change(real, commits, () => real.leases.release(task, real.claims.get(task) ?? []));
      if (commits) model.release(task);
      compare(model, real);
    },
    toString: () => `release(${pick}, ${commits})`,
  };
}

const restart: Step = {
  check: () => true,
  async run(model, real) {
    await quiet(real.world.store);
    const file = filesAfterPowerCut(real.world.file);
    real.world.store.close();
    real.world = openStoreWorld({ file });
    real.leases = new Leases(real.world.store);
    real.claims.clear();
    model.held.clear();
    compare(model, real);
  },
  toString: () => 'restart',
};

it('grants, shares and takes back what the reference does, under tokens that only grow', async () => {
  const commits = fc.constantFrom(true, true, true, false);
  const commands = fc.commands(
    [
      fc.tuple(claimsArbitrary, commits).map(([claims, kept]) => grant(claims, kept)),
      fc.tuple(fc.nat(7), commits).map(([pick, kept]) => release(pick, kept)),
      fc.constant(restart),
    ],
    { maxCommands: 40, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const world = openStoreWorld();
      const real: Real = { world, leases: new Leases(world.store), claims: new Map(), given: new Map() };
      await fc.asyncModelRun(() => ({ model: new Model(), real }), steps);
      for (const tokens of real.given.values()) expect([...tokens].sort((a, b) => a - b)).toEqual(tokens);
      real.world.store.close();
    }),
    { numRuns: Number(process.env.MODEL_RUNS ?? 40) },
  );
}, 120_000);
