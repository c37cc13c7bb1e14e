import assert from "node:assert/strict";
import { test } from "node:test";
import { type Box, lineOf, place, pointsOf, scalesOf, sizeTicks, spread } from "../src/roofline.ts";
import type { Ceiling, PhaseLimit } from "../src/types.ts";

const limit = (phase: string, bytes: number | null, rate: number | null): PhaseLimit =>
  ({ phase, by: "link", name: "the link", evidence: [], request_bytes: bytes, bytes_per_s: rate });
const ceiling = (unit: Ceiling["unit"], rate: number): Ceiling =>
  ({ by: "link", name: "SATA", rate, unit, known: "declared", from: "/sys" });

test("a ceiling of requests passes through its rate times the size", () => {
  const all = [ceiling("bytes_per_s", 150e6), ceiling("requests_per_s", 100)];
  const { x, y } = scalesOf([limit("a", 4096, 300e3)], all, [50, 650], [300, 0]);
  const [x1, y1, x2, y2] = lineOf(all[1]!, x, y);
  const share = (place(x, 65_536) - x1) / (x2 - x1);
  assert.ok(Math.abs(y1 + share * (y2 - y1) - place(y, 100 * 65_536)) < 1e-6);
  const [, left, , right] = lineOf(all[0]!, x, y);
  assert.equal(left, right);
});

test("lines and points lie within the axes, and what has no rate is no point", () => {
  const limits = [limit("a", 512, 30e3), limit("b", null, 1e6), limit("c", 1 << 22, 0)];
  assert.deepEqual(pointsOf(limits).map((p) => p.i), [0]);
  const all = [ceiling("bytes_per_s", 150e6), ceiling("requests_per_s", 1e6),
    ceiling("commands", 32)];
  const { x, y } = scalesOf(limits, all, [50, 650], [300, 0]);
  for (const one of all.slice(0, 2)) {
    const [x1, y1, x2, y2] = lineOf(one, x, y);
    assert.ok(x1 >= 50 && x2 <= 650.001 && y1 <= 300 && y2 >= -0.001, String([x1, y1, x2, y2]));
  }
  assert.ok(place(y, 30e3) < 300 && place(x, 512) > 50);
});

test("sizes are marked at powers of two that have room", () => {
  const { x } = scalesOf([], [], [0, 300], [300, 0]);
  const ticks = sizeTicks(x, 64);
  assert.ok(ticks.length >= 2 && ticks.every((t) => Number.isInteger(Math.log2(t))));
  for (let i = 1; i < ticks.length; i++) {
    assert.ok(place(x, ticks[i]!) - place(x, ticks[i - 1]!) >= 64);
  }
});

test("names of ceilings that lie close stand over each other in their order", () => {
  const box = (top: number): Box => ({ left: 0, top, width: 100, height: 15 });
  const found = spread([box(100), box(102), box(104), box(103)], [box(80)], [], 200, -1);
  const tops = found.map((b) => b.top).sort((a, b) => a - b);
  for (let i = 1; i < tops.length; i++) assert.ok(tops[i]! - tops[i - 1]! >= 15);
  assert.ok(found.every((b) => b.top >= 0 && Math.abs(b.top - 80) >= 15));
  assert.equal(found[2]!.top, 104);
});
