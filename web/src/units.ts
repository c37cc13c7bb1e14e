/** Numbers with their units, written as the program's terminal output writes them. */

/** Three significant digits, no exponent. */
export function threeDigits(x: number): string {
  const a = Math.abs(x);
  if (a >= 99.95) return x.toFixed(0);
  return a >= 9.995 ? x.toFixed(1) : x.toFixed(2);
}

/** An integer with a separator at the thousands. */
export function grouped(x: number): string {
  return Math.round(x).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A time in nanoseconds: `72.1 µs`. */
export function time(ns: number): string {
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${threeDigits(ns / 1e3)} µs`;
  if (ns < 1e9) return `${threeDigits(ns / 1e6)} ms`;
  return `${threeDigits(ns / 1e9)} s`;
}

/** A number of requests a second: `9,532`, `13.2k`, `1.02M`. */
export function iops(x: number): string {
  if (x < 99.95) return threeDigits(x);
  if (x < 9_999.5) return grouped(x);
  if (x < 999_500) return `${threeDigits(x / 1e3)}k`;
  return `${threeDigits(x / 1e6)}M`;
}

/** Bytes a second in MB/s of 10^6, without the unit. */
export function rate(bytesPerSecond: number): string {
  const mb = bytesPerSecond / 1e6;
  return mb >= 999.5 ? grouped(mb) : threeDigits(mb);
}

/** How numbers of a metric are written, which its name ends in. */
export function formatOf(metric: string): (x: number) => string {
  if (/_ns(_|$)/.test(metric)) return time;
  if (metric.endsWith("bytes_per_s")) return (x) => `${rate(x)} MB/s`;
  return metric.endsWith("_per_s") ? (x) => `${iops(x)}/s` : threeDigits;
}

/** A capacity, as vendors count it: `512 GB`. */
export function capacity(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let at = 0;
  let value = bytes;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  if (at === 0) return `${value} B`;
  return `${threeDigits(value).replace(/\.0+$/, "")} ${units[at]}`;
}

/** A length that is a power of two by nature: `4 KiB`. */
export function binary(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${Number.isInteger(value) ? value : threeDigits(value)} ${units[at]}`;
}

/** A share of requests as a percentile: 0.5 is `50 %`, 0.9999 is `99.99 %`. */
export function percentile(q: number): string {
  const digits = Math.max(0, Math.round(-Math.log10(1 - q) - 2));
  return `${(q * 100).toFixed(digits)} %`;
}

/** A time of RFC 3339 in UTC as people write it, to the second; any other text as it is. */
export function when(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/, "$1 $2 UTC");
}
