/**
 * Question and answer of a Winsen ZPHS01B multi-sensor. Source: Winsen ZPHS01B manual; see
 * docs/protocols/zphs01b.md. Numbers are big-endian.
 */

/** "Read the gas concentration". */
export const QUERY = Uint8Array.of(0xff, 0x01, 0x86, 0x00, 0x00, 0x00, 0x00, 0x00, 0x79);

export const ANSWER_BYTES = 26;
const START = 0xff;
const COMMAND = 0x86;

/** What the module says, in its units; nothing is judged yet. */
export interface Zphs01bAnswer {
  /** µg/m³ */
  pm1_0: number;
  pm2_5: number;
  pm10: number;
  /** ppm */
  co2: number;
  /** Grade 0 (clean) … 3. */
  voc: number;
  /** °C */
  temperature: number;
  /** %RH */
  humidity: number;
  /** Formaldehyde, mg/m³. */
  ch2o: number;
  /** ppm */
  co: number;
  o3: number;
  no2: number;
}

/** Added to a temperature in tenths of a degree by the module: 435 in most manuals, 500 in others. */
const TEMPERATURE_OFFSET = 435;

/** Two's complement of the sum of all bytes between the first and the last. */
export function checksum(frame: Uint8Array, at = 0, length = frame.length): number {
  let sum = 0;
  for (let i = at + 1; i < at + length - 1; i++) sum += frame[i] ?? 0;
  return -sum & 0xff;
}

/** Reads the 26 bytes at `at`, whose checksum is right. */
export function decodeAnswer(
  bytes: Uint8Array,
  at = 0,
  temperatureOffset = TEMPERATURE_OFFSET,
): Zphs01bAnswer {
  const word = (offset: number) => ((bytes[at + offset] ?? 0) << 8) | (bytes[at + offset + 1] ?? 0);
  return {
    pm1_0: word(2),
    pm2_5: word(4),
    pm10: word(6),
    co2: word(8),
    voc: bytes[at + 10] ?? 0,
    temperature: (word(11) - temperatureOffset) / 10,
    humidity: word(13),
    ch2o: word(15) / 1000,
    co: word(17) / 10,
    o3: word(19) / 100,
    no2: word(21) / 100,
  };
}

export type AnswerItem =
  | { kind: 'answer'; answer: Zphs01bAnswer }
  | { kind: 'discarded'; bytes: number }
  /** 26 bytes that begin like an answer but whose checksum is wrong. */
  | { kind: 'rejected' };

/** Finds answers in a byte stream. */
export class AnswerParser {
  #buffer: Uint8Array = new Uint8Array(0);
  readonly #temperatureOffset: number;

  constructor(temperatureOffset = TEMPERATURE_OFFSET) {
    this.#temperatureOffset = temperatureOffset;
  }

  reset(): void {
    this.#buffer = new Uint8Array(0);
  }

  /** Bytes kept because they may be the start of an answer. */
  get pending(): number {
    return this.#buffer.length;
  }

  push(chunk: Uint8Array): AnswerItem[] {
    const bytes = Uint8Array.from([...this.#buffer, ...chunk]);
    const items: AnswerItem[] = [];
    let at = 0;
    let discarded = 0;
    const flush = () => {
      if (discarded > 0) items.push({ kind: 'discarded', bytes: discarded });
      discarded = 0;
    };
    while (at < bytes.length) {
      const begins = bytes[at] === START && (at + 1 === bytes.length || bytes[at + 1] === COMMAND);
      if (begins && at + ANSWER_BYTES > bytes.length) break;
      const good = begins && checksum(bytes, at, ANSWER_BYTES) === bytes[at + ANSWER_BYTES - 1];
      if (good) {
        flush();
        items.push({ kind: 'answer', answer: decodeAnswer(bytes, at, this.#temperatureOffset) });
        at += ANSWER_BYTES;
        continue;
      }
      if (begins) items.push({ kind: 'rejected' });
      discarded += 1;
      at += 1;
    }
    flush();
    this.#buffer = bytes.subarray(at);
    return items;
  }
}
