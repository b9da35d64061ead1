/** Connects the docking machine to the driver, the navigation, the clock and the timers. */
import type { AmrDriver } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { assertNever, TaskFailure } from '../../config/contracts/errors.js';
import type { Pose } from '../../config/contracts/geometry.js';
import { StoppedWithProof } from '../../config/contracts/stopped.js';
import { knownPose, stoppedWithProof, stopUnproven } from '../body.js';
import { MachineHost, type WithoutTime, type WithoutTimers } from '../machine-host.js';
import { type MotionEvent, MotionLink, rejectionOf } from '../motion-link.js';
import type { NavigationRunner } from '../navigation/runner.js';
import type { MachineSettings } from '../settings.js';
import { StageThrottle } from '../stage-throttle.js';
import type { MachineTimers, SnapshotStorage, StageReporter, TimerEvent } from '../types.js';
import { createDockingMachine } from './machine.js';
import type {
  DockingContext,
  DockingEffect,
  DockingEvent,
  DockingJob,
  DockingOutcome,
  DockingProblem,
} from './types.js';

export interface DockingRunnerDeps {
  amr: AmrDriver;
  clock: Clock;
  timers: MachineTimers;
  snapshots: SnapshotStorage;
  settings: MachineSettings;
  newId(): string;
}

export type DockingSuccess = Extract<DockingOutcome, { kind: 'docked' | 'undocked' }>;

interface Running {
  job: DockingJob;
  stages: StageThrottle;
  settle(outcome: DockingSuccess | Error): void;
}

type OwnEffect = WithoutTimers<DockingEffect>;

const TIMERS = ['look', 'contact', 'behind', 'sensors', 'stop'] as const;
/** A staging pose is met loosely: the final approach corrects the rest. */
const STAGING_TOLERANCE = { xy: 0.12, theta: 0.2 };

export class DockingRunner {
  readonly #deps: DockingRunnerDeps;
  readonly #navigation: NavigationRunner;
  readonly #link: MotionLink;
  readonly #host: MachineHost<DockingContext, DockingEvent, OwnEffect>;
  #running: Running | null = null;
  #travel: { abort: AbortController; ended: Promise<void> } | null = null;

  constructor(deps: DockingRunnerDeps, navigation: NavigationRunner) {
    this.#deps = deps;
    this.#navigation = navigation;
    this.#link = new MotionLink({ ...deps, freshMs: deps.settings.freshMs }, (event) => this.#hear(event));
    this.#host = new MachineHost(deps, createDockingMachine(deps.settings), {
      key: 'docking',
      timers: TIMERS,
      perform: (effect) => this.#perform(effect),
      durable: ({ job, attempts, problem, ending }) => [job, attempts, problem?.reason, ending],
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

  /** A docking that a restart cut short begins anew: it is cheap, and the body says where it stands. */
  restore(): void {
    this.#host.restore();
  }

  async run(job: DockingJob, signal: AbortSignal, onStage: StageReporter): Promise<DockingSuccess> {
    if (this.#running !== null) throw new TaskFailure('RESOURCE_BUSY', 'the robot is already docking');
    const onAbort = () => this.send({ type: 'STOP' });
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const outcome = await new Promise<DockingSuccess | Error>((settle) => {
        this.#running = { job, stages: new StageThrottle(this.#deps.clock, onStage), settle };
        this.send({ type: 'GO', job });
        if (signal.aborted) onAbort();
      });
      await this.#travel?.ended;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#running = null;
    }
  }

  send(event: WithoutTime<DockingEvent>): void {
    this.#host.send(event);
  }

  onTimer(name: string, event: TimerEvent): void {
    this.#host.onTimer(name, event);
  }

  close(): void {
    this.#link.close();
  }

  #hear(event: MotionEvent): void {
    if (this.#running !== null) this.send(event);
  }

  #perform(effect: OwnEffect): void {
    const { settings, amr } = this.#deps;
    switch (effect.kind) {
      case 'travel':
        this.#goTo(effect.to);
        break;
      case 'endTravel':
        this.#travel?.abort.abort();
        break;
      case 'start':
        this.#link.start(effect.action, effect.fence);
        break;
      case 'halt':
        this.#link.halt(effect.reason);
        break;
      case 'stopUnproven':
        this.#running?.settle(stopUnproven(amr, this.#link.facts(), settings.stopProofMs, effect.because));
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

  #goTo(to: Pose): void {
    const running = this.#running;
    if (running === null) return;
    const abort = new AbortController();
    const request = {
      operation: running.job.operation,
      goals: [{ pose: to, areaId: null, tolerance: STAGING_TOLERANCE }],
      fence: running.job.fence,
      maxSpeed: null,
      ignoreBattery: true,
    };
    const travel = {
      abort,
      ended: this.#navigation
        .travel(request, abort.signal, (stage, data) => running.stages.report(stage, data ?? {}), {
          quiet: true,
        })
        .then(
          () => null,
          (error: unknown) => error,
        )
        .then((error) => {
          if (this.#travel === travel) this.#travel = null;
          if (!abort.signal.aborted) this.#travelled(error);
        }),
    };
    this.#travel = travel;
  }

  #travelled(error: unknown): void {
    if (error instanceof StoppedWithProof) this.send({ type: 'STOP' });
    else this.send({ type: 'TRAVELLED', problem: error === null ? null : this.#problemOf(error) });
  }

  #problemOf(error: unknown): DockingProblem {
    const where = error instanceof TaskFailure ? (error.evidence?.where ?? null) : null;
    return {
      ...rejectionOf(error),
      where: where as DockingProblem['where'],
      at: this.#deps.clock.now(),
    };
  }

  #finish(outcome: DockingOutcome): void {
    const running = this.#running;
    if (running === null) return;
    const facts = this.#link.facts();
    const { docked } = facts;
    const pose = knownPose(facts);
    if (outcome.kind === 'failed') {
      running.settle(
        new TaskFailure(outcome.reason, outcome.message, {
          observedAtMs: outcome.at,
          evidence: { attempts: outcome.attempts, where: outcome.where, pose, docked },
        }),
      );
    } else if (outcome.kind === 'stopped') {
      running.settle(stoppedWithProof({ stopped: true, ...outcome }, { pose, docked }));
    } else {
      running.settle(outcome);
    }
  }
}
