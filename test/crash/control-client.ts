/** One question to the simulation's control socket, one answer. */
import { connect } from 'node:net';
import { asText, parseObject } from './json.js';

const ANSWER_MS = 15_000;

/** Rejects with what the simulation says is wrong, or when it does not answer. */
export function askSimulation(socketPath: string, question: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath, () => socket.write(`${JSON.stringify(question)}\n`));
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_MS, () => {
      reject(new Error(`the simulation did not answer ${JSON.stringify(question)} within ${ANSWER_MS} ms`));
      socket.destroy();
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!chunk.includes('\n')) return;
      socket.end();
      const answer = parseObject(text);
      if (answer?.ok === true) resolve(answer.result ?? answer.message ?? null);
      else reject(new Error(`the simulation: ${asText(answer?.error) ?? text.slice(0, 200)}`));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the simulation closed its control socket')));
  });
}
