/** Which process is killed when: seeded, and such that every step of the main job gets its share. */
import type { MainJobStep } from './main-job.js';
import type { Target } from './motion.js';

export interface PlannedKill {
  target: Target;
  /** A step of the main job to hit; `start`: while the daemon starts after the kill before; `any`: whenever. */
  aim: MainJobStep | 'start' | 'any';
  /** How far into the aim, 0…1: of a step's usual length, of the longest wait. */
  depth: number;
  /** The broker comes back from the dead as well, without its sessions. */
  brokerForgets: boolean;
}

/** In the order of the job, so that one run of it serves several kills. */
const STEP_AIMS: readonly MainJobStep[] = [
  'undock',
  'setMoveTo',
  'setMoveTo',
  'startCleaning',
  'setLlmTts',
  'returnToStation',
];
const OTHER_AIMS = ['any', 'any', 'any', 'start'] as const;
const ROUND = STEP_AIMS.length + OTHER_AIMS.length;
/** Of ten kills: how many hit the motion process alone, and how many both. */
const RT_OF_TEN = 2;
const BOTH_OF_TEN = 1;
const BROKER_EVERY = 12;

export function planKills(kills: number, random: () => number): PlannedKill[] {
  const plan: PlannedKill[] = [];
  while (plan.length < kills) plan.push(...planRound(plan.length, random));
  return plan.slice(0, kills);
}

function planRound(offset: number, random: () => number): PlannedKill[] {
  const aims: PlannedKill['aim'][] = [...STEP_AIMS];
  for (const aim of OTHER_AIMS) aims.splice(Math.floor(random() * (aims.length + 1)), 0, aim);
  const targets = shuffled(
    Array.from({ length: ROUND }, (_, i): Target => {
      if (i < RT_OF_TEN) return 'rt';
      return i < RT_OF_TEN + BOTH_OF_TEN ? 'both' : 'daemon';
    }),
    random,
  );
  return aims.map((aim, i) => {
    // What is starting is the daemon.
    const target = aim === 'start' ? 'daemon' : (targets[i] ?? 'daemon');
    const brokerForgets = target !== 'rt' && (offset + i) % BROKER_EVERY === BROKER_EVERY / 2;
    return { target, aim, depth: random(), brokerForgets };
  });
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const mixed = [...items];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const [a, b] = [mixed[i], mixed[j]];
    if (a !== undefined && b !== undefined) {
      mixed[i] = b;
      mixed[j] = a;
    }
  }
  return mixed;
}
