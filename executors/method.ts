/**
 * A task method as the TaskManager sees it: a schema, what it takes, what proves its end, how it is stopped,
 * and a `run` that comes back only with evidence.
 */
import type { z } from 'zod';
import type { Clock } from '../config/contracts/clock.js';

export { StoppedWithProof } from '../config/contracts/stopped.js';

export const RESOURCES = [
  'motion',
  'camera',
  'microphone',
  'speaker',
  'display',
  'fan',
  'security_session',
  'live_view',
  'vital_sign',
  'browser',
] as const;
export type Resource = (typeof RESOURCES)[number];

export interface ResourceClaim {
  resource: Resource;
  mode: 'exclusive' | 'shared';
}

/** What proves that the method did what it says, as observed; goes to the cloud as it is. */
export interface Completion {
  evidence: { completion_target: string; observed_at_ms: number } & Record<string, unknown>;
  output: Record<string, unknown> | null;
  /** The stage reported with the terminal event, e.g. `navigation.arrived`. */
  stage: string;
}

export interface RunContext<P> {
  readonly taskId: string;
  readonly attempt: number;
  readonly params: P;
  /** Aborted on cancel, time-out, preemption or shutdown. Stop the physical thing, prove it, then throw. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Robot time at which the task was asked for, epoch ms. */
  readonly askedAtMs: number;
  /** What `PauseSpec.carry` kept of an earlier run of this task; null: it begins. */
  readonly carried: Record<string, unknown> | null;
  /** The fencing token of a lease this task holds; pass it to the driver. */
  fence(resource: Resource): number;
  /** Reports where the task is: `stage` names a domain state, `data` small numbers and names. */
  progress(stage: string, data?: Record<string, unknown>): void;
}

/** What a precondition or an admission check may look at besides the services closed over. */
export interface CheckContext<P> {
  readonly params: P;
  readonly nowMs: number;
}

/** What is known of a run that was paused. */
export interface PauseContext<P> extends CheckContext<P> {
  readonly taskId: string;
  /** What that run had begun with itself. */
  readonly carried: Record<string, unknown> | null;
}

/** How a method is paused: its `run` is aborted and proves its stop, and is called again to go on. */
export interface PauseSpec<P> {
  /** What the next run needs to go on, as small JSON; asked right after the stop was proven. */
  carry(ctx: PauseContext<P>): Record<string, unknown> | null;
  /**
   * Why going on would not do what was asked for any more; null: it does. Asked right before it would go on.
   * `preempted`: it had to give way to another task, otherwise it was paused on request.
   */
  outdated?(ctx: PauseContext<P> & { readonly preempted: boolean }): string | null;
}

export interface MethodSpec<P = unknown> {
  name: string;
  executor: string;
  /** One sentence for people. */
  summary: string;
  /** Strict schema: unknown keys are refused. */
  params: z.ZodType<P>;
  output: z.ZodType;
  resources: readonly ResourceClaim[];
  completionTarget: string;
  /** What must hold, in words, for the table. */
  preconditionText: string;
  /** Refuses (throws `Refusal`) what can never work: unknown rooms, poses in walls. Runs at admission. */
  admit?(ctx: CheckContext<P>): void;
  /**
   * Refuses (throws `Refusal`) when no parameters could make it start now, or it would change nothing: what is held
   * cannot be paused again. Tells planners what is available; asked for all the same, that counts as done.
   */
  available?(nowMs: number): void;
  /** Refuses (throws `Refusal`) when it cannot start now. Runs right before `run`, and for dry runs. */
  precondition?(ctx: CheckContext<P>): void;
  /** The method that stops it, and what proves the stop; null where there is nothing to stop. */
  cancel: { method: string; proof: string } | null;
  /** Absent: it cannot be paused once it runs, and whoever takes its place cancels it. */
  pause?: PauseSpec<P>;
  compensation: { method: string; params: Record<string, unknown> } | null;
  timeoutMs: number | ((params: P) => number);
  /** The time-out in words, where it depends on the parameters. */
  timeoutText?: string;
  /** How long an aborted `run` may take to prove the stop before it counts as a hardware fault. */
  stopGraceMs: number;
  risk: 'low' | 'high';
  /** May be continued after a restart with attempt + 1. */
  idempotent: boolean;
  /** After a restart: is the goal already true? Then its proof, otherwise null. */
  alreadyDone?(ctx: CheckContext<P>): Completion | null;
  run(ctx: RunContext<P>): Promise<Completion>;
}

/** Erases the params type so that methods of all shapes stand in one registry; `run` gets what `params` parsed. */
export function defineMethod<P>(spec: MethodSpec<P>): MethodSpec {
  return spec as unknown as MethodSpec;
}
