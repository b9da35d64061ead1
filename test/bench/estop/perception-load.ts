/**
 * A worker thread that keeps a processor as busy as hearing or seeing does. `voice`: each 80 ms of sound at 16 kHz is
 * windowed, transformed and put through a small dense network, as a wake word and an acoustic model do. `vision`: ten
 * pictures of 320 × 240 a second go through two layers of 3 × 3 convolutions, as a small detector does. Nothing is
 * recognised: what counts here is the arithmetic, the memory it allocates, and that it never waits for anybody.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { SystemClock } from '../../../config/contracts/clock.js';
import { seededRandom } from '../../../config/contracts/ids.js';

const options = z.object({ kind: z.enum(['voice', 'vision']) }).parse(workerData);
const random = seededRandom(7);
const noise = (n: number) => Float32Array.from({ length: n }, () => random() - 0.5);

const SOUND_MS = 80;
const RATE = 16_000;
const WINDOW = 400;
const HOP = 160;
const BINS = 128;
const LAYER = 256;
const LAYERS = 6;
const PICTURE_MS = 100;
const WIDTH = 320;
const HEIGHT = 240;
const CHANNELS = 4;

const weights = Array.from({ length: LAYERS }, () => noise(LAYER * LAYER));
const kernels = noise(CHANNELS * 9);
const angles = Float32Array.from(
  { length: WINDOW * 2 },
  (_, i) => (2 * Math.PI * Math.floor(i / 2)) / WINDOW,
);
let done = 0;
let sum = 0;

function hear(): void {
  const sound = noise((RATE * SOUND_MS) / 1000);
  for (let from = 0; from + WINDOW <= sound.length; from += HOP) {
    let layer = spectrum(sound, from);
    for (const matrix of weights) layer = through(layer, matrix);
    sum += layer[0] ?? 0;
  }
}

/** Power in `BINS` bins, one by one (Goertzel), in a layer's width. */
function spectrum(sound: Float32Array, from: number): Float32Array {
  const bins = new Float32Array(LAYER);
  for (let bin = 0; bin < BINS; bin++) {
    const twice = 2 * Math.cos(angles[bin * 2] ?? 0);
    let [a, b] = [0, 0];
    for (let i = 0; i < WINDOW; i++) [a, b] = [(sound[from + i] ?? 0) + twice * a - b, a];
    bins[bin] = a * a + b * b - twice * a * b;
  }
  return bins;
}

function through(input: Float32Array, matrix: Float32Array): Float32Array {
  const output = new Float32Array(LAYER);
  for (let row = 0; row < LAYER; row++) {
    let total = 0;
    for (let column = 0; column < LAYER; column++) {
      total += (matrix[row * LAYER + column] ?? 0) * (input[column] ?? 0);
    }
    output[row] = Math.tanh(total / LAYER);
  }
  return output;
}

function see(): void {
  let picture: Float32Array = noise(WIDTH * HEIGHT);
  for (let layer = 0; layer < 2; layer++) {
    let next: Float32Array = picture;
    for (let channel = 0; channel < CHANNELS; channel++) next = convolved(picture, channel);
    picture = next;
  }
  sum += picture[WIDTH] ?? 0;
}

function convolved(picture: Float32Array, channel: number): Float32Array {
  const output = new Float32Array(WIDTH * HEIGHT);
  for (let y = 1; y < HEIGHT - 1; y++) {
    for (let x = 1; x < WIDTH - 1; x++) {
      let total = 0;
      for (let k = 0; k < 9; k++) {
        const at = (y + Math.floor(k / 3) - 1) * WIDTH + x + (k % 3) - 1;
        total += (kernels[channel * 9 + k] ?? 0) * (picture[at] ?? 0);
      }
      output[y * WIDTH + x] = Math.max(total, 0);
    }
  }
  return output;
}

const work = options.kind === 'voice' ? hear : see;
new SystemClock().every(options.kind === 'voice' ? SOUND_MS : PICTURE_MS, () => {
  work();
  done += 1;
  parentPort?.postMessage({ kind: options.kind, done, finite: Number.isFinite(sum) });
});
