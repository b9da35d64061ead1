/**
 * What the cloud asked for and what it was answered. A command may be answered more than once (QoS 1), but only the
 * first answer may accept anything: every later one repeats it.
 */
import type { Problem } from './event-book.js';
import { asText, type JsonObject, parseObject } from './json.js';

export interface Answer {
  status: 'accepted' | 'rejected';
  taskId: string | null;
  workflowId: string | null;
  scheduleId: string | null;
  duplicate: boolean;
  reasonCode: string | null;
  message: string | null;
  result: JsonObject | null;
}

export interface SentCommand {
  id: string;
  kind: string;
  /** Method, capability or id of the workflow: for people. */
  what: string;
  /** Exactly as it was published, so that it can be sent again; null for what came over another channel. */
  text: string | null;
  /** Null until the device has answered. */
  answer: Answer | null;
  answers: number;
}

export type CommandProblemKind = 'answered_differently' | 'accepted_without_id' | 'stray_answer';

/** Kinds whose acceptance promises a terminal event. */
const WORK: readonly string[] = ['task', 'legacy', 'workflow'];

export class CommandBook {
  readonly problems: Problem<CommandProblemKind>[] = [];
  readonly #sent = new Map<string, SentCommand>();

  sent(command: Pick<SentCommand, 'id' | 'kind' | 'what' | 'text'>): SentCommand {
    const entry: SentCommand = { ...command, answer: null, answers: 0 };
    this.#sent.set(command.id, entry);
    return entry;
  }

  /** One message of `command/response`; the command it answers for the first time, otherwise null. */
  answered(text: string): SentCommand | null {
    const payload = parseObject(text);
    const command = this.#sent.get(asText(payload?.command_id) ?? '');
    const answer = payload === null ? null : readAnswer(payload);
    if (command === undefined || answer === null) {
      this.#complain('stray_answer', text.slice(0, 600));
      return null;
    }
    command.answers += 1;
    if (command.answer === null) {
      command.answer = answer;
      if (promised(command) === null && answer.status === 'accepted' && WORK.includes(command.kind)) {
        this.#complain('accepted_without_id', `${command.id} (${command.what})`);
      }
      return command;
    }
    const { status, taskId, workflowId } = command.answer;
    if (answer.status !== status || answer.taskId !== taskId || answer.workflowId !== workflowId) {
      this.#complain(
        'answered_differently',
        `${command.id} (${command.what}): ${status} ${taskId ?? workflowId}, then ${answer.status} ${answer.taskId ?? answer.workflowId}`,
      );
    }
    return null;
  }

  get all(): readonly SentCommand[] {
    return [...this.#sent.values()];
  }

  get unanswered(): SentCommand[] {
    return this.all.filter((command) => command.answer === null);
  }

  /** Every accepted command that promises an end, with the id under which the end is announced. */
  get promises(): { command: SentCommand; id: string }[] {
    return this.all.flatMap((command) => {
      const id = promised(command);
      return id === null ? [] : [{ command, id }];
    });
  }

  /** Schedules that were accepted. */
  get schedules(): string[] {
    return this.all.flatMap(({ kind, answer }) =>
      kind.startsWith('schedule_') && answer?.status === 'accepted' && answer.scheduleId !== null
        ? [answer.scheduleId]
        : [],
    );
  }

  #complain(kind: CommandProblemKind, text: string): void {
    this.problems.push({ kind, text });
  }
}

/** Id of the task or workflow that an accepted command has brought about, or null. */
function promised({ kind, answer }: SentCommand): string | null {
  if (answer?.status !== 'accepted' || !WORK.includes(kind)) return null;
  return kind === 'workflow' ? answer.workflowId : answer.taskId;
}

function readAnswer(payload: JsonObject): Answer | null {
  const { status, duplicate } = payload;
  if (status !== 'accepted' && status !== 'rejected') return null;
  return {
    status,
    taskId: asText(payload.task_id),
    workflowId: asText(payload.workflow_id),
    scheduleId: asText(payload.schedule_id),
    duplicate: duplicate === true,
    reasonCode: asText(payload.reason_code),
    message: asText(payload.message),
    result: typeof payload.result === 'object' ? (payload.result as JsonObject | null) : null,
  };
}
