/** The documents the page shows, as seekwell writes them: `seekwell/run/1` and its detail. */

import type { Bins } from "./bins.ts";
import type { Trace, TraceStats } from "./trace.ts";

export interface Fact<T> {
  value: T;
  from: string;
}

export interface Hop {
  kind: string;
  name: string;
  detail: string;
  from: string;
}

export interface Device {
  name: string;
  kind: string;
  role: Fact<string> | null;
  size_bytes: Fact<number> | null;
  model: Fact<string> | null;
  serial: Fact<string> | null;
  firmware: Fact<string> | null;
  transport: Fact<string> | null;
  driver: Fact<string> | null;
  pci: Fact<string> | null;
  queue: Record<string, Fact<unknown> | null>;
  attachment: Hop[];
  below: Device[];
}

export interface Filesystem {
  mount_point: Fact<string>;
  fstype: Fact<string>;
  source: Fact<string>;
  options: Fact<string[]>;
  read_only: boolean;
  size_bytes: Fact<number> | null;
  available_bytes: Fact<number> | null;
}

export interface Missing {
  what: string;
  from: string;
  reason: string;
}

export interface Inspection {
  target: string;
  path: string;
  kind: string;
  host: Record<string, Fact<string | number> | null>;
  filesystem: Filesystem | null;
  device: Device | null;
  notes: string[];
  missing: Missing[];
}

export interface Finding {
  id: string;
  severity: "info" | "warning" | "error";
  title: string;
  evidence: { seen: string; from: string }[];
  why: string;
  remedy: string;
}

export interface Spread {
  median: number;
  low: number;
  high: number;
  n: number;
}

export interface Pace {
  kind: "closed" | "open";
  depth: number;
}

export interface Workload {
  pattern: { kind: string };
  read_percent: number;
  sizes: { bytes: number; weight: number }[];
  pace: Pace;
  flush_every: number;
  threads: number;
  [key: string]: unknown;
}

/** A trace that was played back. */
export interface Replay {
  trace: string;
  mode: "timed" | "depth" | "dependent";
}

/** One step of a suite. */
export interface SuiteStep {
  suite: string;
  step: string;
  primary: string;
}

/** What a phase did, told apart by its keys. */
export type Work = Workload | Replay | SuiteStep;

export interface Repeat {
  elapsed_ns: number;
  ops: Record<string, unknown>;
  invalid: string | null;
}

export interface Phase {
  name: string;
  title: string;
  workload: Work;
  skipped: string | null;
  repeats: Repeat[];
  metrics: Record<string, Spread>;
}

/** What limits one phase; `by` is the word of a station. */
export interface PhaseLimit {
  phase: string;
  by: string;
  name: string;
  evidence: { seen: string; from: string }[];
  request_bytes?: number | null;
  bytes_per_s?: number | null;
}

/** The most that a station lets pass. */
export interface Ceiling {
  by: string;
  name: string;
  rate: number;
  unit: "bytes_per_s" | "requests_per_s" | "commands";
  op?: string;
  known: string;
  from: string;
}

export interface RunDocument {
  schema: string;
  id: string;
  kind: string;
  status: string;
  label: string | null;
  modelled: boolean;
  started_at: string;
  ended_at: string | null;
  tool: { version: string; git_commit: string | null };
  engine: { name: string; notice: string | null; cost_ns_per_request: number | null };
  medium: Record<string, unknown> | null;
  inspection: Inspection;
  phases: Phase[];
  study?: Study;
  /** What limits the disk, in a sentence or two. */
  summary?: string[];
  limits?: PhaseLimit[];
  ceilings?: Ceiling[];
  findings: Finding[];
  invalid: string[];
}

/** What was asked of several runs. */
export type Study = Sweep | Limit | Steady | Together | Sustained | { kind: "beside" | "amplification" | "pts" };

export interface Sweep {
  kind: "sweep";
  keys: string[];
  points: { phase: string; values: string[] }[];
}

export interface Sustained {
  kind: "sustained";
  stretches: { from_bytes: number; rate_bytes_per_s: number }[];
  part_bytes: number;
  rates_bytes_per_s: number[];
}

