/** Waiting for the end of a task or a workflow: progress on standard error, the exit code by the result. */
import type { TaskView, WorkflowView } from '../../views.js';
import type { Cli } from '../cli.js';
import { type Followed, type Following, follow } from '../client/event-follower.js';
import { clockTime, facts, reason } from '../format.js';
import { CliError, EXIT } from '../io.js';
import type { Language } from '../language.js';
import { progressOfEvent } from '../progress.js';
import { createTerminal, type Terminal } from '../simulation/terminal.js';

export interface Target {
  kind: 'task' | 'workflow';
  id: string;
}

type Ended = TaskView | WorkflowView;
type Payload = Record<string, unknown>;

const TERMINAL_STATES: readonly string[] = ['COMPLETED', 'FAILED', 'CANCELLED'];

/**
 * Begins to follow, has `submit` make the target, and waits for its end. Following begins first: an end that
 * comes before the answer to the submission is not missed. Prints the result and returns the exit code.
 */
export async function submitAndWait(cli: Cli, submit: () => Promise<Target>): Promise<number> {
  const parts = { client: cli.client, t: cli.t, signal: cli.io.interrupted };
  const stream = await follow(parts, { since: null });
  const terminal = createTerminal(cli.io.stderr, cli.json);
  try {
    const target = await submit();
    const ended = await untilEnd(cli, stream, target, terminal);
    terminal.live('');
    if (ended === null) {
      cli.note(cli.t('goesOn', { kind: target.kind, id: target.id }));
      return EXIT.interrupted;
    }
    return ended.state === 'COMPLETED' ? EXIT.ok : EXIT.failed;
  } finally {
    terminal.live('');
    stream.close();
  }
}

/** Null when the person would not wait any longer. */
async function untilEnd(
  cli: Cli,
  stream: Following,
  target: Target,
  terminal: Terminal,
): Promise<Ended | null> {
  const already = await stateIfThere(cli, target);
  if (already !== null && TERMINAL_STATES.includes(already.state)) return printed(cli, already);
  for await (const message of stream) {
    if (message.type === 'lost') terminal.print(cli.t('reconnecting'));
    const mayHaveEnded = message.type === 'back' || message.type === 'gap' || isEndOf(message, target);
    if (mayHaveEnded) {
      const now = await stateIfThere(cli, target);
      terminal.live('');
      if (now !== null && TERMINAL_STATES.includes(now.state)) return printed(cli, now);
    }
    show(message, target, terminal, cli.language);
  }
  return null;
}

/** Null while no daemon answers: the stream says when it is back, and it is asked again then. */
async function stateIfThere(cli: Cli, { kind, id }: Target): Promise<Ended | null> {
  try {
    return await cli.client.get<Ended>(`/api/${kind}s/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.noDaemon) return null;
    throw error;
  }
}

function printed(cli: Cli, ended: Ended): Ended {
  cli.result(ended, () => summary(cli.language, ended));
  return ended;
}

/** `COMPLETED  setMoveTo  movement.arrived, area_id 2, idle true` */
function summary(language: Language, ended: Ended): string {
  const what = 'task_id' in ended ? ended.method : (ended.goal ?? ended.workflow_id);
  const why = reason(language, ended.reason_code, ended.message);
  const proof = 'task_id' in ended ? facts(ended.evidence) : steps(language, ended);
  return [ended.state, what, why, proof].filter((part) => part !== '').join('  ');
}

function steps(language: Language, { steps: all }: WorkflowView): string {
  const lines = all.map(
    (s) =>
      `  ${s.step_id}  ${s.state}  ${s.method}  ${reason(language, s.reason_code, s.message)}${facts(s.evidence)}`,
  );
  return `\n${lines.join('\n')}`;
}

function payloadOf(message: Followed): Payload | null {
  return message.type === 'event' || message.type === 'progress' ? message.payload : null;
}

function concerns(payload: Payload, { kind, id }: Target): boolean {
  return payload[kind === 'task' ? 'task_id' : 'workflow_id'] === id;
}

function isEndOf(message: Followed, target: Target): boolean {
  const payload = payloadOf(message);
  if (payload === null || !concerns(payload, target)) return false;
  const own = target.kind === 'task' || (payload.task_id === null && payload.step_id === null);
  return own && TERMINAL_STATES.includes(String(payload.event));
}

function show(message: Followed, target: Target, terminal: Terminal, language: Language): void {
  const payload = payloadOf(message);
  if (payload === null || !concerns(payload, target)) return;
  const line = eventLine(payload, language);
  if (message.type === 'progress') terminal.live(line);
  else terminal.print(line);
}

/** `09:00:41  COMPLETED  s2  setMoveTo  navigation.arrived  area_id 2` */
export function eventLine(payload: Payload, language: Language): string {
  const seen = payload.observed_at_ms;
  const at = typeof seen === 'number' ? seen : Date.parse(String(payload.occurred_at ?? ''));
  const when = Number.isFinite(at) ? clockTime(at) : '';
  const far = payload.event === 'PROGRESS' ? progressOfEvent(language, payload.progress) : null;
  if (far !== null) return `${when}  ${far}`;
  const parts = [
    when,
    payload.event ?? payload.type,
    payload.step_id ?? '',
    payload.method ?? '',
    payload.domain_stage ?? '',
    reason(language, textOrNull(payload.reason_code), textOrNull(payload.message)),
    facts(payload.progress ?? payload.evidence ?? payload.attributes),
  ];
  return parts
    .map((part) => String(part ?? ''))
    .filter((part) => part !== '')
    .join('  ');
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
