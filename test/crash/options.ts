/** The options of `npm run crash -- …`. */
import { parseArgs } from 'node:util';
import { BROKERS, type BrokerName, type Protocol } from './brokers.js';

export interface CrashOptions {
  kills: number;
  seed: number;
  json: boolean;
  /** A base whose firmware stops by itself when it hears nothing; a real Create 2 does not. */
  baseWatchdog: boolean;
  /** Where the robot keeps what it knows; null: a new folder, removed when everything was right. */
  stateDir: string | null;
  /** `both`: half of the kills with each. */
  broker: BrokerName | 'both';
  mqtt: Protocol | 'mix';
}

export const USAGE =
  'usage: npm run crash -- [--kills N] [--seed N] [--json] [--broker aedes|mosquitto|both] [--mqtt 4|5|mix] ' +
  '[--base-watchdog on|off] [--state-dir DIR]';

const MAX_KILLS = 10_000;
const CHOICES = {
  '--base-watchdog': ['on', 'off'],
  '--broker': [...BROKERS, 'both'],
  '--mqtt': ['4', '5', 'mix'],
} as const;

/** Throws an Error that names the option, the value and what is allowed. */
export function parseOptions(argv: readonly string[]): CrashOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      kills: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      broker: { type: 'string', default: 'both' },
      mqtt: { type: 'string', default: 'mix' },
      'base-watchdog': { type: 'string', default: 'off' },
      'state-dir': { type: 'string' },
    },
  });
  const mqtt = oneOf('--mqtt', values.mqtt);
  const broker = oneOf('--broker', values.broker);
  if (mqtt === '5' && broker === 'aedes') throw new Error('--mqtt: found "5"; aedes speaks 3.1.1 only');
  return {
    kills: wholeNumber('--kills', values.kills, 1, MAX_KILLS),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31 - 1),
    json: values.json,
    baseWatchdog: oneOf('--base-watchdog', values['base-watchdog']) === 'on',
    stateDir: values['state-dir'] ?? null,
    broker,
    mqtt: mqtt === '4' ? '3.1.1' : mqtt,
  };
}

function oneOf<N extends keyof typeof CHOICES>(name: N, text: string): (typeof CHOICES)[N][number] {
  const choices: readonly (typeof CHOICES)[N][number][] = CHOICES[name];
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new Error(`${name}: found "${text}"; allowed are ${choices.join(', ')}`);
  return found;
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${name}: found "${text}"; allowed is a whole number from ${min} to ${max}`);
}
