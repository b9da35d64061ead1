/** What the figures were measured on. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Report } from './report.js';
import { fsyncCost } from './support/scratch.js';

export function machine(): Report['machine'] {
  return { cpu: cpuName(), cores: availableParallelism(), node: process.versions.node };
}

/** For people: a line that says how much to trust the figures. */
export function conditions(): string {
  const { cpu, cores, node } = machine();
  const sync = fsyncCost();
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const disk = sync.inMemory ? 'no disk below: fsync means nothing' : `one fsync ${sync.ms.toFixed(2)} ms`;
  return `${cpu}, ${cores} cores, Node ${node}, ${disk}, load ${load}`;
}

function cpuName(): string {
  const model = cpus()[0]?.model.trim() ?? '';
  if (model !== '' && model !== 'unknown') return model;
  try {
    return /^model name\s*:\s*(.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
