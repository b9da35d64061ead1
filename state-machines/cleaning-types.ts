/** Cleaning operations as executors use them. */
import type { AirGrade } from '../config/contracts/air.js';
import type { StageReporter, StopProof } from './types.js';

export const CLEANING_MODES = ['auto', 'quiet', 'turbo'] as const;
export type CleaningMode = (typeof CLEANING_MODES)[number];

/** The air as last observed. Numbers are null where they are not known or must not be used. */
export interface AirSample {
  /** Robot time of the reading, epoch ms; null when nothing was ever read. */
  observedAtMs: number | null;
  freshnessMs: number | null;
  /** Fresh, warmed up, no fault: may be decided on. */
  usable: boolean;
  grade: AirGrade | null;
  pm2_5: number | null;
  pm10: number | null;
  co2: number | null;
}

/** Where the machine learns of the air. */
export interface AirSource {
  sample(): AirSample;
  /** Called with each new reading. */
  subscribe(listener: () => void): () => void;
}

export interface CleanRequest {
  /** Task id. With the id of a cleaning that a restart interrupted, only the rest of the dwell is run. */
  operation: string;
  mode: CleaningMode;
  /** Milliseconds the fan has to run at its set-point at least. */
  dwellMs: number;
  /** Ends the extension, ms of fan time, also when the grade was not reached. */
  maxTimeMs: number;
  /** Goes on after the dwell until the air is this good; null: only the dwell. */
  untilGrade: AirGrade | null;
  areaId: string | null;
  /** Fencing token of the fan lease. */
  fence: number;
  /** Where an earlier run of this operation stopped; absent: it begins. */
  from?: CleaningSoFar;
}

/** What a cleaning had done when it was stopped. */
export interface CleaningSoFar {
  /** Milliseconds the fan ran at its set-point. */
  ranMs: number;
  /** The air when it began; null when it had not. */
  before: AirSample | null;
  /** It was held by `pause` when it was stopped, and is held again. */
  held: boolean;
  /** The room it belongs to, where it is known. */
  areaId: string | null;
}

/** The fan ran and was read back standing still. */
export interface CleaningResult {
  before: AirSample;
  after: AirSample;
  /** Milliseconds the fan ran at its set-point, without pauses. */
  durationMs: number;
  /** Null when no grade was asked for. */
  gradeReached: boolean | null;
  /** rpm read back at the end, and when. */
  rpm: number;
  observedAtMs: number;
  /** Fastest rpm seen while it ran. */
  peakRpm: number;
}

export interface CleaningStatus {
  /** The fan answers. */
  fanConnected: boolean;
  running: boolean;
  paused: boolean;
  /** Machine state, e.g. `dwelling`. */
  stage: string;
  mode: CleaningMode | null;
  operation: string | null;
  areaId: string | null;
  /** What was done last: `started`, `paused`, `resumed`, `stopped`. */
  lastAction: string | null;
  /** Of the dwell, ms; null when off. */
  remainingMs: number | null;
}

/**
 * `clean` rejects with `StoppedWithProof` when it was aborted or stopped and the fan was read back standing still;
 * with a `TaskFailure` HARDWARE_FAULT when the fan does not do what it is told.
 */
export interface CleaningOperations {
  clean(request: CleanRequest, signal: AbortSignal, onStage: StageReporter): Promise<CleaningResult>;
  /** Fan off until `resume`; resolves at rpm 0. STATE_CONDITION_FAILED when nothing runs. */
  pause(signal: AbortSignal): Promise<StopProof & { already: boolean }>;
  /** Resolves when the fan is back at its set-point. */
  resume(signal: AbortSignal): Promise<{ rpm: number; observedAtMs: number; already: boolean }>;
  /** Ends a running cleaning, or stops a fan that runs on its own; resolves at rpm 0. */
  stop(reason: string, signal: AbortSignal): Promise<StopProof & { already: boolean }>;
  /** Changes the set-point of a running cleaning; resolves when the fan follows. */
  setMode(
    mode: CleaningMode,
    signal: AbortSignal,
  ): Promise<{ percent: number; rpm: number; observedAtMs: number }>;
  /** What a cleaning that was interrupted by a restart still has to run, ms; null when none is remembered. */
  remaining(operation: string): number | null;
  /** What the last cleaning had done when it, or the daemon, was stopped; null when that was another, or it came to its end. */
  soFar(operation: string): CleaningSoFar | null;
  status(): CleaningStatus;
}
