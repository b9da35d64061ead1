/** What the tests of the serial drivers share. */
import fc from 'fast-check';
import { memoryLine } from '../../../config/contracts/port.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { PACKETS } from '../../../drivers/serial/create2/packets.js';

export const hex = (text: string): Uint8Array =>
  Uint8Array.from(text.split(' ').map((pair) => Number.parseInt(pair, 16)));

export const toHex = (bytes: Uint8Array): string =>
  [...bytes].map((b) => b.toString(16).toUpperCase().padStart(2, '0')).join(' ');

export function concat(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** A line in memory with a record of what the host sent, on a clock that moves only when told to. */
export function bench(name = 'test') {
  const clock = new SimClock(Date.UTC(2026, 10, 30, 9));
  const line = memoryLine(name);
  const sent: Uint8Array[] = [];
  let answer: (bytes: Uint8Array) => void = () => {};
  line.device.onData((bytes) => {
    sent.push(bytes);
    answer(bytes);
  });
  return {
    clock,
    device: line.device,
    options: { open: line.open, clock, random: () => 0 },
    /** What the host sent since the last call, as hex. */
    take: () => sent.splice(0).map(toHex),
    onHostBytes: (fn: (bytes: Uint8Array) => void) => {
      answer = fn;
    },
    settle,
  };
}

/** A stream frame of a Create 2 with the given raw packet values, in that order. */
export function oiFrame(values: readonly (readonly [id: number, value: number])[]): Uint8Array {
  const data = values.flatMap(([id, value]) => {
    const bytes = PACKETS.find((p) => p.id === id)?.bytes;
    return bytes === 1 ? [id, value & 0xff] : [id, (value >> 8) & 0xff, value & 0xff];
  });
  const body = [19, data.length, ...data];
  return Uint8Array.from([...body, -body.reduce((a, b) => a + b, 0) & 0xff]);
}

/** Splits bytes into chunks at arbitrary places. */
export function chunked(bytes: Uint8Array): fc.Arbitrary<Uint8Array[]> {
  return fc.array(fc.nat(bytes.length), { maxLength: 30 }).map((cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    return at.slice(1).map((end, i) => bytes.slice(at[i], end));
  });
}

/** Flips a burst of up to 8 bits that begins at bit `first`; `pattern` 1…255, its lowest bit set. */
export function burst(frame: Uint8Array, first: number, pattern: number): Uint8Array {
  const damaged = frame.slice();
  for (let bit = 0; bit < 8; bit++) {
    const at = first + bit;
    const byte = damaged[at >> 3];
    // Most significant bit first, as a CRC sees the bits.
    if ((pattern >> bit) & 1 && byte !== undefined) damaged[at >> 3] = byte ^ (0x80 >> (at & 7));
  }
  return damaged;
}
