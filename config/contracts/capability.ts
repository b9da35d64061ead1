/** A capability card as it stands right now. */
export interface Capability {
  id: string;
  cloudIds: string[];
  title: { ko: string; en: string };
  available: boolean;
  /** Why not, in words; null when available. */
  reason: string | null;
  methods: string[];
}
