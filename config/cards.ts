/**
 * Capability cards (`config/capabilities/*.yaml`): what a planner may ask for, in meaning rather than in methods. The
 * binding manifest (`config/binding-manifest.yaml`) ties each card to the cloud's capability ids and to the task and
 * framework methods behind it; both are checked against each other when they are loaded.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { describeZodError, Refusal, shown } from './contracts/errors.js';
import { ConfigError, readYaml } from './load.js';

const id = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'allowed: lower-case letters, digits and "_"');
/** Of the cloud: may have a dot. */
const cloudId = z.string().regex(/^[A-Za-z][A-Za-z0-9_.]{0,63}$/, 'allowed: letters, digits, "_" and "."');
const method = z.string().min(1).max(64);
const both = z.strictObject({ ko: z.string().min(1), en: z.string().min(1) });
const sentences = z.array(z.string().min(1)).min(1);

const cardSchema = z.strictObject({
  id,
  title: both,
  /** What happens, as a planner has to understand it. */
  meaning: both,
  when_to_use: both,
  params: z.strictObject({
    /** Parameters of the method that a planner may give. */
    allowed: z.array(z.string()),
    /** Parameters that the card itself gives. */
    fixed: z.record(z.string(), z.unknown()).default({}),
  }),
  risk: z.enum(['low', 'high']),
  /** What it takes in of the people in the home. */
  privacy: z.enum(['none', 'audio', 'video', 'presence', 'health']),
  runtime: z.strictObject({
    /** The first is what the card runs; the others control it. */
    task_methods: z.tuple([method], method),
    framework_methods: z.array(method).min(1),
  }),
  cloud_runtime_ids: z.array(cloudId).min(1),
  /** The domain event, or fact, that ends it. */
  completion: z.string().min(1),
  /** Semantic observations that may follow. */
  observations: z.array(z.string()),
  utterances: z.strictObject({ ko: sentences, en: sentences }),
});
export type Card = z.infer<typeof cardSchema>;

const BINDING_VERSION = 'deviceagent-cloud-runtime-binding.v1';

const manifestSchema = z.strictObject({
  contract_version: z.literal(BINDING_VERSION),
  /** What the cloud names and no card stands for: reservations. */
  framework_bindings: z.array(
    z.strictObject({ cloud_runtime_ids: z.array(cloudId).min(1), framework_methods: z.array(method).min(1) }),
  ),
  bindings: z.array(
    z.strictObject({
      card: id,
      cloud_runtime_ids: z.array(cloudId).min(1),
      task_methods: z.array(method).min(1),
      framework_methods: z.array(method).min(1),
    }),
  ),
});
export type BindingManifest = z.infer<typeof manifestSchema>;

const CARDS_DIR = fileURLToPath(new URL('./capabilities', import.meta.url));
const MANIFEST_FILE = fileURLToPath(new URL('./binding-manifest.yaml', import.meta.url));

/** Cards by their id and by their cloud ids. */
export class CardCatalogue {
  readonly #byId = new Map<string, Card>();

  constructor(
    readonly cards: readonly Card[],
    readonly manifest: BindingManifest,
    readonly notBuilt: ReadonlySet<string>,
  ) {
    for (const card of cards) {
      for (const name of new Set([card.id, ...card.cloud_runtime_ids])) this.#byId.set(name, card);
    }
  }

  find(idOrCloudId: string): Card | null {
    return this.#byId.get(idOrCloudId) ?? null;
  }

  /**
   * The method behind a card, and its parameters with what the card fixes. Throws `Refusal`: UNKNOWN_CAPABILITY;
   * INVALID_PARAMS for a parameter that the card does not have, or fixes to something else. Values are the
   * method's business, and so are all parameters of a method that is not built: asked for, it says that it is not.
   */
  resolve(
    idOrCloudId: string,
    params: Record<string, unknown>,
  ): { method: string; params: Record<string, unknown> } {
    const card = this.find(idOrCloudId);
    if (card === null) throw this.#unknown(idOrCloudId);
    const [first] = card.runtime.task_methods;
    if (this.notBuilt.has(first)) return { method: first, params };
    const { allowed, fixed } = card.params;
    for (const [name, value] of Object.entries(params)) {
      const field = `params.${name}`;
      if (name in fixed && JSON.stringify(fixed[name]) !== JSON.stringify(value)) {
        const message = `${field}: found ${shown(value)}; ${card.id} fixes it to ${shown(fixed[name])}`;
        throw new Refusal('INVALID_PARAMS', message, field);
      }
      if (!(name in fixed) && !allowed.includes(name)) {
        const message = `${field}: found ${shown(value)}; ${card.id} allows: ${allowed.join(', ') || 'nothing'}`;
        throw new Refusal('INVALID_PARAMS', message, field);
      }
    }
    return { method: first, params: { ...params, ...fixed } };
  }

