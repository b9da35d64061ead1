/** Starts a target in a process, and counts its death or its silence as a crash at the case it was at. */
import { type ChildProcess, fork } from 'node:child_process';
import { entryPath } from '../../config/contracts/entry.js';
import type { Assignment, Message } from './target-process.js';
import type { Finding, TargetReport } from './types.js';

export interface Watched {
  report: TargetReport;
  findings: { n: number; finding: Finding }[];
}

/** A case that takes longer than this hangs, ms. */
const HANG_MS = 60_000;
/** Findings beyond this are counted and not kept. */
const KEEP = 50;

export function runWatched(assignment: Assignment): Promise<Watched> {
  const child = fork(entryPath(import.meta.url, './target-process.js'), [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  return new Promise((resolve) => {
    const findings: Watched['findings'] = [];
    let at = assignment.from;
    let report: TargetReport | null = null;
    let lastWords = '';
    let hung = false;
    const hang = () => {
      hung = true;
      child.kill('SIGKILL');
    };
    let patience = setTimeout(hang, HANG_MS);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-1500);
    });
    child.on('message', (message: Message) => {
      clearTimeout(patience);
      patience = setTimeout(hang, HANG_MS);
      if (message.type === 'case') at = message.n;
      else if (message.type === 'report') report = message.report;
      else if (findings.length < KEEP) findings.push({ n: message.n, finding: message.finding });
    });
    child.once('exit', (code, signal) => {
      clearTimeout(patience);
      if (report !== null) return resolve({ report, findings });
      const how = hung ? `no sign of life for ${HANG_MS} ms` : (signal ?? `exit code ${code}`);
      const text = `the process ended at or soon after this case: ${how} ${lastWords}`;
      findings.push({ n: at, finding: { kind: 'crash', text } });
      resolve({ report: { ...NOTHING, cases: at - assignment.from, crashes: 1 }, findings });
    });
    begin(child, assignment);
  });
}

const NOTHING: TargetReport = {
  cases: 0,
  crashes: 0,
  motions: 0,
  growth_mb: 0,
  wrong: 0,
  accepted: 0,
  seconds: 0,
};

function begin(child: ChildProcess, assignment: Assignment): void {
  child.send(assignment);
}
