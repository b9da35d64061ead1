/** Connects the cleaning machine to the fan, the air sensor, the clock and the timers. */
import type { Clock } from '../../config/contracts/clock.js';
import { assertNever, errorText, TaskFailure } from '../../config/contracts/errors.js';
import type { FanDriver, FanReading } from '../../drivers/serial/types.js';
import { stoppedWithProof } from '../body.js';
import type {
  AirSource,
  CleaningMode,
  CleaningOperations,
  CleaningResult,
  CleaningSoFar,
  CleaningStatus,
  CleanRequest,
} from '../cleaning-types.js';
import { MachineHost, type WithoutTime, type WithoutTimers } from '../machine-host.js';
import { PendingStops } from '../pending-stops.js';
import type { MachineSettings } from '../settings.js';
import { StageThrottle } from '../stage-throttle.js';
import type {
  MachineNotice,
  MachineTimers,
  SnapshotStorage,
  StageReporter,
  StopProof,
  TimerEvent,
} from '../types.js';
import { FanWatch } from './fan-watch.js';
import { createCleaningMachine } from './machine.js';
import type {
  CleaningContext,
  CleaningEffect,
  CleaningEvent,
  CleaningJob,
  CleaningOutcome,
  Interrupted,
} from './types.js';
import { atSetPoint, interruptedBy, notSpinning } from './updates.js';

export interface CleaningRunnerDeps {
  fan: FanDriver;
  air: AirSource;
  clock: Clock;
  timers: MachineTimers;
  snapshots: SnapshotStorage;
  settings: MachineSettings;
  notify(notice: MachineNotice): void;
}

interface Running {
  job: CleaningJob;
  fence: number;
  stages: StageThrottle;
  settle(result: CleaningResult | Error): void;
}

type OwnEffect = WithoutTimers<CleaningEffect>;

const TIMERS = ['start', 'retry', 'note', 'stop'] as const;
/** Over its set-point by this much a slowed-down fan has not followed yet. */
const OVER = 1.15;

export class CleaningRunner implements CleaningOperations {
  readonly #deps: CleaningRunnerDeps;
  readonly #watch: FanWatch;
  readonly #host: MachineHost<CleaningContext, CleaningEvent, OwnEffect>;
  readonly #unsubscribe: (() => void)[];
  readonly #stops = new PendingStops();
  #running: Running | null = null;
  /** Ends a cleaning that still waits for a stop to be proven. */
  #beginning: AbortController | null = null;
  /** Ends the waiting for a speed that the fan is not going to reach any more. */
  #speeding = new AbortController();
  /** A cleaning that a restart cut short. */
  #interrupted: Interrupted | null = null;

