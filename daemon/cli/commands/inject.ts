/** `deviceagent sim inject …`: one JSON line to the simulation's socket, one JSON line back. */
import { connect } from 'node:net';
import { controlSocketPath } from '../../../simulator/control/socket-path.js';
import type { Cli } from '../cli.js';
import { CliError, EXIT } from '../io.js';
import { said } from '../words-ko.js';

const TIMEOUT_MS = 15_000;

interface Answer {
  ok: boolean;
  message?: string;
  error?: string;
}

export async function inject(cli: Cli, command: string[]): Promise<number> {
  const path = controlSocketPath(cli.stateDir);
  const answer = await ask(cli, path, JSON.stringify({ inject: command }));
  const words = (text: string) => said(cli.language, 'simulator', text);
  if (!answer.ok) throw new CliError(words(answer.error ?? 'refused'), EXIT.failed, answer);
  cli.result(answer, () => (answer.message === undefined ? cli.t('accepted') : words(answer.message)));
  return EXIT.ok;
}

function ask(cli: Cli, path: string, line: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path }, () => socket.write(`${line}\n`));
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(TIMEOUT_MS, () => {
      reject(new CliError(cli.t('noAnswer', { seconds: TIMEOUT_MS / 1000 }), EXIT.noDaemon));
      socket.destroy();
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0) return;
      socket.end();
      resolve(parsed(text.slice(0, end)));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const gone = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      const why = gone
        ? cli.t('noSimulation', { path })
        : cli.t('broken', { why: error.code ?? error.message });
      reject(new CliError(why, EXIT.noDaemon));
    });
    socket.on('close', () => reject(new CliError(cli.t('broken', { why: 'closed' }), EXIT.noDaemon)));
  });
}

function parsed(text: string): Answer {
  try {
    const answer: unknown = JSON.parse(text);
    if (answer !== null && typeof answer === 'object' && 'ok' in answer) return answer as Answer;
  } catch {
    // Said below.
  }
  return { ok: false, error: `not understood: ${text.slice(0, 200)}` };
}
