/**
 * The other end of a Create 2's serial line, at byte level: obeys the commands the driver sends, turns its wheels
 * accordingly, streams what it is asked to stream, and keeps a record of every byte with its time. It has no
 * watchdog: it goes on at the last speed it was given. Source: iRobot Create 2 Open Interface Specification.
 */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';

/** Both a line in memory and a pseudo-terminal look like this from the device's side. */
export interface PeerLine {
  write(bytes: Uint8Array): void;
  onData(listener: (bytes: Uint8Array) => void): void;
}

export interface PeerFlags {
  bumpLeft: boolean;
  bumpRight: boolean;
  wheelDropLeft: boolean;
  wheelDropRight: boolean;
  cliffLeft: boolean;
  cliffFrontLeft: boolean;
  cliffFrontRight: boolean;
  cliffRight: boolean;
  overcurrentLeft: boolean;
  overcurrentRight: boolean;
  buttons: number;
  docked: boolean;
  charging: boolean;
  batteryPercent: number;
}

export interface Received {
  mono: number;
  /** e.g. `drive 200 200` (left, right, mm/s), `start`, `safe`, `stream`. */
  command: string;
}

const STREAM_EVERY_MS = 15;
const MM_PER_COUNT = (Math.PI * 72) / 508.8;
const SIZES: Record<number, number> = Object.fromEntries(
  [22, 23, 25, 26, 28, 29, 30, 31, 43, 44, 54, 55].map((id) => [id, 2]),
);
const ARGUMENTS: Record<number, number> = { 145: 4, 137: 4, 149: 1, 150: 1 };

export class Create2Peer {
  readonly flags: PeerFlags = {
    bumpLeft: false,
    bumpRight: false,
    wheelDropLeft: false,
    wheelDropRight: false,
    cliffLeft: false,
    cliffFrontLeft: false,
    cliffFrontRight: false,
    cliffRight: false,
    overcurrentLeft: false,
    overcurrentRight: false,
    buttons: 0,
    docked: false,
    charging: false,
    batteryPercent: 80,
  };
  readonly received: Received[] = [];
  /** Wheel speeds it drives at, mm/s. */
  left = 0;
  right = 0;
  mode = 1;
  /** Keeps turning its wheels whatever it is told. */
  runaway = false;
  /** Something holds the wheels: they do not turn whatever they are told. */
  jammed = false;
  streaming = true;
  readonly #clock: Clock;
  readonly #line: PeerLine;
  #pending: number[] = [];
  #packets: number[] = [];
  #leftMm = 0;
  #rightMm = 0;
  #movedMono: number;
  readonly #cancel: CancelTimer;

  constructor(line: PeerLine, clock: Clock) {
    this.#line = line;
    this.#clock = clock;
    this.#movedMono = clock.mono();
    line.onData((bytes) => this.#take(bytes));
    this.#cancel = clock.every(STREAM_EVERY_MS, () => {
      this.#move();
      if (this.streaming && this.#packets.length > 0) this.sendFrame();
    });
  }

  close(): void {
    this.#cancel();
  }

  /** True when the last wheel command that arrived was a stop. */
  get stopped(): boolean {
    return this.left === 0 && this.right === 0;
  }

  /** Wheel commands only, oldest first. */
  drives(): Received[] {
    return this.received.filter(({ command }) => command.startsWith('drive'));
  }

  /** Sends one report now, out of turn. */
  sendFrame(): void {
    const body = this.#packets.flatMap((id) => [id, ...this.#packet(id)]);
    const bytes = [19, body.length, ...body];
    const sum = bytes.reduce((a, b) => a + b, 0);
    this.#line.write(Uint8Array.from([...bytes, (256 - (sum % 256)) % 256]));
  }

  #packet(id: number): number[] {
    const f = this.flags;
    const bits = (...flags: boolean[]) => flags.reduce((sum, flag, i) => sum + (flag ? 1 << i : 0), 0);
    const value = {
      7: bits(f.bumpRight, f.bumpLeft, f.wheelDropRight, f.wheelDropLeft),
      9: bits(f.cliffLeft),
      10: bits(f.cliffFrontLeft),
      11: bits(f.cliffFrontRight),
      12: bits(f.cliffRight),
      14: bits(false, false, false, f.overcurrentRight, f.overcurrentLeft),
      18: f.buttons,
      21: f.charging ? 2 : 0,
      22: 15_200,
      25: Math.round(f.batteryPercent * 25),
      26: 2500,
      34: bits(false, f.docked),
      35: this.mode,
      43: Math.round(this.#leftMm / MM_PER_COUNT),
      44: Math.round(this.#rightMm / MM_PER_COUNT),
    }[id];
    const n = value ?? 0;
    return SIZES[id] === 2 ? [(n >> 8) & 0xff, n & 0xff] : [n & 0xff];
  }

  #move(): void {
    const now = this.#clock.mono();
    const seconds = (now - this.#movedMono) / 1000;
    this.#movedMono = now;
    if (this.jammed) return;
    this.#leftMm += this.left * seconds;
    this.#rightMm += this.right * seconds;
  }

  #take(bytes: Uint8Array): void {
    this.#pending.push(...bytes);
    for (;;) {
      const opcode = this.#pending[0];
      if (opcode === undefined) return;
      const count =
        opcode === 148 ? 1 + (this.#pending[1] ?? Number.POSITIVE_INFINITY) : (ARGUMENTS[opcode] ?? 0);
      if (this.#pending.length < 1 + count) return;
      this.#obey(opcode, this.#pending.splice(0, 1 + count).slice(1));
    }
  }

  #obey(opcode: number, args: number[]): void {
    this.#move();
    const names: Record<number, string> = {
      128: 'start',
      131: 'safe',
      132: 'full',
      148: 'stream',
      173: 'stop',
    };
    let command = names[opcode] ?? `opcode ${opcode}`;
    if (opcode === 145) {
      const [rightHigh = 0, rightLow = 0, leftHigh = 0, leftLow = 0] = args;
      const right = ((rightHigh << 24) >> 16) | rightLow;
      const left = ((leftHigh << 24) >> 16) | leftLow;
      command = `drive ${left} ${right}`;
      if (this.mode >= 2 && !this.runaway) {
        this.left = left;
        this.right = right;
      }
    }
    this.received.push({ mono: this.#clock.mono(), command });
    if (opcode === 128 || opcode === 173) this.#setMode(opcode === 128 ? 1 : 0);
    if (opcode === 131) this.#setMode(2);
    if (opcode === 132) this.#setMode(3);
    if (opcode === 148) this.#packets = args.slice(1);
    if (opcode === 173) this.#packets = [];
  }

  /** Outside its drive modes the wheels get no power. */
  #setMode(mode: number): void {
    this.mode = mode;
    if (mode >= 2 || this.runaway) return;
    this.left = 0;
    this.right = 0;
  }
}
