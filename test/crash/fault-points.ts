/**
 * Loaded into the daemon ahead of everything else (`node --import`), for moments that nobody outside can hit: it dies
 * right before, inside or right after a commit, during a migration, and its clock jumps. What to do stands in a file,
 * read at the start and again at each SIGUSR2. The product knows nothing of this.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type BetterSqlite3 from 'better-sqlite3';
import { DIED_FILE, FAULTS_ENV, type FaultOrders, NO_ORDERS } from './fault-orders.js';

const dir = process.env[FAULTS_ENV];
const realNow = Date.now.bind(Date);
let orders: FaultOrders = NO_ORDERS;
let commits = 0;
let sniper: { flag: Int32Array } | null = null;

if (dir !== undefined && process.argv.includes('run')) {
  readOrders(dir);
  // What was ordered while another daemon lived is not meant for this one.
  if (orders.die !== 'migration') orders = { ...orders, die: null };
  for (const [name, value] of Object.entries(orders.env)) process.env[name] = value;
  process.on('SIGUSR2', () => readOrders(dir));
  Date.now = () => realNow() + orders.clockMs;
  const { default: Database } = await import('better-sqlite3');
  watchCommits(Database, dir);
  watchMigrations(Database, dir);
}

function readOrders(from: string): void {
  try {
    orders = { ...NO_ORDERS, ...(JSON.parse(readFileSync(`${from}/orders.json`, 'utf8')) as FaultOrders) };
  } catch {
    orders = NO_ORDERS;
  }
  commits = 0;
  if (orders.die === 'inside-commit' && sniper === null) sniper = aim(from);
}

function die(from: string, where: string): void {
  appendFileSync(`${from}/${DIED_FILE}`, `${JSON.stringify({ at: realNow(), where })}\n`);
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment; nothing more may happen here meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
}

function watchCommits(Database: typeof BetterSqlite3, from: string): void {
  const prepare = Database.prototype.prepare;
  Database.prototype.prepare = function patched(this: BetterSqlite3.Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (sql !== 'COMMIT') return statement;
    const { run } = statement;
    return Object.assign(statement, {
      run: () => {
        commits += 1;
        const now = commits === orders.nth;
        if (now && orders.die === 'before-commit') die(from, 'before a commit');
        if (now && orders.die === 'inside-commit') fire();
        const result: unknown = Reflect.apply(run, statement, []);
        if (now && orders.die === 'after-commit') die(from, 'after a commit');
        return result;
      },
    });
  } as typeof prepare;
}

/** A migration is the one thing that executes more than one statement at once. */
function watchMigrations(Database: typeof BetterSqlite3, from: string): void {
  const exec = Database.prototype.exec;
  let migrations = 0;
  Database.prototype.exec = function patched(this: BetterSqlite3.Database, sql: string) {
    migrations += 1;
    const now = orders.die === 'migration' && migrations === orders.nth;
    if (now && orders.early) die(from, 'before a migration');
    const result = exec.call(this, sql);
    if (now) die(from, 'inside a migration');
    return result;
  };
}

/** A thread that can kill the process while its main thread is inside SQLite. */
function aim(from: string): { flag: Int32Array } {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { workerData } = require('node:worker_threads');
    const { appendFileSync } = require('node:fs');
    const { flag, file } = workerData;
    Atomics.wait(flag, 0, 0);
    const until = process.hrtime.bigint() + BigInt(Atomics.load(flag, 0)) * 1000n;
    while (process.hrtime.bigint() < until);
    appendFileSync(file, JSON.stringify({ at: Date.now(), where: 'inside a commit' }) + '\\n');
    process.kill(process.pid, 'SIGKILL');`;
  new Worker(code, { eval: true, workerData: { flag, file: `${from}/${DIED_FILE}` } }).unref();
  return { flag };
}

function fire(): void {
  if (sniper === null) return;
  Atomics.store(sniper.flag, 0, Math.max(1, orders.delayUs));
  Atomics.notify(sniper.flag, 0);
}
