/**
 * The daemon's view of the robot's body: an `AmrDriver` over the channel to the motion process, which may be
 * there or not. Without one, motion is refused with `HARDWARE_FAULT`, a stop has nothing to stop, and an e-stop
 * is written down for the next one.
 */
import type {
  ActionKind,
  AmrAbilities,
  AmrDriver,
  AmrEvent,
  AmrMapping,
  Calibration,
  MotionAction,
  PlanRequest,
  PlanResult,
  RobotState,
  Scan,
} from '../../config/contracts/amr.js';
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { errorText, TaskFailure } from '../../config/contracts/errors.js';
import type { Pose } from '../../config/contracts/geometry.js';
import type { Log } from '../../config/contracts/log.js';
import {
  HEARTBEAT_EVERY_MS,
  type RtAnswer,
  type RtRequest,
  type RtToDaemon,
} from '../../config/contracts/rt-protocol.js';
import type { DaemonEnd } from '../../drivers/rt/channel.js';
import { mappingOver } from './mapping-client.js';
import { PendingRequests } from './pending-requests.js';

export interface RtClientOptions {
  /** The robot's clock. */
  clock: Clock;
  log: Log;
  /** Latches the e-stop for a motion process that is not there; resolves when it would survive a power cut. */
  latchEstop: (by: string) => Promise<void>;
  /**
   * Who sends the heartbeat: this client, on the robot's clock and over the channel (a simulated clock), or the
   * beat thread, over its own line (a real robot).
   */
  heartbeat: 'on_clock' | 'thread';
}

/** Answers are due within this long, ms of robot time. */
const ANSWER_MS = 2_000;
const PLAN_MS = 15_000;
const MAP_MS = 20_000;

const NOT_THERE = 'the motion process is not running; it is started again by itself';

export class RtClient implements AmrDriver {
  readonly #options: RtClientOptions;
  readonly #clock: Clock;
  readonly #pending: PendingRequests;
  readonly #listeners = new Set<(event: AmrEvent) => void>();
  /** Accepted actions whose end has not come. */
  readonly #running = new Map<string, ActionKind>();
  #channel: DaemonEnd | null = null;
  #ready = false;
  #heardMono: number | null = null;
  #state: RobotState | null = null;
  #abilities: AmrAbilities | null = null;
  #view: { scan: Scan | null; path: Pose[] } = { scan: null, path: [] };
  #map: string | null = null;
  #beat = 0;
  #cancelBeat: CancelTimer = () => {};
  readonly mapping: AmrMapping = mappingOver((what, request, timeoutMs) =>
    this.#ask(what, request, timeoutMs),
  );
  readonly #counters = { rt_messages: 0, rt_links_lost: 0, rt_actions_lost: 0, amr_listener_errors: 0 };

  constructor(options: RtClientOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#pending = new PendingRequests(options.clock);
  }

  /** Takes the channel to a motion process that has just been started. It is used once that one says `ready`. */
  attach(channel: DaemonEnd): void {
    this.#lose('replaced by another motion process');
    this.#channel = channel;
    this.#heardMono = this.#clock.mono();
    channel.onMessage((message) => {
      if (this.#channel === channel) this.#onMessage(message);
    });
    channel.onClose((reason) => {
      if (this.#channel === channel) this.#lose(reason);
    });
    if (this.#options.heartbeat === 'on_clock') this.#beatOnClock(channel);
  }

  /** The motion process is gone, whatever its channel says. */
  detach(reason: string): void {
    this.#lose(reason);
  }

  /** True from `ready` until the channel is lost. */
  get connected(): boolean {
    return this.#ready;
  }

  /** Milliseconds since the motion process was last heard, or was started; null when there is none. */
  get silentFor(): number | null {
    return this.#channel === null || this.#heardMono === null ? null : this.#clock.mono() - this.#heardMono;
  }

  state(): RobotState | null {
    return this.#state;
  }

  abilities(): AmrAbilities | null {
    return this.#abilities;
  }

  view(): { scan: Scan | null; path: Pose[] } {
    return this.#view;
  }

  subscribe(listener: (event: AmrEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async plan(request: PlanRequest): Promise<PlanResult> {
    const result = await this.#ask('plan', { op: 'plan', request }, PLAN_MS);
    if (result === undefined || !('ok' in result))
      throw new TaskFailure('HARDWARE_FAULT', 'the motion process sent no plan');
    return result;
  }

  async start(id: string, action: MotionAction, fence: number): Promise<void> {
    try {
      await this.#ask(`start ${action.kind}`, { op: 'start', id, action, fence }, ANSWER_MS, () =>
        this.#running.set(id, action.kind),
      );
    } catch (error) {
      // Unanswered is not refused: it may have been accepted, and nobody would watch over it.
      if (this.#ready && error instanceof TaskFailure && error.reason === 'HARDWARE_FAULT') {
        await this.stop('start was not confirmed');
      }
      throw error;
    }
  }

  async stop(reason: string): Promise<void> {
    if (this.#channel === null) return;
    this.#ask('stop', { op: 'stop', reason }, ANSWER_MS).catch((error: unknown) =>
      this.#options.log.warn(
        { error: errorText(error) },
        'a stop was not confirmed; the base is watched by rt',
      ),
    );
  }

  async estop(by: string): Promise<void> {
    if (this.#channel !== null) {
      try {
        await this.#ask('estop', { op: 'estop', by }, ANSWER_MS);
        return;
      } catch (error) {
        this.#options.log.error(
          { error: errorText(error) },
          'the e-stop was not confirmed; latching it on disk',
        );
      }
    }
    await this.#options.latchEstop(by).catch((error: unknown) => {
      throw new TaskFailure(
        'HARDWARE_FAULT',
        `the emergency stop is not written down (${errorText(error)}): the robot stands, but a restart would forget it`,
      );
    });
  }

