/** The intake with the real store, outbox, memory and policy, and a TaskManager that only writes down. */
import type { KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isoWithOffset } from '../../../config/contracts/clock.js';
import { Refusal } from '../../../config/contracts/errors.js';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import type { CommandResponse } from '../../../config/contracts/wire/command.js';
import { CommandTable } from '../../../daemon/intake/command-table.js';
import { createIntake } from '../../../daemon/intake/intake.js';
import type { CommandIntake, Principal } from '../../../daemon/intake/types.js';
import { loadPolicy } from '../../../daemon/policy/load-policy.js';
import { Outbox } from '../../../daemon/store/outbox.js';
import { Store } from '../../../daemon/store/store.js';
import { defineMethod, type MethodSpec } from '../../../executors/method.js';
import { FakeTasks } from '../../support/fake-tasks.js';

export const CLOUD: Principal = { source: 'CLOUD', name: 'mqtt' };
export const LOCAL: Principal = { source: 'LOCAL', name: 'unix-socket' };
export const NOW = Date.parse('2026-11-30T09:00:00+09:00');
export const ROOT = 'deviceagent/da-test';

type Change = Record<string, unknown>;

export class IntakeHarness {
  readonly clock = new SimClock(NOW);
  readonly tasks = new FakeTasks(METHODS);
  readonly stops: string[] = [];
  store: Store;
  outbox: Outbox;
  intake: CommandIntake;
  clockTrusted = true;
  readonly #directory = mkdtempSync(join(tmpdir(), 'intake-'));
  readonly #ids = new Ids(() => this.clock.now(), seededRandom(1));
  readonly #key: KeyObject | null;

  constructor(options: { commandKey?: KeyObject } = {}) {
    this.#key = options.commandKey ?? null;
    this.store = this.#openStore();
    this.outbox = this.#openOutbox();
    this.intake = this.#build();
  }

  /** Closes and opens the store again, as a restart of the daemon does. */
  restart(): void {
    this.store.close();
    this.store = this.#openStore();
    this.outbox = this.#openOutbox();
    this.intake = this.#build();
  }

  dispose(): void {
    this.store.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Sends bytes as MQTT does; `null` where nothing is answered. */
  bytes(
    payload: unknown,
    options: { retained?: boolean; principal?: Principal } = {},
  ): CommandResponse | null {
    const bytes = Buffer.isBuffer(payload)
      ? payload
      : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
    return this.intake.handleBytes(
      bytes,
      { retained: options.retained ?? false },
      options.principal ?? CLOUD,
    );
  }

  /** As `bytes`, for what is always answered. */
  send(payload: unknown, options: { retained?: boolean; principal?: Principal } = {}): CommandResponse {
    const response = this.bytes(payload, options);
    if (response === null) throw new Error('no answer');
    return response;
  }

  /** Answers waiting in the outbox, with their topics; those of earlier calls included. */
  async answers(): Promise<{ topic: string; payload: CommandResponse }[]> {
    await this.store.committed();
    const rows = this.outbox.peek(0, 1000).filter((row) => row.lane === 'response');
    return rows.map((row) => ({ topic: row.topic, payload: JSON.parse(row.payload) }));
  }

  #openStore(): Store {
    return Store.open({
      file: join(this.#directory, 'store.db'),
      clock: this.clock,
      ids: this.#ids,
      log: SILENT_LOG,
    });
  }

  #openOutbox(): Outbox {
    return new Outbox({
      store: this.store,
      clock: this.clock,
      ids: this.#ids,
      deviceId: 'da-test',
      bootId: 'b-1',
    });
  }

  #build(): CommandIntake {
    return createIntake({
      deviceId: 'da-test',
      clock: this.clock,
      ids: this.#ids,
      store: this.store,
      outbox: this.outbox,
      memory: new CommandTable(this.store),
      tasks: this.tasks,
      methods: METHODS,
      resolveCapability: (id, params) => {
        const method = CARDS[id];
        if (method === undefined)
          throw new Refusal('UNKNOWN_CAPABILITY', `capability: found "${id}"`, 'capability');
        return { method, params };
      },
      policy: loadPolicy(),
      windowMs: 120_000,
      clockTrusted: () => this.clockTrusted,
      estop: async (by) => {
        this.stops.push(by);
      },
      context: ({ version, maxBytes }) => ({
        contract_version: `device_context.v${version}`,
        maxBytes: maxBytes ?? null,
      }),
      capabilities: () => [
        {
          id: 'move_to_room',
          cloudIds: ['move_to'],
          title: { ko: '이동', en: 'Move' },
          built: true,
          available: true,
          reasonCode: null,
          reason: null,
          methods: ['setMoveTo'],
        },
      ],
      outboxStats: () => this.outbox.stats(),
      commandKey: this.#key,
      log: SILENT_LOG,
    });
  }
}

const CARDS: Record<string, string> = {
  move_to_room: 'setMoveTo',
  move_to: 'setMoveTo',
  stop_movement: 'stopMove',
  security_patrol: 'startSecurityMode',
};

let counter = 0;

/** A well-formed envelope around `fields`, with a fresh `command_id`. */
export function envelope(fields: Change): Change {
  counter += 1;
  return {
    command_id: `c-${counter}`,
    correlation_id: `co-${counter}`,
    reply_to: null,
    issued_at: isoWithOffset(NOW, 540),
    expires_at: null,
    ...fields,
  };
}

export function move(fields: Change = {}): Change {
  return envelope({
    kind: 'task',
    method: 'setMoveTo',
    params: { positionName: '거실' },
    task: {},
    ...fields,
  });
}

export function workflow(steps: Change[], fields: Change = {}): Change {
  return envelope({ kind: 'workflow', workflow: { workflow_id: `wf-${counter}`, steps }, ...fields });
}

const METHODS: readonly MethodSpec[] = [
  method('setMoveTo', 'movement.arrived', 'stopMove', 'motion'),
  method('stopMove', 'movement.stopped', null, null),
  method('stopTts', 'tts.playbackCancelled', null, null),
  method('startCleaning', 'cleaning.stopped', 'stopCleaning', 'fan'),
];

function method(
  name: string,
  target: string,
  cancel: string | null,
  resource: 'motion' | 'fan' | null,
): MethodSpec {
  return defineMethod({
    name,
    executor: 'test',
    summary: name,
    params: z.record(z.string(), z.unknown()),
    output: z.unknown(),
    resources: resource === null ? [] : [{ resource, mode: 'exclusive' }],
    completionTarget: target,
    preconditionText: '',
    cancel: cancel === null ? null : { method: cancel, proof: 'still' },
    compensation: null,
    timeoutMs: 1000,
    stopGraceMs: 1000,
    risk: 'low',
    idempotent: true,
    run: async () => {
      throw new Error('nothing runs here');
    },
  });
}
