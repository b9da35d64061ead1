import type { ReasonCode } from './reason-codes.js';

/** A capability card as it stands right now. */
export interface Capability {
  id: string;
  cloudIds: string[];
  title: { ko: string; en: string };
  /** Whether this version has the method that the card runs. */
  built: boolean;
  available: boolean;
  /** Why not: a stable code, and the same in words; null when available. */
  reasonCode: ReasonCode | null;
  reason: string | null;
  methods: string[];
}
