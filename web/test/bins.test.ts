import assert from "node:assert/strict";
import { test } from "node:test";
import {
  STEPS_PER_OCTAVE, density, densityEdge, densityRange, edges, highestQuantile, middleOf, nines,
  overRepeats, quantiles, shareAt,
} from "../src/bins.ts";
import type { Bins } from "../src/bins.ts";

test("the geometry is the program's: bins follow each other without a gap", () => {
  for (let bin = 0; bin < 64 * 29 - 1; bin++) {
    assert.equal(edges(bin)[1], edges(bin + 1)[0], `after bin ${bin}`);
  }
  assert.deepEqual(edges(128), [128, 130]);
  assert.equal(middleOf(127), 127);
  assert.equal(middleOf(128), 129);
  // The bin of 1 ms in the program: 14 groups up, 1_000_000 >> 13 = 122, less the leading one.
  assert.equal(middleOf(14 * 64 + (122 - 64)), (122 << 13) + (1 << 12));
});

test("a quantile is the middle of the bin its rank falls in", () => {
  const bins: Bins = [[10, 50], [20, 49], [200, 1]];
  const [p50, p51, p90] = quantiles(bins, [0.5, 0.51, 0.9]);
  assert.deepEqual([p50, p51, p90], [10, 20, 20]);
});

test("a percentile needs ten requests beyond it", () => {
  const bins = (n: number): Bins => [[50, n]];
  assert.deepEqual(quantiles(bins(999), [0.9, 0.99]), [50, null]);
  assert.deepEqual(quantiles(bins(1000), [0.9, 0.99]), [50, 50]);
  assert.equal(highestQuantile(1000), 0.99);
  assert.equal(highestQuantile(9), 0);
});

test("places on the axis of percentiles go both ways", () => {
  assert.equal(Math.round(nines(0.999) * 1e9) / 1e9, 3);
  for (const q of [0, 0.5, 0.99, 0.99999]) assert.ok(Math.abs(shareAt(nines(q)) - q) < 1e-12);
});

test("a density holds every request once, whatever the bins", () => {
  const bins: Bins = [[100, 7], [130, 1], [700, 20], [1500, 3]];
  const [from, to] = densityRange([bins]);
  const sum = density(bins, from, to).reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - 100) < 1e-9, String(sum));
  assert.ok(densityEdge(from) <= 100);
  assert.equal(densityEdge(STEPS_PER_OCTAVE * 10), 1024);
});

test("no requests have no density", () => {
  assert.deepEqual(densityRange([]), [0, 0]);
  assert.deepEqual(density([], 0, 0), []);
});

test("repeats are never pooled: the middle of their curves, none where one has none", () => {
  const { median, low, high } = overRepeats([[1, 10], [3, 30], [2, null]]);
  assert.deepEqual([median, low, high], [[2, null], [1, null], [3, null]]);
  assert.deepEqual(overRepeats([[1], [2]]).median, [1.5]);
});
