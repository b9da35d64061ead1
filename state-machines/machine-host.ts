/** What every machine's runner stands on: one machine's state, its clock, its timers and its snapshot. */
import type { Clock } from '../config/contracts/clock.js';
import { ClockJumps, type ClockSet } from './clock-jumps.js';
import { type MachineState, type PureMachine, stateName } from './pure.js';
import type { CommonEffect } from './tools.js';
import type { MachineTimers, SnapshotStorage, TimerEvent } from './types.js';

/** An event as a runner sends it; the host adds the time. */
export type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** What a machine hears from its host, whatever else it knows. */
type HostEvent = { at: number } & (ClockSet | TimerEvent);

/** The effects of a machine that are left to its runner. */
export type WithoutTimers<Effect> = Exclude<Effect, TimerEffect>;

/** Effects that the host carries out itself. */
type TimerEffect = Extract<CommonEffect, { kind: 'timer' | 'cancelTimer' }>;

export interface HostDeps {
  clock: Clock;
  timers: MachineTimers;
  snapshots: SnapshotStorage;
}

export interface HostOptions<Context, Effect> {
  /** Names the machine's snapshot, and its timers before those of other machines. */
  key: string;
  /** Every timer that the machine sets. */
  timers: readonly string[];
  /** Carries out what is not a timer. */
  perform(effect: Effect): void;
  /**
   * The part of the context worth a write; a transition that changes neither it nor the state value is not saved.
   */
  durable(context: Context): unknown;
}

/** Feeds a machine its events one at a time, each with the robot's time, and carries its effects out in order. */
export class MachineHost<
  Context,
  Event extends { type: string; at: number },
  Effect extends { kind: string },
> {
  readonly #deps: HostDeps;
  readonly #machine: PureMachine<Context, Event | HostEvent, Effect | TimerEffect>;
  readonly #options: HostOptions<Context, Effect>;
  readonly #jumps: ClockJumps;
  readonly #queue: (Event | HostEvent)[] = [];
  #state: MachineState<Context>;
  #saved = '';
  #running = false;

  constructor(
    deps: HostDeps,
    machine: PureMachine<Context, Event | HostEvent, Effect | TimerEffect>,
    options: HostOptions<Context, Effect>,
  ) {
    this.#deps = deps;
    this.#machine = machine;
    this.#options = options;
    this.#jumps = new ClockJumps(deps.clock);
    this.#state = machine.initial();
  }

  get context(): Context {
    return this.#state.context;
  }
  get stage(): string {
    return stateName(this.#state.value);
  }

  /** Forgets the timers of the last run and returns the context it left behind; null when there is none. */
  restore(): Context | null {
    for (const name of this.#options.timers) this.#deps.timers.cancel(this.#timerKey(name));
    const snapshot = this.#deps.snapshots.loadSnapshot(this.#options.key);
    return (snapshot?.context ?? null) as Context | null;
  }

  /** Events sent from within an effect wait until the present one is done. */
  send(event: WithoutTime<Event>): void {
    const at = this.#now();
    this.#take({ ...event, at } as Event);
  }

  /** A timer that the machine has set is due. */
  onTimer(name: string, event: TimerEvent): void {
    const at = this.#now();
    this.#take({ ...event, name, at });
  }

  /** Robot time; when it was set since the last event, the machine hears that first. */
  #now(): number {
    const by = this.#jumps.take();
    const at = this.#deps.clock.now();
    if (by !== 0) this.#take({ type: 'CLOCK_SET', by, at });
    return at;
  }

  #take(event: Event | HostEvent): void {
    this.#queue.push(event);
    if (this.#running) return;
    this.#running = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#step(next);
    } finally {
      this.#running = false;
      this.#queue.length = 0;
    }
  }

  #step(event: Event | HostEvent): void {
    const { state, effects } = this.#machine.next(this.#state, event);
    this.#state = state;
    this.#saveIfChanged();
    for (const effect of effects) this.#perform(effect);
  }

  #saveIfChanged(): void {
    const { value, context } = this.#state;
    const print = JSON.stringify([value, this.#options.durable(context)]);
    if (print === this.#saved) return;
    this.#saved = print;
    const savedAt = this.#deps.clock.now();
    this.#deps.snapshots.saveSnapshot(this.#options.key, { value, context, savedAt });
  }

  #perform(effect: Effect | TimerEffect): void {
    const { clock, timers } = this.#deps;
    if (isTimerEffect(effect)) {
      const { name } = effect;
      if (effect.kind === 'cancelTimer') timers.cancel(this.#timerKey(name));
      else timers.set(this.#timerKey(name), clock.now() + effect.ms, { type: 'TIMER', name });
      return;
    }
    this.#options.perform(effect);
  }

  #timerKey(name: string): string {
    return `${this.#options.key}:${name}`;
  }
}

function isTimerEffect(effect: { kind: string }): effect is TimerEffect {
  return effect.kind === 'timer' || effect.kind === 'cancelTimer';
}
