/** A robot for tests above the drivers: the physical double, the machines, the executors, on one clock. */
import { Refusal } from '../../config/contracts/errors.js';
import type { Point, Pose } from '../../config/contracts/geometry.js';
import { SILENT_LOG } from '../../config/contracts/log.js';
import { SimClock } from '../../config/contracts/sim-clock.js';
import type { DomainEvent } from '../../config/contracts/wire/events.js';
import type { Room } from '../../drivers/amr/types.js';
import { VirtualSpeaker } from '../../drivers/audio/virtual-speaker.js';
import type { MethodSpec, RunContext } from '../../executors/method.js';
import { PressBoard } from '../../executors/movement/press-board.js';
import { createMethods } from '../../executors/registry.js';
import { DEFAULT_EXECUTOR_SETTINGS, type RoomCatalogue, type Services } from '../../executors/services.js';
import { createMachines } from '../../state-machines/machines.js';
import { DEFAULT_MACHINE_SETTINGS } from '../../state-machines/settings.js';
import { FakeAir } from './fake-air.js';
import { FakeAmr } from './fake-amr.js';
import { FakeFan } from './fake-fan.js';
import { FakeAreas, FakeMaps } from './fake-maps.js';
import { MemorySnapshots, MemoryTimers } from './memory-machines.js';

export const START = Date.UTC(2026, 10, 30);

const square = (x: number, y: number, size: number): Point[] => [
  { x, y },
  { x: x + size, y },
  { x: x + size, y: y + size },
  { x, y: y + size },
];

/** Four rooms in a row; two of them are called 작은방. */
export const ROOMS: Room[] = [
  room('1', '현관', ['entrance'], 0),
  room('2', '거실', ['living room'], 4),
  room('3', '안방', ['bedroom', 'master bedroom'], 8),
  room('4', '작은방', [], 12),
  room('5', '작은방', ['study'], 16),
];

function room(id: string, name: string, aliases: string[], x: number): Room {
  return { id, name, aliases, polygon: square(x, -2, 4), goal: { x: x + 2, y: 0, theta: 0 } };
}

export class FakeRooms implements RoomCatalogue {
  editable = false;
  rooms: readonly Room[] = ROOMS;
  station: { room: string; pose: Pose } | null = { room: '1', pose: { x: 1, y: 0, theta: Math.PI } };
  blocked: Point[] = [];

  byId(id: string): Room | null {
    return this.rooms.find((one) => one.id === id) ?? null;
  }
  resolve(text: string, field = 'name'): Room {
    const key = text.normalize('NFC').trim().toLowerCase();
    const matches = this.rooms.filter((one) => [one.id, one.name, ...one.aliases].includes(key));
    const [first, second] = matches;
    if (first === undefined)
      throw new Refusal('UNKNOWN_TARGET', `${field}: no room is called ${text}`, field);
    if (second !== undefined)
      throw new Refusal('AMBIGUOUS_TARGET', `${field}: ${matches.length} rooms match`, field);
    return first;
  }
  roomAt(point: Point): Room | null {
    return (
      this.rooms.find((one) => point.x >= (one.polygon[0]?.x ?? 0) && point.x < (one.polygon[1]?.x ?? 0)) ??
      null
    );
  }
  checkPose(pose: Pose, field: string): void {
    if (pose.x < 0 || pose.x > 20 || Math.abs(pose.y) > 2) {
      throw new Refusal('INVALID_PARAMS', `${field}: off the map`, field);
    }
    if (this.blocked.some((wall) => Math.hypot(wall.x - pose.x, wall.y - pose.y) < 0.3)) {
      throw new Refusal('TARGET_UNREACHABLE', `${field}: in an obstacle`, field);
    }
  }
}

export interface TestRun {
  signal: AbortController;
  stages: string[];
  data: Record<string, unknown>[];
  result: unknown;
  error: unknown;
  done: boolean;
}

/** What outlives the daemon: the world, its clock, and the store. */
export interface Surroundings {
  clock: SimClock;
  amr: FakeAmr;
  fan: FakeFan;
  air: FakeAir;
  rooms: FakeRooms;
  snapshots: MemorySnapshots;
}

