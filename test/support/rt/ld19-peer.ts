/**
 * The other end of an LD19's serial line: ten turns a second of a round, empty room. Frame layout and CRC-8
 * (polynomial 0x4D) as in the LDROBOT LD19 development manual.
 */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import type { PeerLine } from './create2-peer.js';

const POINTS = 12;
const STEP_DEG = 0.8;
const DEG_PER_MS = 3.6;
const EVERY_MS = 10;

export class Ld19Peer {
  /** Millimetres. */
  distance = 4000;
  sending = true;
  readonly #line: PeerLine;
  readonly #clock: Clock;
  readonly #cancel: CancelTimer;
  #frames = 0;
  readonly #startMono: number;

  constructor(line: PeerLine, clock: Clock) {
    this.#line = line;
    this.#clock = clock;
    this.#startMono = clock.mono();
    this.#cancel = clock.every(EVERY_MS, () => this.#catchUp());
  }

  close(): void {
    this.#cancel();
  }

  #catchUp(): void {
    const frameDeg = POINTS * STEP_DEG;
    const due = Math.floor(((this.#clock.mono() - this.#startMono) * DEG_PER_MS) / frameDeg);
    const bytes: number[] = [];
    for (; this.#frames < due; this.#frames++) bytes.push(...this.#frame((this.#frames * frameDeg) % 360));
    if (this.sending && bytes.length > 0) this.#line.write(Uint8Array.from(bytes));
  }

  #frame(startDeg: number): number[] {
    const word = (n: number) => [n & 0xff, (n >> 8) & 0xff];
    const endDeg = (startDeg + (POINTS - 1) * STEP_DEG) % 360;
    const points = Array.from({ length: POINTS }, () => [...word(this.distance), 200]).flat();
    const body = [
      0x54,
      0x2c,
      ...word(3600),
      ...word(Math.round(startDeg * 100)),
      ...points,
      ...word(Math.round(endDeg * 100)),
      ...word(Math.floor(this.#clock.mono()) % 30_000),
    ];
    return [...body, crc8(body)];
  }
}

function crc8(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x4d) & 0xff : (crc << 1) & 0xff;
  }
  return crc;
}
