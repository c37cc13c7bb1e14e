import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../src/decode.ts";
import { dayTicks, logTicks } from "../src/ticks.ts";
import { binary, capacity, formatOf, iops, percentile, rate, time, when } from "../src/units.ts";

// The same values as in the Rust tests of crates/seekwell-report/src/units.rs.
test("numbers are written as the terminal writes them", () => {
  assert.deepEqual([3_412e6, 54_067_200, 999.6e6, 0].map(rate), ["3,412", "54.1", "1,000", "0.00"]);
  assert.deepEqual([57.6, 9_532.4, 9_999.6, 13_244, 999_600, 1_020_000].map(iops),
    ["57.6", "9,532", "10.0k", "13.2k", "1.00M", "1.02M"]);
  assert.deepEqual([0, 999, 512_110_190_592, 2_000_398_934_016, 1000].map(capacity),
    ["0 B", "999 B", "512 GB", "2 TB", "1 kB"]);
  assert.deepEqual([512, 4096, 131_072, 1536].map(binary),
    ["512 B", "4 KiB", "128 KiB", "1.50 KiB"]);
  assert.deepEqual([950, 72_140.6, 1.25e6, 2e9].map(time),
    ["950 ns", "72.1 µs", "1.25 ms", "2.00 s"]);
});

test("a time is written to the second and any other text as it is", () => {
  assert.equal(when("2026-11-20T23:29:41.614611188Z"), "2026-11-20 23:29:41 UTC");
  assert.equal(when("yesterday"), "yesterday");
});

test("a percentile has as many digits as it has nines", () => {
  assert.deepEqual([0.5, 0.9, 0.99, 0.999, 0.9999].map(percentile),
    ["50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
});

test("marks of a log axis are round, within it, and as many as there is room for", () => {
  assert.deepEqual(logTicks(60, 600, 400, 24), [70, 100, 200, 300, 500]);
  assert.deepEqual(logTicks(90, 110_000, 300, 60), [100, 1000, 10_000, 100_000]);
  assert.deepEqual(logTicks(1, 1e12, 240, 60), [1, 1000, 1e6, 1e9, 1e12]);
  assert.deepEqual(logTicks(11_000, 14_600, 200, 24), [11_000, 12_000, 13_000, 14_000]);
  for (const [min, max] of [[1, 1], [1, 1e12], [20, 30], [11, 14.6], [0.5, 900]] as const) {
    const ticks = logTicks(min, max, 240, 60);
    assert.ok(ticks.length >= 1 && ticks.length <= 6, `${min} to ${max}: ${ticks}`);
    assert.ok(ticks.every((t) => t >= min && t <= max));
  }
  assert.deepEqual(logTicks(0, 10, 200, 24), []);
});

test("a document of another version is refused by name", () => {
  const runs = (schema: string) => JSON.stringify({ runs: [{ document: { schema } }] });
  assert.throws(() => parse(runs("seekwell/run/2")), /shows seekwell\/run\/1.*seekwell\/run\/2/);
  assert.throws(() => parse('{"runs":[]}'), /no run/);
  assert.deepEqual(parse(runs("seekwell/run/1")), JSON.parse(runs("seekwell/run/1")));
  const sheets = (schema: string) => JSON.stringify({ sheets: [{}], document: { schema } });
  assert.throws(() => parse(sheets("seekwell/compare/2")), /seekwell\/compare\/2/);
  assert.ok("sheets" in parse(sheets("seekwell/experiment/1")));
});

test("a metric's name says how its numbers are written", () => {
  assert.equal(formatOf("read.latency_ns_p99")(72_140), "72.1 µs");
  assert.equal(formatOf("cpu_ns_per_request")(950), "950 ns");
  assert.equal(formatOf("read.requests_per_s")(13_244), "13.2k/s");
  assert.equal(formatOf("write.rate_bytes_per_s")(54_067_200), "54.1 MB/s");
  assert.equal(formatOf("device_share")(1), "1.00");
});

test("an axis of days is marked at beginnings of days, no more often than there is room", () => {
  const day = 86_400;
  assert.deepEqual(dayTicks(0, 3 * day, 4), [0, day, 2 * day, 3 * day]);
  assert.deepEqual(dayTicks(100, 200, 8), [100], "within a day");
  for (const days of [1, 10, 100, 1_000, 10_000]) {
    const ticks = dayTicks(day / 2, (days + 0.5) * day, 8);
    assert.ok(ticks.length >= 1 && ticks.length <= 8, `${days}: ${ticks.length}`);
    assert.ok(ticks.every((at) => at % day === 0 && at <= (days + 0.5) * day));
  }
});
