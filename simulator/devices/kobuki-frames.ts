/**
 * What a Kobuki and its host say to each other, byte by byte, after the "Protocol Specification" of the Kobuki
 * documentation: AA 55, number of bytes, sub-payloads, XOR. Numbers are little-endian.
 */

const HEADER = [0xaa, 0x55] as const;
const LONGEST = 128;

export interface SubPayload {
  id: number;
  data: readonly number[];
}

export function encodeFrame(parts: readonly SubPayload[]): Uint8Array {
  const payload = parts.flatMap(({ id, data }) => [id, data.length, ...data]);
  const body = [payload.length, ...payload];
  return Uint8Array.from([...HEADER, ...body, body.reduce((sum, byte) => sum ^ byte, 0)]);
}

/** Two bytes of a number, the lower first. */
export function le16(value: number): [number, number] {
  const whole = Math.round(value);
  return [whole & 0xff, (whole >> 8) & 0xff];
}

export function s16(low = 0, high = 0): number {
  return (((high << 8) | low) << 16) >> 16;
}

/** Cuts what the host sends into sub-payloads; what is damaged is left out, as the firmware does. */
export class CommandParser {
  readonly #bytes: number[] = [];

  push(byte: number, command: (id: number, data: readonly number[]) => void): void {
    const bytes = this.#bytes;
    bytes.push(byte);
    while (bytes.length > 0) {
      if (bytes[0] !== HEADER[0] || (bytes.length > 1 && bytes[1] !== HEADER[1])) {
        bytes.shift();
        continue;
      }
      const length = bytes[2];
      if (length === undefined) return;
      if (length === 0 || length > LONGEST) {
        bytes.shift();
        continue;
      }
      if (bytes.length < length + 4) return;
      const body = bytes.slice(2, length + 4);
      if (body.reduce((sum, b) => sum ^ b, 0) !== 0) {
        bytes.shift();
        continue;
      }
      bytes.splice(0, length + 4);
      cut(body.slice(1, -1), command);
    }
  }

  reset(): void {
    this.#bytes.length = 0;
  }
}

function cut(payload: readonly number[], command: (id: number, data: readonly number[]) => void): void {
  for (let at = 0; at + 1 < payload.length; ) {
    const size = payload[at + 1] ?? 0;
    command(payload[at] ?? 0, payload.slice(at + 2, at + 2 + size));
    at += 2 + size;
  }
}
