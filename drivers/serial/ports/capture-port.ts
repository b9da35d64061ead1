/**
 * Writes down what comes in on a port, byte for byte, for `deviceagent replay`: for finding out what a device says. Bounded:
 * a full file takes the place of the one before. Writing never holds up whoever reads the port; what a slow disk does
 * not take is left out.
 */
import { appendFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenPort, PortConnection } from '../../../config/contracts/port.js';

export interface CaptureOptions {
  folder: string;
  /** `base`, `lidar`: files are `<name>.bin` and, before that, `<name>.old.bin`. */
  name: string;
  maxBytes: number;
  onError: (error: unknown) => void;
}

/** Written once so much has come in; and more than this does not wait for the disk. */
const FLUSH_BYTES = 16 * 1024;
const MAX_WAITING = 1024 * 1024;

export class CaptureFile {
  readonly #options: CaptureOptions;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #fileBytes = 0;
  #writing: Promise<void> | null = null;
  #failed = false;

  constructor(options: CaptureOptions) {
    this.#options = options;
  }

  add(bytes: Uint8Array): void {
    if (this.#failed || this.#waitingBytes + bytes.length > MAX_WAITING) return;
    this.#waiting.push(bytes.slice());
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= FLUSH_BYTES) void this.flush();
  }

  /** Resolves when everything so far is in the file. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#waitingBytes === 0 || this.#failed) return;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writing = this.#write(bytes)
      .catch((error: unknown) => {
        this.#failed = true;
        this.#options.onError(error);
      })
      .finally(() => {
        this.#writing = null;
      });
    await this.#writing;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const { folder, name, maxBytes } = this.#options;
    const file = join(folder, `${name}.bin`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (this.#fileBytes > 0 && this.#fileBytes + bytes.length > maxBytes) {
      await rename(file, join(folder, `${name}.old.bin`));
      this.#fileBytes = 0;
    }
    await appendFile(file, bytes, { mode: 0o600 });
    this.#fileBytes += bytes.length;
  }
}

/** `open` with a record of what its connections receive. */
export function capturing(open: OpenPort, file: CaptureFile): OpenPort {
  const captured: OpenPort = async (signal) => capturedConnection(await open(signal), file);
  // Counts that come with the port stay with it.
  return 'counts' in open ? Object.assign(captured, { counts: open.counts }) : captured;
}

function capturedConnection(inner: PortConnection, file: CaptureFile): PortConnection {
  return {
    onData: (listener) =>
      inner.onData((bytes) => {
        listener(bytes);
        file.add(bytes);
      }),
    onClose: (listener) => inner.onClose(listener),
    write: (bytes, options) => inner.write(bytes, options),
    hold: (on) => inner.hold?.(on),
    fetch: () => inner.fetch?.(),
    setDtr: (on) => inner.setDtr?.(on),
    discardInput: () => inner.discardInput(),
    close: async () => {
      await inner.close();
      await file.flush();
    },
  };
}
