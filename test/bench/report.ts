/** What `npm run bench -- --json` prints. A figure that was not measured is absent. */

export interface Report {
  machine: { cpu: string; cores: number; node: string };
  outbox?: { events_per_s?: number; ratio_vs_mqttjs_store?: number; peer?: string };
  tasks?: {
    per_s?: number;
    ratio_vs_sqlite_queue?: number;
    peer?: string;
    start_p50_ms?: number;
    start_p99_ms?: number;
    lasting_tasks?: number;
    rss_growth_mb?: number;
  };
  workflow?: { steps?: number; added_ms_per_step?: number };
  start?: { ready_ms?: number; ready_100k_backlog_ms?: number };
  estop?: { p50_ms?: number; p99_ms?: number; max_ms?: number; load?: string };
  control?: { hz?: number; jitter_p99_ms?: number; missed?: number };
  idle?: { cpu_pct?: number; rss_mb?: number };
  ld19?: { x_realtime?: number; wrong_frames?: number };
  plan?: { ms_1000x1000?: number; ratio_vs_pathfinding?: number };
  localise?: { ms_500x360?: number };
  map?: { ms_scan: number; ms_scan_p99: number };
  sim?: { x_realtime?: number };
  context?: { build_ms?: number };
}

export type Figures = Omit<Report, 'machine'>;

/** The groups of figures, and the names that `--only` takes. */
export const GROUPS = [
  'outbox',
  'tasks',
  'workflow',
  'start',
  'estop',
  'control',
  'idle',
  'ld19',
  'plan',
  'localise',
  'map',
  'sim',
  'context',
] as const satisfies readonly (keyof Figures)[];
export type Group = (typeof GROUPS)[number];

export interface BenchContext {
  /** Fewer and shorter runs; the figures mean the same and are less certain. */
  quick: boolean;
  /** A directory of its own on a real disk; removed afterwards. */
  dir: string;
  /** Tells whoever waits what is going on. */
  progress(line: string): void;
}

export interface BenchResult {
  figures: Figures;
  /** What a reader of the figures should know besides, one line each: conditions, spreads, other figures. */
  notes: string[];
}

export interface Bench {
  /** The first is its name; more where one run gives the figures of several groups. */
  groups: readonly Group[];
  /** What is measured, from where to where, in a sentence or two. */
  method: string;
  run(context: BenchContext): Promise<BenchResult>;
}
