/** ROS time as the robot's messages carry it. Its clock is not ours: stamps are only compared with stamps. */
export class RosTime {
  #newest: { stamp: number; mono: number } | null = null;

  /** A message with this stamp (ms) came at `mono`. */
  saw(stamp: number, mono: number): void {
    const now = this.at(mono);
    // A stamp far behind is a clock that was set back, or a simulation that began anew.
    if (now === null || stamp >= now || stamp < now - JUMP_MS) this.#newest = { stamp, mono };
  }

  /** ROS time now, ms; null before the first stamp. */
  at(mono: number): number | null {
    return this.#newest === null ? null : this.#newest.stamp + (mono - this.#newest.mono);
  }
}

const JUMP_MS = 5_000;
