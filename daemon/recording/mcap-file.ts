/** One MCAP file with the channels of a recording, written as it comes; messages are JSON. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { McapWriter } from '@mcap/core';
import { CHANNELS, type Topic } from './channels.js';

/** Small, so that a robot that loses its power loses seconds and not minutes of it. */
const CHUNK_BYTES = 256 * 1024;
/** More than this waits for nothing: the disk is too slow, and messages are left out. */
const MAX_QUEUED = 2000;

export class McapFile {
  readonly path: string;
  /** Messages that were left out. */
  dropped = 0;
  readonly #fd: number;
  readonly #writer: McapWriter;
  readonly #channels = new Map<Topic, number>();
  readonly #counts = new Map<Topic, number>();
  #position = 0;
  #queued = 0;
  /** The writer takes one call after the other. */
  #last: Promise<void>;

  /** Throws when the file cannot be made. */
  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, 'wx', 0o600);
    this.#writer = new McapWriter({
      chunkSize: CHUNK_BYTES,
      writable: {
        position: () => BigInt(this.#position),
        write: async (bytes: Uint8Array) => {
          for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
          this.#position += bytes.length;
        },
      },
    });
    this.#last = this.#begin();
  }

  get bytes(): number {
    return this.#position;
  }

  /** `at`: robot time, epoch ms. */
  add(topic: Topic, at: number, message: object): void {
    if (this.#queued >= MAX_QUEUED) {
      this.dropped += 1;
      return;
    }
    this.#queued += 1;
    this.#last = this.#last.then(async () => {
      this.#queued -= 1;
      const channelId = this.#channels.get(topic);
      if (channelId === undefined) return;
      const sequence = (this.#counts.get(topic) ?? 0) + 1;
      this.#counts.set(topic, sequence);
      const time = BigInt(Math.round(at)) * 1_000_000n;
      const data = new TextEncoder().encode(JSON.stringify(message));
      await this.#writer.addMessage({ channelId, sequence, logTime: time, publishTime: time, data });
    });
  }

  /** Resolves with the index behind the messages. Rejects with the first error of writing, closed all the same. */
  async close(): Promise<void> {
    try {
      await this.#last;
      await this.#writer.end();
    } finally {
      closeSync(this.#fd);
    }
  }

  /** Rejects as soon as something could not be written. */
  settled(): Promise<void> {
    return this.#last;
  }

  async #begin(): Promise<void> {
    await this.#writer.start({ profile: '', library: 'deviceagent' });
    for (const [topic, { name, schema }] of Object.entries(CHANNELS)) {
      const data = new TextEncoder().encode(JSON.stringify({ title: name, ...schema }));
      const schemaId = await this.#writer.registerSchema({ name, encoding: 'jsonschema', data });
      const channel = { schemaId, topic, messageEncoding: 'json', metadata: new Map<string, string>() };
      this.#channels.set(topic as Topic, await this.#writer.registerChannel(channel));
    }
  }
}
