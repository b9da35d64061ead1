/** Checks a whole workflow document before any of it runs, and turns its steps into plans. */
import { errorText, isRefusal, Refusal } from '../../../config/contracts/errors.js';
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';
import {
  MAX_STEPS,
  type WorkflowDocument,
  type WorkflowStep,
} from '../../../config/contracts/wire/workflow.js';
import type { MethodSpec } from '../../../executors/method.js';
import { below, checkAdmission, findMethod, type Methods, parseParams } from '../admission.js';
import { type OutputReference, parseCondition } from './conditions.js';
import { outputHas } from './output-schema.js';
import { templatesIn } from './templates.js';
import type { StepPlan } from './types.js';

export interface CompileDeps {
  methods: Methods;
  resolveCapability(
    id: string,
    params: Record<string, unknown>,
  ): { method: string; params: Record<string, unknown> };
  nowMs: number;
}

export interface Problem {
  reason: ReasonCode;
  field: string;
  message: string;
}

/** What is known of one step while the document is checked. */
interface Draft {
  step: WorkflowStep;
  /** `steps.s2` */
  path: string;
  spec: MethodSpec | null;
  params: Record<string, unknown>;
  references: (OutputReference & { field: string })[];
}

/** What an amendment found, and what it leaves alone: that is checked only for how it hangs together with the rest. */
export interface Amending {
  /** Plans of the steps that stay as they are. */
  kept: ReadonlyMap<string, StepPlan>;
  /** Steps that are over and gave no output, with their state. */
  withoutOutput: ReadonlyMap<string, string>;
  problems: readonly Problem[];
}

const NOTHING_KEPT: Amending = { kept: new Map(), withoutOutput: new Map(), problems: [] };

/** Throws one `Refusal` that lists every problem; its reason is theirs when they agree, else INVALID_PARAMS. */
export function compileWorkflow(
  document: WorkflowDocument,
  deps: CompileDeps,
  amending: Amending = NOTHING_KEPT,
): StepPlan[] {
  const problems: Problem[] = [...amending.problems];
  if (document.steps.length > MAX_STEPS) {
    problems.push(invalid('steps', `found ${document.steps.length} steps; allowed are ${MAX_STEPS}`));
  }
  findDuplicates(document, problems);
  const drafts = new Map(
    document.steps.map((step) => [
      step.step_id,
      draft(step, deps, problems, amending.kept.get(step.step_id) ?? null),
    ]),
  );
  const edges = checkEdges(drafts, problems);
  const cyclic = checkCycles(edges, problems);
  for (const item of drafts.values()) checkReferences(item, drafts, edges, cyclic, amending, problems);
  if (problems.length > 0) throw refusal(problems);
  return document.steps.map((step) => amending.kept.get(step.step_id) ?? plan(drafts, edges, step));
}

function refusal(problems: readonly Problem[]): Refusal {
  const [first] = problems;
  if (first === undefined) return new Refusal('INVALID_PARAMS', 'invalid workflow');
  const reason = problems.every((p) => p.reason === first.reason) ? first.reason : 'INVALID_PARAMS';
  const texts = problems.map((p) => p.message);
  const message = texts.length === 1 ? texts.join('') : `${texts.length} problems: ${texts.join('; ')}`;
  return new Refusal(reason, message, first.field);
}

export function invalid(field: string, message: string): Problem {
  return { reason: 'INVALID_PARAMS', field, message: `${field}: ${message}` };
}

function findDuplicates(document: WorkflowDocument, problems: Problem[]): void {
  const seen = new Set<string>();
  for (const { step_id } of document.steps) {
    if (seen.has(step_id)) problems.push(invalid(`steps.${step_id}.step_id`, 'two steps have this id'));
    seen.add(step_id);
  }
}

function draft(step: WorkflowStep, deps: CompileDeps, problems: Problem[], kept: StepPlan | null): Draft {
  const path = `steps.${step.step_id}`;
  if (kept !== null) {
    const spec = deps.methods.get(kept.method) ?? null;
    const item: Draft = { step, path, spec, params: kept.params, references: [] };
    collectReferences(item, problems);
    return item;
  }
  const item: Draft = { step, path, spec: null, params: step.params ?? {}, references: [] };
  collect(problems, `${path}.method`, () => resolveMethod(item, deps));
  collectReferences(item, problems);
  const { spec } = item;
  if (spec !== null) checkParams(item, spec, item.params, `${path}.params`, deps, problems);
  checkCompensation(item, deps, problems);
  return item;
}

