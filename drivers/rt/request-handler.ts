/** Obeys or refuses what the daemon asks of the motion process, and answers each request once. */

import type { Calibration } from '../../config/contracts/amr.js';
import { describeZodError, errorText, Refusal, shown } from '../../config/contracts/errors.js';
import type { ReasonCode } from '../../config/contracts/reason-codes.js';
import type { RtAnswer, RtRequest, RtToDaemon } from '../../config/contracts/rt-protocol.js';
import type { MapBundle, Navigator } from '../amr/types.js';
import { FenceGate } from '../fence-gate.js';
import type { BaseDriver } from '../serial/types.js';
import type { CalibrationKeeper } from './calibration-keeper.js';
import type { EstopLatch } from './estop-latch.js';
import { type MappingRequestParts, obeyMapping, requireNoMapping } from './mapping-requests.js';
import type { MotionLoop } from './motion-loop.js';
import type { PoseKeeper } from './pose-keeper.js';
import { daemonToRtSchema, requestOutlineSchema } from './requests.js';
import type { SafetyGuard } from './safety/safety-guard.js';

export interface RequestHandlerParts {
  base: Pick<BaseDriver, 'connected'>;
  navigator: Navigator;
  guard: SafetyGuard;
  loop: MotionLoop;
  latch: EstopLatch;
  poses: PoseKeeper;
  calibrations?: CalibrationKeeper;
  /** Throws with a message for people. */
  loadMap: (mapYaml: string) => MapBundle;
  send: (message: RtToDaemon) => void;
}

/** Plans that may be under way at the same time. */
const MAX_PLANS = 4;

