/** Files that people write and edit: profiles, the policy table, world files, and map bundles. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ConfigError, loadConfig, missingParts } from '../../../config/load.js';
import { PROFILES, profilePath } from '../../../config/profiles.js';
import { loadPolicyConfig } from '../../../daemon/policy/load-policy.js';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import { MapError } from '../../../drivers/amr/map/map-error.js';
import { createWorld, worldToMap } from '../../../simulator/world/index.js';
import { mutateBytes } from '../mutate-bytes.js';
import { type JsonObject, mutateFreely, spoil } from '../mutate-json.js';
import { below, chance, pick } from '../pick.js';
import type { Finding, Random, Target, TargetSession } from '../types.js';

/** A kind of file: what a right one says, and who reads it. */
interface FileKind {
  name: string;
  text: string;
  /** Its closed objects have no field that may be anything, so that a stranger is always wrong. */
  closed: boolean;
  read(path: string): unknown;
  /** Whether an error is the reader's own sentence about the file. */
  own(error: unknown): boolean;
}

const FAST_DIR = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const POLICY = new URL('../../../config/policy.yaml', import.meta.url);
/** YAML that is small on the disk and large in memory, or refers to itself. */
const BOMB = `a: &a [x,x,x,x,x,x,x,x,x]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]
f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]
`;

export const fileTargets: readonly Target[] = [
  { name: 'config', share: 0.05, open: async () => new FileSession(configKinds()) },
  { name: 'map', share: 0.05, open: async () => new MapSession() },
];

function configKinds(): FileKind[] {
  const own = (error: unknown) => error instanceof ConfigError;
  const profiles = PROFILES.map((name) => ({
    name,
    text: readFileSync(profilePath(name), 'utf8'),
    closed: true,
    read: (path: string) => missingParts(loadConfig(path, {}, '/nowhere').config),
    own,
  }));
  const policy = {
    name: 'policy',
    text: readFileSync(POLICY, 'utf8'),
    closed: true,
    read: (path: string) => loadPolicyConfig(path),
    own,
  };
  return [...profiles, policy];
}

class FileSession implements TargetSession {
  readonly #kinds: readonly FileKind[];
  readonly #dir = mkdtempSync(join(FAST_DIR, 'da-fuzz-files-'));
  #accepted = 0;

  constructor(kinds: readonly FileKind[]) {
    this.#kinds = kinds;
  }

  run(random: Random): Finding[] {
    const kind = pick(random, this.#kinds);
    const { bytes, spoiled } = fileDocument(random, kind.text);
    const path = join(this.#dir, 'file.yaml');
    writeFileSync(path, bytes);
    const found = judgedRead(() => kind.read(path), kind.own);
    if (found === null) this.#accepted += 1;
    return verdict(found, kind.closed ? spoiled : null, `${kind.name}: ${bytes.toString()}`);
  }

  accepted(): number {
    return this.#accepted;
  }

  async close(): Promise<Finding[]> {
    rmSync(this.#dir, { recursive: true, force: true });
    return [];
  }
}

class MapSession implements TargetSession {
  readonly #dir = mkdtempSync(join(FAST_DIR, 'da-fuzz-map-'));
  readonly #right = worldToMap(createWorld(undefined, { seed: 1 }), 0.2);
  #accepted = 0;

  run(random: Random): Finding[] {
    const { mapYaml, areasYaml, pgm } = this.#right;
    const which = pick(random, ['map.yaml', 'areas.yaml', 'map.pgm'] as const);
    const yaml = fileDocument(random, which === 'map.yaml' ? mapYaml : areasYaml);
    const image = which === 'map.pgm' ? damagedImage(random, pgm) : pgm;
    const files = {
      'map.yaml': which === 'map.yaml' ? yaml.bytes : mapYaml,
      'areas.yaml': which === 'areas.yaml' ? yaml.bytes : areasYaml,
      'map.pgm': image,
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(this.#dir, name), content);
    const found = judgedRead(
      () => {
        const { grid } = loadMapBundle(join(this.#dir, 'map.yaml'));
        const numbers = [grid.width, grid.height, grid.resolution, ...Object.values(grid.origin)];
        if (!numbers.every(Number.isFinite)) throw new Error(`a map with numbers that are none: ${numbers}`);
      },
      (error) => error instanceof MapError,
    );
    if (found === null) this.#accepted += 1;
    // A ROS map may carry fields of other tools; the areas are ours and closed.
    const spoiled = which === 'areas.yaml' ? yaml.spoiled : null;
    return verdict(found, spoiled, `${which}: ${which === 'map.pgm' ? '(image)' : yaml.bytes.toString()}`);
  }

  accepted(): number {
    return this.#accepted;
  }

  async close(): Promise<Finding[]> {
    rmSync(this.#dir, { recursive: true, force: true });
    return [];
  }
}

function fileDocument(random: Random, text: string): { bytes: Buffer; spoiled: string | null } {
  const roll = random();
  if (roll < 0.02) return { bytes: Buffer.from(BOMB), spoiled: 'a bomb of aliases' };
  if (roll < 0.25)
    return {
      bytes: Buffer.from(mutateBytes(random, Buffer.from(text), 1 + below(random, 5))),
      spoiled: null,
    };
  const right = parse(text) as JsonObject;
  if (roll < 0.55) {
    const { value, how } = spoil(random, right, { spared: [], required: ['version'] });
    return { bytes: Buffer.from(stringify(value)), spoiled: how };
  }
  const mutated = mutateFreely(random, right, [right], below(random, 4));
  return { bytes: Buffer.from(stringify(mutated)), spoiled: null };
}

/** Damage in the header counts more than in the cells. */
function damagedImage(random: Random, pgm: Uint8Array): Uint8Array {
  if (chance(random, 0.3)) return mutateBytes(random, pgm, 1 + below(random, 3));
  const header = mutateBytes(random, pgm.subarray(0, 24), 1 + below(random, 3));
  const lie = pick(random, [
    'P5\n99999999 99999999\n255\n',
    'P5\n-1 5\n255\n',
    'P5\n3 3\n0\n',
    'P2\n1 1\n255\n7',
    '',
  ]);
  return Buffer.concat([chance(random, 0.3) ? Buffer.from(lie) : header, pgm.subarray(24)]);
}

/** Null when it was read; otherwise what was said, and whether that was the reader's own sentence. */
function judgedRead(
  read: () => unknown,
  own: (error: unknown) => boolean,
): { text: string; own: boolean } | null {
  try {
    read();
    return null;
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { text, own: own(error) };
  }
}

function verdict(
  found: { text: string; own: boolean } | null,
  spoiled: string | null,
  what: string,
): Finding[] {
  const shown = what.slice(0, 1500);
  if (found !== null && !found.own) return [{ kind: 'crash', text: `${found.text}\nof ${shown}` }];
  if (found === null && spoiled !== null)
    return [{ kind: 'wrong', text: `taken, though ${spoiled}: ${shown}` }];
  return [];
}
