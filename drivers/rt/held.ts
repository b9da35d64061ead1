/**
 * A motion process that was started ahead: instead of its configuration it is given a word, loads its program, and
 * touches no port and no file until the configuration comes over its channel. Imports nothing.
 */

/** Stands in place of the configuration. */
export const HELD = 'held';

/** The first message to a held process; `text` is what a process that is not held gets as its argument. */
export interface HeldConfig {
  t: 'config';
  text: string;
}

/** The configuration as text, whichever way it comes. A held process that loses its daemon ends. */
export function configurationText(argument: string | undefined): Promise<string | undefined> {
  if (argument !== HELD) return Promise.resolve(argument);
  return new Promise((resolve) => {
    const lost = () => process.exit(0);
    process.once('disconnect', lost);
    process.once('message', (message: unknown) => {
      process.off('disconnect', lost);
      resolve(isConfig(message) ? message.text : undefined);
    });
  });
}

function isConfig(message: unknown): message is HeldConfig {
  return (
    typeof message === 'object' &&
    message !== null &&
    't' in message &&
    message.t === 'config' &&
    'text' in message &&
    typeof message.text === 'string'
  );
}
