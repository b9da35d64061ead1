/**
 * Records what the robot sees and does into MCAP files that open in Foxglove: bounded files, and a bounded number of
 * them. No names, no pictures, no sound: scans, poses, path, map, safety, and which kinds of events happened where.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AmrDriver, AmrEvent, RobotState } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { DomainEvent } from '../../config/contracts/wire/events.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import {
  eventMessage,
  mapMessage,
  odometryMessage,
  pathMessage,
  safetyMessage,
  scanMessage,
  type Topic,
  transformMessage,
} from './channels.js';
import { McapFile } from './mcap-file.js';

export interface RecorderOptions {
  folder: string;
  /** A file of this size is closed, and the next begun, MiB. */
  maxMb: number;
  /** The oldest go when there are more. */
  maxFiles: number;
  clock: Clock;
  log: Log;
  amr: AmrDriver;
  map: () => MapBundle | null;
  onDomainEvent: (listener: (event: DomainEvent) => void) => () => void;
}

const MIB = 2 ** 20;
const NAME = /^run-[0-9TZ-]+\.mcap$/;
const FAILURES = 3;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #unsubscribe: (() => void)[] = [];
  #file: McapFile | null = null;
  #closing: Promise<void> = Promise.resolve();
  #scanAt = 0;
  #pathEnd: unknown = null;
  #mapId: string | null = null;
  #failures = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  start(): void {
    const { amr, folder, onDomainEvent } = this.#options;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.#options.log.error({ folder, error: errorText(error) }, 'the run is not recorded');
      return;
    }
    this.#unsubscribe.push(
      amr.subscribe((event) => this.#take(event)),
      onDomainEvent(({ type, at, areaId }) => this.#add('/events', at, eventMessage(at, type, areaId))),
    );
  }

  /** Resolves when the file is whole. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    this.#endFile();
    await this.#closing;
  }

  #take(event: AmrEvent): void {
    if (event.type === 'state') this.#takeState(event.state);
    if (event.type === 'safety') this.#add('/safety', event.at, safetyMessage(event.at, event.safety));
  }

  #takeState(state: RobotState): void {
    const { at, pose } = state;
    this.#takeMap(at);
    this.#add('/odom', at, odometryMessage(state));
    if (pose !== null) this.#add('/tf', at, transformMessage(at, pose));
    const { scan, path } = this.#options.amr.view();
    if (scan !== null && scan.at !== this.#scanAt) {
      this.#scanAt = scan.at;
      this.#add('/scan', scan.at, scanMessage(scan));
    }
    const end = path.length === 0 ? null : `${path.length}:${path[0]?.x}`;
    if (end === this.#pathEnd) return;
    this.#pathEnd = end;
    this.#add('/path', at, pathMessage(at, path));
  }

  #takeMap(at: number): void {
    const bundle = this.#options.map();
    if (bundle === null || bundle.id === this.#mapId) return;
    this.#mapId = bundle.id;
    this.#add('/map', at, mapMessage(at, bundle.grid));
  }

  #add(topic: Topic, at: number, message: object): void {
    if (this.#failures >= FAILURES) return;
    const file = this.#open();
    if (file === null) return;
    file.add(topic, at, message);
    if (file.bytes >= this.#options.maxMb * MIB) this.#endFile();
  }

  #open(): McapFile | null {
    if (this.#file !== null) return this.#file;
    const { folder, clock, log } = this.#options;
    const stamp = new Date(clock.now()).toISOString().replace(/[:.]/g, '-');
    try {
      this.#makeRoom();
      const file = new McapFile(join(folder, `run-${stamp}.mcap`));
      // A new file is whole by itself: it begins with the map and everything else that is told once.
      this.#mapId = null;
      this.#pathEnd = undefined;
      this.#file = file;
      log.info({ file: file.path }, 'the run is recorded');
    } catch (error) {
      this.#failed(error);
    }
    return this.#file;
  }

  #endFile(): void {
    const file = this.#file;
    if (file === null) return;
    this.#file = null;
    this.#closing = this.#closing.then(() => file.close()).catch((error: unknown) => this.#failed(error));
  }

  /** A full disk must not stop the robot: a few attempts, and it drives on unrecorded. */
  #failed(error: unknown): void {
    this.#failures += 1;
    this.#options.log.error({ error: errorText(error) }, 'the run could not be recorded');
  }

  #makeRoom(): void {
    const { folder, maxFiles } = this.#options;
    const files = readdirSync(folder)
      .filter((name) => NAME.test(name))
      .sort();
    for (const name of files.slice(0, Math.max(0, files.length - maxFiles + 1))) rmSync(join(folder, name));
  }
}
