/** Follows MQTT packets in a byte stream by their fixed headers (MQTT 3.1.1 §2.2), without reading their bodies. */

export interface PacketHeader {
  /** 3 PUBLISH, 4 PUBACK, 12 PINGREQ, 13 PINGRESP, … */
  type: number;
  qos: number;
}

const MAX_LENGTH_BYTES = 4;

export class PacketCounter {
  readonly #onPacket: (header: PacketHeader) => void;
  #first: number | null = null;
  #lengthBytes = 0;
  #remaining = 0;
  #body = 0;

  /** `onPacket` is called when a packet's header is complete; its body may still be on the way. */
  constructor(onPacket: (header: PacketHeader) => void) {
    this.#onPacket = onPacket;
  }

  push(chunk: Uint8Array): void {
    let position = 0;
    while (position < chunk.length) {
      if (this.#body > 0) {
        const skipped = Math.min(this.#body, chunk.length - position);
        this.#body -= skipped;
        position += skipped;
        continue;
      }
      const byte = chunk[position++] ?? 0;
      if (this.#first === null) this.#first = byte;
      else this.#lengthByte(this.#first, byte);
    }
  }

  #lengthByte(first: number, byte: number): void {
    this.#remaining += (byte & 0x7f) * 128 ** this.#lengthBytes;
    this.#lengthBytes += 1;
    if ((byte & 0x80) !== 0 && this.#lengthBytes < MAX_LENGTH_BYTES) return;
    this.#body = this.#remaining;
    this.#first = null;
    this.#remaining = 0;
    this.#lengthBytes = 0;
    this.#onPacket({ type: first >> 4, qos: (first >> 1) & 3 });
  }
}