  constructor(deps: CleaningRunnerDeps) {
    this.#deps = deps;
    this.#watch = new FanWatch(deps.fan, deps.clock, () => this.#running === null);
    this.#host = new MachineHost(deps, createCleaningMachine(deps.settings), {
      key: 'cleaning',
      timers: TIMERS,
      perform: (effect) => this.#perform(effect),
      durable: ({ job, ranMs, ending }) => [job, Math.floor(ranMs / deps.settings.cleaning.noteMs), ending],
    });
    this.#unsubscribe = [
      this.#watch.subscribe((reading) => {
        this.#noticeSilentAir();
        this.#hear({ type: 'FAN', reading });
      }),
      deps.air.subscribe(() => this.#hear({ type: 'AIR', sample: deps.air.sample() })),
    ];
  }

  restore(): void {
    const context = this.#host.restore();
    this.#interrupted = context === null ? null : (interruptedBy(context) ?? context.interrupted);
  }

  remaining(operation: string): number | null {
    const interrupted = this.#interrupted;
    if (interrupted === null || interrupted.job.operation !== operation) return null;
    return Math.max(0, interrupted.job.dwellMs - interrupted.ranMs);
  }

  soFar(operation: string): CleaningSoFar | null {
    const interrupted = this.#interrupted ?? this.#host.context.interrupted;
    if (interrupted?.job.operation !== operation) return null;
    const { job, ranMs, before, held } = interrupted;
    return { ranMs, before, held, areaId: job.areaId };
  }

  async clean(request: CleanRequest, signal: AbortSignal, onStage: StageReporter): Promise<CleaningResult> {
    if (this.#running !== null || this.#beginning !== null) {
      throw new TaskFailure('RESOURCE_BUSY', 'a cleaning is under way');
    }
    if (this.#stops.any) await this.#afterStops(signal);
    const onAbort = () => this.#send({ type: 'STOP' });
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const result = await new Promise<CleaningResult | Error>((settle) => {
        const stages = new StageThrottle(this.#deps.clock, onStage);
        this.#running = { job: request, fence: request.fence, stages, settle };
        this.#send({ type: 'GO', ...this.#begin(request) });
        if (signal.aborted) onAbort();
      });
      if (result instanceof Error) throw result;
      return result;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#running = null;
    }
  }

  async pause(signal: AbortSignal): Promise<StopProof & { already: boolean }> {
    this.#mustRun('pause');
    const already = this.#host.stage === 'paused';
    this.#send({ type: 'PAUSE' });
    this.#slowDown('it was paused before the fan was up to speed');
    return { ...(await this.#awaitRest(signal)), already };
  }

  async resume(signal: AbortSignal): Promise<{ rpm: number; observedAtMs: number; already: boolean }> {
    const until = AbortSignal.any([signal, this.#speeding.signal]);
    if (this.#stops.any) await this.#stops.over(until);
    this.#mustRun('resume');
    const already = this.#host.stage !== 'paused';
    this.#send({ type: 'RESUME' });
    const reading = await this.#awaitSpeed(until);
    return { rpm: reading.rpm, observedAtMs: reading.at, already };
  }

  async stop(_reason: string, signal: AbortSignal): Promise<StopProof & { already: boolean }> {
    const already = this.#running === null && this.#watch.last?.rpm === 0;
    this.#slowDown('it was stopped before the fan was up to speed');
    this.#beginning?.abort();
    if (this.#running !== null) this.#send({ type: 'STOP' });
    return { ...(await this.#stops.track(this.#proveRest(signal))), already };
  }

  async setMode(
    mode: CleaningMode,
    signal: AbortSignal,
  ): Promise<{ percent: number; rpm: number; observedAtMs: number }> {
    this.#mustRun('change the mode of');
    this.#send({ type: 'MODE', mode });
    const { percent } = this.#host.context;
    if (this.#host.stage === 'paused') {
      return { percent, rpm: this.#watch.last?.rpm ?? 0, observedAtMs: this.#deps.clock.now() };
    }
    const reading = await this.#awaitSpeed(AbortSignal.any([signal, this.#speeding.signal]));
    if (this.#host.context.percent !== percent) {
      throw new TaskFailure('STATE_CONDITION_FAILED', 'another mode was set before the fan had followed');
    }
    return { percent, rpm: reading.rpm, observedAtMs: reading.at };
  }

  status(): CleaningStatus {
    const { job, lastAction, ranMs } = this.#host.context;
    return {
      fanConnected: this.#deps.fan.connected,
      running: this.#running !== null,
      paused: this.#host.stage === 'paused',
      stage: this.#host.stage,
      mode: job?.mode ?? null,
      operation: job?.operation ?? null,
      areaId: job?.areaId ?? null,
      lastAction,
      remainingMs: job === null ? null : Math.max(0, job.dwellMs - ranMs),
    };
  }

  onTimer(name: string, event: TimerEvent): void {
    this.#host.onTimer(name, event);
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#watch.close();
  }

  #begin(request: CleanRequest): Omit<Extract<CleaningEvent, { type: 'GO' }>, 'type' | 'at'> {
    const interrupted = this.#interrupted;
    this.#interrupted = null;
    const { operation, mode, dwellMs, maxTimeMs, untilGrade, areaId } = request;
    const job = { operation, mode, dwellMs, maxTimeMs, untilGrade, areaId };
    // What this process was told last knows more than what the request carried over from an earlier pause.
    const from = interrupted?.job.operation === operation ? interrupted : request.from;
    const { ranMs, before, held } = from ?? { ranMs: 0, before: null, held: false };
    return { job, ranMs, before: before ?? this.#deps.air.sample(), held };
  }

  /** A stop that comes meanwhile ends the cleaning that waits here. */
  async #afterStops(signal: AbortSignal): Promise<void> {
    const beginning = new AbortController();
    this.#beginning = beginning;
    try {
      await this.#stops.over(AbortSignal.any([signal, beginning.signal]));
    } catch (error) {
      if (signal.aborted) throw error;
      throw stoppedWithProof(await this.#awaitRest(signal));
    } finally {
      this.#beginning = null;
    }
  }

  /** From now on no speed is waited for that was asked for before. */
  #slowDown(why: string): void {
    this.#speeding.abort(new TaskFailure('STATE_CONDITION_FAILED', why));
    this.#speeding = new AbortController();
  }

  #mustRun(what: string): void {
    if (this.#running === null || this.#host.stage === 'stopping') {
      throw new TaskFailure('STATE_CONDITION_FAILED', `no cleaning runs; there is nothing to ${what}`);
    }
  }

  #hear(event: WithoutTime<CleaningEvent>): void {
    if (this.#running !== null) this.#send(event);
  }

  /** A sensor that falls silent sends no reading that says so. */
  #noticeSilentAir(): void {
    if (this.#host.context.air?.usable !== true) return;
    const sample = this.#deps.air.sample();
    if (!sample.usable) this.#hear({ type: 'AIR', sample });
  }

  #send(event: WithoutTime<CleaningEvent>): void {
    this.#host.send(event);
  }

  #perform(effect: OwnEffect): void {
    const { fan } = this.#deps;
    switch (effect.kind) {
      case 'setSpeed':
        fan.setSpeed(effect.percent, this.#running?.fence).catch((error: unknown) => {
          const message = errorText(error);
          this.#hear({ type: 'FAN_ERROR', message });
        });
        break;
      case 'stage':
        this.#running?.stages.report(effect.stage, effect.data);
        break;
      case 'finish':
        this.#finish(effect.outcome);
        break;
      default:
        assertNever(effect);
    }
  }

  #finish(outcome: CleaningOutcome): void {
    const running = this.#running;
    if (running === null) return;
    this.#slowDown('the cleaning ended before the fan was up to speed');
    const { ending, rest, ranMs, peakRpm } = outcome;
    if (rest === null) {
      const message = `the fan was told to stop and could not be read back at rest: ${notSpinning(null, 0)}`;
      running.settle(new TaskFailure('HARDWARE_FAULT', message, { evidence: { stopped: false } }));
      return;
    }
    this.#announce(running.job, ending.kind, ending.kind === 'completed' ? ending.gradeReached : null);
    const after = this.#deps.air.sample();
    if (ending.kind === 'failed') {
      const evidence = { rpm: rest.rpm, stopped: true };
      running.settle(new TaskFailure(ending.reason, ending.message, { observedAtMs: ending.at, evidence }));
    } else if (ending.kind === 'stopped') {
      const proof = { stopped: true as const, observedAtMs: rest.at, stoppedForMs: 0 };
      running.settle(stoppedWithProof(proof, { rpm: rest.rpm, duration_ms: ranMs }));
    } else {
      running.settle({
        before: outcome.before ?? after,
        after,
        durationMs: ranMs,
        gradeReached: ending.gradeReached,
        rpm: rest.rpm,
        observedAtMs: rest.at,
        peakRpm,
      });
    }
  }

  #announce(job: CleaningJob, reason: string, gradeReached: boolean | null): void {
    this.#deps.notify({
      type: 'cleaning.stopped',
      at: this.#deps.clock.now(),
      areaId: job.areaId,
      attributes: { reason, grade_reached: gradeReached },
      operation: job.operation,
    });
  }

  /** Also of a fan that no cleaning started. */
  async #proveRest(signal: AbortSignal): Promise<StopProof> {
    if (this.#running === null) await this.#deps.fan.setSpeed(0);
    return this.#awaitRest(signal);
  }

  /** Nothing speeds the fan up before this has settled. */
  #awaitRest(signal: AbortSignal): Promise<StopProof> {
    const { spinDownMs } = this.#deps.settings.cleaning;
    const rest = this.#watch.wait((seen) => seen.rpm === 0, spinDownMs, signal, 'stand still');
    return this.#stops.track(
      rest.then((reading) => ({ stopped: true, observedAtMs: reading.at, stoppedForMs: 0 })),
    );
  }

  #awaitSpeed(signal: AbortSignal): Promise<FanReading> {
    const { settings } = this.#deps;
    const follows = (seen: FanReading) => {
      const { percent } = this.#host.context;
      const wanted = (settings.cleaning.fullRpm * percent) / 100;
      return atSetPoint(seen, this.#host.context, settings) && seen.rpm <= wanted * OVER;
    };
    return this.#watch.wait(follows, settings.cleaning.spinUpMs, signal, 'reach its set-point');
  }
}
