/** LD19: how fast bytes become scans, and what gets through that should not. */
import { seededRandom } from '../../../config/contracts/ids.js';
import { memoryLine } from '../../../config/contracts/port.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { FRAME_BYTES, HEADER, TYPE_AND_LENGTH } from '../../../drivers/serial/ld19/frame.js';
import { Ld19Parser } from '../../../drivers/serial/ld19/frame-parser.js';
import { Ld19Lidar } from '../../../drivers/serial/ld19/ld19-lidar.js';
import { createDevices } from '../../../simulator/devices/index.js';
import { memoryPorts } from '../../../simulator/ports/memory.js';
import { TICK_MS } from '../../../simulator/session/pace.js';
import { createWorld } from '../../../simulator/world/index.js';
import type { Bench } from '../report.js';
import { median, round, spread, timed } from '../support/stats.js';

/** 230 400 baud, ten bits a byte. */
const LINE_BYTES_PER_S = 23_040;
/** As a read of a UART gives them. */
const CHUNK = 256;

export const ld19Bench: Bench = {
  groups: ['ld19'],
  method:
    'Bytes of the simulated lidar in a furnished home, through the driver (parser, turns, bins) in chunks of 256, as a ' +
    'multiple of what the line carries (23 040 B/s). Then every burst of at most 8 bits at every place of a frame, ' +
    'between good frames, through the parser: whatever it accepts must be a frame that was sent.',
  async run({ quick }) {
    const bytes = await record(quick ? 15 : 60);
    const times: number[] = [];
    for (let i = 0; i < (quick ? 5 : 9); i++) times.push(await decodeAll(bytes));
    const rates = times.map((ms) => bytes.length / LINE_BYTES_PER_S / (ms / 1000));
    const bursts = burstsAccepted(bytes, quick ? 2 : 8);
    const garbage = garbageShare(quick ? 200_000 : 1_000_000);
    return {
      figures: { ld19: { x_realtime: round(median(rates), 0), wrong_frames: bursts.wrong } },
      notes: [
        `${(bytes.length / 1e6).toFixed(2)} MB, runs ${spread(rates)} × real time`,
        `${bursts.tried} frames hit by a burst, ${bursts.wrong} wrong ones accepted; of random bytes behind a right header 1 in ` +
          `${Math.round(1 / garbage)} passes (the CRC-8 alone: 1 in 256)`,
      ],
    };
  },
};

/** What the lidar of the simulated home sends in so many seconds. */
async function record(seconds: number): Promise<Uint8Array> {
  const ports = memoryPorts();
  const world = createWorld(undefined, { seed: 1 });
  const devices = createDevices(world, { ports: ports.ends });
  const connection = await ports.open.lidar();
  const chunks: Uint8Array[] = [];
  connection.onData((bytes) => chunks.push(bytes));
  for (let ms = 0; ms < seconds * 1000; ms += TICK_MS) world.step(TICK_MS);
  devices.close();
  return Buffer.concat(chunks);
}

/** Milliseconds that the driver takes for all of it. */
async function decodeAll(bytes: Uint8Array): Promise<number> {
  const clock = new SimClock(0);
  const line = memoryLine('lidar');
  const lidar = new Ld19Lidar({ open: line.open, clock, random: () => 0 });
  let scans = 0;
  lidar.onScan(() => {
    scans += 1;
  });
  lidar.start();
  await settle();
  const ms = await timed(() => {
    for (let at = 0; at < bytes.length; at += CHUNK) line.device.write(bytes.subarray(at, at + CHUNK));
  });
  await lidar.stop();
  if (scans === 0) throw new Error('the driver made no scan of the recorded bytes');
  return ms;
}

/** Every burst of 1…8 bits in each of some frames, each between two undamaged ones. */
function burstsAccepted(bytes: Uint8Array, frames: number): { tried: number; wrong: number } {
  let tried = 0;
  let wrong = 0;
  for (let n = 0; n < frames; n++) {
    const at = FRAME_BYTES * (3 + 7 * n);
    const stream = Uint8Array.from(bytes.subarray(at, at + 3 * FRAME_BYTES));
    const sent = new Set([0, 1, 2].map((i) => keyOf(stream, i * FRAME_BYTES)));
    for (let bit = 0; bit < 8 * FRAME_BYTES; bit++) {
      for (let pattern = 1; pattern < 256; pattern += 2) {
        if (bit + 32 - Math.clz32(pattern) > 8 * FRAME_BYTES) continue;
        tried += 1;
        wrong += foreignFrames(damaged(stream, 8 * FRAME_BYTES + bit, pattern), sent);
      }
    }
  }
  return { tried, wrong };
}

/** Flips the bits of `pattern` (its lowest is set) from bit `first` on, most significant bit of a byte first. */
function damaged(stream: Uint8Array, first: number, pattern: number): Uint8Array {
  const out = stream.slice();
  for (let i = 0; i < 8; i++) {
    const at = first + i;
    if ((pattern >> i) & 1) out[at >> 3] = (out[at >> 3] ?? 0) ^ (0x80 >> (at & 7));
  }
  return out;
}

/** Accepted frames that nobody sent. */
function foreignFrames(stream: Uint8Array, sent: ReadonlySet<string>): number {
  let foreign = 0;
  const parser = new Ld19Parser((bytes, at) => {
    if (!sent.has(keyOf(bytes, at))) foreign += 1;
  });
  parser.push(stream);
  return foreign;
}

function keyOf(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, FRAME_BYTES).toString('latin1');
}

/** Of random bytes that begin like a frame, the share that is taken for one. */
function garbageShare(tries: number): number {
  const random = seededRandom(7);
  const frame = new Uint8Array(FRAME_BYTES);
  let accepted = 0;
  const parser = new Ld19Parser(() => {
    accepted += 1;
  });
  for (let n = 0; n < tries; n++) {
    for (let i = 2; i < FRAME_BYTES; i++) frame[i] = Math.floor(random() * 256);
    frame[0] = HEADER;
    frame[1] = TYPE_AND_LENGTH;
    parser.push(frame);
    parser.reset();
  }
  return accepted / tries;
}
