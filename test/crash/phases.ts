/** A whole run: half of the kills with the embedded broker, half with a real one on a disk that fills up. */
import { join } from 'node:path';
import { hasMosquitto } from '../support/mosquitto.js';
import type { CrashOptions } from './options.js';
import type { CrashReport } from './report.js';
import { runCrash } from './run.js';
import type { CrashRunOptions } from './run-options.js';

type Wanted = Omit<CrashOptions, 'json' | 'stateDir'> & Pick<CrashRunOptions, 'stateDir' | 'say'>;

const NO_MOSQUITTO = 'mosquitto is not installed (apt-get install mosquitto)';
/** Figures of which the worst counts; all others are added up. */
const WORST = /(_max|_ms|median|max|^seed)$/;

export async function runPhases(wanted: Wanted): Promise<CrashReport> {
  const phases = plannedPhases(wanted);
  const reports: CrashReport[] = [];
  for (const [i, phase] of phases.entries()) {
    wanted.say(`${phase.broker}, MQTT ${phase.mqtt}: ${phase.kills} kills`);
    // Each phase has kills and load of its own.
    reports.push(
      await runCrash({ ...phase, seed: wanted.seed + i, stateDir: join(wanted.stateDir, `phase-${i + 1}`) }),
    );
  }
  const whole = reports.reduce((sum, report) => merged(sum, report) as CrashReport);
  const missing = hasMosquitto || wanted.broker === 'aedes' ? [] : [`mosquitto: ${NO_MOSQUITTO}`];
  return {
    ...whole,
    seed: wanted.seed,
    skipped: [...whole.skipped, ...missing],
    ok: reports.every(({ ok }) => ok),
  };
}

function plannedPhases({ broker, kills, mqtt, ...rest }: Wanted): CrashRunOptions[] {
  const aedes = (n: number) =>
    ({ ...rest, kills: n, broker: 'aedes', mqtt: '3.1.1', oldDatabase: true }) as const;
  const mosquitto = (n: number) =>
    ({ ...rest, kills: n, broker: 'mosquitto', mqtt, oldDatabase: true, smallDisk: true }) as const;
  if (broker === 'mosquitto' && !hasMosquitto) throw new Error(NO_MOSQUITTO);
  if (broker === 'mosquitto') return [mosquitto(kills)];
  if (broker === 'aedes' || !hasMosquitto || kills < 2) return [{ ...aedes(kills), smallDisk: true }];
  return [aedes(Math.ceil(kills / 2)), mosquitto(Math.floor(kills / 2))];
}

/** Numbers are added, or the worst taken; lists are joined; both have to be true. */
function merged(a: unknown, b: unknown, name = ''): unknown {
  if (a === undefined || a === null) return b;
  if (b === undefined || b === null) return a;
  if (Array.isArray(a) && Array.isArray(b)) return [...new Set([...a, ...b])];
  if (typeof a === 'number' && typeof b === 'number') return WORST.test(name) ? Math.max(a, b) : a + b;
  if (typeof a === 'boolean') return name === 'base_watchdog' ? a : a && b;
  if (typeof a !== 'object' || typeof b !== 'object') return a;
  const other = b as Record<string, unknown>;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...keys].map((key) => [key, merged((a as Record<string, unknown>)[key], other[key], key)]),
  );
}
