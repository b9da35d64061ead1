/** Vocabulary of the navigation machine. */
import type { MotionAction, PlanResult, SafetyCondition } from '../../config/contracts/amr.js';
import type { Point, Pose } from '../../config/contracts/geometry.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { ClockSet } from '../clock-jumps.js';
import type { MotionEvent } from '../motion-link.js';
import type { NavigationGoal } from '../motion-types.js';
import type { Rung } from '../settings.js';
import type { CommonEffect } from '../tools.js';
import type { TimerEvent } from '../types.js';

export interface Journey {
  operation: string;
  goals: NavigationGoal[];
  /** The goal to begin with, and the rooms visited before it: after a restart. */
  index: number;
  visited: (string | null)[];
  fence: number;
  maxSpeed: number;
  ignoreBattery: boolean;
}

export type ProblemKind =
  | 'blocked'
  | 'stuck'
  | 'contact'
  | 'no_path'
  /** Something stands where the robot is to stand; the map has nothing there, or it would not have begun. */
  | 'goal_occupied'
  | 'off_goal'
  | 'sensors'
  | 'localization'
  | 'interrupted';

/** What keeps the robot from its goal. */
export interface Problem {
  kind: ProblemKind;
  message: string;
  /** In the map frame; null when it has no place. */
  where: Point | null;
  at: number;
}

export interface Measured {
  pose: Pose;
  observedAtMs: number;
  stoppedForMs: number;
  error: { xy: number; theta: number };
}

export type NavigationOutcome =
  | { kind: 'arrived'; measured: Measured; visited: (string | null)[]; recoveries: number }
  | { kind: 'stopped'; observedAtMs: number; stoppedForMs: number }
  | {
      kind: 'failed';
      reason: TaskReason;
      message: string;
      where: Point | null;
      observedAtMs: number | null;
    };

/** What a journey will end as, once the wheels are proven to stand still. */
export type Ending = { kind: 'stopped' } | Extract<NavigationOutcome, { kind: 'failed' }>;

/** A journey that was cut short and may go on: where it was, and whether it was held. */
export interface Interrupted {
  journey: Journey;
  held: boolean;
}

export interface NavigationContext {
  journey: Journey | null;
  held: boolean;
  /** The last journey, if it was stopped: the daemon may have been told to end, and asks for the rest later. */
  interrupted: Interrupted | null;
  /** Of the goal that is being driven to. */
  index: number;
  visited: (string | null)[];
  /** Numbers the plans, so that a late answer to an older one is not taken for the newest. */
  round: number;
  /** True once the wheels were told to drive to the present goal. */
  driven: boolean;
  /** Of the ladder, the next rung; and the one that was taken last. */
  rung: number;
  taken: Rung | null;
  /** Rungs taken for the present goal, and in the whole journey. */
  recoveries: number;
  totalRecoveries: number;
  /** Shortest remaining distance reported since the ladder started, m. */
  closest: number | null;
  problem: Problem | null;
  lastCause: { condition: SafetyCondition; at: number } | null;
  /** When the present state began to look at the body; older facts say nothing about it. */
  lookFrom: number;
  ending: Ending | null;
}

/** `at`: robot time when the runner handed the event over, epoch ms. */
export type NavigationEvent = { at: number } & (
  | { type: 'GO'; journey: Journey; held: boolean }
  | { type: 'PLANNED'; round: number; result: PlanResult }
  | MotionEvent
  | { type: 'PAUSE' }
  | { type: 'RESUME' }
  | { type: 'STOP' }
  | ClockSet
  | TimerEvent
);

export type NavigationEffect =
  | CommonEffect
  | { kind: 'plan'; round: number; goal: Pose }
  | { kind: 'start'; action: MotionAction; fence: number }
  /** Stops the wheels; what the action still reports is of no interest. */
  | { kind: 'halt'; reason: string }
  /** That the wheels stand still could not be shown in time. */
  | { kind: 'stopUnproven'; because: string | null }
  | { kind: 'arrived'; areaId: string | null }
  | { kind: 'obstructed'; problem: Problem }
  | { kind: 'localizationLost' }
  | { kind: 'finish'; outcome: NavigationOutcome };
