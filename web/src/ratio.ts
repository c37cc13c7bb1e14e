/**
 * Changes on an axis of ratios: half and double are as far from no change, so that it does not
 * matter which side is called A. Places on it are shares of its width, in percent, which is what
 * lets a drawing follow the width of the page by itself.
 */

const log = (percent: number) => Math.log1p(Math.max(percent, -99.99) / 100);

/** An axis that shows all of some changes, and no change. */
export interface RatioAxis {
  low: number;
  high: number;
}

export function axisFor(changes: number[]): RatioAxis {
  const all = [0, ...changes.filter(Number.isFinite)].map(log);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = Math.max((high - low) * 0.06, 0.002);
  return { low: low - room, high: high + room };
}

/** Where a change stands, from 0 to 100. */
export function placeOf(axis: RatioAxis, percent: number): number {
  const share = (log(percent) - axis.low) / (axis.high - axis.low);
  return 100 * Math.min(1, Math.max(0, share));
}

/** A change as marks and tables write it: `+5 %`, and `×3` where percent would be hard to read. */
export function change(percent: number, digits = 1): string {
  if (percent >= 100) return `×${Number((1 + percent / 100).toPrecision(3))}`;
  const text = String(Number(Math.abs(percent).toFixed(digits)));
  if (text === "0") return "0";
  return `${percent < 0 ? "−" : "+"}${text} %`;
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];
const FACTORS = [1, 2, 5].flatMap((m) => [0.01, 0.1, 1, 10, 100, 1000].map((e) => m * e));

/** Changes worth a mark, at most about `most`, no change always among them. */
export function marksOf(axis: RatioAxis, most = 7): number[] {
  const inside = (p: number) => log(p) >= axis.low && log(p) <= axis.high;
  for (const step of STEPS) {
    const [from, to] = [Math.expm1(axis.low) * 100, Math.expm1(axis.high) * 100];
    if ((to - from) / step > most) continue;
    const first = Math.ceil(from / step);
    const count = Math.floor(to / step) - first + 1;
    const marks = Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
    return marks.filter((p) => p > -99);
  }
  const marks = FACTORS.map((f) => (f - 1) * 100).filter(inside).sort((a, b) => a - b);
  const thin = marks.length > most + 2;
  return thin ? marks.filter((p) => Math.abs(Math.log10(1 + p / 100) % 1) < 1e-9) : marks;
}
