/** Places for the marks of a log axis. */

const STEPS = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];
const MOST = 7;

/** Round numbers between two positive ones, as many as an axis has room for. */
export function logTicks(min: number, max: number): number[] {
  if (!(min > 0) || !(max >= min)) return [];
  const [first, last] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const within = (steps: number[]) => {
    const out: number[] = [];
    for (let decade = first; decade <= last; decade++) {
      for (const step of steps) {
        const at = Number(`${step}e${decade}`);
        if (at >= min && at <= max) out.push(at);
      }
    }
    return out;
  };
  const all = STEPS.map(within);
  if (all[0]!.length < 2) return evenTicks(min, max);
  const fits = all.find((ticks) => ticks.length <= MOST) ?? all.at(-1)!;
  const every = Math.ceil(fits.length / MOST);
  return fits.filter((_, i) => i % every === 0);
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
