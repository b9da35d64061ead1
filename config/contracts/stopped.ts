/**
 * Thrown by a motion, a cleaning or a task's `run` when it ended before its goal because somebody stopped it
 * (its signal was aborted, or the thing was stopped by another way) and the physical thing is proven to have
 * stopped. Never thrown before that proof.
 */
export class StoppedWithProof extends Error {
  override readonly name = 'StoppedWithProof';
  constructor(readonly evidence: { stopped: true; observed_at_ms: number } & Record<string, unknown>) {
    super('stopped');
  }
}
