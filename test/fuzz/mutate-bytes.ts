/** What happens to bytes on a line, and to files on a disk: flips, losses, repeats, garbage, splices. */
import { below, bytes, chance, pick } from './pick.js';
import type { Random } from './types.js';

const OPERATIONS = ['flip', 'replace', 'insert', 'remove', 'repeat', 'cut', 'swap', 'extreme'] as const;
const EXTREMES = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff] as const;
const MAX_RUN = 40;

/** `rounds` random changes; 0 leaves the bytes as they are. */
export function mutateBytes(random: Random, input: Uint8Array, rounds: number): Uint8Array {
  let output = input;
  for (let i = 0; i < rounds; i++) output = mutateOnce(random, output);
  return output;
}

/** The same bytes in pieces, as a port delivers them. */
export function* inPieces(random: Random, input: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < input.length; ) {
    const length = 1 + below(random, chance(random, 0.3) ? 4 : 200);
    yield input.subarray(at, at + length);
    at += length;
  }
}

function mutateOnce(random: Random, input: Uint8Array): Uint8Array {
  if (input.length === 0) return bytes(random, 1 + below(random, MAX_RUN));
  const at = below(random, input.length);
  const run = 1 + below(random, MAX_RUN);
  const before = input.subarray(0, at);
  const copy = Uint8Array.from(input);
  switch (pick(random, OPERATIONS)) {
    case 'flip':
      copy[at] = (copy[at] ?? 0) ^ (1 << below(random, 8));
      return copy;
    case 'replace':
      copy[at] = below(random, 256);
      return copy;
    case 'extreme':
      copy[at] = pick(random, EXTREMES);
      return copy;
    case 'insert':
      return joined(before, bytes(random, run), input.subarray(at));
    case 'remove':
      return joined(before, input.subarray(at + run));
    case 'repeat':
      return joined(before, input.subarray(at, at + run), input.subarray(at));
    case 'cut':
      return before;
    case 'swap':
      return joined(input.subarray(at), before);
  }
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
