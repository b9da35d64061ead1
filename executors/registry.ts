/** Every task method that is built. What is not in here does not exist: no table, card or command knows it. */
import type { MethodSpec } from './method.js';
import type { Services } from './services.js';

export function createMethods(_services: Services): MethodSpec[] {
  return [];
}
