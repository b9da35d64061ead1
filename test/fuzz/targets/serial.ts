/**
 * The drivers of the serial devices, each on a line in memory whose other end has gone mad. Nobody ever asks the base
 * to drive or the fan to blow, so not one byte that does may come out, and nothing that is no number may come in.
 */
import { memoryLine } from '../../../config/contracts/port.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { Create2Base } from '../../../drivers/serial/create2/create2-base.js';
import type { SerialDriverOptions } from '../../../drivers/serial/driver-base.js';
import { KobukiBase } from '../../../drivers/serial/kobuki/kobuki-base.js';
import { Ld19Lidar } from '../../../drivers/serial/ld19/ld19-lidar.js';
import { ModbusFan } from '../../../drivers/serial/modbus-fan/modbus-fan.js';
import { RplidarLidar } from '../../../drivers/serial/rplidar/rplidar-lidar.js';
import type { SerialDriver } from '../../../drivers/serial/types.js';
import { Zphs01bSensor } from '../../../drivers/serial/zphs01b/zphs01b-sensor.js';
import { inPieces, joined, mutateBytes } from '../mutate-bytes.js';
import { below, bytes, chance } from '../pick.js';
import {
  create2Frame,
  kobukiFrame,
  ld19Frame,
  ld19Turn,
  modbusAnswer,
  rplidarAnswer,
  zphs01bAnswer,
} from '../seeds/frames.js';
import type { Finding, Random, Target, TargetSession } from '../types.js';

interface Kind {
  name: string;
  /** Starts to listen; `report` gets everything that the driver makes of the bytes. */
  open(options: SerialDriverOptions, report: (value: object) => void): SerialDriver;
  /** `asked`: what the driver sent last. */
  frame(random: Random, asked: Uint8Array): Uint8Array;
  /** Between two pieces of a document at most, ms. */
  pauseMs: number;
  /** In a document at most. */
  frames: number;
  /** Whether bytes that the driver sent set something in motion. */
  moves(sent: Uint8Array): boolean;
}

const START_MS = Date.UTC(2026, 10, 30);
const QUIET_MS = 5000;
const FAN_REGISTERS = { setPoint: 0, setPointFull: 1000, rpm: 1, rpmPerCount: 1, fault: 2 };
/** Drive opcodes of the Open Interface: how many data bytes follow, of which any that is not 0 is speed. */
const DRIVES: Readonly<Record<number, number>> = { 137: 2, 145: 4, 146: 4 };
const SEEK_DOCK = 143;

const KINDS: readonly Kind[] = [
  {
    name: 'create2',
    open: (options, report) => {
      const base = new Create2Base(options);
      base.onFrame(report);
      return base;
    },
    frame: create2Frame,
    pauseMs: 40,
    frames: 4,
    moves: (sent) => {
      const drive = DRIVES[sent[0] ?? 0];
      if (sent[0] === SEEK_DOCK) return true;
      return drive !== undefined && sent.subarray(1, 1 + drive).some((byte) => byte !== 0);
    },
  },
  {
    name: 'kobuki',
    open: (options, report) => {
      const base = new KobukiBase(options);
      base.onFrame(report);
      return base;
    },
    frame: kobukiFrame,
    pauseMs: 40,
    frames: 4,
    // Base control with anything but 0 for its speed.
    moves: (sent) => sent[3] === 0x01 && (sent[5] !== 0 || sent[6] !== 0),
  },
  {
    name: 'rplidar',
    open: (options, report) => {
      const lidar = new RplidarLidar(options);
      lidar.onScan((scan) =>
        report({ ...scan, ranges: scan.ranges.filter((range) => !Number.isNaN(range)) }),
      );
      return lidar;
    },
    frame: rplidarAnswer,
    pauseMs: 40,
    frames: 2,
    moves: () => false,
  },
  {
    name: 'ld19',
    open: (options, report) => {
      const lidar = new Ld19Lidar(options);
      lidar.onScan((scan) =>
        report({ ...scan, ranges: scan.ranges.filter((range) => !Number.isNaN(range)) }),
      );
      return lidar;
    },
    frame: (random) => (chance(random, 0.15) ? ld19Turn(random) : ld19Frame(random)),
    pauseMs: 40,
    frames: 4,
    moves: () => false,
  },
  {
    name: 'zphs01b',
    open: (options, report) => {
      const sensor = new Zphs01bSensor({ ...options, warmUpMs: 0 });
      sensor.onReading(report);
      return sensor;
    },
    frame: zphs01bAnswer,
    pauseMs: 600,
    frames: 4,
    moves: () => false,
  },
  {
    name: 'modbus',
    open: (options, report) => {
      const fan = new ModbusFan({ ...options, registers: FAN_REGISTERS, unitId: 1 });
      fan.onReading(report);
      return fan;
    },
    frame: modbusAnswer,
    pauseMs: 250,
    frames: 1,
    // A write of anything but 0.
    moves: (sent) => (sent[1] === 6 || sent[1] === 16) && sent.subarray(4, -2).some((byte) => byte !== 0),
  },
];