  #unknown(asked: string): Refusal {
    const bound = this.manifest.framework_bindings.find((one) => one.cloud_runtime_ids.includes(asked));
    const known = this.cards.map((one) => one.id).join(', ');
    const allowed =
      bound === undefined
        ? `allowed: ${known}`
        : `that is no card but ${bound.framework_methods.join(' or ')}: send a command of kind schedule_task or schedule_workflow`;
    return new Refusal('UNKNOWN_CAPABILITY', `capability: found ${shown(asked)}; ${allowed}`, 'capability');
  }
}

export interface KnownMethods {
  task: ReadonlySet<string>;
  framework: ReadonlySet<string>;
  /** Named, and not part of this version. */
  notBuilt: ReadonlySet<string>;
}

/** Reads cards and manifest. Throws `ConfigError` with every problem found. */
export function loadCards(
  known: KnownMethods,
  dir: string = CARDS_DIR,
  manifestFile: string = MANIFEST_FILE,
): CardCatalogue {
  const files = readdirSync(dir)
    .filter((name) => name.endsWith('.yaml'))
    .sort();
  const cards = files.map((name) => parseFile(join(dir, name), cardSchema));
  const manifest = parseFile(manifestFile, manifestSchema);
  const problems = [
    ...misnamed(files, cards),
    ...repeated(cards, manifest),
    ...unknownMethods(cards, known),
    ...unknownFramework(manifest, known),
    ...unbound(cards, manifest),
  ];
  if (problems.length > 0) throw new ConfigError(dir, problems);
  return new CardCatalogue(cards, manifest, known.notBuilt);
}

function parseFile<T>(file: string, schema: z.ZodType<T>): T {
  const document = readYaml(file);
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new ConfigError(file, [describeZodError(parsed.error, document).message]);
}

function misnamed(files: readonly string[], cards: readonly Card[]): string[] {
  return cards.flatMap((card, i) => {
    const file = files[i] ?? '';
    return file === `${card.id}.yaml` ? [] : [`${file}: holds the card ${card.id}; name the file after it`];
  });
}

/** A name stands for one card, or for the framework. */
function repeated(cards: readonly Card[], manifest: BindingManifest): string[] {
  const framework = manifest.framework_bindings.flatMap((one) => one.cloud_runtime_ids);
  const owners = new Map<string, string>(framework.map((name) => [name, 'the framework']));
  const problems: string[] = [];
  for (const card of cards) {
    for (const name of new Set([card.id, ...card.cloud_runtime_ids])) {
      const owner = owners.get(name);
      if (owner !== undefined) problems.push(`${name}: stands on two cards, ${owner} and ${card.id}`);
      owners.set(name, card.id);
    }
  }
  return problems;
}

function unknownMethods(cards: readonly Card[], known: KnownMethods): string[] {
  return cards.flatMap(({ id: card, runtime }) => [
    ...runtime.task_methods
      .filter((name) => !known.task.has(name) && !known.notBuilt.has(name))
      .map((name) => `${card}: task method ${name} is not registered`),
    ...runtime.framework_methods
      .filter((name) => !known.framework.has(name))
      .map((name) => `${card}: framework method ${name} does not exist`),
  ]);
}

function unknownFramework({ framework_bindings }: BindingManifest, known: KnownMethods): string[] {
  return framework_bindings.flatMap((one) =>
    one.framework_methods
      .filter((name) => !known.framework.has(name))
      .map((name) => `${one.cloud_runtime_ids.join(', ')}: framework method ${name} does not exist`),
  );
}

/** The manifest is the cards' own table: what it says of a card is what the card says. */
function unbound(cards: readonly Card[], manifest: BindingManifest): string[] {
  const table = (rows: BindingManifest['bindings']) =>
    new Map(rows.map((row) => [row.card, JSON.stringify(row)] as const));
  const stated = table(manifest.bindings);
  const actual = table(
    cards.map(({ id: card, cloud_runtime_ids, runtime }) => ({ card, cloud_runtime_ids, ...runtime })),
  );
  const problems: string[] = [];
  for (const [card, row] of actual) {
    if (!stated.has(card)) problems.push(`${card}: missing in the binding manifest`);
    else if (stated.get(card) !== row)
      problems.push(`${card}: the binding manifest says otherwise than the card`);
  }
  for (const card of stated.keys()) {
    if (!actual.has(card)) problems.push(`${card}: stands in the binding manifest and has no card`);
  }
  return problems;
}
