/** Cuts what a host sends to a Create 2 into commands: an opcode and as many data bytes as it takes. */

/** Data bytes per opcode; the specification's command reference. */
const DATA_BYTES: Readonly<Record<number, number>> = {
  7: 0,
  128: 0,
  129: 1,
  130: 0,
  131: 0,
  132: 0,
  133: 0,
  134: 0,
  135: 0,
  136: 0,
  137: 4,
  138: 1,
  139: 3,
  141: 1,
  142: 1,
  143: 0,
  144: 3,
  145: 4,
  146: 4,
  150: 1,
  162: 2,
  163: 4,
  164: 4,
  165: 1,
  167: 15,
  168: 3,
  173: 0,
};
/** Opcodes whose length is in their data: at which byte, and how many bytes each counted thing takes. */
const COUNTED: Readonly<Record<number, { at: number; each: number }>> = {
  140: { at: 1, each: 2 },
  148: { at: 0, each: 1 },
  149: { at: 0, each: 1 },
};
export const OPCODES: Readonly<Record<number, string>> = {
  7: 'reset',
  128: 'start',
  129: 'baud',
  130: 'safe',
  131: 'safe',
  132: 'full',
  133: 'power',
  134: 'spot',
  135: 'clean',
  136: 'max',
  137: 'drive',
  138: 'motors',
  139: 'leds',
  140: 'song',
  141: 'play',
  142: 'sensors',
  143: 'seek_dock',
  144: 'pwm_motors',
  145: 'drive_direct',
  146: 'drive_pwm',
  148: 'stream',
  149: 'query_list',
  150: 'pause_resume_stream',
  162: 'scheduling_leds',
  163: 'digit_leds_raw',
  164: 'digit_leds_ascii',
  165: 'press_buttons',
  167: 'schedule',
  168: 'set_day_time',
  173: 'stop',
};

export class Create2Parser {
  /** Bytes that are no opcode where one was expected. */
  unknown = 0;
  #opcode: number | null = null;
  readonly #data: number[] = [];

  /** Calls `command` for each complete command. */
  push(byte: number, command: (opcode: number, data: readonly number[]) => void): void {
    if (this.#opcode === null) {
      if (OPCODES[byte] === undefined) {
        this.unknown += 1;
        return;
      }
      this.#opcode = byte;
      this.#data.length = 0;
    } else this.#data.push(byte);
    if (this.#data.length < this.#needed(this.#opcode)) return;
    const opcode = this.#opcode;
    this.#opcode = null;
    command(opcode, [...this.#data]);
  }

  reset(): void {
    this.#opcode = null;
  }

  #needed(opcode: number): number {
    const counted = COUNTED[opcode];
    if (counted === undefined) return DATA_BYTES[opcode] ?? 0;
    const count = this.#data[counted.at];
    return counted.at + 1 + (count === undefined ? 0 : count * counted.each);
  }
}