export const serialTargets: readonly Target[] = KINDS.map((kind) => ({
  name: kind.name,
  share: 1,
  open: async (seed) => new SerialSession(kind, seed),
}));

class SerialSession implements TargetSession {
  readonly #kind: Kind;
  readonly #clock = new SimClock(START_MS);
  readonly #line = memoryLine('line');
  readonly #driver: SerialDriver;
  #findings: Finding[] = [];
  #reports = 0;
  #asked: Uint8Array = new Uint8Array(8);

  constructor(kind: Kind, seed: number) {
    this.#kind = kind;
    this.#line.device.onData((sent) => {
      this.#asked = sent;
      if (kind.moves(sent)) this.#note('motion', `the driver sent ${Buffer.from(sent).toString('hex')}`);
    });
    const random = () => ((seed % 89) + 0.5) / 90;
    const options = { open: this.#line.open, clock: this.#clock, random };
    this.#driver = kind.open(options, (value) => this.#judge(value));
    this.#driver.start();
  }

  async run(random: Random): Promise<Finding[]> {
    // Opening a port takes a turn of the event loop.
    while (this.#driver.opening) await turn();
    for (const piece of inPieces(random, document(random, this.#kind, this.#asked))) {
      this.#line.device.write(piece);
      this.#clock.advance(below(random, this.#kind.pauseMs));
      // What waits for an answer goes on in a turn of its own.
      await turn();
    }
    if (chance(random, 0.02)) this.#clock.advance(below(random, 3000));
    if (chance(random, 0.01)) {
      this.#line.device.unplug();
      this.#clock.advance(below(random, 1000));
      this.#line.device.plug();
      this.#clock.advance(QUIET_MS);
    }
    return this.#findings.splice(0);
  }

  accepted(): number {
    return this.#reports;
  }

  async close(): Promise<Finding[]> {
    this.#clock.advance(QUIET_MS);
    const stopping = this.#driver.stop();
    this.#clock.advance(QUIET_MS);
    await stopping;
    return this.#findings.splice(0);
  }

  #judge(value: object): void {
    this.#reports += 1;
    const strange = notFinite(value);
    if (strange !== null)
      this.#note('wrong', `${strange} in a report: ${JSON.stringify(value).slice(0, 300)}`);
  }

  #note(kind: Finding['kind'], text: string): void {
    this.#findings.push({ kind, text });
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function document(random: Random, kind: Kind, asked: Uint8Array): Uint8Array {
  if (chance(random, 0.1)) return bytes(random, below(random, 300));
  const frames = Array.from({ length: 1 + below(random, kind.frames) }, () => kind.frame(random, asked));
  return mutateBytes(random, joined(...frames), chance(random, 0.3) ? 0 : below(random, 4));
}

/** The path of the first number in it that is none; null when every number is one. */
function notFinite(value: unknown, path = 'value'): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, child] of Object.entries(value)) {
    const found = notFinite(child, `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