export interface Limit {
  kind: "limit";
  metric: string;
  bound_ns: number;
  closed_phase: string;
  closed_requests_per_s: number | null;
  trials: {
    phase: string;
    requests_per_s: number;
    completed_per_s: number;
    response_ns: number | null;
    holds: boolean;
    confirms: boolean;
  }[];
  outcome: { kind: string; requests_per_s?: number } | null;
}

export interface Steady {
  kind: "steady";
  phase: string;
  rounds_per_s: number[];
  outcome: { kind: "reached"; from: number; mean_per_s: number } | { kind: "not-reached" } | null;
}

/** Several targets, each alone and all together: their table says the rest. */
export interface Together {
  kind: "together";
  /** The inspection of the first is the run's. */
  targets: { name: string; inspection: Inspection | null }[];
}

/** One interval of a series; operations are numbered read, write, flush, discard. */
export interface Interval {
  requests: number[];
  bytes: number[];
}

export interface Series {
  step_ns: number;
  steps: Interval[];
}

export interface RepeatDetail {
  phase: string;
  repeat: number;
  latency_bins: Record<string, Bins>;
  response_bins: Record<string, Bins>;
  series: Series;
}

/** A headline figure, chosen and formatted by seekwell itself, so all its reports say the same. */
export interface Figure {
  key: string;
  label: string;
  value: string;
  unit: string;
  range: string | null;
  repeats: number;
  phase: string;
}

/** How faithfully a trace was played back, written out by seekwell itself. */
export interface Faith {
  title: string;
  verdict: "kept-up" | "device-full" | "program-late" | "untimed";
  sentence: string;
  /** A number's name and its value in each repeat. */
  rows: [name: string, values: string[]][];
}

/** One row of the table of phases: an operation of a phase, formatted by seekwell itself. */
export interface Row {
  phase: string;
  title: string;
  op: string;
  rate: string;
  iops: string;
  p50: string;
  p99: string;
  p99_9: string;
  spread: string;
  cpu: string;
  /** Requests for each system call. */
  calls: string;
  device_share: string;
  /** Bytes that the drive wrote for each of the host's. */
  amplification: string;
  remark: string | null;
}

/** What limits a phase, formatted by seekwell itself; in the order of the document's. */
export interface LimitRow {
  title: string;
  name: string;
  share: string;
  sure: string;
  next: string;
  or: string | null;
  /** The station, for people. */
  station: string;
}

/** A ceiling, formatted by seekwell itself; in the order of the document's. */
export interface CeilingRow {
  name: string;
  rate: string;
  known: string;
  from: string;
  station: string;
}

/** One step of a suite, formatted by seekwell itself. */
export interface Step {
  phase: string;
  title: string;
  result: string;
  cpu: string;
  longest: string;
  spread: string;
  /** Its other values. */
  others: [name: string, value: string][];
  notes: string[];
  remark: string | null;
}

/** What is said of a study, formatted by seekwell itself. */
export interface Told {
  title: string;
  sentences: string[];
  columns: string[];
  /** So many columns are words, the others numbers. */
  words: number;
  rows: string[][];
  panels: Panel[];
}

/** A plot that seekwell itself put together: lines over places that all of them share. */
export interface Panel {
  title: string;
  along: string;
  places: string[];
  lines: [name: string, values: (number | null)[]][];
  unit: "per_second" | "bytes_per_second" | "time";
}

export interface Run {
  document: RunDocument;
  detail: { repeats: RepeatDetail[] };
  heading: string;
  sentence: string;
  figures: Figure[];
  rows: Row[];
  /** Of suites only. */
  steps?: Step[];
  /** Of replays only. */
  fidelity?: Faith[];
  /** What was asked of several runs. */
  study?: Told[];
  /** What was written before measuring. */
  preconditioning?: string;
  limits?: LimitRow[];
  ceilings?: CeilingRow[];
  /** How it stands, on a page that is served: `running`, `killed` … */
  state?: string;
}