/** Runs a check whose `Refusal` becomes a problem; anything else is a defect and goes on. */
function collect(problems: Problem[], field: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const at = error.field === undefined ? field : error.field;
    const message = error.message.startsWith(at) ? error.message : `${at}: ${error.message}`;
    problems.push({ reason: error.reason, field: at, message });
  }
}

function resolveMethod(item: Draft, deps: CompileDeps): void {
  const { method, capability } = item.step;
  if ((method === undefined) === (capability === undefined)) {
    const found = method === undefined ? 'found neither' : 'found both';
    throw new Refusal('INVALID_PARAMS', `${found}; exactly one of method and capability is allowed`);
  }
  if (capability !== undefined) {
    const resolved = resolveCapability(item.path, capability, item.params, deps);
    item.params = resolved.params;
    item.spec = findMethod(deps.methods, resolved.method, `${item.path}.capability`);
  } else if (method !== undefined) {
    item.spec = findMethod(deps.methods, method, `${item.path}.method`);
  }
}

function resolveCapability(
  path: string,
  capability: string,
  params: Record<string, unknown>,
  deps: CompileDeps,
): ReturnType<CompileDeps['resolveCapability']> {
  try {
    return deps.resolveCapability(capability, params);
  } catch (error) {
    throw isRefusal(error) ? below(path, error) : error;
  }
}

/** Params that hold a template are only known when the step runs, and are checked then. */
function checkParams(
  item: Draft,
  spec: MethodSpec,
  params: Record<string, unknown>,
  path: string,
  deps: CompileDeps,
  problems: Problem[],
): void {
  if (item.references.some((reference) => reference.field.startsWith(path))) return;
  collect(problems, path, () => {
    checkAdmission(spec, parseParams(spec, params, path), deps.nowMs, path);
  });
}

function checkCompensation(item: Draft, deps: CompileDeps, problems: Problem[]): void {
  const { compensation } = item.step;
  if (compensation === undefined || compensation === null) return;
  const path = `${item.path}.compensation`;
  collect(problems, `${path}.method`, () => {
    const spec = findMethod(deps.methods, compensation.method, `${path}.method`);
    checkParams(item, spec, compensation.params ?? {}, `${path}.params`, deps, problems);
  });
}

/** Everything that refers to the output of another step. */
function collectReferences(item: Draft, problems: Problem[]): void {
  const { step, path } = item;
  const conditions = [
    { field: `${path}.condition`, text: step.condition ?? null },
    { field: `${path}.wait_until`, text: step.wait_until?.condition ?? null },
  ];
  for (const { field, text } of conditions) {
    if (text === null) continue;
    sentence(problems, field, () => {
      for (const reference of parseCondition(text).references) item.references.push({ ...reference, field });
    });
  }
  const values = [
    { field: `${path}.params`, value: item.params },
    { field: `${path}.compensation.params`, value: step.compensation?.params },
  ];
  for (const { field, value } of values) {
    sentence(problems, field, () => {
      for (const use of templatesIn(value)) item.references.push({ ...use, field: `${field}.${use.field}` });
    });
  }
}

/** For parsers that throw a plain sentence. */
function sentence(problems: Problem[], field: string, parse: () => void): void {
  try {
    parse();
  } catch (error) {
    const [firstLine] = errorText(error).split('\n');
    problems.push(invalid(field, firstLine ?? 'it cannot be read'));
  }
}

type Edges = ReadonlyMap<string, ReadonlySet<string>>;

/** From each step to those it comes after. */
function checkEdges(drafts: ReadonlyMap<string, Draft>, problems: Problem[]): Edges {
  const edges = new Map<string, Set<string>>();
  for (const { step, path } of drafts.values()) {
    const named = [
      ...(step.depends_on ?? []).map((id) => ({ id, field: `${path}.depends_on` })),
      ...(step.after_step ? [{ id: step.after_step.step_id, field: `${path}.after_step.step_id` }] : []),
    ];
    const before = new Set<string>();
    for (const { id, field } of named) {
      if (id === step.step_id) problems.push(invalid(field, `found "${id}"; a step cannot depend on itself`));
      else if (!drafts.has(id)) problems.push(invalid(field, `found "${id}"; there is no such step`));
      else before.add(id);
    }
    edges.set(step.step_id, before);
  }
  return edges;
}

