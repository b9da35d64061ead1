/**
 * Decides which mode a Create 2 should be in and when to ask for it. In a drive mode the base does not charge,
 * so it rests in passive mode on its station. It leaves safe mode by itself at a cliff, a wheel drop or a
 * plugged-in charger, and any drive mode when somebody presses a button or it restarts.
 */
import type { Create2Sensors, OiMode } from './decode.js';

export interface ModeStep {
  /** The mode to ask for now. */
  request: 'passive' | 'safe' | 'full' | null;
  /** Why the base left its drive mode, when it just did so by itself. */
  lost: string | null;
}

/** On the station, a base that was not driven for this long goes back to charging, ms. */
const REST_AFTER_MS = 2000;
/** Time for an answer in the stream before asking again, ms; longer with every failure in a row. */
const RETRY_MS = 200;
const MAX_RETRY_MS = 3000;
const LASTING_MS = 500;
/** On its contacts a base may refuse safe mode, as with its charger plugged in; then full mode takes it off them. */
const SAFE_ATTEMPTS_ON_STATION = 2;

const NOTHING: ModeStep = { request: null, lost: null };

export class ModeKeeper {
  readonly #driveMode: 'safe' | 'full';
  #enabled = true;
  #drivenAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asked: OiMode | null = null;
  /** Requests in a row that did not lead to the mode asked for. */
  #attempts = 0;
  #last: OiMode | null = null;
  #reachedAt: number | null = null;

  constructor(driveMode: 'safe' | 'full') {
    this.#driveMode = driveMode;
  }

  get enabled(): boolean {
    return this.#enabled;
  }

  enable(): void {
    this.#enabled = true;
  }

  /** The base is to stay out of its drive modes; the caller has asked for passive mode at `mono`. */
  disable(mono: number): void {
    this.#enabled = false;
    this.#asked = 'passive';
    this.#askedAt = mono;
    this.#attempts = 1;
  }

  /** The wheels were commanded to turn. */
  driven(mono: number): void {
    this.#drivenAt = mono;
  }

  /** Nothing is known of the base any more, or it was put into passive mode to begin with. */
  unknown(): void {
    this.#last = null;
    this.#reachedAt = null;
    this.#asked = null;
    this.#attempts = 0;
    this.#askedAt = Number.NEGATIVE_INFINITY;
    this.#drivenAt = Number.NEGATIVE_INFINITY;
  }

  next(sensors: Create2Sensors, mono: number): ModeStep {
    const { mode } = sensors;
    if (mode === null) return NOTHING;
    const lost = drives(this.#last) && !drives(mode) && this.#asked !== 'passive' ? causeOf(sensors) : null;
    this.#last = mode;
    const wanted = this.#wanted(sensors, mono);
    this.#settle(wanted === mode, mono);
    if (wanted === null || wanted === mode) return { request: null, lost };
    const stillOut = drives(this.#asked) && drives(wanted) && !drives(mode);
    const sameAim = this.#asked === wanted || stillOut;
    if (!sameAim) this.#attempts = 0;
    const wait = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.max(0, this.#attempts - 1));
    if (sameAim && mono - this.#askedAt < wait) return { request: null, lost };
    this.#attempts += 1;
    this.#asked = wanted;
    this.#askedAt = mono;
    return { request: wanted, lost };
  }

  /** A mode counts as reached once it has lasted: one that ends at once was refused. */
  #settle(reached: boolean, mono: number): void {
    if (!reached) this.#reachedAt = null;
    else this.#reachedAt ??= mono;
    if (this.#reachedAt !== null && mono - this.#reachedAt > LASTING_MS) this.#attempts = 0;
  }

  /** Null: leave the base as it is. */
  #wanted(sensors: Create2Sensors, mono: number): 'passive' | 'safe' | 'full' | null {
    if (!this.#enabled) return sensors.mode === 'off' ? null : 'passive';
    if (sensors.mode === 'off') return 'passive';
    const onStation = sensors.homeBase === true;
    const resting = mono - this.#drivenAt > REST_AFTER_MS;
    if (onStation && resting) return 'passive';
    // A lifted base would fall back at once, and its wheels should not turn in somebody's hands.
    if (sensors.wheelDropLeft === true || sensors.wheelDropRight === true) return null;
    if (!onStation) return this.#driveMode;
    if (sensors.mode === 'full') return 'full';
    return this.#driveMode === 'safe' && this.#attempts < SAFE_ATTEMPTS_ON_STATION ? 'safe' : 'full';
  }
}

function drives(mode: OiMode | null): boolean {
  return mode === 'safe' || mode === 'full';
}

function causeOf(s: Create2Sensors): string {
  if (s.wheelDropLeft === true || s.wheelDropRight === true) return 'wheel drop';
  if (
    s.cliffLeft === true ||
    s.cliffFrontLeft === true ||
    s.cliffFrontRight === true ||
    s.cliffRight === true
  )
    return 'cliff';
  if (s.internalCharger === true) return 'charger plugged in';
  if (s.buttons !== null && s.buttons !== 0) return 'button pressed';
  return 'unknown cause';
}
