/** The one gate for requests from outside: reads, judges, carries out and remembers, in one store transaction. */
import { isoWithOffset } from '../../config/contracts/clock.js';
import { errorText, isRefusal, Refusal } from '../../config/contracts/errors.js';
import type { Command, CommandResponse } from '../../config/contracts/wire/command.js';
import { StoreError } from '../store/store-error.js';
import type { Accepted } from './actions/accepted.js';
import { control } from './actions/control.js';
import { query } from './actions/query.js';
import { scheduleTask, scheduleWorkflow } from './actions/schedule.js';
import { submitTask } from './actions/submit-task.js';
import { submitWorkflow } from './actions/submit-workflow.js';
import { actAtArrival } from './at-arrival.js';
import { type Address, judgeReply, NOWHERE, readAddress, readCommand } from './envelope.js';
import { EMERGENCY_STOP, isExempt } from './exemptions.js';
import {
  isObject,
  type JsonObject,
  readPayload,
  readValue,
  requireNoSource,
  requireUniqueKeys,
} from './read-payload.js';
import { scanPayload } from './scan.js';
import { digestOf, requireSignature } from './signature.js';
import { judgeTimes, keepUntil } from './timestamps.js';
import type { ArrivalMeta, CommandIntake, IntakeDeps, Principal } from './types.js';

/** A message that was read, or the reason why it could not be. */
interface Message {
  read(): JsonObject;
  /** Throws `Refusal` for what was read and still cannot be told apart from something else. */
  requireUnambiguous(): void;
  retained: boolean;
  emergencyStop: boolean;
  /** The emergency stop was carried out already. */
  stopActed?: boolean;
}

/** Which answers are remembered under their `command_id`: those that claimed it. */
interface Verdict {
  response: CommandResponse;
  claim: { key: string; digest: string; body: JsonObject } | null;
}

/** Longest answer to a query that is kept for a repetition, characters; stands in its place when it is longer. */
const KEEP_RESULT = 2048;
const OMITTED = 'omitted';

export function createIntake(deps: IntakeDeps): CommandIntake {
  return new CommandGate(deps);
}

