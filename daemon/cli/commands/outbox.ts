/** `deviceagent outbox …` */
import type { DeadLetterView, OutboxView } from '../../views.js';
import type { Cli } from '../cli.js';
import { span } from '../format.js';
import { CliError, EXIT } from '../io.js';
import { wholeNumber } from '../options.js';

export async function outboxStatus(cli: Cli): Promise<number> {
  const status = await cli.client.get<OutboxView>('/api/outbox');
  cli.result(status, () =>
    cli.table(
      [cli.t('hField'), cli.t('hValue')],
      [
        [cli.t('outboxDepth'), String(status.depth)],
        [cli.t('outboxLanes'), lanes(status)],
        [cli.t('outboxBytes'), String(status.bytes)],
        [cli.t('outboxOldest'), status.oldest_age_ms === null ? '–' : span(status.oldest_age_ms)],
        [cli.t('outboxFlight'), String(status.in_flight)],
        [cli.t('outboxRates'), `${status.publish_per_s} / ${status.ack_per_s}`],
        [cli.t('outboxDead'), String(status.dead_letters)],
        [cli.t('outboxAccepting'), cli.t(status.accepting ? 'yes' : 'no')],
        [cli.t('outboxPublished'), String(status.published_total)],
        [cli.t('outboxDropped'), String(status.dropped_telemetry_total)],
        [cli.t('outboxNextSeq'), String(status.next_seq)],
        [cli.t('outboxEpoch'), status.store_epoch],
      ],
    ),
  );
  return EXIT.ok;
}

function lanes({ waiting }: OutboxView): string {
  return `${waiting.ordered} / ${waiting.response} / ${waiting.telemetry}`;
}

/** What the API gives at once. */
const PAGE = 500;

export async function deadLetters(cli: Cli): Promise<number> {
  const answer = await cli.client.get<{ dead_letters: DeadLetterView[] }>(letters());
  const status = await cli.client.get<OutboxView>('/api/outbox');
  const { t } = cli;
  cli.result({ ...answer, total: status.dead_letters }, () => {
    if (answer.dead_letters.length === 0) return t('noLetters');
    const table = cli.table(
      [t('hId'), 'seq', t('hTopic'), t('hReason'), t('hTries')],
      answer.dead_letters.map((l) => [
        String(l.id),
        l.seq === null ? null : String(l.seq),
        l.topic,
        l.reason,
        String(l.attempts),
      ]),
    );
    const more = status.dead_letters - answer.dead_letters.length;
    return more > 0 ? `${table}\n${t('moreLetters', { count: more })}` : table;
  });
  return EXIT.ok;
}

/** `ids`: numbers, or the word `all`. One that is not there does not keep the others; it makes the exit code 1. */
export async function changeLetters(cli: Cli, verb: 'requeue' | 'drop', ids: string[]): Promise<number> {
  const wanted = ids.includes('all')
    ? await everyId(cli)
    : ids.map((id) => wholeNumber(cli, 'ID', id, 1, Number.MAX_SAFE_INTEGER));
  const done: number[] = [];
  const missing: number[] = [];
  for (const id of wanted) ((await changeOne(cli, verb, id)) ? done : missing).push(id);
  cli.result({ [verb]: done, not_found: missing }, () => {
    const lines =
      done.length === 0 ? [] : [cli.t(verb === 'drop' ? 'dropped' : 'requeued', { id: done.join(', ') })];
    if (wanted.length === 0) lines.push(cli.t('noLetters'));
    return lines.join('\n');
  });
  if (missing.length === 0) return EXIT.ok;
  cli.note(cli.t('lettersMissing', { id: missing.join(', ') }));
  return EXIT.failed;
}

/** False when there is none with this id. */
async function changeOne(cli: Cli, verb: 'requeue' | 'drop', id: number): Promise<boolean> {
  const path = `/api/outbox/dead-letters/${id}`;
  try {
    await cli.client.call(
      verb === 'drop' ? { method: 'DELETE', path } : { method: 'POST', path: `${path}/requeue`, body: {} },
    );
    return true;
  } catch (error) {
    if (!(error instanceof CliError) || !isNotFound(error.body)) throw error;
    return false;
  }
}

/** Those that are there now: what is refused again meanwhile is not among them. */
async function everyId(cli: Cli): Promise<number[]> {
  const ids: number[] = [];
  for (;;) {
    const page = await cli.client.get<{ dead_letters: DeadLetterView[] }>(letters(ids.at(-1)));
    ids.push(...page.dead_letters.map(({ id }) => id));
    if (page.dead_letters.length < PAGE) return ids;
  }
}

function letters(after = 0): string {
  return `/api/outbox/dead-letters?limit=${PAGE}&after=${after}`;
}

function isNotFound(json: object | null): boolean {
  const error = json !== null && 'error' in json ? json.error : null;
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'NOT_FOUND';
}
