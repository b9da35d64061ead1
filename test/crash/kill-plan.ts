/** Which process is killed when: seeded, and such that every step of the main job gets its share. */
import { MAIN_JOB_STEPS, type MainJobStep } from './main-job.js';
import type { Target } from './motion.js';

export interface PlannedKill {
  target: Target;
  /**
   * `step`: in a step of the main job that has not had its share; `start`: while the daemon starts after the kill
   * before; `commit`: before, inside or after one of the commits that follow; `replay`: while a backlog is published
   * after the network was away; `any`: whenever.
   */
  aim: 'step' | 'start' | 'commit' | 'replay' | 'any';
  /** How far into the aim, 0…1: of a step's usual length, of the longest wait. */
  depth: number;
  /** A burst of commands comes just before, so that the kill falls among commits and publishes. */
  burst: boolean;
  /** The broker comes back from the dead as well, without its sessions. */
  brokerForgets: boolean;
}

const AIMS_OF_TEN: readonly PlannedKill['aim'][] = [
  ...Array.from({ length: 4 }, () => 'step' as const),
  ...Array.from({ length: 2 }, () => 'start' as const),
  ...Array.from({ length: 2 }, () => 'commit' as const),
  'replay',
  'any',
];
/** What dies in these is the daemon. */
const OF_THE_DAEMON: readonly PlannedKill['aim'][] = ['start', 'commit', 'replay'];
/** Of ten kills, those that do not hit the daemon alone. */
const TARGETS: readonly Target[] = ['rt', 'rt', 'both'];
const BROKER_EVERY = 12;
const BURST_SHARE = 0.35;
/** Share of all kills that a step should get at least; driving is most of the job. */
const SHARES: Readonly<Record<MainJobStep, number>> = {
  undock: 0.08,
  setMoveTo: 0.2,
  startCleaning: 0.08,
  setLlmTts: 0.08,
  returnToStation: 0.12,
};

export function planKills(kills: number, random: () => number): PlannedKill[] {
  const plan: PlannedKill[] = [];
  while (plan.length < kills) plan.push(...planTen(plan.length, random));
  return plan.slice(0, kills);
}

/** Whether a kill in this step is still called for. */
export function isDue(step: MainJobStep, soFar: Readonly<Record<string, number>>, kills: number): boolean {
  const owed = MAIN_JOB_STEPS.filter((s) => (soFar[s] ?? 0) < Math.ceil(SHARES[s] * kills));
  return owed.length === 0 || owed.includes(step);
}

function planTen(offset: number, random: () => number): PlannedKill[] {
  const targets: Target[] = shuffled(
    AIMS_OF_TEN.filter((aim) => !OF_THE_DAEMON.includes(aim)).map((_, i) => TARGETS[i] ?? 'daemon'),
    random,
  );
  return shuffled(AIMS_OF_TEN, random).map((aim, i) => {
    const target = OF_THE_DAEMON.includes(aim) ? 'daemon' : (targets.pop() ?? 'daemon');
    const brokerForgets = target !== 'rt' && (offset + i) % BROKER_EVERY === BROKER_EVERY / 2;
    return { target, aim, depth: random(), burst: random() < BURST_SHARE, brokerForgets };
  });
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
