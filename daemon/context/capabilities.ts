/** Capability cards as they stand right now: what can be done, and what keeps the rest from being done. */
import { type CardCatalogue, loadCards } from '../../config/cards.js';
import type { Capability } from '../../config/contracts/capability.js';
import { isRefusal } from '../../config/contracts/errors.js';
import type { MethodSpec } from '../../executors/method.js';

/** What the TaskManager offers every authenticated caller. */
export const FRAMEWORK_METHODS = ['submitTask', 'submitWorkflow', 'getDevicePlanningContext'] as const;

/** Reads the bundled cards and checks them against what is registered. Throws `ConfigError`. */
export function loadCatalogue(methods: readonly MethodSpec[]): CardCatalogue {
  return loadCards({
    task: new Set(methods.map((method) => method.name)),
    framework: new Set(FRAMEWORK_METHODS),
  });
}

/** One row per card. A card is available when the method it runs could start now with some parameters. */
export function capabilitiesNow(
  catalogue: CardCatalogue,
  methods: readonly MethodSpec[],
  nowMs: number,
): Capability[] {
  const byName = new Map(methods.map((method) => [method.name, method] as const));
  return catalogue.cards.map((card) => {
    const [first] = card.runtime.task_methods;
    const method = first === undefined ? undefined : byName.get(first);
    const reason = method === undefined ? 'its method is not registered' : blocker(method, nowMs);
    return {
      id: card.id,
      cloudIds: [...card.cloud_runtime_ids],
      title: { ...card.title },
      available: reason === null,
      reason,
      methods: [...card.runtime.task_methods],
    };
  });
}

function blocker(method: MethodSpec, nowMs: number): string | null {
  try {
    method.available?.(nowMs);
    return null;
  } catch (error) {
    if (isRefusal(error)) return `${error.reason}: ${error.message}`;
    throw error;
  }
}