  async releaseEstop(by: string): Promise<void> {
    await this.#ask('releaseEstop', { op: 'releaseEstop', by }, ANSWER_MS);
  }

  async loadMap(mapYaml: string): Promise<void> {
    await this.#ask('loadMap', { op: 'loadMap', mapYaml }, MAP_MS);
    this.#map = mapYaml;
  }

  async clearMap(): Promise<void> {
    this.#map = null;
    await this.#ask('clearMap', { op: 'clearMap' }, ANSWER_MS);
  }

  async relocalize(pose: Pose): Promise<void> {
    await this.#ask('relocalize', { op: 'relocalize', pose }, ANSWER_MS);
  }

  async setCalibration(calibration: Calibration | null): Promise<void> {
    await this.#ask('setCalibration', { op: 'setCalibration', calibration }, ANSWER_MS);
  }

  counters(): Record<string, number> {
    return { ...this.#counters, ...this.#pending.counters() };
  }

  /** Ends what runs; for a daemon that stops. The channel is closed, and with it the motion process. */
  close(): void {
    const channel = this.#channel;
    this.#lose('the daemon is stopping');
    channel?.close();
  }

  #ask(
    what: string,
    request: RtRequest,
    timeoutMs: number,
    accepted?: () => void,
  ): Promise<RtAnswer | undefined> {
    const channel = this.#channel;
    const urgent = request.op === 'stop' || request.op === 'estop';
    if (channel === null || !(this.#ready || urgent)) {
      return Promise.reject(new TaskFailure('HARDWARE_FAULT', NOT_THERE));
    }
    return this.#pending.send(what, timeoutMs, (n) => channel.send({ t: 'request', n, request }), accepted);
  }

  #onMessage(message: RtToDaemon): void {
    this.#counters.rt_messages += 1;
    this.#heardMono = this.#clock.mono();
    switch (message.t) {
      case 'ready':
        this.#abilities = message.abilities;
        void this.#welcome(message.bootId, message.pid);
        return;
      case 'heartbeat':
        return;
      case 'response':
        this.#pending.answered(message);
        return;
      case 'event':
        this.#onEvent(message.event);
        return;
      case 'view':
        this.#view = { scan: message.scan, path: message.path };
        return;
      case 'log':
        this.#options.log[message.level]({ part: 'rt', ...message.data }, message.message);
        return;
    }
  }

  /** A motion process that was started again gets the map back before anybody is told that it is there. */
  async #welcome(bootId: string, pid: number): Promise<void> {
    const channel = this.#channel;
    this.#ready = true;
    if (this.#map !== null) {
      await this.loadMap(this.#map).catch((error: unknown) =>
        this.#options.log.error(
          { error: errorText(error) },
          'the restarted motion process did not take the map',
        ),
      );
    }
    if (this.#channel !== channel || !this.#ready) return;
    this.#options.log.info({ bootId, pid }, 'motion process ready');
    this.#emit({ type: 'link', at: this.#clock.now(), connected: true, reason: null });
  }

  #onEvent(event: AmrEvent): void {
    if (event.type === 'state') this.#state = event.state;
    if (event.type === 'action' && event.update.status !== 'running') this.#running.delete(event.update.id);
    this.#emit(event);
  }

  #lose(reason: string): void {
    if (this.#channel === null) return;
    const wasReady = this.#ready;
    this.#channel = null;
    this.#ready = false;
    this.#heardMono = null;
    this.#cancelBeat();
    this.#counters.rt_links_lost += 1;
    this.#pending.failAll(`the motion process is gone: ${reason}`);
    const at = this.#clock.now();
    if (wasReady) this.#emit({ type: 'link', at, connected: false, reason });
    this.#failRunning(at, reason);
  }

  /** Nobody else will report the end of what ran in a process that died. */
  #failRunning(at: number, reason: string): void {
    const running = [...this.#running];
    this.#running.clear();
    for (const [id, kind] of running) {
      this.#counters.rt_actions_lost += 1;
      const message = `the motion process is gone: ${reason}`;
      const pose = this.#state?.pose ?? null;
      this.#emit({
        type: 'action',
        update: { id, kind, at, status: 'failed', failure: 'hardware', message, where: null, pose },
      });
    }
  }

  #beatOnClock(channel: DaemonEnd): void {
    this.#cancelBeat = this.#clock.every(HEARTBEAT_EVERY_MS, () => {
      this.#beat += 1;
      channel.send({ t: 'heartbeat', beat: this.#beat });
    });
  }

  #emit(event: AmrEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#counters.amr_listener_errors += 1;
        this.#options.log.error(
          { error: errorText(error), event: event.type },
          'a listener of the robot failed',
        );
      }
    }
  }
}
