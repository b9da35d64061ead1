/** Vocabulary of the docking machine: getting onto the station, and off it. */
import type { MotionAction } from '../../config/contracts/amr.js';
import type { Point, Pose } from '../../config/contracts/geometry.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { ClockSet } from '../clock-jumps.js';
import type { MotionEvent } from '../motion-link.js';
import type { CommonEffect } from '../tools.js';
import type { TimerEvent } from '../types.js';

export interface DockingJob {
  kind: 'dock' | 'undock';
  operation: string;
  fence: number;
  /** Pose of `base_link` when docked. */
  station: Pose;
}

export interface DockingProblem {
  reason: TaskReason;
  message: string;
  where: Point | null;
  at: number;
}

export type DockingOutcome =
  | {
      kind: 'docked' | 'undocked';
      charging: boolean | null;
      pose: Pose | null;
      observedAtMs: number;
      attempts: number;
    }
  | { kind: 'stopped'; observedAtMs: number; stoppedForMs: number }
  | ({ kind: 'failed'; attempts: number } & DockingProblem);

export type DockingEnding = { kind: 'stopped' } | ({ kind: 'failed' } & DockingProblem);

export interface DockingContext {
  job: DockingJob | null;
  /** Approaches, or tries to leave, begun so far. */
  attempts: number;
  problem: DockingProblem | null;
  lookFrom: number;
  ending: DockingEnding | null;
}

/** `at`: robot time when the runner handed the event over, epoch ms. */
export type DockingEvent = { at: number } & (
  | { type: 'GO'; job: DockingJob }
  /** The journey to the staging pose ended; `problem` null: it arrived. */
  | { type: 'TRAVELLED'; problem: DockingProblem | null }
  | MotionEvent
  | { type: 'PAUSE' }
  | { type: 'RESUME' }
  | { type: 'STOP' }
  | ClockSet
  | TimerEvent
);

export type DockingEffect =
  | CommonEffect
  | { kind: 'travel'; to: Pose }
  /** Ends the journey to the staging pose, if one is under way. */
  | { kind: 'endTravel' }
  | { kind: 'start'; action: MotionAction; fence: number }
  | { kind: 'halt'; reason: string }
  | { kind: 'stopUnproven'; because: string | null }
  | { kind: 'finish'; outcome: DockingOutcome };
