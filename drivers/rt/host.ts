/**
 * The motion process itself, whatever it runs in: it owns base, lidar and navigator, obeys the channel to the
 * daemon, and puts the safety layer before everything else. Forked (`main.ts`) and inline (`inline.ts`) alike.
 */
import type { ActionUpdate, AmrAbilities, HardwareReport, RobotState } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { prefixed } from '../../config/contracts/counters.js';
import type { PortCounts } from '../../config/contracts/port.js';
import type { RtToDaemon } from '../../config/contracts/rt-protocol.js';
import type { MapBundle, Navigator } from '../amr/types.js';
import { lineFinding } from '../serial/line-finding.js';
import type { BaseDriver, BaseFrame, LidarDriver } from '../serial/types.js';
import { onboardAbilities } from './abilities.js';
import { type CalibrationKeeper, hardwareReport } from './calibration-keeper.js';
import type { RtEnd } from './channel.js';
import { EstopLatch } from './estop-latch.js';
import { type MotionBody, MotionLoop } from './motion-loop.js';
import type { PoseStore } from './pose-file.js';
import { PoseKeeper } from './pose-keeper.js';
import { Reports } from './reports.js';
import { RequestHandler } from './request-handler.js';
import { robotState } from './robot-state.js';
import type { SafetyThresholds } from './safety/conditions.js';
import { type EstopState, SafetyGuard } from './safety/safety-guard.js';

export interface RtHostOptions {
  clock: Clock;
  channel: RtEnd;
  base: BaseDriver;
  /** Null where none is configured: then nothing but the e-stop and the base's own state works. */
  lidar: LidarDriver | null;
  navigator: Navigator;
  /** Changes with each start of a motion process. */
  bootId: string;
  pid: number;
  body: MotionBody;
  thresholds?: Partial<SafetyThresholds>;
  /** Buttons of the base, as its bit mask, that press the e-stop. */
  estopButtons?: number;
  /** As read from the state directory before any port was opened. */
  estop: EstopState;
  saveEstop: (estop: EstopState) => Promise<void>;
  /** Throws with a message for people. */
  loadMap: (mapYaml: string) => MapBundle;
  poses: PoseStore;
  /** Of the back end; default: of the navigation on board. */
  abilities?: AmrAbilities;
  calibrations?: CalibrationKeeper;
  /** Whether ports may be held while nothing moves. A simulation in lock-step needs every byte read at once. */
  holdPorts?: boolean;
  /** The channel closed; the wheels have been told to stop. */
  onChannelLost: (reason: string) => void;
}

/** How often the counters in the state are renewed, in control cycles. */
const COUNTERS_EVERY = 20;
const PROFILE_FIGURES = { calibration: null, previous: null };
/** How long the drivers may take to close their ports, ms. */
const CLOSE_MS = 500;

export class RtHost {
  readonly #options: RtHostOptions;
  readonly #clock: Clock;
  readonly #guard: SafetyGuard;
  readonly #loop: MotionLoop;
  readonly #latch: EstopLatch;
  readonly #poses: PoseKeeper;
  readonly #requests: RequestHandler;
  readonly #reports: Reports;
  #shownCounters: Record<string, number> = {};
  #frame: BaseFrame | null = null;
  #docked: boolean | null = null;
  #lastScanAt: number | null = null;
  #lines: HardwareReport['lines'] | null = null;
  #ended: Promise<void> | null = null;

