/** What the fuzzer throws documents at, and what it calls a finding. */

export type FindingKind =
  /** Something threw, died, hung, or answered with a defect. */
  | 'crash'
  /** Wheels were told to turn, or a motion task started, and no accepted document asked for it. */
  | 'motion'
  /** A document that cannot be right was accepted, or an answer breaks the contract. */
  | 'wrong';

export interface Finding {
  kind: FindingKind;
  text: string;
}

export type Random = () => number;

/** A target that has been set up; cases come one after the other. */
export interface TargetSession {
  /** One document. What it does to the robot may also be found later, by another case or by `close`. */
  run(random: Random): Promise<Finding[]> | Finding[];
  /** How many documents got past every check: the fuzzer is no use when that is none, or all. */
  accepted(): number;
  /** What is found when everything has come to rest. */
  close(): Promise<Finding[]>;
}

export interface Target {
  name: string;
  /** Of the documents that are asked for, this target gets so many: what talks over sockets is slower. */
  share: number;
  open(seed: number): Promise<TargetSession>;
}

export interface TargetReport {
  cases: number;
  crashes: number;
  motions: number;
  /** What the heap of the process holds more at the end than after the first fifth, MiB. */
  growth_mb: number;
  wrong: number;
  accepted: number;
  seconds: number;
}
