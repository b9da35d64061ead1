/** `deviceagent events`: one line per event, for people or as JSON lines. */
import type { Cli } from '../cli.js';
import { follow } from '../client/event-follower.js';
import { EXIT } from '../io.js';
import { wholeNumber } from '../options.js';
import { eventLine } from './wait.js';

const RECENT = 20;
const PAGE = 500;

interface Page {
  events: { seq: number; topic: string; payload: Record<string, unknown> }[];
  next_since: number;
}

export async function showEvents(cli: Cli, options: { follow?: boolean; since?: string }): Promise<number> {
  const since =
    options.since === undefined
      ? null
      : wholeNumber(cli, '--since', options.since, 0, Number.MAX_SAFE_INTEGER);
  const from = await printStored(cli, since);
  return options.follow === true ? followOn(cli, from) : EXIT.ok;
}

/** Prints what there is and returns where it ended. */
async function printStored(cli: Cli, since: number | null): Promise<number> {
  let query = since === null ? `limit=${RECENT}` : `since=${since}&limit=${PAGE}`;
  for (;;) {
    const page = await cli.client.get<Page>(`/api/events?${query}`);
    for (const event of page.events) print(cli, event.seq, event.topic, event.payload);
    if (since === null || page.events.length < PAGE) return page.next_since;
    query = `since=${page.next_since}&limit=${PAGE}`;
  }
}

async function followOn(cli: Cli, since: number): Promise<number> {
  const parts = { client: cli.client, t: cli.t, signal: cli.io.interrupted };
  const stream = await follow(parts, { since }).catch((error: unknown) => {
    // Ctrl-C is how following ends, also before it has begun.
    if (cli.io.interrupted.aborted) return [];
    throw error;
  });
  for await (const message of stream) {
    if (message.type === 'event') print(cli, message.seq, message.topic, message.payload);
    if (message.type === 'progress' && !cli.json)
      cli.line(`        ${eventLine(message.payload, cli.language)}`);
    if (message.type === 'progress' && cli.json) cli.jsonLine({ telemetry: true, payload: message.payload });
    if (message.type === 'gap') cli.note(cli.t('gap', { from: message.from, to: message.to }));
    if (message.type === 'lost') cli.note(cli.t('reconnecting'));
  }
  return EXIT.ok;
}

function print(cli: Cli, seq: number, topic: string, payload: Record<string, unknown>): void {
  if (cli.json) cli.jsonLine({ seq, topic, payload });
  else cli.line(`${`#${seq}`.padEnd(7)} ${eventLine(payload, cli.language)}`);
}
