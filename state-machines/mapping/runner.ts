/** Connects the mapping machine to the driver, the ways of the motion machines, and what keeps maps. */
import type { AmrDriver, AmrEvent, AmrMapping } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { assertNever, TaskFailure } from '../../config/contracts/errors.js';
import type { Pose } from '../../config/contracts/geometry.js';
import { StoppedWithProof } from '../../config/contracts/stopped.js';
import { awaitWheelsStopped, type StopLimits, stoppedWithProof } from '../body.js';
import { MachineHost, type WithoutTime, type WithoutTimers } from '../machine-host.js';
import type { Motion } from '../motion.js';
import { rejectionOf } from '../motion-link.js';
import type { Legs } from '../motion-types.js';
import type { MachineSettings } from '../settings.js';
import { StageThrottle } from '../stage-throttle.js';
import type { MachineTimers, SnapshotStorage, StageReporter, TimerEvent } from '../types.js';
import { createMappingMachine } from './machine.js';
import { saveMapped } from './saving.js';
import type {
  Explored,
  MapKeeper,
  MappingContext,
  MappingEffect,
  MappingEvent,
  MappingMode,
  MappingOperations,
  MappingOutcome,
  MappingProblem,
  MappingSaved,
  MappingStarted,
  MappingStatus,
} from './types.js';

export interface MappingRunnerDeps {
  amr: AmrDriver;
  clock: Clock;
  timers: MachineTimers;
  snapshots: SnapshotStorage;
  settings: MachineSettings;
  motion: Motion;
  keeper: MapKeeper;
}

type OwnEffect = WithoutTimers<MappingEffect>;

interface Leg {
  abort: AbortController;
  ended: Promise<void>;
}

interface Running {
  settle(outcome: MappingOutcome): void;
  stages: StageThrottle | null;
  legs: Legs | null;
}

const TIMERS = ['start', 'session', 'explore', 'look'] as const;
const NONE = 'this robot cannot make maps: import one with deviceagent map import';

export class MappingRunner implements MappingOperations {
  readonly #deps: MappingRunnerDeps;
  readonly #host: MachineHost<MappingContext, MappingEvent, OwnEffect>;
  readonly #unsubscribe: () => void;
  readonly #limits: StopLimits;
  #running: Running | null = null;
  /** The newest beginning or exploration; settled once it has ended. */
  #ran: Promise<unknown> = Promise.resolve();
  #leg: Leg | null = null;
  /** A save or a discard under way, and what came of it. */
  #ending: { resolve(saved: Omit<MappingSaved, 'stopped'>): void; reject(error: unknown): void } | null =
    null;

