/** What the page gets of a trace. */

import type { Bins } from "./bins.ts";

export interface TracePart {
  title: string;
  facts: [term: string, text: string][];
  table: { caption: string; columns: string[]; rows: string[][] } | null;
  note: string;
}

/** Load over time, in steps. */
export interface Course {
  step_ns: number;
  from_ns: number;
  reads: number[];
  others: number[];
  bytes: number[];
  depth_mean: number[];
  depth_max: number[];
}

/** Where requests of a device begin, over time. */
export interface TraceMap {
  device: string;
  requests: number;
  step_ns: number;
  from_ns: number;
  step_bytes: number;
  from_bytes: number;
  columns: number;
  rows: number;
  cells: [column: number, row: number, reads: number, writes: number][];
}

export interface Trace {
  heading: string;
  sentences: string[];
  banners: { kind: string; mark: string; text: string }[];
  parts: TracePart[];
  drawing: {
    course: Course | null;
    maps: TraceMap[];
    latencies: { span: string; op: string; bins: Bins }[];
  };
}

/** What the page draws of the document itself. */
export interface TraceStats {
  schema: string;
  sizes: { powers_of_two: { bytes: number; reads: number; writes: number }[] };
  reuse: { estimated: boolean; miss_ratio: [bytes: number, miss: number][] } | null;
}
