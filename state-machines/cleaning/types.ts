/** Vocabulary of the cleaning machine. */
import type { AirGrade } from '../../config/contracts/air.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { FanReading } from '../../drivers/serial/types.js';
import type { AirSample, CleaningMode } from '../cleaning-types.js';
import type { ClockSet } from '../clock-jumps.js';
import type { CommonEffect } from '../tools.js';
import type { TimerEvent } from '../types.js';

export interface CleaningJob {
  operation: string;
  mode: CleaningMode;
  dwellMs: number;
  maxTimeMs: number;
  untilGrade: AirGrade | null;
  areaId: string | null;
}

export interface CleaningFault {
  reason: TaskReason;
  message: string;
  at: number;
}

export type CleaningEnding =
  | { kind: 'completed'; gradeReached: boolean | null }
  | { kind: 'stopped' }
  | ({ kind: 'failed' } & CleaningFault);

/** How a cleaning went. */
export interface CleaningOutcome {
  ending: CleaningEnding;
  ranMs: number;
  peakRpm: number;
  before: AirSample | null;
  /** The reading that shows the standstill; null when there was none. */
  rest: { rpm: number; at: number } | null;
}

/** A cleaning that was cut short and may go on. */
export interface Interrupted {
  job: CleaningJob;
  ranMs: number;
  before: AirSample | null;
  held: boolean;
}

export interface CleaningContext {
  job: CleaningJob | null;
  held: boolean;
  /** The last cleaning, if it was stopped: the daemon may have been told to end, and asks for the rest later. */
  interrupted: Interrupted | null;
  percent: number;
  /** Milliseconds the fan has run at its set-point so far. */
  ranMs: number;
  /** The last reading that counted; null while the fan is not at its set-point. */
  countedAt: number | null;
  /** The last time it was, ever; tells how long it has not been. */
  goodAt: number;
  /** When the set-point was last changed. */
  setAt: number;
  peakRpm: number;
  before: AirSample | null;
  air: AirSample | null;
  /** Since when every reading has been as good as was asked for; null while it is not, or nothing was. */
  gradeSince: number | null;
  lookFrom: number;
  fault: CleaningFault | null;
  ending: CleaningEnding | null;
  lastAction: 'started' | 'paused' | 'resumed' | 'stopped' | null;
}

/** `at`: robot time when the runner handed the event over, epoch ms. */
export type CleaningEvent = { at: number } & (
  | { type: 'GO'; job: CleaningJob; ranMs: number; before: AirSample; held: boolean }
  | { type: 'FAN'; reading: FanReading }
  /** The fan did not answer a request. */
  | { type: 'FAN_ERROR'; message: string }
  | { type: 'AIR'; sample: AirSample }
  | { type: 'MODE'; mode: CleaningMode }
  | { type: 'PAUSE' }
  | { type: 'RESUME' }
  | { type: 'STOP' }
  | ClockSet
  | TimerEvent
);

export type CleaningEffect =
  | CommonEffect
  | { kind: 'setSpeed'; percent: number }
  | { kind: 'finish'; outcome: CleaningOutcome };
