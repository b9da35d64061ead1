/**
 * Recorded drives in the text format of the CoreSLAM and BreezySLAM example logs: one scan a line, numbers with blanks
 * between them. After https://github.com/simondlevy/BreezySLAM (`examples/mines.py`): number 0 is the time in
 * microseconds, 2 and 3 are the totals of both wheels' ticks, 24 and on are the ranges in millimetres of a Hokuyo
 * URG-04LX, from the right to the left; what stands between is not used. The robot of those logs (wheels, axle, place
 * of the lidar) is in `BREEZY_ROBOT`; another one is told.
 */
import type { Scan } from '../../../config/contracts/amr.js';
import { MapError } from '../map/map-error.js';
import type { WheelSample } from '../types.js';

export interface LogRobot {
  /** Metres. */
  wheelRadius: number;
  /** Distance between the wheels, m. */
  wheelBase: number;
  ticksPerTurn: number;
  /** The lidar is so far in front of the middle of the axle, m. */
  lidarX: number;
}

/** The rover of the Paris Mines logs. */
export const BREEZY_ROBOT: LogRobot = {
  wheelRadius: 0.077,
  wheelBase: 0.33,
  ticksPerTurn: 4000,
  lidarX: 0.145,
};

/** One line: the scan as seen by the lidar, and the wheels at the same time. */
export interface LogRecord {
  mono: number;
  scan: Scan;
  wheels: WheelSample;
}

const FIRST_RANGE = 24;
/** 1024 steps a turn; the middle one looks ahead. */
const STEP = (2 * Math.PI) / 1024;
/** Below are codes of what went wrong, above is beyond what the lidar can do, m. */
const RANGE = { min: 0.06, max: 5.6 };
const MIN_RANGES = 32;
const MAX_RANGES = 4096;
const MAX_TICKS = 2 ** 48;

/** What stands in a log, and how many lines at its end were cut off. Throws `MapError` with the line and the field. */
export function readBreezyLog(
  text: string,
  file: string,
  robot: LogRobot = BREEZY_ROBOT,
): { records: LogRecord[]; cutOff: number } {
  const lines = text.split('\n').map((line) => line.trim());
  while (lines.at(-1) === '') lines.pop();
  const records: LogRecord[] = [];
  let expected: number | null = null;
  let cutOff = 0;
  for (const [i, line] of lines.entries()) {
    const numbers = line.split(/\s+/);
    // A recorder that lost its power ends in the middle of a line.
    if (expected !== null && numbers.length < expected && i === lines.length - 1) {
      cutOff = 1;
      break;
    }
    records.push(recordOf(new Line(numbers, file, i + 1, expected), robot, records.at(-1) ?? null));
    expected = numbers.length;
  }
  if (records.length === 0)
    throw new MapError(file, 'line 1', 'the file has no lines; a scan a line is needed');
  return { records, cutOff };
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
  const middle = Math.floor((ranges.length - 1) / 2);
  const scan: Scan = {
    at: mono,
    angleMin: -middle * STEP,
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
