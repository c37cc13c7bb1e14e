/**
 * Distributions from histogram bins. The geometry is the program's: 64 linear bins for each power
 * of two, a value below 128 ns in a bin of its own.
 */

export type Bins = [bin: number, count: number][];

const SUB = 64;

/** The values a bin holds: from the first inclusive to the second exclusive, in nanoseconds. */
export function edges(bin: number): [number, number] {
  if (bin < 2 * SUB) return [bin, bin + 1];
  const width = 2 ** (Math.floor(bin / SUB) - 1);
  const low = width * (SUB + (bin % SUB));
  return [low, low + width];
}

/** The value in the middle of a bin, in nanoseconds. */
export function middleOf(bin: number): number {
  if (bin < 2 * SUB) return bin;
  const [low, high] = edges(bin);
  return (low + high) / 2;
}

export function countOf(bins: Bins): number {
  return bins.reduce((sum, [, n]) => sum + n, 0);
}

/** The highest quantile that this many requests can give: 10/(1−q) of them are needed. */
export function highestQuantile(count: number): number {
  return count > 10 ? 1 - 10 / count : 0;
}

/**
 * Quantiles of a distribution, for shares in rising order; null where there were too few requests
 * for one, as the program itself has it.
 */
export function quantiles(bins: Bins, shares: number[]): (number | null)[] {
  const sorted = [...bins].sort((a, b) => a[0] - b[0]);
  const count = countOf(sorted);
  let at = 0;
  let seen = 0;
  return shares.map((q) => {
    if (count < 10 / (1 - q) - 1e-6) return null;
    const rank = Math.max(1, Math.ceil(q * count - 1e-9));
    while (at < sorted.length && seen < rank) seen += sorted[at++]![1];
    return at === 0 ? null : middleOf(sorted[at - 1]![0]);
  });
}

/** Where a share of requests stands on the axis of percentiles: every unit is one more nine. */
export function nines(q: number): number {
  return -Math.log10(1 - q);
}

/** The share of requests at a place on the axis of percentiles. */
export function shareAt(nine: number): number {
  return 1 - 10 ** -nine;
}

export const STEPS_PER_OCTAVE = 12;

/** The latency at which step `i` of the density begins, in nanoseconds. */
export function densityEdge(i: number): number {
  return 2 ** (i / STEPS_PER_OCTAVE);
}

/**
 * The share of requests, in percent, in each of the steps `from..to` of even width on a log axis. A
 * bin that lies across a border is shared out by its width.
 */
export function density(bins: Bins, from: number, to: number): number[] {
  const out = new Array<number>(Math.max(0, to - from)).fill(0);
  const count = countOf(bins);
  for (const [bin, n] of bins) {
    const [low, high] = edges(bin);
    const first = Math.floor(Math.log2(Math.max(low, 1)) * STEPS_PER_OCTAVE);
    const last = Math.floor(Math.log2(Math.max(high, 1)) * STEPS_PER_OCTAVE);
    for (let i = Math.max(first, from); i <= Math.min(last, to - 1); i++) {
      const overlap = Math.min(high, densityEdge(i + 1)) - Math.max(low, densityEdge(i));
      if (overlap > 0) out[i - from]! += (100 * n * overlap) / (high - low) / count;
    }
  }
  return out;
}

/** The steps that hold all of some distributions, one to spare on both sides. */
export function densityRange(all: Bins[]): [number, number] {
  const used = all.flatMap((bins) => bins.map(([bin]) => bin));
  if (used.length === 0) return [0, 0];
  const low = Math.max(1, edges(used.reduce((a, b) => Math.min(a, b)))[0]);
  const high = Math.max(2, edges(used.reduce((a, b) => Math.max(a, b)))[1]);
  return [
    Math.max(0, Math.floor(Math.log2(low) * STEPS_PER_OCTAVE) - 1),
    Math.ceil(Math.log2(high) * STEPS_PER_OCTAVE) + 1,
  ];
}

export interface Middle {
  median: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
}

/**
 * The middle of some curves at each place, with the lowest and the highest. Repeats are never
 * pooled: each one gives one value. Null where any of them has none.
 */
export function overRepeats(curves: (number | null)[][]): Middle {
  const places = curves[0]?.length ?? 0;
  const out: Middle = { median: [], low: [], high: [] };
  for (let i = 0; i < places; i++) {
    const values = curves.map((curve) => curve[i] ?? null);
    const known = values.filter((v): v is number => v !== null).sort((a, b) => a - b);
    const whole = known.length === values.length;
    const half = Math.floor(known.length / 2);
    const middle = known.length % 2 ? known[half]! : (known[half - 1]! + known[half]!) / 2;
    out.median.push(whole ? middle : null);
    out.low.push(whole ? known[0]! : null);
    out.high.push(whole ? known[known.length - 1]! : null);
  }
  return out;
}
