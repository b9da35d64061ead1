/**
 * Conditions: CEL (https://cel.dev) over `context` and `steps.<id>.output`. A condition that needs a value which is
 * stale or unknown is false, and says which.
 */
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { NotKnown, watched } from './known-values.js';

/** `observedAtMs` stays null: a condition looks at many facts. */
export type Verdict = { holds: true } | { holds: false; why: string };

/** A reference to an output: `steps.s1.output.area_id` gives `s1` and `['area_id']`. */
export interface OutputReference {
  stepId: string;
  path: string[];
}

export interface Condition {
  references: OutputReference[];
  evaluate(context: object, outputs: ReadonlyMap<string, unknown>): Verdict;
}

const CACHE_SIZE = 500;
const cache = new Map<string, Condition>();
const environment = createEnvironment();

/** Throws an `Error` with one sentence when the text is not a condition. */
export function parseCondition(text: string): Condition {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const condition = compile(text);
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(text, condition);
  return condition;
}

/** JSON numbers are doubles while literals such as `2` are ints: what a planner writes has to work with both. */
function createEnvironment(): Environment {
  const env = new Environment({
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 500, maxDepth: 50 },
  })
    .registerVariable('context', 'map')
    .registerVariable('steps', 'map');
  const operations: [string, (a: number, b: number) => number][] = [
    ['+', (a, b) => a + b],
    ['-', (a, b) => a - b],
    ['*', (a, b) => a * b],
    ['/', (a, b) => a / b],
  ];
  for (const [sign, apply] of operations) {
    env.registerOperator(`double ${sign} int`, (a: number, b: bigint) => apply(a, Number(b)));
    env.registerOperator(`int ${sign} double: double`, (a: bigint, b: number) => apply(Number(a), b));
  }
  env.registerOperator(
    'double == int: bool',
    (a: number | bigint, b: number | bigint) => Number(a) === Number(b),
  );
  return env;
}

function compile(text: string): Condition {
  const parsed = environment.parse(text);
  const checked = parsed.check();
  if (!checked.valid) throw new Error(checked.error?.summary ?? 'it is not well typed');
  if (checked.type !== 'bool' && checked.type !== 'dyn') {
    throw new Error(`it gives ${checked.type ?? 'something'}, and a condition has to give true or false`);
  }
  const references = outputReferences(parsed.ast);
  return {
    references,
    evaluate(context, outputs) {
      const notes = new Set<string>();
      try {
        const value: unknown = parsed({
          context: watched(context, '', notes),
          steps: stepsOf(outputs, references),
        });
        if (value === true) return { holds: true };
        if (value !== false) return { holds: false, why: `"${text}" does not give true or false` };
        return { holds: false, why: notes.size > 0 ? [...notes].join(', ') : `"${text}" is false` };
      } catch (error) {
        return { holds: false, why: whyNot(error, notes, text) };
      }
    },
  };
}

function whyNot(error: unknown, notes: ReadonlySet<string>, text: string): string {
  if (error instanceof NotKnown) return notes.size > 0 ? [...notes].join(', ') : error.message;
  const summary = error instanceof Error && 'summary' in error ? String(error.summary) : String(error);
  const missing = /^No such key: (.+)$/.exec(summary);
  if (missing !== null) return `unknown: ${missing[1]}`;
  return `"${text}" cannot be evaluated: ${summary}`;
}

/** Outputs that the expression names; a step without one counts as unknown. */
function stepsOf(outputs: ReadonlyMap<string, unknown>, references: readonly OutputReference[]): object {
  const steps: Record<string, object> = {};
  for (const { stepId } of references) {
    const output = outputs.get(stepId) ?? null;
    steps[stepId] = Object.defineProperty({}, 'output', {
      enumerable: true,
      get() {
        if (output === null) throw new NotKnown(`unknown: steps.${stepId}.output`);
        return output;
      },
    });
  }
  return steps;
}

function outputReferences(ast: ASTNode): OutputReference[] {
  const found: OutputReference[] = [];
  visit(ast, found);
  return found;
}

/** Walks the tree; throws where `steps` is used in another way than `steps.<id>.output`. */
function visit(node: ASTNode, found: OutputReference[]): void {
  const chain = chainOf(node);
  if (chain !== null && chain[0] === 'steps') {
    const [, stepId, output, ...path] = chain;
    if (stepId === undefined || output !== 'output') {
      throw new Error('steps can only be used as steps.<step_id>.output');
    }
    found.push({ stepId, path });
    return;
  }
  for (const child of childrenOf(node.args)) visit(child, found);
}

/** `a.b["c"]` gives `['a', 'b', 'c']`; null when it is anything else than names. */
function chainOf(node: ASTNode): string[] | null {
  if (node.op === 'id') return [node.args];
  if (node.op === '.') {
    const left = chainOf(node.args[0]);
    return left === null ? null : [...left, node.args[1]];
  }
  if (node.op === '[]') {
    const left = chainOf(node.args[0]);
    const key = node.args[1];
    if (left === null || key.op !== 'value' || typeof key.args !== 'string') return null;
    return [...left, key.args];
  }
  return null;
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
