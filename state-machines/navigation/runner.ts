/** Connects the navigation machine to the driver, the clock and the timers; offers journeys as promises. */
import type { AmrDriver } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { assertNever, TaskFailure } from '../../config/contracts/errors.js';
import { knownPose, stoppedWithProof, stopUnproven } from '../body.js';
import { MachineHost, type WithoutTime, type WithoutTimers } from '../machine-host.js';
import { type MotionEvent, MotionLink, rejectionOf } from '../motion-link.js';
import type { Arrival, JourneySoFar, MoveRequest } from '../motion-types.js';
import type { MachineSettings } from '../settings.js';
import { StageThrottle } from '../stage-throttle.js';
import type { MachineNotice, MachineTimers, SnapshotStorage, StageReporter, TimerEvent } from '../types.js';
import { createNavigationMachine } from './machine.js';
import type {
  Interrupted,
  Journey,
  NavigationContext,
  NavigationEffect,
  NavigationEvent,
  NavigationOutcome,
  Problem,
} from './types.js';
import { interruptedBy } from './updates.js';

export interface NavigationRunnerDeps {
  amr: AmrDriver;
  clock: Clock;
  timers: MachineTimers;
  snapshots: SnapshotStorage;
  settings: MachineSettings;
  newId(): string;
  /** The room a point of the map lies in. */
  areaAt(x: number, y: number): string | null;
  notify(notice: MachineNotice): void;
}

interface Running {
  request: MoveRequest;
  /** Quiet journeys are part of another operation: they announce no arrival. */
  quiet: boolean;
  stages: StageThrottle;
  resolve(arrival: Arrival): void;
  reject(error: Error): void;
}

type OwnEffect = WithoutTimers<NavigationEffect>;

const TIMERS = ['plan', 'wait', 'judge', 'sensors', 'localize', 'look', 'arrive', 'stop'] as const;

export class NavigationRunner {
  readonly #deps: NavigationRunnerDeps;
  readonly #link: MotionLink;
  readonly #host: MachineHost<NavigationContext, NavigationEvent, OwnEffect>;
  readonly #onStage = new Set<() => void>();
  #running: Running | null = null;
  /** A journey that a restart cut short. */
  #interrupted: Interrupted | null = null;