  constructor(deps: MappingRunnerDeps) {
    this.#deps = deps;
    const { stillMs, freshMs, stopProofMs } = deps.settings;
    this.#limits = { stillMs, freshMs, proofMs: stopProofMs };
    this.#host = new MachineHost(deps, createMappingMachine(deps.settings), {
      key: 'mapping',
      timers: TIMERS,
      perform: (effect) => this.#perform(effect),
      durable: ({ mode, begunAt }) => [mode, begunAt],
    });
    this.#unsubscribe = deps.amr.subscribe((event) => this.#hear(event));
  }

  unavailable(): string | null {
    return this.#deps.amr.mapping === undefined ? NONE : null;
  }

  status(): MappingStatus {
    const { mode, begunAt, visited, unreachable } = this.#host.context;
    const mapping = this.#deps.amr.state()?.mapping ?? null;
    return {
      stage: this.#host.stage,
      mode,
      begunAtMs: begunAt,
      freeArea: mapping?.freeArea ?? null,
      visited,
      unreachable,
    };
  }

  /** A map that was being made went with the motion process: there is nothing to go on with. */
  restore(): void {
    this.#host.restore();
  }

  onTimer(name: string, event: TimerEvent): void {
    this.#host.onTimer(name, event);
  }

  close(): void {
    this.#unsubscribe();
  }

  async begin(mode: MappingMode, signal: AbortSignal): Promise<MappingStarted> {
    this.#requireStage('idle', 'a map is being made already');
    await this.#run(signal, null, null, { type: 'BEGIN', mode });
    const state = this.#deps.amr.state();
    if (state === null) throw new TaskFailure('HARDWARE_FAULT', 'the motion process is gone');
    const { at, rtBootId, pose, base } = state;
    return { observedAtMs: at, rtBootId, pose, docked: base.docked };
  }

  async explore(
    request: { operation: string; fence: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<Explored> {
    this.#requireStage('ready', 'no map is being made');
    return this.#deps.motion.compose('mapping', request, signal, async (until, legs) => {
      const stages = new StageThrottle(this.#deps.clock, onStage);
      const outcome = await this.#run(until, stages, legs, { type: 'EXPLORE' });
      await this.#leg?.ended;
      if (outcome.kind !== 'explored') throw new TaskFailure('INTERNAL_ERROR', 'an exploration did not end');
      return { ...outcome, freeArea: this.status().freeArea ?? 0 };
    });
  }

  async end(save: boolean, signal: AbortSignal): Promise<MappingSaved> {
    signal.throwIfAborted();
    const stopped = await this.#deps.motion.stop('mapping ends', signal);
    await this.#ran;
    this.#requireStage('ready', 'no map is being made');
    const saved = await new Promise<Omit<MappingSaved, 'stopped'>>((resolve, reject) => {
      this.#ending = { resolve, reject };
      this.#send({ type: save ? 'SAVE' : 'DISCARD' });
    });
    return { ...saved, stopped };
  }

  async keep(name: string): Promise<{ mapId: string; rooms: number; observedAtMs: number }> {
    this.#requireStage('ready', 'no map is being made, or the robot still explores');
    const kept = await saveMapped(this.#deps, 'keep', name);
    return { mapId: kept.mapId ?? '', rooms: kept.rooms, observedAtMs: kept.observedAtMs };
  }

  #requireStage(stage: string, otherwise: string): void {
    if (this.#host.stage === stage && this.#running === null) return;
    throw new TaskFailure('STATE_CONDITION_FAILED', otherwise);
  }

  async #run(
    signal: AbortSignal,
    stages: StageThrottle | null,
    legs: Legs | null,
    event: WithoutTime<MappingEvent>,
  ): Promise<MappingOutcome> {
    const onAbort = () => this.#send({ type: 'STOP' });
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const ran = new Promise<MappingOutcome>((settle) => {
        this.#running = { settle, stages, legs };
        this.#send(event);
        if (signal.aborted) onAbort();
      });
      this.#ran = ran;
      const outcome = await ran;
      this.#running = null;
      await this.#leg?.ended;
      if (outcome.kind === 'failed') {
        throw new TaskFailure(outcome.reason, outcome.message, { observedAtMs: outcome.at });
      }
      if (outcome.kind === 'stopped')
        throw stoppedWithProof({ stopped: true, ...outcome }, { mapping: 'kept' });
      return outcome;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#running = null;
    }
  }

  #send(event: WithoutTime<MappingEvent>): void {
    this.#host.send(event);
  }

  #hear(event: AmrEvent): void {
    if (this.#host.stage === 'idle') return;
    if (event.type === 'link' && !event.connected) {
      this.#send({ type: 'MAPPING', mapping: null, pose: null, docked: null });
    }
    if (event.type !== 'state') return;
    const { mapping = null, pose, base, localized } = event.state;
    // Right after it was asked to begin, a report from before is on its way.
    if (mapping === null && this.#host.stage === 'starting') return;
    const known = localized === true ? pose : null;
    this.#send({ type: 'MAPPING', mapping, pose: known, docked: base.docked });
  }

  #perform(effect: OwnEffect): void {
    switch (effect.kind) {
      case 'begin':
        this.#ask((mapping) => mapping.start());
        break;
      case 'ask':
        this.#ask(async (mapping) => {
          const { avoid, current } = effect;
          const result = await mapping.frontier({ avoid, current });
          this.#send({ type: 'FRONTIER', result });
        });
        break;
      case 'leave':
        this.#go((legs, until, onStage) => legs.undock(until, onStage));
        break;
      case 'travel':
        this.#travel(effect.to);
        break;
      case 'dock':
        this.#go((legs, until, onStage) => legs.dock(effect.station, until, onStage));
        break;
      case 'endLeg':
        this.#leg?.abort.abort();
        break;
      case 'proveStop':
        this.#proveStop();
        break;
      case 'save':
      case 'discard':
      case 'shelve':
        this.#end(effect.kind);
        break;
      case 'stage':
        this.#running?.stages?.report(effect.stage, effect.data);
        break;
      case 'finish':
        this.#running?.settle(effect.outcome);
        break;
      default:
        assertNever(effect);
    }
  }

  #ask(what: (mapping: AmrMapping) => Promise<void>): void {
    const { mapping } = this.#deps.amr;
    const asked =
      mapping === undefined ? Promise.reject(new TaskFailure('CAPABILITY_UNAVAILABLE', NONE)) : what(mapping);
    asked.catch((error: unknown) => this.#send({ type: 'REFUSED', problem: this.#problemOf(error) }));
  }

  #travel(to: Pose): void {
    const goal = { pose: to, areaId: null, tolerance: this.#deps.settings.mapping.tolerance };
    this.#go(async (legs, until, onStage) => {
      await legs.travel(goal, until, onStage);
    });
  }

  #go(way: (legs: Legs, until: AbortSignal, onStage: StageReporter) => Promise<void>): void {
    const running = this.#running;
    if (running?.legs == null) return;
    const abort = new AbortController();
    // Stages of a way are only shown while its own machine tells them; whose way it is, the machine here has said.
    const leg: Leg = {
      abort,
      ended: way(running.legs, abort.signal, () => {}).then(
        () => this.#legEnded(leg, null),
        (error: unknown) => this.#legEnded(leg, error),
      ),
    };
    this.#leg = leg;
  }

  #legEnded(leg: Leg, error: unknown): void {
    if (this.#leg === leg) this.#leg = null;
    if (error instanceof StoppedWithProof && !leg.abort.signal.aborted) this.#send({ type: 'STOP' });
    else if (error === null || error instanceof StoppedWithProof)
      this.#send({ type: 'LEG_ENDED', problem: null });
    else this.#send({ type: 'LEG_ENDED', problem: this.#problemOf(error) });
  }

  #proveStop(): void {
    const { amr, clock } = this.#deps;
    const still = async () => {
      await this.#leg?.ended;
      const { observedAtMs, stoppedForMs } = await awaitWheelsStopped(amr, clock, this.#limits);
      this.#send({ type: 'STOP_PROVEN', observedAtMs, stoppedForMs });
    };
    still().catch((error: unknown) => this.#send({ type: 'REFUSED', problem: this.#problemOf(error) }));
  }

  #end(how: 'save' | 'discard' | 'shelve'): void {
    const ending = this.#ending;
    this.#ending = null;
    saveMapped(this.#deps, how, null).then(
      (saved) => {
        this.#send({ type: 'DONE' });
        ending?.resolve(saved);
      },
      (error: unknown) => {
        this.#send({ type: 'REFUSED', problem: this.#problemOf(error) });
        ending?.reject(error);
      },
    );
  }

  #problemOf(error: unknown): MappingProblem {
    return { ...rejectionOf(error), at: this.#deps.clock.now() };
  }
}
