/** What Linux says of processes: their tree, the time they have used, the memory they hold. */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in `/proc/<pid>/stat`: 100 on every Linux that Node runs on (`getconf CLK_TCK`). */
const TICKS_PER_S = 100;

/** A process and everything below it. */
export function processTree(root: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? parentOf(pid) : null;
    if (parent !== null) parents.set(parent, [...(parents.get(parent) ?? []), pid]);
  }
  const tree: number[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    tree.push(pid);
    open.push(...(parents.get(pid) ?? []));
  }
  return tree;
}

/** CPU time used by a process and all its threads so far, seconds. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

/** Resident memory, and the share of it that is this process's own part of what several share, MB (2²⁰). */
export function memoryOf(pid: number): { rssMb: number; pssMb: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024;
  return { rssMb: mb('Rss'), pssMb: mb('Pss') };
}

/** The script a Node process runs, below its last two folders; for a note. */
export function nameOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const script = words.find((word) => word.endsWith('.js')) ?? words[0] ?? '';
  return script.split('/').slice(-2).join('/');
}

/** The fields of `/proc/<pid>/stat` behind the command's name, which may hold spaces. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function parentOf(pid: number): number | null {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return null;
  }
}
