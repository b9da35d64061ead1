/** What the harness tells `fault-points` in the daemon, and what it leaves behind. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Death = 'before-commit' | 'inside-commit' | 'after-commit' | 'migration';

export interface FaultOrders {
  die: Death | null;
  /** At this commit or migration after the orders were read. */
  nth: number;
  /** Into the commit, microseconds. */
  delayUs: number;
  /** Before the statements of a migration instead of behind them. */
  early: boolean;
  /** Added to the daemon's clock, ms. */
  clockMs: number;
  /** Set in the daemon's environment at its next start. */
  env: Readonly<Record<string, string>>;
}

export const FAULTS_ENV = 'DEVICEAGENT_CRASH_FAULTS';
export const DIED_FILE = 'died.jsonl';
export const NO_ORDERS: FaultOrders = {
  die: null,
  nth: 1,
  delayUs: 0,
  early: false,
  clockMs: 0,
  env: {},
};

export interface DeathNote {
  /** Wall time, epoch ms. */
  at: number;
  where: string;
}

/** Writes orders whole, and reads how often the daemon has died of them. */
export class FaultDesk {
  readonly dir: string;
  #orders: FaultOrders = NO_ORDERS;

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
    this.#write();
  }

  get orders(): FaultOrders {
    return this.#orders;
  }

  /** Takes effect at the daemon's next start, or at SIGUSR2. */
  order(change: Partial<FaultOrders>): void {
    this.#orders = { ...this.#orders, ...change };
    this.#write();
  }

  get deaths(): DeathNote[] {
    const file = join(this.dir, DIED_FILE);
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as DeathNote);
  }

  #write(): void {
    const file = join(this.dir, 'orders.json');
    writeFileSync(`${file}.new`, JSON.stringify(this.#orders));
    renameSync(`${file}.new`, file);
  }
}
