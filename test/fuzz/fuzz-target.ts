/** Runs the cases of one target in this process. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { seededRandom } from '../../config/contracts/ids.js';
import type { Finding, Random, Target, TargetReport } from './types.js';

export interface FuzzRun {
  cases: number;
  seed: number;
  from: number;
  /** Called before each case: whoever watches from outside then knows which one was fatal. */
  onCase?(n: number): void;
  onFinding?(finding: Finding, n: number): void;
}

/** After this part of the cases caches are filled and what grows from then on is growth. */
const WARM_UP = 0.2;
const MIB = 2 ** 20;

export async function fuzzTarget(target: Target, run: FuzzRun): Promise<TargetReport> {
  const began = performance.now();
  const report: TargetReport = {
    cases: 0,
    crashes: 0,
    motions: 0,
    growth_mb: 0,
    wrong: 0,
    accepted: 0,
    seconds: 0,
  };
  let n = run.from;
  const note = (finding: Finding) => {
    const counter = { crash: 'crashes', motion: 'motions', wrong: 'wrong' } as const;
    report[counter[finding.kind]] += 1;
    run.onFinding?.(finding, n);
  };
  const escaped = (error: unknown) => note({ kind: 'crash', text: `escaped: ${stackOf(error)}` });
  process.on('uncaughtException', escaped);
  process.on('unhandledRejection', escaped);
  try {
    const session = await target.open(run.seed);
    const warm = run.from + Math.floor(run.cases * WARM_UP);
    let heldBefore = 0;
    for (; n < run.from + run.cases; n++) {
      if (n === warm) heldBefore = heldBytes();
      run.onCase?.(n);
      try {
        for (const finding of await session.run(caseRandom(target.name, run.seed, n))) note(finding);
      } catch (error) {
        note({ kind: 'crash', text: stackOf(error) });
      }
      report.cases += 1;
    }
    report.growth_mb = round((heldBytes() - heldBefore) / MIB);
    report.accepted = session.accepted();
    for (const finding of await session.close()) note(finding);
  } finally {
    process.off('uncaughtException', escaped);
    process.off('unhandledRejection', escaped);
  }
  report.seconds = round((performance.now() - began) / 1000);
  return report;
}

/** The generator of one case: the same for the same target, seed and number, whatever ran before. */
export function caseRandom(target: string, seed: number, n: number): Random {
  let hash = 0x811c9dc5;
  for (const char of `${target}/${seed}/${n}`)
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return seededRandom(hash >>> 0);
}

function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') {
    collect();
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
