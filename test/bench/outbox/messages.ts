/** What the outbox benchmark and its processes tell each other. */
import { z } from 'zod';

/** For a process that publishes events as fast as it can while a bounded number is under way. */
export const producerOptions = z.object({
  url: z.string(),
  /** Its directory. */
  dir: z.string(),
  events: z.int().positive(),
  /** Acknowledged before the measured time begins: compiled code, a warm disk. */
  warmUp: z.int().min(0),
  /** Accepted and not acknowledged, at most. */
  outstanding: z.int().positive(),
});
export type ProducerOptions = z.infer<typeof producerOptions>;

export const produced = z.object({
  t: z.literal('produced'),
  perS: z.number(),
  /** Commits or synced writes in the measured time, where known. */
  commits: z.number().nullable(),
});

export const brokerReady = z.object({ t: z.literal('broker'), url: z.string() });
export const brokerCount = z.object({ t: z.literal('count'), publishes: z.number() });

export interface SampleStamp {
  event_id: string;
  seq: number;
  store_epoch: string;
  device_id: string;
  boot_id: string;
  idempotency_key: string;
}

/** A task event as the robot sends it; both sides publish the same bytes but for ids. Made in one go, as the robot's. */
export function sampleEvent(n: number, stamp: SampleStamp): object {
  return {
    contract_version: 'device-task-event.v1',
    event_id: stamp.event_id,
    seq: stamp.seq,
    store_epoch: stamp.store_epoch,
    device_id: stamp.device_id,
    boot_id: stamp.boot_id,
    idempotency_key: stamp.idempotency_key,
    event: 'COMPLETED',
    task_id: `t-01J${String(n).padStart(20, '0')}`,
    method: 'setMoveTo',
    attempt: 1,
    workflow_id: 'wf-1',
    step_id: 's1',
    plan_id: 'p-1',
    cloud_output_key: 'arrival',
    source: 'CLOUD',
    reason_code: null,
    message: null,
    domain_stage: 'navigation.arrived',
    progress: null,
    evidence: {
      completion_target: 'movement.arrived',
      observed_at_ms: 1_790_000_000_000 + n,
      area_id: '2',
      pose: { x: 1.92, y: 0.51, theta: 1.57 },
      idle: true,
    },
    output: { area_id: '2' },
    correlation_id: 'co-1',
    trace_id: 't-1',
    occurred_at: '2026-11-30T09:00:41.001+09:00',
  };
}

/** Counts acknowledgements and tells when the measured part began and ended. */
export class Meter {
  readonly #options: ProducerOptions;
  readonly #done: (perS: number) => void;
  #acknowledged = 0;
  #began = 0;

  constructor(options: ProducerOptions, done: (perS: number) => void) {
    this.#options = options;
    this.#done = done;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The measured part is under way. */
  get measuring(): boolean {
    return this.#acknowledged >= this.#options.warmUp;
  }

  acknowledge(): void {
    this.#acknowledged += 1;
    const { warmUp, events } = this.#options;
    if (this.#acknowledged === warmUp) this.#began = performance.now();
    if (this.#acknowledged === events) {
      this.#done((events - warmUp) / ((performance.now() - this.#began) / 1000));
    }
  }
}
