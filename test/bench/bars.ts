/** The quality bars, next to which every figure is shown. */
import type { Figures } from './report.js';

export interface Bar {
  /** Key of the figure in the report. */
  key: string;
  label: string;
  unit: string;
  /** Null: a figure without a bar of its own. */
  bar: { op: '≤' | '≥' | '='; value: number } | null;
  value(figures: Figures): number | undefined;
}

export const BARS: readonly Bar[] = [
  bar('outbox.events_per_s', 'outbox, accepted → fsynced → PUBACK', 'events/s', '≥', 12_000),
  bar('outbox.ratio_vs_mqttjs_store', '  against MQTT.js with a store', '×', '≥', 5),
  bar('tasks.per_s', 'durable task, submit → terminal', 'tasks/s', '≥', 5_000),
  bar('tasks.ratio_vs_sqlite_queue', '  against a SQLite queue', '×'),
  bar('tasks.start_p50_ms', '  submit → STARTED, 10 k waiting: p50', 'ms'),
  bar('tasks.start_p99_ms', '  submit → STARTED, 10 k waiting: p99', 'ms', '≤', 5),
  bar('tasks.rss_growth_mb', '  memory that a million tasks leave behind', 'MB', '≤', 10),
  bar('workflow.added_ms_per_step', 'a step of 64, more than its task alone', 'ms', '≤', 1),
  bar('start.ready_ms', 'start to ready', 'ms', '≤', 1_000),
  bar('start.ready_100k_backlog_ms', '  with 100 k rows in the outbox', 'ms', '≤', 2_000),
  bar('estop.p50_ms', 'bumper byte → stop bytes: p50', 'ms'),
  bar('estop.p99_ms', '  p99', 'ms', '≤', 10),
  bar('estop.max_ms', '  max', 'ms', '≤', 25),
  bar('control.jitter_p99_ms', 'control loop 20 Hz, lateness: p99', 'ms', '≤', 5),
  bar('control.missed', '  cycles missed', '', '=', 0),
  bar('idle.cpu_pct', 'idle on the dock, all processes: CPU', '% of a core', '≤', 3),
  bar('idle.rss_mb', '  resident memory', 'MB', '≤', 150),
  bar('ld19.x_realtime', 'LD19 bytes → scans', '× real time', '≥', 200),
  bar('ld19.wrong_frames', '  wrong frames accepted, bursts ≤ 8 bits', '', '=', 0),
  bar('plan.ms_1000x1000', 'plan on 1000 × 1000 cells', 'ms', '≤', 30),
  bar('plan.ratio_vs_pathfinding', '  against pathfinding (npm)', '×'),
  bar('map.ms_scan', 'a scan taken into a map being made, median', 'ms', '≤', 8),
  bar('map.ms_scan_p99', 'a scan taken into a map being made, p99', 'ms', '≤', 20),
  bar('localise.ms_500x360', 'localisation, 500 particles × 360 rays', 'ms', '≤', 10),
  bar('sim.x_realtime', 'simulated home with its robot', '× real time', '≥', 50),
  bar('context.build_ms', 'planning context, built', 'ms'),
];

function bar(key: string, label: string, unit: string, op?: '≤' | '≥' | '=', value?: number): Bar {
  const [group = '', name = ''] = key.split('.');
  return {
    key,
    label,
    unit,
    bar: op === undefined || value === undefined ? null : { op, value },
    value: (figures) => {
      const found = Object.entries({ ...figures }).find(([name]) => name === group)?.[1];
      const figure = Object.entries(found ?? {}).find(([key]) => key === name)?.[1];
      return typeof figure === 'number' ? figure : undefined;
    },
  };
}

/** `met`, or how much is missing; empty without a bar. */
export function verdict({ bar, unit }: Bar, value: number): string {
  if (bar === null) return '';
  const met = bar.op === '≤' ? value <= bar.value : bar.op === '≥' ? value >= bar.value : value === bar.value;
  if (met) return 'met';
  return `short by ${shownNumber(Math.abs(value - bar.value))}${unit === '' ? '' : ` ${unit}`}`;
}

/** Three significant digits below a thousand; whole numbers with a thin gap above. */
export function shownNumber(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) < 1000) return String(Number(value.toPrecision(3)));
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
}
