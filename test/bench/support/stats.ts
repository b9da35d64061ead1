/** Few, robust statistics. */

export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('no values');
  const sorted = [...values].sort((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[at] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('no values');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** `low … high` of several runs, for a note. */
export function spread(values: readonly number[], digits = 0): string {
  return `${round(Math.min(...values), digits)} … ${round(Math.max(...values), digits)}`;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