  constructor(options: RtHostOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#guard = new SafetyGuard({
      clock: options.clock,
      base: options.base,
      estop: options.estop,
      ...(options.thresholds === undefined ? {} : { thresholds: options.thresholds }),
      ...(options.estopButtons === undefined ? {} : { estopButtons: options.estopButtons }),
    });
    this.#loop = new MotionLoop({
      clock: options.clock,
      base: options.base,
      navigator: options.navigator,
      guard: this.#guard,
      body: options.body,
      onUpdate: (update) => this.#publishUpdate(update),
      onCycle: (cycle) => this.#afterCycle(cycle),
      onStopFailed: () =>
        this.#log('error', 'the wheels kept turning after a stop; the drive has been switched off'),
    });
    this.#latch = new EstopLatch(options.clock, options.estop, options.saveEstop);
    this.#poses = new PoseKeeper(options.poses);
    this.#reports = new Reports({
      state: () => this.#state(),
      view: () => options.navigator.view(),
      send: (message) => this.#send(message),
    });
    this.#requests = new RequestHandler({
      base: options.base,
      navigator: options.navigator,
      guard: this.#guard,
      loop: this.#loop,
      latch: this.#latch,
      poses: this.#poses,
      ...(options.calibrations === undefined ? {} : { calibrations: options.calibrations }),
      loadMap: options.loadMap,
      send: (message) => this.#send(message),
    });
  }

  /** Takes the base (its first bytes are a stop), the lidar, and the channel; then says `ready`. */
  start(): void {
    const { base, lidar, channel } = this.#options;
    base.onFrame((frame) => this.#onFrame(frame));
    base.onLink(({ connected, reason }) => {
      if (connected) base.stopNow();
      this.#loop.onBaseLink(connected);
      this.#log(connected ? 'info' : 'warn', `base ${connected ? 'connected' : 'lost'}: ${reason}`);
    });
    lidar?.onScan((scan) => {
      this.#guard.onScan();
      this.#lastScanAt = scan.at;
      this.#loop.onScan(scan);
    });
    this.#guard.onChange(({ at, safety, cause }) => {
      this.#reports.tellState();
      this.#send({ t: 'event', event: { type: 'safety', at, safety, cause } });
      this.#latch.changed(safety.estop);
    });
    base.start();
    lidar?.start();
    this.#loop.start();
    channel.onMessage((message) => {
      this.#requests.onMessage(message);
      if (this.#loop.action !== null) this.#holdPorts();
    });
    channel.onClose((reason) => {
      this.#guard.daemonGone();
      base.stopNow();
      this.#options.onChannelLost(reason);
    });
    const { bootId, pid, abilities = onboardAbilities(lidar !== null) } = this.#options;
    this.#send({ t: 'ready', bootId, pid, abilities });
  }

  /** Stops the wheels at once, then lets go of everything. Safe to call twice. */
  shutdown(reason: string): Promise<void> {
    this.#ended ??= this.#end(reason);
    return this.#ended;
  }

  /** Stops the wheels and does nothing else; for the last moments of a process. */
  stopWheels(): void {
    this.#options.base.stopNow();
  }

  /** A beat that came over a line of its own. */
  heartbeat(): void {
    this.#guard.onHeartbeat();
  }

  heartbeatLineLost(): void {
    this.#guard.heartbeatLineLost();
  }

  /** Jobs outside the event loop, for the lock-step barrier. */
  busy(): number {
    const { base, lidar, navigator } = this.#options;
    const opening = Number(base.opening) + Number(lidar?.opening ?? false);
    const { pendingPlans } = navigator.state();
    return (
      opening +
      Math.max(this.#requests.busy, pendingPlans) +
      this.#latch.busy +
      this.#poses.busy +
      (this.#options.calibrations?.busy ?? 0)
    );
  }

  /** By the names the simulator gives its lines. */
  portCounts(): Record<string, PortCounts> {
    const { base, lidar } = this.#options;
    return { base: base.portCounts(), ...(lidar === null ? {} : { lidar: lidar.portCounts() }) };
  }

  async #end(reason: string): Promise<void> {
    const { base, lidar, navigator, channel } = this.#options;
    base.stopNow();
    this.#loop.stop();
    this.#guard.daemonGone();
    this.#poses.keepLast(navigator.state(), this.#guard.stillProven, this.#clock.now());
    this.#guard.close();
    this.#latch.close();
    this.#log('info', `motion process ends: ${reason}`);
    await within(this.#clock, CLOSE_MS, Promise.all([base.stop(), lidar?.stop(), this.#latch.settled()]));
    channel.close();
  }

  /** Safety first: the stop bytes are out before the next line runs. */
  #onFrame(frame: BaseFrame): void {
    this.#guard.onFrame(frame);
    this.#frame = frame;
    this.#loop.onFrame(frame);
    if (frame.docked === this.#docked) return;
    const known = this.#docked !== null;
    this.#docked = frame.docked;
    if (known) {
      this.#send({ t: 'event', event: { type: 'docked', at: frame.at, docked: frame.docked } });
    }
  }

  #afterCycle(cycle: number): void {
    const { navigator } = this.#options;
    this.#poses.keep(navigator.state(), this.#guard.stillProven, this.#clock.now(), this.#clock.mono());
    if (cycle % COUNTERS_EVERY === 1) {
      this.#shownCounters = this.#allCounters();
      this.#lookAtLines();
    }
    this.#reports.cycle(cycle);
    this.#holdPorts();
  }

  /**
   * A robot at rest looks at its lidar in each control cycle instead of at every byte, and on its dock at the base as
   * well: there is no motion to stop. Everything is released, and read, before an action begins.
   */
  #holdPorts(): void {
    const { base, lidar, holdPorts = false } = this.#options;
    const resting = holdPorts && this.#loop.action === null && this.#guard.stillProven;
    base.hold(resting && this.#frame?.docked === true);
    lidar?.hold(resting);
    base.fetch();
    lidar?.fetch();
  }

  #state(): RobotState {
    const { base, lidar, navigator, bootId } = this.#options;
    return robotState({
      now: this.#clock.now(),
      mono: this.#clock.mono(),
      bootId,
      navigation: navigator.state(),
      baseConnected: base.connected,
      frame: this.#frame,
      lidarConnected: lidar?.connected ?? false,
      lastScanAt: this.#lastScanAt,
      safety: this.#guard.state(),
      action: this.#loop.action,
      counters: this.#shownCounters,
      hardware: hardwareReport(
        base,
        lidar,
        this.#options.calibrations?.kept ?? PROFILE_FIGURES,
        this.#lines ?? this.#lookAtLines(),
      ),
    });
  }

  #lookAtLines(): HardwareReport['lines'] {
    const { base, lidar } = this.#options;
    this.#lines = { base: lineFinding(base), lidar: lidar === null ? null : lineFinding(lidar) };
    return this.#lines;
  }

  #publishUpdate(update: ActionUpdate): void {
    // Whoever hears of an end must find the state that goes with it.
    if (update.status !== 'running') this.#reports.tellState();
    this.#send({ t: 'event', event: { type: 'action', update } });
  }

  #allCounters(): Record<string, number> {
    const { base, lidar, navigator } = this.#options;
    return {
      ...this.#requests.counters(),
      ...this.#guard.counters(),
      ...this.#loop.counters(),
      ...this.#latch.counters(),
      ...this.#poses.counters(),
      ...prefixed('base', base.counters()),
      ...(lidar === null ? {} : prefixed('lidar', lidar.counters())),
      ...prefixed('nav', navigator.counters()),
    };
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', message: string): void {
    this.#send({ t: 'log', level, message });
  }

  #send(message: RtToDaemon): void {
    this.#options.channel.send(message);
  }
}

/** Waits for `work`, but not longer than `ms`. */
function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    const done = () => {
      cancel();
      resolve();
    };
    work.then(done, done);
  });
}