  constructor(deps: NavigationRunnerDeps) {
    this.#deps = deps;
    this.#link = new MotionLink({ ...deps, freshMs: deps.settings.freshMs }, (event) => this.#hear(event));
    this.#host = new MachineHost(deps, createNavigationMachine(deps.settings), {
      key: 'navigation',
      timers: TIMERS,
      perform: (effect) => this.#perform(effect),
      durable: ({ journey, held, interrupted, index, visited, rung, problem, ending }) => [
        journey,
        held,
        interrupted,
        index,
        visited,
        rung,
        problem?.kind,
        ending,
      ],
    });
  }

  get active(): boolean {
    return this.#running !== null;
  }
  get held(): boolean {
    return this.#host.stage === 'paused';
  }
  get stage(): string {
    return this.#host.stage;
  }
  get problem(): string | null {
    return this.#host.context.problem?.message ?? null;
  }
  get targetAreaId(): string | null {
    const { journey, index } = this.#host.context;
    return journey?.goals[index]?.areaId ?? null;
  }

  /** Remembers a journey that was under way when the process ended; the wheels were stopped meanwhile. */
  restore(): void {
    const context = this.#host.restore();
    this.#interrupted = context === null ? null : (interruptedBy(context) ?? context.interrupted);
  }

  soFar(operation: string): JourneySoFar | null {
    const interrupted = this.#interrupted ?? this.#host.context.interrupted;
    if (interrupted?.journey.operation !== operation) return null;
    const { journey, held } = interrupted;
    return { index: journey.index, visited: journey.visited, held };
  }

  travel(
    request: MoveRequest,
    signal: AbortSignal,
    onStage: StageReporter,
    options: { quiet: boolean } = { quiet: false },
  ): Promise<Arrival> {
    if (this.#running !== null) {
      return Promise.reject(new TaskFailure('RESOURCE_BUSY', 'another journey is still under way'));
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => this.send({ type: 'STOP' });
      const settle = () => {
        signal.removeEventListener('abort', onAbort);
        this.#running = null;
      };
      this.#running = {
        request,
        quiet: options.quiet,
        stages: new StageThrottle(this.#deps.clock, onStage),
        resolve: (arrival) => {
          settle();
          resolve(arrival);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.send({ type: 'GO', ...this.#journey(request) });
      if (signal.aborted) onAbort();
    });
  }

  send(event: WithoutTime<NavigationEvent>): void {
    this.#host.send(event);
  }

  onTimer(name: string, event: TimerEvent): void {
    this.#host.onTimer(name, event);
  }

  /** Called after each stage of the machine; for waiting until a held journey goes on. */
  onStage(listener: () => void): () => void {
    this.#onStage.add(listener);
    return () => this.#onStage.delete(listener);
  }

  close(): void {
    this.#link.close();
  }

  #journey(request: MoveRequest): { journey: Journey; held: boolean } {
    const interrupted = this.#interrupted;
    this.#interrupted = null;
    const goesOn =
      interrupted?.journey.operation === request.operation &&
      interrupted.journey.index < request.goals.length &&
      interrupted.journey.goals.length === request.goals.length;
    // What a restart found knows more than what the request carried over from an earlier pause.
    const from = goesOn
      ? { ...interrupted.journey, held: interrupted.held }
      : (request.from ?? { index: 0, visited: [], held: false });
    return {
      journey: {
        operation: request.operation,
        goals: request.goals,
        index: Math.min(from.index, request.goals.length - 1),
        visited: from.visited,
        fence: request.fence,
        maxSpeed: request.maxSpeed ?? this.#deps.settings.maxSpeed,
        ignoreBattery: request.ignoreBattery ?? false,
      },
      held: from.held,
    };
  }

  #hear(event: MotionEvent): void {
    if (this.#running !== null) this.send(event);
  }

  #perform(effect: OwnEffect): void {
    switch (effect.kind) {
      case 'plan':
        this.#plan(effect.round, effect.goal);
        break;
      case 'start':
        this.#link.start(effect.action, effect.fence);
        break;
      case 'halt':
        this.#link.halt(effect.reason);
        break;
      case 'stopUnproven':
        this.#running?.reject(
          stopUnproven(this.#deps.amr, this.#link.facts(), this.#deps.settings.stopProofMs, effect.because),
        );
        break;
      case 'stage':
        this.#running?.stages.report(effect.stage, this.#withPose(effect.data));
        break;
      case 'arrived':
        this.#notify('movement.arrived', effect.areaId, {});
        break;
      case 'obstructed':
        this.#notifyObstructed(effect.problem);
        break;
      case 'localizationLost':
        this.#notify('movement.localizationLost', null, {});
        break;
      case 'finish':
        this.#finish(effect.outcome);
        break;
      default:
        assertNever(effect);
    }
    if (effect.kind === 'stage' || effect.kind === 'finish') {
      for (const listener of [...this.#onStage]) listener();
    }
  }

  #plan(round: number, goal: { x: number; y: number; theta: number }): void {
    this.#deps.amr.plan({ from: null, goal }).then(
      (result) => this.#planned(() => this.send({ type: 'PLANNED', round, result })),
      (error: unknown) =>
        this.#planned(() => {
          if (this.#host.context.round === round) this.send({ type: 'REJECTED', ...rejectionOf(error) });
        }),
    );
  }

  /** An answer that comes after the journey's end is nobody's. */
  #planned(tell: () => void): void {
    if (this.#running !== null) tell();
  }

  #withPose(data: Record<string, unknown>): Record<string, unknown> {
    const pose = knownPose(this.#link.facts());
    if (pose === null) return data;
    const round = (value: number) => Math.round(value * 100) / 100;
    return { ...data, pose: { x: round(pose.x), y: round(pose.y), theta: round(pose.theta) } };
  }

  #finish(outcome: NavigationOutcome): void {
    const running = this.#running;
    if (running === null) return;
    if (outcome.kind === 'arrived') {
      running.resolve({
        ...outcome.measured,
        areaId: running.request.goals.at(-1)?.areaId ?? null,
        visited: outcome.visited,
        recoveries: outcome.recoveries,
      });
      return;
    }
    const pose = knownPose(this.#link.facts());
    if (outcome.kind === 'stopped') {
      running.reject(stoppedWithProof({ stopped: true, ...outcome }, { pose }));
      return;
    }
    running.reject(
      new TaskFailure(outcome.reason, outcome.message, {
        ...(outcome.observedAtMs === null ? {} : { observedAtMs: outcome.observedAtMs }),
        evidence: { where: outcome.where, pose },
      }),
    );
  }

  #notifyObstructed(problem: Problem): void {
    const where = problem.where ?? knownPose(this.#link.facts());
    const areaId = where === null ? null : this.#deps.areaAt(where.x, where.y);
    this.#notify('movement.obstructed', areaId, { cause: problem.kind });
  }

  #notify(type: string, areaId: string | null, attributes: MachineNotice['attributes']): void {
    const running = this.#running;
    if (running === null || (running.quiet && type === 'movement.arrived')) return;
    const operation = running.request.operation;
    this.#deps.notify({ type, at: this.#deps.clock.now(), areaId, attributes, operation });
  }
}