/** With `restart`, a new daemon in the surroundings of an earlier one. */
export function testRobot(options: { docked?: boolean; pose?: Pose; restart?: Surroundings } = {}) {
  const before = options.restart;
  const clock = before?.clock ?? new SimClock(START);
  const rooms = before?.rooms ?? new FakeRooms();
  const amr =
    before?.amr ??
    new FakeAmr(clock, {
      station: { x: 1, y: 0, theta: Math.PI },
      docked: options.docked ?? false,
      ...(options.pose === undefined ? {} : { pose: options.pose }),
    });
  const fan = before?.fan ?? new FakeFan(clock);
  const air = before?.air ?? new FakeAir(clock);
  const snapshots = before?.snapshots ?? new MemorySnapshots();
  const speaker = new VirtualSpeaker(clock);
  const timers = new MemoryTimers(clock);
  const events: DomainEvent[] = [];
  let n = before === undefined ? 0 : 1000;
  const machines = createMachines({
    clock,
    log: SILENT_LOG,
    amr,
    fan,
    air,
    timers,
    snapshots,
    settings: DEFAULT_MACHINE_SETTINGS,
    station: () => rooms.station?.pose ?? null,
    areaAt: (x, y) => rooms.roomAt({ x, y })?.id ?? null,
    newId: () => `a-${++n}`,
    notify: ({ type, at, areaId, attributes, operation }) =>
      events.push({
        type,
        at,
        areaId,
        attributes,
        ...(operation === null ? {} : { correlation: { task_id: operation } }),
      }),
  });
  timers.onTimer = (key, event) => machines.onTimer(key, event);
  machines.restore();
  const maps = new FakeMaps(clock, amr);
  const presses = new PressBoard(clock);
  const services: Services = {
    clock,
    amr,
    motion: machines.motion,
    rooms: () => (maps.inUse === null ? null : rooms),
    map: maps,
    areas: new FakeAreas(maps),
    mapping: machines.mapping,
    cleaning: machines.cleaning,
    air,
    speaker,
    context: { unavailable: () => null, publish: async () => ({ ackedAtMs: clock.now(), bytes: 100 }) },
    presses,
    settings: DEFAULT_EXECUTOR_SETTINGS,
    emit: (event) => events.push(event),
  };
  const methods = createMethods(services);

  const method = (name: string): MethodSpec => {
    const found = methods.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no method ${name}`);
    return found;
  };

  /** Admission, precondition and run of a method, as the TaskManager does it. */
  function start(
    name: string,
    params: unknown = {},
    taskId = `t-${name}`,
    carried: Record<string, unknown> | null = null,
  ): TestRun {
    const spec = method(name);
    const parsed = spec.params.parse(params);
    const check = { params: parsed, nowMs: clock.now() };
    spec.admit?.(check);
    spec.precondition?.(check);
    const run: TestRun = {
      signal: new AbortController(),
      stages: [],
      data: [],
      result: null,
      error: null,
      done: false,
    };
    const context: RunContext<unknown> = {
      taskId,
      attempt: 1,
      params: parsed,
      signal: run.signal.signal,
      clock,
      askedAtMs: clock.now(),
      carried,
      fence: () => 1,
      progress(stage, data) {
        if (run.stages.at(-1) !== stage) run.stages.push(stage);
        run.data.push({ stage, ...data });
      },
    };
    spec
      .run(context)
      .then(
        (result) => {
          run.result = { ...result, output: spec.output.parse(result.output) };
        },
        (error: unknown) => {
          run.error = error;
        },
      )
      .finally(() => {
        run.done = true;
      });
    return run;
  }

  return {
    clock,
    amr,
    fan,
    air,
    rooms,
    speaker,
    snapshots,
    timers,
    machines,
    services,
    presses,
    methods,
    method,
    start,
    events,
  };
}

/** The daemon is killed: its timers and listeners are gone, and the motion process stops the wheels. */
export function kill(robot: ReturnType<typeof testRobot>): void {
  robot.machines.close();
  for (const key of robot.timers.keys) robot.timers.cancel(key);
  void robot.amr.stop('daemon silent');
}
