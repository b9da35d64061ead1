/** Small random choices; every one of them comes from the generator of its case. */
import type { Random } from './types.js';

export function below(random: Random, n: number): number {
  return Math.floor(random() * n);
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

export function chance(random: Random, share: number): boolean {
  return random() < share;
}

export function bytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => below(random, 256));
}
