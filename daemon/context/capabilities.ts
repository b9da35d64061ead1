/** Capability cards as they stand right now: what can be done, and what keeps the rest from being done. */
import { type CardCatalogue, loadCards } from '../../config/cards.js';
import type { Capability } from '../../config/contracts/capability.js';
import { isRefusal, type Refusal } from '../../config/contracts/errors.js';
import type { MethodSpec } from '../../executors/method.js';
import { NOT_BUILT_METHODS, notBuiltText } from '../../executors/not-built.js';

/** What the TaskManager offers every authenticated caller. */
export const FRAMEWORK_METHODS = [
  'submitTask',
  'submitWorkflow',
  'scheduleTask',
  'scheduleWorkflow',
  'getDevicePlanningContext',
] as const;

/** Reads the bundled cards; checks them against what is registered, or named as not built. Throws `ConfigError`. */
export function loadCatalogue(methods: readonly MethodSpec[]): CardCatalogue {
  return loadCards({
    task: new Set(methods.map((method) => method.name)),
    framework: new Set(FRAMEWORK_METHODS),
    notBuilt: NOT_BUILT_METHODS,
  });
}

/**
 * One row per card. A card is available when the method it runs is built and could start now with some parameters.
 * A lease that is held does not count: the task waits for its turn.
 */
export function capabilitiesNow(
  catalogue: CardCatalogue,
  methods: readonly MethodSpec[],
  nowMs: number,
): Capability[] {
  const byName = new Map(methods.map((method) => [method.name, method] as const));
  return catalogue.cards.map((card) => {
    const [first] = card.runtime.task_methods;
    const method = byName.get(first);
    const blocked = method === undefined ? notBuilt(first) : blocker(method, nowMs);
    return {
      id: card.id,
      cloudIds: [...card.cloud_runtime_ids],
      title: { ...card.title },
      built: method !== undefined,
      available: blocked === null,
      reasonCode: blocked?.reason ?? null,
      reason: blocked?.message ?? null,
      methods: [...card.runtime.task_methods],
    };
  });
}

type Blocker = Pick<Refusal, 'reason' | 'message'>;

function notBuilt(method: string): Blocker {
  return { reason: 'CAPABILITY_UNAVAILABLE', message: notBuiltText(method) };
}

function blocker(method: MethodSpec, nowMs: number): Blocker | null {
  try {
    method.available?.(nowMs);
    return null;
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}