class CommandGate implements CommandIntake {
  readonly #deps: IntakeDeps;
  readonly #counters = new Map<string, number>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  handle(raw: unknown, principal: Principal): CommandResponse {
    const emergencyStop = isObject(raw) && raw.method === EMERGENCY_STOP;
    return this.#process(
      { read: () => readValue(raw), requireUnambiguous: () => {}, retained: false, emergencyStop },
      principal,
    );
  }

  actAtArrival(payload: Uint8Array, meta: ArrivalMeta, principal: Principal): Promise<void> | null {
    const { tasks, methods } = this.#deps;
    try {
      return actAtArrival(payload, meta, { tasks, methods, emergencyStop: () => this.#stopNow(principal) });
    } catch (error) {
      this.#deps.log.error(
        { error: errorText(error) },
        'a stop could not act at its arrival; its turn comes',
      );
      return null;
    }
  }

  handleBytes(
    payload: Uint8Array,
    meta: { retained: boolean; stopActed?: boolean },
    principal: Principal,
  ): CommandResponse | null {
    if (payload.length === 0) {
      this.#count('empty_total');
      return null;
    }
    const scan = scanPayload(payload);
    const emergencyStop = scan.method === EMERGENCY_STOP;
    return this.#process(
      {
        read: () => readPayload(payload, scan),
        requireUnambiguous: () => requireUniqueKeys(payload),
        ...meta,
        emergencyStop,
      },
      principal,
    );
  }

  counters(): Record<string, number> {
    return Object.fromEntries([...this.#counters].map(([name, value]) => [`intake_${name}`, value]));
  }

  /** Throws `StoreError` only: then nothing was stored and the message has to come again. */
  #process(message: Message, principal: Principal): CommandResponse {
    if (message.emergencyStop && message.stopActed !== true) this.#stopNow(principal).catch(() => undefined);
    return this.#deps.store.write(() => {
      const { response, address } = this.#answer(message, principal);
      if (principal.source === 'CLOUD') this.#deps.outbox.appendResponse(address.replyTopic, response);
      return response;
    });
  }

  /** Before anything is read, judged or stored, and whatever comes of that. Rejects where it is not confirmed. */
  async #stopNow(principal: Principal): Promise<void> {
    this.#count('emergency_stops_total');
    try {
      await this.#deps.estop(principal.name);
    } catch (error) {
      this.#deps.log.error(
        { error: errorText(error), by: principal.name },
        'the emergency stop was not confirmed',
      );
      throw error;
    }
  }

  #answer(message: Message, principal: Principal): { response: CommandResponse; address: Address } {
    let address: Address = NOWHERE;
    let body: JsonObject = {};
    try {
      body = message.read();
      address = readAddress(body, this.#deps.deviceId);
      const { response, claim } = this.#judge(body, address, message, principal);
      if (claim !== null) this.#remember(claim, response);
      return { response, address };
    } catch (error) {
      return { response: this.#rejected(error, body, address, message), address };
    }
  }

  /** Throws `Refusal` for what claims no `command_id`: unsigned, retained, without a usable id, or contradicting. */
  #judge(body: JsonObject, address: Address, message: Message, principal: Principal): Verdict {
    const { memory, commandKey } = this.#deps;
    message.requireUnambiguous();
    requireNoSource(body);
    const exempt = isExempt(body, this.#deps.tasks, (capability) => this.#methodOf(capability));
    if (commandKey !== null && principal.source === 'CLOUD' && !exempt) requireSignature(body, commandKey);
    const key = address.commandId === null ? null : memoryKey(address.commandId, principal);
    const digest = digestOf(digested(body, principal));
    const known = key === null ? null : memory.find(key);
    if (known !== null && known.digest === digest && known.response.result === OMITTED) {
      // A question may be asked again: what it was answered the first time was too long to keep.
      return {
        response: { ...this.#carryOut(body, address, exempt, message, principal), duplicate: true },
        claim: null,
      };
    }
    if (known !== null)
      return { response: this.#again(known.response, known.digest === digest, address), claim: null };
    if (message.retained) {
      throw new Refusal(
        'POLICY_DENIED',
        'retained: a command is never retained; it was refused and cleared',
        'retained',
      );
    }
    if (!exempt) this.#requireRoom();
    const response = this.#carryOut(body, address, exempt, message, principal);
    return { response, claim: key === null || !memory.hasRoom() ? null : { key, digest, body } };
  }

  #carryOut(
    body: JsonObject,
    address: Address,
    exempt: boolean,
    message: Message,
    principal: Principal,
  ): CommandResponse {
    try {
      const command = readCommand(body, !exempt);
      if (!exempt) this.#judgeTimes(command);
      judgeReply(command, this.#deps.deviceId);
      // A refusal half-way undoes what was stored for this command, not the answer to it.
      const accepted = this.#deps.store.write(() => this.#act(command, principal));
      return this.#accepted(accepted, address);
    } catch (error) {
      return this.#rejected(error, body, address, message);
    }
  }

  #act(command: Command, principal: Principal): Accepted {
    switch (command.kind) {
      case 'task':
      case 'legacy':
        return submitTask(command, principal, this.#deps);
      case 'workflow':
        return submitWorkflow(command, principal, this.#deps);
      case 'schedule_task':
        return scheduleTask(command, principal, this.#deps);
      case 'schedule_workflow':
        return scheduleWorkflow(command, principal, this.#deps);
      case 'control':
        return control(command, principal, this.#deps);
      case 'query':
        return query(command, principal, this.#deps);
    }
  }

  #judgeTimes(command: Command): void {
    judgeTimes(command.issued_at, command.expires_at ?? null, {
      now: this.#deps.clock.wall(),
      windowMs: this.#deps.windowMs,
      clockTrusted: this.#deps.clockTrusted(),
    });
  }

  /** The first answer again, marked; or the refusal of an id that stood over another body. */
  #again(first: CommandResponse, sameBody: boolean, address: Address): CommandResponse {
    if (sameBody) {
      this.#count('duplicates_total');
      return { ...first, duplicate: true };
    }
    throw new Refusal(
      'COMMAND_ID_REUSED',
      `command_id: ${address.commandId} was used for another command; every command needs its own`,
      'command_id',
    );
  }

  #requireRoom(): void {
    const { memory, clock, outbox } = this.#deps;
    if (this.#deps.clockTrusted()) memory.prune(clock.wall());
    if (memory.hasRoom() && outbox.hasRoom()) return;
    throw new Refusal(
      'TASK_MANAGER_BUSY',
      'the store is full; commands are taken again once events have left it',
    );
  }

  #remember(claim: NonNullable<Verdict['claim']>, response: CommandResponse): void {
    const { clock, windowMs, memory } = this.#deps;
    const long = claim.body.kind === 'query' && JSON.stringify(response.result).length > KEEP_RESULT;
    memory.remember({
      commandId: claim.key,
      digest: claim.digest,
      response: long ? { ...response, result: OMITTED } : response,
      keepUntil: keepUntil(claim.body.issued_at, claim.body.expires_at, clock.wall(), windowMs),
    });
  }

  #methodOf(capability: string): string | null {
    try {
      return this.#deps.resolveCapability(capability, {}).method;
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  #accepted(accepted: Accepted, address: Address): CommandResponse {
    this.#count('accepted_total');
    return {
      ...this.#blank(address),
      status: 'accepted',
      task_id: accepted.taskId ?? null,
      workflow_id: accepted.workflowId ?? null,
      schedule_id: accepted.scheduleId ?? null,
      legacy: accepted.legacy ?? false,
      result: accepted.result ?? null,
    };
  }

  #rejected(error: unknown, body: JsonObject, address: Address, message: Message): CommandResponse {
    if (error instanceof StoreError) throw error;
    const refusal = isRefusal(error) ? error : this.#defect(error);
    this.#count('rejected_total');
    this.#count(`rejected_${refusal.reason.toLowerCase()}_total`);
    this.#deps.log.warn(
      { commandId: address.commandId, reason: refusal.reason, field: refusal.field ?? null },
      'a command was refused',
    );
    const stopped = message.emergencyStop ? 'The emergency stop was carried out. ' : '';
    return {
      ...this.#blank(address),
      status: 'rejected',
      legacy: asksForLegacy(body),
      reason_code: refusal.reason,
      message: `${stopped}${refusal.message}`,
    };
  }

  #defect(error: unknown): Refusal {
    const errorId = this.#deps.ids.make('err');
    const stack = error instanceof Error ? error.stack : String(error);
    this.#deps.log.error({ errorId, error: stack }, 'a defect while judging a command');
    return new Refusal('INTERNAL_ERROR', `a defect of the device; the log has it under ${errorId}`);
  }

  #blank(address: Address): CommandResponse {
    return {
      command_id: address.commandId,
      correlation_id: address.correlationId,
      status: 'rejected',
      task_id: null,
      workflow_id: null,
      schedule_id: null,
      duplicate: false,
      legacy: false,
      reason_code: null,
      message: null,
      result: null,
      at: isoWithOffset(this.#deps.clock.now()),
    };
  }

  #count(name: string): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + 1);
  }
}

/** Ids of one channel must not be taken by another; "/" stands in no id of the wire. */
function memoryKey(commandId: string, principal: Principal): string {
  return principal.source === 'CLOUD' ? commandId : `${principal.source}/${commandId}`;
}

/** The local API writes `issued_at` itself, anew with each request; there it is no part of what was asked. */
function digested(body: JsonObject, principal: Principal): JsonObject {
  if (principal.source === 'CLOUD') return body;
  const { issued_at: _issuedAt, ...asked } = body;
  return asked;
}

function asksForLegacy(body: JsonObject): boolean {
  if (body.kind === 'legacy') return true;
  if (body.kind !== 'task') return false;
  return body.task === undefined || (isObject(body.task) && body.task.managed === false);
}
