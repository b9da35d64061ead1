/**
 * Recorded drives in the text format of the CoreSLAM and BreezySLAM example logs: one scan a line, numbers with blanks
 * between them. After https://github.com/simondlevy/BreezySLAM (`examples/mines.py`, `examples/log2pgm.cpp`): number 0
 * is the time in microseconds, 2 and 3 are the totals of the ticks of the left and the right wheel, 24 and on are the
 * ranges in millimetres of a Hokuyo URG-04LX, from the right to the left; what stands between is not used. The robot of
 * those logs (wheels, axle, place of the lidar) is in `BREEZY_ROBOT`; another one is told.
 */
import type { Scan } from '../../../config/contracts/amr.js';
import { MapError } from '../map/map-error.js';
import type { WheelSample } from '../types.js';

export interface LogRobot {
  /** Metres. */
  wheelRadius: number;
  /** Distance between the wheels, m. */
  wheelBase: number;
  /** Ticks of one wheel for a whole turn of it. */
  ticksPerTurn: number;
  /** The lidar is so far in front of the middle of the axle, m. */
  lidarX: number;
}

/** The rover of the Paris Mines logs: 2000 ticks are a turn of a wheel, by that code's way from ticks to millimetres. */
export const BREEZY_ROBOT: LogRobot = {
  wheelRadius: 0.077,
  wheelBase: 0.33,
  ticksPerTurn: 2000,
  lidarX: 0.145,
};

/** One line: the scan as seen by the lidar, and the wheels at the same time. */
export interface LogRecord {
  mono: number;
  scan: Scan;
  wheels: WheelSample;
}

/** A record and the share of the log that has been read with it, 0…1. */
export interface LogEntry {
  record: LogRecord;
  share: number;
}

const FIRST_RANGE = 24;
/** 1024 steps a turn; the middle one of the lidar's 682 looks ahead. */
const STEP = (2 * Math.PI) / 1024;
const URG_RANGES = 682;
/** Below are codes of what went wrong, above is beyond what the lidar can do, m. */
const RANGE = { min: 0.06, max: 5.6 };
const MIN_RANGES = 32;
const MAX_RANGES = 4096;
const MAX_TICKS = 2 ** 48;

/** What is to be known of a log before it is used. */
export interface LogSummary {
  scans: number;
  /** Between the first and the last scan, s. */
  duration: number;
  /** Lines at the end that the recorder did not finish. */
  cutOff: number;
}

/** Reads every line and keeps none. Throws `MapError` with the line and the field. */
export function checkBreezyLog(text: string, file: string): LogSummary {
  const log = new BreezyLog(text, file);
  let [scans, first, last] = [0, 0, 0];
  for (const { record } of log.entries()) {
    if (scans === 0) first = record.mono;
    last = record.mono;
    scans++;
  }
  return { scans, duration: (last - first) / 1000, cutOff: log.cutOff };
}

/** The records of a log, one after the other: a long one never lies in memory whole. */
export class BreezyLog {
  readonly #text: string;
  readonly #file: string;
  readonly #robot: LogRobot;
  cutOff = 0;

  constructor(text: string, file: string, robot: LogRobot = BREEZY_ROBOT) {
    this.#text = text;
    this.#file = file;
    this.#robot = robot;
  }

  /** Throws `MapError` with the line and the field. */
  *entries(): Generator<LogEntry, void> {
    const text = this.#text.trimEnd();
    if (text === '')
      throw new MapError(this.#file, 'line 1', 'the file has no lines; a scan a line is needed');
    this.cutOff = 0;
    let expected: number | null = null;
    let before: LogRecord | null = null;
    let row = 1;
    for (let start = 0; start < text.length; row++) {
      const end = text.indexOf('\n', start);
      const line = text.slice(start, end < 0 ? text.length : end).trim();
      start = end < 0 ? text.length : end + 1;
      const numbers = line.split(/\s+/);
      // A recorder that lost its power ends in the middle of a line.
      if (expected !== null && numbers.length < expected && end < 0) {
        this.cutOff = 1;
        return;
      }
      before = recordOf(new Line(numbers, this.#file, row, expected), this.#robot, before);
      expected = numbers.length;
      yield { record: before, share: start / text.length };
    }
  }
}

function recordOf(line: Line, robot: LogRobot, before: LogRecord | null): LogRecord {
  const mono = line.whole(0, 'time', 0, Number.MAX_SAFE_INTEGER) / 1000;
  if (before !== null && mono < before.mono) {
    throw line.error(
      'time',
      `found ${mono * 1000} µs, which is before the line above (${before.mono * 1000})`,
    );
  }
  const perTick = (2 * Math.PI * robot.wheelRadius) / robot.ticksPerTurn;
  const wheels = {
    mono,
    left: line.whole(2, 'ticks of the left wheel', -MAX_TICKS, MAX_TICKS) * perTick,
    right: line.whole(3, 'ticks of the right wheel', -MAX_TICKS, MAX_TICKS) * perTick,
  };
  const ranges: number[] = [];
  for (let i = FIRST_RANGE; i < line.length; i++) {
    const range = line.whole(i, `range ${i - FIRST_RANGE}`, 0, 65_535) / 1000;
    ranges.push(range >= RANGE.min && range < RANGE.max ? range : Number.NaN);
  }
  // The logs end each line with a number that belongs to no step of the lidar.
  if (ranges.length === URG_RANGES + 1) ranges.pop();
  const scan: Scan = {
    at: mono,
    angleMin: (-(ranges.length - 1) / 2) * STEP,
    angleIncrement: STEP,
    rangeMin: RANGE.min,
    rangeMax: RANGE.max,
    ranges,
  };
  return { mono, scan, wheels };
}

/** The numbers of one line, checked as they are asked for. */
class Line {
  readonly #numbers: readonly string[];
  readonly #file: string;
  readonly #row: number;

  constructor(numbers: readonly string[], file: string, row: number, expected: number | null) {
    this.#numbers = numbers;
    this.#file = file;
    this.#row = row;
    const ranges = numbers.length - FIRST_RANGE;
    if (expected !== null && numbers.length !== expected) {
      throw this.error('numbers', `found ${numbers.length}; the lines above have ${expected}`);
    }
    if (ranges < MIN_RANGES || ranges > MAX_RANGES) {
      const allowed = `${FIRST_RANGE} and then ${MIN_RANGES} to ${MAX_RANGES} ranges are needed`;
      throw this.error('numbers', `found ${numbers.length}; ${allowed}`);
    }
  }

  get length(): number {
    return this.#numbers.length;
  }

  whole(index: number, field: string, min: number, max: number): number {
    const text = this.#numbers[index] ?? '';
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw this.error(field, `found ${text.slice(0, 40)}; a whole number from ${min} to ${max} is needed`);
  }

  error(field: string, problem: string): MapError {
    return new MapError(this.#file, `line ${this.#row}`, `${field}: ${problem}`);
  }
}
