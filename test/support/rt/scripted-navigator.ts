/** A navigator without a map: it wishes for plain speeds, so that a test sees what the motion process makes of them. */
import type { ActionFailure, ActionUpdate, MotionAction, PlanResult } from '../../../config/contracts/amr.js';
import type { Pose, Twist } from '../../../config/contracts/geometry.js';
import type {
  MapBundle,
  Navigator,
  NavigatorInput,
  NavigatorOutput,
  NavigatorState,
} from '../../../drivers/amr/types.js';

const STILL_FOR_MS = 300;

export class ScriptedNavigator implements Navigator {
  /** What localisation claims. */
  localized: boolean | null = true;
  pose: Pose | null = { x: 1, y: 2, theta: 0 };
  /** Wished for whatever the action says, when set. */
  wish: Twist | null = null;
  planResult: PlanResult = { ok: true, path: [{ x: 1, y: 1, theta: 0 }], length: 1 };
  readonly levels: string[] = [];
  looksEverywhere = 0;
  readonly relocalized: { pose: Pose; spread: { xy: number; theta: number } | undefined }[] = [];
  #action: { id: string; action: MotionAction; renewed: number } | null = null;
  #next: { id: string; action: MotionAction } | null = null;
  #braking = false;
  #mapId: string | null = 'm-test';
  #last: { left: number; right: number } | null = null;
  #stoppedSince: number | null = null;
  #mono = 0;

  setMap(bundle: MapBundle): void {
    this.pose = null;
    this.#mapId = bundle.id;
  }

  clearMap(): void {
    this.pose = null;
    this.#mapId = null;
  }

  relocalize(pose: Pose, spread?: { xy: number; theta: number }): void {
    this.pose = pose;
    this.relocalized.push({ pose, spread });
  }

  relocalizeAnywhere(): void {
    this.looksEverywhere += 1;
  }

  start(id: string, action: MotionAction): void {
    if (this.#action?.id === id) {
      this.#action = { id, action, renewed: this.#mono };
      return;
    }
    if (this.#action === null) this.#begin(id, action);
    else {
      this.#next = { id, action };
      this.#braking = true;
    }
  }

  stop(): void {
    this.#next = null;
    this.#braking = this.#action !== null;
  }

  step(input: NavigatorInput): NavigatorOutput {
    this.#mono = input.mono;
    this.levels.push(input.safety);
    this.#watchWheels(input);
    const updates: ActionUpdate[] = [];
    const running = this.#action;
    if (running === null) return { twist: { v: 0, w: 0 }, updates };
    if (input.safety !== 'OK') {
      updates.push(this.#failed(running.id, running.action, 'safety_stop', input.now));
    } else if (running.action.kind === 'drive' && input.mono - running.renewed > running.action.ttlMs) {
      this.#braking = true;
    }
    const stillFor = this.#stoppedSince === null ? 0 : input.now - this.#stoppedSince;
    if (this.#action !== null && this.#braking && stillFor >= STILL_FOR_MS) {
      const { id, action } = running;
      updates.push({
        id,
        kind: action.kind,
        at: input.now,
        status: 'stopped',
        pose: this.pose,
        stoppedForMs: stillFor,
      });
      this.#end();
    }
    return { twist: this.#action === null || this.#braking ? { v: 0, w: 0 } : this.#wished(), updates };
  }

  async plan(): Promise<PlanResult> {
    return this.planResult;
  }

  state(): NavigatorState {
    return {
      pose: this.pose,
      poseAt: null,
      localized: this.localized,
      localizationScore: null,
      spread: null,
      twist: null,
      stoppedSince: this.#stoppedSince,
      action: this.#action === null ? null : { id: this.#action.id, kind: this.#action.action.kind },
      mapId: this.#mapId,
      pendingPlans: 0,
    };
  }

  counters(): Record<string, number> {
    return {};
  }

  view() {
    return { scan: null, path: [], obstacles: [] };
  }

  #wished(): Twist {
    if (this.wish !== null) return this.wish;
    const action = this.#action?.action;
    switch (action?.kind) {
      case 'followPath':
        return { v: action.maxSpeed, w: 0 };
      case 'spin':
        return { v: 0, w: Math.sign(action.angle) };
      case 'backUp':
        return { v: -action.speed, w: 0 };
      case 'drive':
        return action.twist;
      case 'dock':
        return { v: 0.1, w: 0 };
      case 'undock':
        return { v: -0.1, w: 0 };
      default:
        return { v: 0, w: 0 };
    }
  }

  #begin(id: string, action: MotionAction): void {
    this.#action = { id, action, renewed: this.#mono };
    this.#braking = false;
  }

  #end(): void {
    this.#action = null;
    this.#braking = false;
    const next = this.#next;
    this.#next = null;
    if (next !== null) this.#begin(next.id, next.action);
  }

  #failed(id: string, action: MotionAction, failure: ActionFailure, at: number): ActionUpdate {
    this.#next = null;
    this.#end();
    return {
      id,
      kind: action.kind,
      at,
      status: 'failed',
      failure,
      message: failure,
      where: null,
      pose: this.pose,
    };
  }

  #watchWheels({ wheels, now }: NavigatorInput): void {
    if (wheels === null) {
      this.#stoppedSince = null;
      return;
    }
    const moved = this.#last === null || this.#last.left !== wheels.left || this.#last.right !== wheels.right;
    this.#last = { left: wheels.left, right: wheels.right };
    if (moved) this.#stoppedSince = null;
    else this.#stoppedSince ??= now;
  }
}
