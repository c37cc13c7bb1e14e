/** Places for the marks of a log axis. */

const STEPS = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];

/**
 * Round numbers between two positive ones, as many as an axis has room for that is `length` pixels
 * long, where two marks need `gap` pixels between them.
 */
export function logTicks(min: number, max: number, length: number, gap: number): number[] {
  if (!(min > 0) || !(max >= min)) return [];
  const decades = Math.max(Math.log10(max / min), 1e-9);
  const places = (a: number, b: number) => (Math.log10(b / a) / decades) * length;
  const roomy = (ticks: number[]) =>
    ticks.every((tick, i) => i === 0 || places(ticks[i - 1]!, tick) >= gap);
  const all = STEPS.map((steps) => within(steps, min, max));
  if (all[0]!.length < 2) return evenTicks(min, max);
  const fits = all.find((ticks) => ticks.length > 0 && roomy(ticks));
  if (fits) return fits;
  const whole = all.at(-1)!;
  const every = Math.ceil((gap * decades) / Math.max(length, 1));
  return whole.length > 0 ? whole.filter((_, i) => i % every === 0) : all[0]!.slice(0, 1);
}

/** Beginnings of days between two times in seconds, at most so many of them, and one at least. */
export function dayTicks(from: number, to: number, most: number): number[] {
  const days = [1, 2, 7, 14, 30, 91, 182, 365, 730].map((n) => n * 86_400);
  const step = days.find((day) => (to - from) / day <= most - 1) ?? 3_650 * 86_400;
  const out: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) out.push(at);
  return out.length > 0 ? out : [from];
}

/** The numbers that are one of `steps` times a power of ten. */
function within(steps: number[], min: number, max: number): number[] {
  const out: number[] = [];
  for (let e = Math.floor(Math.log10(min)); e <= Math.ceil(Math.log10(max)); e++) {
    for (const step of steps) {
      const at = Number(`${step}e${e}`);
      if (at >= min && at <= max) out.push(at);
    }
  }
  return out;
}

/** The same where the range is too narrow for powers of ten. */
function evenTicks(min: number, max: number): number[] {
  if (max === min) return [min];
  const decade = 10 ** Math.floor(Math.log10((max - min) / 2));
  const step = [5, 2, 1].map((n) => n * decade).find((n) => (max - min) / n >= 2) ?? decade;
  const out: number[] = [];
  for (let n = Math.ceil(min / step); n * step <= max; n++) {
    out.push(Number((n * step).toPrecision(6)));
  }
  return out;
}
