/** When the pose is written down, and how far it is trusted after a restart. */
import type { Pose } from '../../config/contracts/geometry.js';
import type { NavigatorState } from '../amr/types.js';
import type { PoseStore, StoredPose } from './pose-file.js';

/** While driving, the pose is written this often, ms. */
const EVERY_MS = 1000;
/** Spread of a pose taken over: of a robot that stood, and of one that may have rolled on for a second. */
const STOOD = { xy: 0.1, theta: 0.1 };
const ROLLED = { xy: 0.35, theta: 0.5 };

export class PoseKeeper {
  readonly #store: PoseStore;
  #saved: StoredPose | null = null;
  #savedMono = Number.NEGATIVE_INFINITY;
  #saving = false;
  #forgotten = false;
  #failures = 0;

  constructor(store: PoseStore) {
    this.#store = store;
  }

  /** To be called in every control cycle. */
  keep(state: NavigatorState, still: boolean, now: number, mono: number): void {
    if (this.#movedWithoutMap(state)) return;
    const pose = storable(state, still, now);
    if (pose === null || this.#saving) return;
    // Under the name of the map that it belongs to now: areas that are new make another map of the same ground.
    const justStopped = still && (this.#saved?.still !== true || this.#saved.mapId !== pose.mapId);
    if (!justStopped && (still || mono - this.#savedMono < EVERY_MS)) return;
    this.#saved = pose;
    this.#savedMono = mono;
    this.#saving = true;
    void this.#store.save(pose).then((saved) => {
      this.#saving = false;
      if (!saved) this.#failures += 1;
    });
  }

  /** It was driven without a map: nobody can tell where it is but itself, by looking. */
  get lost(): boolean {
    return this.#forgotten;
  }

  /**
   * Where it drives without a map nobody knows: its last place must not be believed once the map is back. A robot that
   * only rolls on for a moment, because its motion process died, was not driven.
   */
  #movedWithoutMap({ mapId, stoppedSince, action }: NavigatorState): boolean {
    if (mapId !== null) {
      this.#forgotten = false;
      return false;
    }
    if (action === null || stoppedSince !== null || this.#forgotten || this.#saving) return false;
    this.#forgotten = true;
    this.#saved = null;
    this.#store.forget();
    return true;
  }

  /** When the process ends. */
  keepLast(state: NavigatorState, still: boolean, now: number): void {
    const pose = storable(state, still, now);
    if (pose !== null) this.#store.saveNow(pose);
  }

  /** Writes under way. */
  get busy(): number {
    return this.#saving ? 1 : 0;
  }

  /** The pose to begin with on this map; null when the robot was last on another one, or nowhere. */
  takeOver(mapId: string): { pose: Pose; spread: { xy: number; theta: number } } | null {
    const stored = this.#store.load();
    if (stored === null || stored.mapId !== mapId) return null;
    return { pose: stored.pose, spread: stored.still ? STOOD : ROLLED };
  }

  counters(): Record<string, number> {
    return { pose_save_failures: this.#failures };
  }
}

function storable(state: NavigatorState, still: boolean, at: number): StoredPose | null {
  const { mapId, pose, localized } = state;
  return mapId === null || pose === null || localized !== true ? null : { mapId, pose, at, still };
}