export class RequestHandler {
  readonly #parts: RequestHandlerParts;
  readonly #counters = { messages_invalid: 0 };
  readonly #fences = new FenceGate('motion');
  #plans = 0;

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
  }

  onMessage(raw: unknown): void {
    const parsed = daemonToRtSchema.safeParse(raw);
    if (!parsed.success) {
      this.#refuseInvalid(raw, describeZodError(parsed.error, raw).message);
    } else if (parsed.data.t === 'heartbeat') {
      this.#parts.guard.onHeartbeat();
      this.#parts.send({ t: 'heartbeat', beat: parsed.data.beat });
    } else {
      this.#handle(parsed.data.n, parsed.data.request);
    }
  }

  /** Plans under way. */
  get busy(): number {
    return this.#plans;
  }

  counters(): Record<string, number> {
    return { ...this.#counters, stale_fences: this.#fences.stale };
  }

  /** A stop is obeyed however wrong the rest of the message is. */
  #refuseInvalid(raw: unknown, message: string): void {
    this.#counters.messages_invalid += 1;
    const outline = requestOutlineSchema.safeParse(raw);
    if (!outline.success) {
      this.#log('warn', `a message was not understood: ${message}`);
      return;
    }
    const { n, request } = outline.data;
    if (request.op === 'stop') this.#parts.loop.brake('stop');
    if (request.op === 'estop') this.#parts.guard.pressEstop('unknown');
    this.#refuse(n, 'INVALID_PARAMS', message);
  }

  #handle(n: number, request: RtRequest): void {
    try {
      const answered = this.#obey(n, request);
      if (answered === 'now') this.#accept(n);
    } catch (error) {
      this.#refuseFor(n, error);
    }
  }

  /** Throws a `Refusal`. */
  #obey(n: number, request: RtRequest): 'now' | 'later' {
    const { guard, loop, navigator } = this.#parts;
    switch (request.op) {
      case 'start':
        this.#admit(request.fence);
        loop.begin(request.id, request.action);
        return 'now';
      case 'stop':
        loop.brake(request.reason);
        return 'now';
      case 'estop':
        guard.pressEstop(request.by);
        this.#acceptWhenLatched(n, true);
        return 'later';
      case 'releaseEstop':
        this.#release(request.by);
        this.#acceptWhenLatched(n, false);
        return 'later';
      case 'plan':
        this.#plan(n, request.request);
        return 'later';
      case 'loadMap':
        this.#loadMap(request.mapYaml);
        return 'now';
      case 'clearMap':
        this.#requireRest();
        requireNoMapping(navigator);
        navigator.clearMap();
        this.#log('info', 'no map is in use any more');
        return 'now';
      case 'setCalibration':
        this.#requireRest('the calibration cannot be changed while an action runs');
        this.#setCalibration(n, request.calibration);
        return 'later';
      case 'relocalize':
        navigator.relocalize(request.pose);
        return 'now';
      default:
        this.#answer(n, obeyMapping(this.#mappingParts, request));
        return 'later';
    }
  }

  #admit(fence: number): void {
    this.#fences.admit(fence);
    if (this.#parts.guard.state().estop.latched) {
      throw new Refusal('EMERGENCY_STOP', 'the emergency stop is latched; a person has to release it');
    }
    if (!this.#parts.base.connected) throw new Refusal('HARDWARE_FAULT', 'the base is not connected');
  }

  #release(by: string): void {
    if (!this.#parts.guard.releaseEstop()) {
      throw new Refusal('ILLEGAL_STATE', 'the emergency stop button of the base is still pressed');
    }
    this.#log('info', `emergency stop released by ${by}`);
  }

  /** A stop that a restart would forget is not confirmed; a release that it would forget leaves the robot stopped. */
  #acceptWhenLatched(n: number, pressed: boolean): void {
    void this.#parts.latch.settled().then((durable) => {
      if (durable) return this.#accept(n);
      const what = pressed ? 'the e-stop' : 'the release of the e-stop';
      const message = `${what} could not be written down, and is tried again: until then a restart forgets it`;
      this.#log('error', message);
      if (pressed) this.#refuse(n, 'HARDWARE_FAULT', message);
      else this.#accept(n);
    });
  }

  #plan(n: number, request: Parameters<Navigator['plan']>[0]): void {
    if (this.#plans >= MAX_PLANS) throw new Refusal('RESOURCE_BUSY', `${MAX_PLANS} plans are under way`);
    this.#plans += 1;
    this.#parts.navigator
      .plan(request)
      .then(
        (result) => this.#parts.send({ t: 'response', n, ok: true, result }),
        (error: unknown) => this.#refuseFor(n, error),
      )
      .finally(() => {
        this.#plans -= 1;
      });
  }

  /** Reading a map takes the event loop some milliseconds, so the robot has to stand. */
  #loadMap(mapYaml: string): void {
    const { navigator, poses } = this.#parts;
    this.#requireRest();
    requireNoMapping(navigator);
    const bundle = this.#readMap(mapYaml);
    if (navigator.state().mapId === bundle.id) return;
    navigator.setMap(bundle);
    const last = navigator.state().pose === null ? poses.takeOver(bundle.id) : null;
    if (navigator.state().pose !== null)
      this.#log('info', 'only the areas of the map are new: it keeps its place');
    else if (last !== null) navigator.relocalize(last.pose, last.spread);
    // Nothing else will tell it where it is, so it looks for itself.
    else if (bundle.areas.station === null || poses.lost) navigator.relocalizeAnywhere();
    this.#log('info', `map ${bundle.id} is in use`);
  }

  #setCalibration(n: number, calibration: Calibration | null): void {
    const { calibrations } = this.#parts;
    if (calibrations === undefined) {
      throw new Refusal('CAPABILITY_UNAVAILABLE', 'this motion process keeps no calibration');
    }
    calibrations.set(calibration).then(
      () => this.#accept(n),
      (error: unknown) => this.#refuseFor(n, error),
    );
  }

  #requireRest(message = 'the map cannot be changed while an action runs'): void {
    if (this.#parts.loop.action === null) return;
    throw new Refusal('ILLEGAL_STATE', message);
  }

  get #mappingParts(): MappingRequestParts {
    return {
      navigator: this.#parts.navigator,
      requireRest: () => this.#requireRest(),
      log: (message) => this.#log('info', message),
    };
  }

  #readMap(mapYaml: string): MapBundle {
    try {
      return this.#parts.loadMap(mapYaml);
    } catch (error) {
      const why = error instanceof Error ? error.message : shown(error);
      throw new Refusal('INVALID_PARAMS', `the map ${shown(mapYaml)} cannot be used: ${why}`);
    }
  }

  #answer(n: number, result: RtAnswer | undefined): void {
    this.#parts.send({ t: 'response', n, ok: true, ...(result === undefined ? {} : { result }) });
  }

  #accept(n: number): void {
    this.#parts.send({ t: 'response', n, ok: true });
  }

  /** Anything but a `Refusal` is a defect. */
  #refuseFor(n: number, error: unknown): void {
    if (error instanceof Refusal) this.#refuse(n, error.reason, error.message);
    else this.#refuse(n, 'INTERNAL_ERROR', errorText(error));
  }

  #refuse(n: number, reason: ReasonCode, message: string): void {
    this.#parts.send({ t: 'response', n, ok: false, reason, message });
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#parts.send({ t: 'log', level, message });
  }
}
