import type { TaskManagerDeps, TaskManagerHandle } from './deps.js';

export function createTaskManager(_deps: TaskManagerDeps): TaskManagerHandle {
  throw new Error('under construction');
}
