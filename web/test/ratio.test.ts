import assert from "node:assert/strict";
import { test } from "node:test";
import { axisFor, change, marksOf, placeOf } from "../src/ratio.ts";

test("half and double are as far from no change", () => {
  const axis = axisFor([-50, 100]);
  const zero = placeOf(axis, 0);
  assert.ok(Math.abs(zero - 50) < 1e-9);
  assert.ok(Math.abs(placeOf(axis, 100) - zero - (zero - placeOf(axis, -50))) < 1e-9);
});

test("no change is always on the axis and always marked", () => {
  for (const changes of [[30, 40], [-0.4, -0.2], [0], [900, 40_000], [-99.9, 5]]) {
    const axis = axisFor(changes);
    for (const p of changes) {
      const place = placeOf(axis, p);
      assert.ok(place > 0 && place < 100, `${p} at ${place}`);
    }
    const marks = marksOf(axis);
    assert.ok(marks.includes(0), `${changes}: ${marks}`);
    assert.ok(marks.length >= 2 && marks.length <= 12, `${changes}: ${marks}`);
    assert.deepEqual(marks, [...marks].sort((a, b) => a - b));
  }
});

test("changes are written with a sign, and as a factor from double on", () => {
  const written = [5, -5, 0, 0.04, 62.94, 100, 3200].map((p) => change(p));
  assert.deepEqual(written, ["+5 %", "−5 %", "0", "0", "+62.9 %", "×2", "×33"]);
});

test("what is not a number does not break the axis", () => {
  const axis = axisFor([Number.NaN, Number.POSITIVE_INFINITY, 10]);
  assert.ok(Number.isFinite(axis.low) && Number.isFinite(axis.high));
  assert.ok(placeOf(axis, -100) >= 0);
});
