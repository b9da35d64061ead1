/**
 * Makes a context fit a byte limit by leaving out what a planner misses least, in a fixed order, and says in
 * `trimmed` what that was. Where the robot is, how it is, which rooms there are and what runs always stay.
 */
import type { DeviceContext, DeviceContextV2 } from '../../config/contracts/wire/context.js';
import { saysNotBuilt } from '../../executors/not-built.js';

type Context = DeviceContextV2;

interface Step {
  name: string;
  /** The context without it, or null when it is not there. */
  drop(context: Context): Context | null;
}

function without<K extends keyof Context>(name: K & string): Step {
  return {
    name,
    drop(context) {
      if (context[name] === undefined) return null;
      const { [name]: _, ...rest } = context;
      return rest as Context;
    },
  };
}

/** The documented order, first to go first. */
const STEPS: readonly Step[] = [
  {
    name: 'capabilities.not_built',
    drop: ({ capabilities, ...context }) =>
      capabilities === undefined
        ? null
        : {
            ...context,
            capabilities: Object.fromEntries(
              Object.entries(capabilities).filter(([, { reason }]) => !saysNotBuilt(reason ?? '')),
            ),
          },
  },
  {
    name: 'map.rooms.aliases',
    drop: (context) => ({
      ...context,
      map: { ...context.map, rooms: context.map.rooms.map(({ aliases: _, ...room }) => room) },
    }),
  },
  without('interactions'),
  without('streaming'),
  without('security'),
  without('voice_llm'),
  {
    name: 'network.details',
    drop: ({ network, ...context }) => {
      const { aws_iot_connected, transport_connected, subscription_ready, source } = network;
      return { ...context, network: { aws_iot_connected, transport_connected, subscription_ready, source } };
    },
  },
  {
    name: 'semantic_observations.recent',
    drop: (context) => ({
      ...context,
      semantic_observations: { ...context.semantic_observations, recent: [] },
    }),
  },
  without('maintenance'),
  without('resources'),
  {
    name: 'task_manager.queue_summary',
    drop: ({ task_manager, ...context }) => {
      const { queue_summary: _, ...rest } = task_manager;
      return { ...context, task_manager: rest };
    },
  },
  {
    name: 'air_quality.values',
    drop: ({ air_quality, ...context }) => {
      const { grade, source_state, source_valid, observed_at_ms, freshness_ms, ttl_ms, stale, usable } =
        air_quality;
      const mark = { source_valid, observed_at_ms, freshness_ms, ttl_ms, stale, usable };
      return { ...context, air_quality: { grade, source_state, ...mark } };
    },
  },
  {
    name: 'map.rooms.poses',
    drop: (context) => ({
      ...context,
      map: {
        ...context.map,
        rooms: context.map.rooms.map(({ x: _x, y: _y, theta: _t, ...room }) => room),
      },
    }),
  },
  {
    name: 'capabilities.reason',
    drop: (context) =>
      context.capabilities === undefined
        ? null
        : {
            ...context,
            capabilities: Object.fromEntries(
              Object.entries(context.capabilities).map(([id, { available }]) => [id, { available }]),
            ),
          },
  },
  without('policy_blockers'),
  without('capabilities'),
];

/** What may be left out, in this order. */
export const TRIM_ORDER: readonly string[] = STEPS.map((step) => step.name);

/** A limit below what always stays gives what always stays: the limit is then not met, and `trimmed` is complete. */
export function trimContext(context: DeviceContext, maxBytes: number): DeviceContext {
  if (bytesOf(context) <= maxBytes) return context;
  let current = context as Context;
  const trimmed: string[] = [];
  for (const step of STEPS) {
    const smaller = step.drop(current);
    if (smaller === null) continue;
    current = smaller;
    trimmed.push(step.name);
    const marked = { ...current, trimmed };
    if (bytesOf(marked) <= maxBytes) return marked as DeviceContext;
  }
  return { ...current, trimmed } as DeviceContext;
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value), 'utf8');
}
