/** `deviceagent outbox …` */
import type { DeadLetterView, OutboxView } from '../../views.js';
import type { Cli } from '../cli.js';
import { span } from '../format.js';
import { EXIT } from '../io.js';
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

export async function deadLetters(cli: Cli): Promise<number> {
  const answer = await cli.client.get<{ dead_letters: DeadLetterView[] }>(
    '/api/outbox/dead-letters?limit=500',
  );
  const { t } = cli;
  cli.result(answer, () =>
    answer.dead_letters.length === 0
      ? t('noLetters')
      : cli.table(
          [t('hId'), 'seq', t('hTopic'), t('hReason'), t('hTries')],
          answer.dead_letters.map((l) => [
            String(l.id),
            l.seq === null ? null : String(l.seq),
            l.topic,
            l.reason,
            String(l.attempts),
          ]),
        ),
  );
  return EXIT.ok;
}

export async function changeLetters(cli: Cli, verb: 'requeue' | 'drop', ids: string[]): Promise<number> {
  const numbers = ids.map((id) => wholeNumber(cli, 'ID', id, 1, Number.MAX_SAFE_INTEGER));
  for (const id of numbers) {
    const path = `/api/outbox/dead-letters/${id}`;
    await cli.client.call(
      verb === 'drop' ? { method: 'DELETE', path } : { method: 'POST', path: `${path}/requeue`, body: {} },
    );
  }
  const id = numbers.join(', ');
  cli.result({ [verb]: numbers }, () => cli.t(verb === 'drop' ? 'dropped' : 'requeued', { id }));
  return EXIT.ok;
}