/** What a page holds. */
export type Payload =
  | { runs: Run[] }
  | { sheets: Sheet[]; document: { schema: string }; state?: string }
  | { trace: Trace; document: TraceStats }
  | { fleet: Fleet; document: FleetDocument }
  | { list: Kept[]; of?: string }
  | { history: History }
  | { plan: Plan; document: { schema: string } };

/** Which machine bears a load, and where each breaks. */
export interface Plan {
  heading: string;
  plots: PlanPlot[];
  header: string[];
  rows: string[][];
}

export interface PlanPlot {
  figure: string;
  bound: number;
  by_depth: boolean;
  curves: { name: string; points: [load: number, value: number][] }[];
}

/** A sheet answers one question, is B better than A: of kept runs or of an experiment. */
export interface Sheet {
  heading: string;
  /** The first sentence is the verdict. */
  verdict: string[];
  claim: [holds: boolean, sentence: string] | null;
  banners: { kind: "error" | "warning" | "note"; mark: string; text: string }[];
  facts: [term: string, text: string][];
  names: [string, string];
  setup: { what: string; a: string; b: string; matters: boolean }[];
  setup_note: string | null;
  effects: Effect[];
  caveat: string;
  course: Course | null;
  blocks: Blocks | null;
  checks: [word: string, text: string][];
  shapes: { title: string; lines: { label: string; repeats: Bins[] }[] }[];
  notes: string[];
}

export type Range = [low: number, high: number];

/** The change of one metric; numbers are in percent of A. */
export interface Effect {
  group: string | null;
  title: string;
  a: string;
  b: string;
  change: string;
  word: string;
  tone: "better" | "worse" | "same" | "open";
  main: boolean;
  percent: number | null;
  interval: Range | null;
  band: Range | null;
  band_is: "margin" | "usual";
}

export interface Course {
  metric: string;
  points: { side: 0 | 1; value: number | null; text: string; started: string }[];
  block_runs: number | null;
  in_time: boolean;
}

export interface Blocks {
  each: [order: string, percent: number | null][];
  interval: Range | null;
  margin: Range;
}

/** One kept run or experiment in the list a server shows. */
export interface Kept {
  id: string;
  /** Where runs of several hosts are kept. */
  host?: string;
  kind: string;
  state: string;
  label: string | null;
  target: string;
  device_model: string | null;
  started_at: string;
  modelled: boolean;
  invalid: boolean;
}

/** One metric over time: of a host, or of all disks of a model. */
export interface History {
  heading: string;
  about: string;
  sentences: string[];
  phase: string;
  metric: string;
  /** What else there is of the newest run. */
  choices: { phase: string; title: string; metrics: [name: string, title: string][] }[];
  points: {
    at: string;
    value: number;
    low: number;
    high: number;
    level: number | null;
    hosts: number | null;
    host: string;
    run: string;
  }[];
}

/** Many hosts side by side, formatted by seekwell itself. */
export interface Fleet {
  heading: string;
  /** The first is the answer. */
  sentences: string[];
  banners: Sheet["banners"];
  outliers: { title: string; about: string; deviations: string[]; differences: string[] }[];
  groups: {
    title: string;
    note: string;
    table: TextTable;
    strips: Strip[];
    values: TextTable;
  }[];
  hosts: TextTable;
}

/** What the page uses of `seekwell/fleet/1` to lead to runs and trends. */
export interface FleetDocument {
  schema: string;
  members: { host: string; target: string; run: string }[];
  groups: {
    model: string | null;
    firmware: string | null;
    members: number[];
    metrics: { phase: string; metric: string; values: { member: number }[] }[];
  }[];
  outliers: { member: number }[];
}

/** Rows of text; so many columns are words, the others numbers. */
export interface TextTable {
  caption: string;
  columns: string[];
  words: number;
  rows: string[][];
}

/** One metric of all hosts of a group. */
export interface Strip {
  title: string;
  median: string;
  /** Percent from the median, host and value, and whether it is an outlier. */
  points: [percent: number, text: string, outlier: boolean][];
  /** An outlier lies beyond, in percent. */
  limits: Range | null;
}
