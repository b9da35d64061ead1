/**
 * Driving by hand over a WebSocket: each press of a button is a task of its own, kept alive by messages on the socket
 * that pressed it. A socket that is gone, silent or no longer allowed lets go of everything it held.
 */
import { isoWithOffset } from '../../../config/contracts/clock.js';
import { describeZodError } from '../../../config/contracts/errors.js';
import type { TaskEvent } from '../../../config/contracts/wire/events.js';
import type { Runtime } from '../../runtime.js';
import type { ApiCounters } from '../counters.js';
import type { Caller } from '../types.js';
import { StreamClients } from './clients.js';
import { type DriveAsk, type DriveMessage, driveAsk } from './messages.js';
import { OPEN, type TalkingSocket } from './socket.js';

export interface DriveStreamParts {
  runtime: Runtime;
  clock: ConstructorParameters<typeof StreamClients>[0];
  counters: ApiCounters;
  secret(bytes: number): string;
}

/** Ten signs of life a second are plenty; a socket that says more than this is closed. */
const MOST_A_SECOND = 60;
const TOO_MUCH = 1008;
const SESSION_ENDED = 4401;
const METHOD = 'manualMove';
const TERMINAL = ['COMPLETED', 'FAILED', 'CANCELLED'];

interface Driver {
  socket: TalkingSocket;
  caller: Caller;
  /** Tasks of the presses of this socket that are not over, the newest last; whether it still holds them. */
  presses: Map<string, boolean>;
  /** Messages in the second that began at this time, mono ms. */
  heard: { since: number; count: number };
}

export class DriveStream {
  readonly #parts: DriveStreamParts;
  readonly #clients: StreamClients<Driver>;
  #unsubscribe: () => void = () => {};

  constructor(parts: DriveStreamParts) {
    this.#parts = parts;
    this.#clients = new StreamClients(parts.clock, parts.counters, {
      first: () => {
        this.#unsubscribe = parts.runtime.tasks.onEvent((event) => this.#ended(event));
      },
      last: () => this.#unsubscribe(),
    });
  }

  get full(): boolean {
    return this.#clients.full;
  }

  follow(socket: TalkingSocket, caller: Caller): void {
    const driver: Driver = { socket, caller, presses: new Map(), heard: { since: 0, count: 0 } };
    socket.on('close', () => this.#letGo(driver));
    socket.on('message', (data) => this.#hear(driver, data.toString()));
    this.#clients.add(driver, socket, caller);
  }

  closeAll(): void {
    for (const driver of this.#clients.keys()) this.#letGo(driver);
    this.#clients.closeAll();
  }

  #hear(driver: Driver, text: string): void {
    if (driver.socket.readyState !== OPEN) return;
    if (this.#saysTooMuch(driver)) {
      this.#letGo(driver);
      driver.socket.close(TOO_MUCH, `at most ${MOST_A_SECOND} messages a second`);
      return;
    }
    if (!driver.caller.valid()) {
      this.#letGo(driver);
      driver.socket.close(SESSION_ENDED, 'the session has ended');
      return;
    }
    const ask = parsed(text);
    if ('problem' in ask)
      this.#send(driver, { type: 'refused', code: 'INVALID_PARAMS', message: ask.problem });
    else this.#obey(driver, ask.ask);
  }

  #obey(driver: Driver, ask: DriveAsk): void {
    if (ask.type === 'press') {
      this.#press(driver, ask);
      return;
    }
    const taskId = ask.task_id ?? [...driver.presses.keys()].pop();
    if (taskId === undefined) return;
    if (ask.type === 'release') this.#release(driver, taskId);
    else if (this.#mayHold(driver, taskId)) {
      driver.presses.set(taskId, true);
      this.#parts.runtime.presses.keep(taskId);
    }
  }

  /** Through the same gate as every other command; it drives now or not at all. */
  #press(driver: Driver, ask: Extract<DriveAsk, { type: 'press' }>): void {
    const { runtime, secret } = this.#parts;
    this.#letGo(driver);
    const { v, w, duration_ms: durationMs } = ask;
    const command = {
      command_id: `drive-${secret(16)}`,
      issued_at: isoWithOffset(runtime.clock.wall()),
      kind: 'task',
      method: METHOD,
      params: { v, w, ...(durationMs === undefined ? {} : { durationMs }) },
      task: { executionMode: 'IMMEDIATE' },
    };
    const answer = runtime.intake.handle(command, driver.caller.principal);
    if (answer.status === 'rejected' || answer.task_id === null) {
      const { reason_code: code, message } = answer;
      this.#send(driver, { type: 'refused', code: code ?? 'INTERNAL_ERROR', message: message ?? '' });
      return;
    }
    driver.presses.set(answer.task_id, true);
    runtime.presses.keep(answer.task_id);
    this.#send(driver, { type: 'pressed', task_id: answer.task_id });
  }

  /** A press of this socket, or one that was asked for elsewhere and that nobody else holds. */
  #mayHold(driver: Driver, taskId: string): boolean {
    const own = driver.presses.get(taskId);
    if (own !== undefined) return own;
    const others = [...this.#clients.keys()].some((other) => other.presses.has(taskId));
    const task = others ? null : this.#parts.runtime.tasks.getTask(taskId);
    const sameChannel = task?.method === METHOD && task.source === driver.caller.principal.source;
    if (sameChannel && task.endedAt === null) return true;
    const message = others ? 'somebody else holds this press' : 'there is no press of yours with this id';
    this.#send(driver, { type: 'refused', code: others ? 'RESOURCE_BUSY' : 'NOT_FOUND', message });
    return false;
  }

  #release(driver: Driver, taskId: string): void {
    if (driver.presses.get(taskId) !== true) return;
    driver.presses.set(taskId, false);
    this.#parts.runtime.presses.release(taskId);
  }

  #letGo(driver: Driver): void {
    for (const taskId of driver.presses.keys()) this.#release(driver, taskId);
  }

  #ended(event: TaskEvent): void {
    const { task_id: taskId } = event;
    if (taskId === null || event.method !== METHOD || !TERMINAL.includes(event.event)) return;
    for (const driver of this.#clients.keys()) {
      if (!driver.presses.delete(taskId)) continue;
      const ended = event.evidence?.ended;
      this.#send(driver, {
        type: 'ended',
        task_id: taskId,
        event: event.event,
        ended: typeof ended === 'string' ? ended : null,
        reason_code: event.reason_code,
        message: event.message,
      });
    }
  }

  #saysTooMuch(driver: Driver): boolean {
    const now = this.#parts.clock.mono();
    if (now - driver.heard.since >= 1000) driver.heard = { since: now, count: 0 };
    driver.heard.count += 1;
    return driver.heard.count > MOST_A_SECOND;
  }

  #send(driver: Driver, message: DriveMessage): void {
    if (driver.socket.readyState !== OPEN) return;
    driver.socket.send(JSON.stringify(message), () => {});
  }
}

function parsed(text: string): { ask: DriveAsk } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'a message has to be JSON' };
  }
  const result = driveAsk.safeParse(value);
  return result.success ? { ask: result.data } : { problem: describeZodError(result.error, value).message };
}