/** Steps on a circle; each circle is reported once. */
function checkCycles(edges: Edges, problems: Problem[]): ReadonlySet<string> {
  const done = new Set<string>();
  const cyclic = new Set<string>();
  const walk = (id: string, trail: readonly string[]): void => {
    const at = trail.indexOf(id);
    if (at >= 0) {
      const circle = [...trail.slice(at), id];
      for (const member of circle) cyclic.add(member);
      problems.push(
        invalid(`steps.${id}.depends_on`, `the steps depend on each other: ${circle.join(' → ')}`),
      );
      return;
    }
    if (done.has(id)) return;
    for (const before of edges.get(id) ?? []) walk(before, [...trail, id]);
    done.add(id);
  };
  for (const id of edges.keys()) walk(id, []);
  return cyclic;
}

function ancestorsOf(id: string, edges: Edges): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...(edges.get(id) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(edges.get(next) ?? []));
  }
  return found;
}

/** An output is there only when its step is over for sure, and gives what is asked for. */
function checkReferences(
  item: Draft,
  drafts: ReadonlyMap<string, Draft>,
  edges: Edges,
  cyclic: ReadonlySet<string>,
  { kept, withoutOutput }: Amending,
  problems: Problem[],
): void {
  const { step } = item;
  const ancestors = ancestorsOf(step.step_id, edges);
  for (const { stepId, path, field } of item.references) {
    const shown = [stepId, 'output', ...path].join('.');
    const target = drafts.get(stepId);
    const own = stepId === step.step_id && field.includes('.compensation');
    if (target === undefined) problems.push(invalid(field, `${shown}: there is no step ${stepId}`));
    else if (cyclic.has(step.step_id)) continue;
    else if (!own && !ancestors.has(stepId)) {
      problems.push(invalid(field, `${shown}: ${step.step_id} does not come after ${stepId}`));
    } else if (!own && (target.step.wait_policy ?? 'COMPLETION') !== 'COMPLETION') {
      problems.push(invalid(field, `${shown}: nobody waits for the end of ${stepId} (its wait_policy)`));
    } else if (!kept.has(step.step_id) && withoutOutput.has(stepId)) {
      problems.push(
        invalid(field, `${shown}: ${stepId} ended ${withoutOutput.get(stepId)}, without an output`),
      );
    } else if (target.spec !== null && !outputHas(target.spec, path)) {
      problems.push(invalid(field, `${shown}: ${target.spec.name} gives no such output`));
    }
  }
}

function plan(drafts: ReadonlyMap<string, Draft>, edges: Edges, step: WorkflowStep): StepPlan {
  const item = drafts.get(step.step_id);
  if (item === undefined || item.spec === null) throw new Error(`step ${step.step_id} was not checked`);
  const policy = step.failure_policy ?? 'ABORT';
  return {
    stepId: step.step_id,
    method: item.spec.name,
    params: item.params,
    dependsOn: [...(edges.get(step.step_id) ?? [])],
    needs: [
      ...new Set(item.references.filter((r) => !r.field.includes('.compensation')).map((r) => r.stepId)),
    ],
    condition: step.condition ?? null,
    onConditionFalse: step.on_condition_false ?? 'FAIL',
    waitUntil: step.wait_until
      ? { condition: step.wait_until.condition, timeoutMs: step.wait_until.timeout_ms }
      : null,
    afterStep: step.after_step
      ? { stepId: step.after_step.step_id, delayMs: step.after_step.delay_ms }
      : null,
    failurePolicy: policy,
    retry: {
      max: step.retry?.max ?? (policy === 'RETRY' ? 1 : 0),
      backoffMs: step.retry?.backoff_ms ?? 0,
    },
    compensation: compensationOf(step, item.spec),
    timeoutMs: step.timeout_ms ?? null,
    waitPolicy: step.wait_policy ?? 'COMPLETION',
    priority: step.priority ?? null,
    cloudOutputKey: step.cloud_output_key ?? null,
  };
}

/** `null` in the document means: none; nothing said: what the method itself declares. */
function compensationOf(step: WorkflowStep, spec: MethodSpec): StepPlan['compensation'] {
  if (step.compensation === null) return null;
  if (step.compensation !== undefined) {
    const { method, params } = step.compensation;
    return { method, params: params ?? {}, declared: true };
  }
  return spec.compensation === null ? null : { ...spec.compensation, declared: false };
}
