/** What the task benchmark and its processes tell each other. */
import { z } from 'zod';

export const tasksOptions = z.object({
  dir: z.string(),
  /** Tasks in all, and of these the ones before the measured time begins. */
  tasks: z.int().positive(),
  warmUp: z.int().min(0),
});
export type TasksOptions = z.infer<typeof tasksOptions>;

export const tasksMeasured = z.object({
  t: z.literal('tasks'),
  perS: z.number(),
  /** Tasks in one line, one after the other; null where not asked for. */
  oneLinePerS: z.number().nullable(),
});

export const startsOptions = z.object({
  dir: z.string(),
  waiting: z.int().positive(),
  trials: z.int().positive(),
});

export const startsMeasured = z.object({
  t: z.literal('starts'),
  waiting: z.number(),
  /** Milliseconds from `submit` to the durable STARTED, one per trial. */
  ms: z.array(z.number()),
});

export const workflowOptions = z.object({
  dir: z.string(),
  steps: z.int().positive(),
  trials: z.int().positive(),
});

export const workflowMeasured = z.object({
  t: z.literal('workflow'),
  /** Milliseconds of a whole workflow, and of as many tasks in turn; one of each per trial. */
  asStepsMs: z.array(z.number()),
  aloneMs: z.array(z.number()),
});

export const lastingOptions = z.object({
  dir: z.string(),
  tasks: z.int().positive(),
  /** The run in so many parts of equal length. */
  windows: z.int().positive(),
});

export const lastingMeasured = z.object({
  t: z.literal('lasting'),
  /** Lowest resident memory of each window, MB (2²⁰). */
  rssMb: z.array(z.number()),
  /** The database with its log at the end, MB. */
  fileMb: z.number(),
});
