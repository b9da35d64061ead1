/**
 * Modbus RTU frames for a client: requests for functions 03, 04, 06 and 16, and their answers. Source: MODBUS
 * Application Protocol Specification V1.1b3 and MODBUS over Serial Line V1.02; see docs/protocols/modbus-fan.md.
 */

const FUNCTION = {
  readHolding: 0x03,
  readInput: 0x04,
  writeSingle: 0x06,
  writeMultiple: 0x10,
} as const;

/** Most registers in one request, by the specification. */
const MAX_READ = 125;
const MAX_WRITE = 123;

export type RtuAnswer =
  /** More bytes are needed. */
  | { state: 'incomplete' }
  /** Read registers; empty for the echo of a write. */
  | { state: 'ok'; registers: number[] }
  | { state: 'exception'; code: number }
  /** `crc`: damaged. `mismatch`: a sound frame that does not answer this request. */
  | { state: 'bad'; why: 'crc' | 'mismatch' };

/** CRC-16/MODBUS of `bytes[0…length)`; on the wire the low byte goes first. */
export function crc16(bytes: Uint8Array, length = bytes.length): number {
  let crc = 0xffff;
  for (let i = 0; i < length; i++) {
    crc ^= bytes[i] ?? 0;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1;
  }
  return crc;
}

export function readRequest(
  unit: number,
  kind: 'readHolding' | 'readInput',
  address: number,
  count: number,
): Uint8Array {
  if (count < 1 || count > MAX_READ) throw new RangeError(`registers to read: 1…${MAX_READ}, got ${count}`);
  return framed(unit, FUNCTION[kind], ...word(address), ...word(count));
}

export function writeSingleRequest(unit: number, address: number, value: number): Uint8Array {
  return framed(unit, FUNCTION.writeSingle, ...word(address), ...word(value));
}

export function writeMultipleRequest(unit: number, address: number, values: readonly number[]): Uint8Array {
  const count = values.length;
  if (count < 1 || count > MAX_WRITE)
    throw new RangeError(`registers to write: 1…${MAX_WRITE}, got ${count}`);
  const data = values.flatMap(word);
  return framed(unit, FUNCTION.writeMultiple, ...word(address), ...word(count), data.length, ...data);
}

/** Looks at what has come in since `request` was sent. */
export function takeAnswer(request: Uint8Array, received: Uint8Array): RtuAnswer {
  if (received.length < 3) return { state: 'incomplete' };
  const code = request[1] ?? 0;
  const isException = received[1] === (code | 0x80);
  if (received[0] !== request[0] || (received[1] !== code && !isException))
    return { state: 'bad', why: 'mismatch' };
  const length = isException ? 5 : answerLength(code, received);
  if (received.length < length) return { state: 'incomplete' };
  const crc = (received[length - 2] ?? 0) | ((received[length - 1] ?? 0) << 8);
  if (crc !== crc16(received, length - 2)) return { state: 'bad', why: 'crc' };
  if (isException) return { state: 'exception', code: received[2] ?? 0 };
  return isRead(code) ? readAnswer(request, received) : writeAnswer(request, received);
}

function answerLength(code: number, received: Uint8Array): number {
  return isRead(code) ? 3 + (received[2] ?? 0) + 2 : 8;
}

function readAnswer(request: Uint8Array, received: Uint8Array): RtuAnswer {
  const count = ((request[4] ?? 0) << 8) | (request[5] ?? 0);
  if (received[2] !== 2 * count) return { state: 'bad', why: 'mismatch' };
  const registers = Array.from(
    { length: count },
    (_, i) => ((received[3 + 2 * i] ?? 0) << 8) | (received[4 + 2 * i] ?? 0),
  );
  return { state: 'ok', registers };
}

/** A write is answered with its address and its value or count. */
function writeAnswer(request: Uint8Array, received: Uint8Array): RtuAnswer {
  for (let i = 2; i < 6; i++) if (received[i] !== request[i]) return { state: 'bad', why: 'mismatch' };
  return { state: 'ok', registers: [] };
}

function isRead(code: number): boolean {
  return code === FUNCTION.readHolding || code === FUNCTION.readInput;
}

function word(value: number): number[] {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff)
    throw new RangeError(`a register address or value is a whole number 0…65535, got ${value}`);
  return [value >> 8, value & 0xff];
}

function framed(...body: number[]): Uint8Array {
  const bytes = Uint8Array.of(...body, 0, 0);
  const crc = crc16(bytes, body.length);
  bytes[body.length] = crc & 0xff;
  bytes[body.length + 1] = crc >> 8;
  return bytes;
}
