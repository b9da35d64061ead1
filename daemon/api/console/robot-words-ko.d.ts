import type { Pairs } from './korean.js';
export const ALLOWED: Pairs;
export const ROBOT_WORDS: Pairs;
export function inKorean(message: string): string;
