import assert from "node:assert/strict";
import { test } from "node:test";
import { type Track, trackTo, trackToAll } from "../src/sections/attachment.ts";
import type { Device, Hop } from "../src/types.ts";

const hop = (kind: string, name: string): Hop => ({ kind, name, detail: "", from: "" });

function device(name: string, attachment: Hop[], below: Device[] = []): Device {
  const unknown = { role: null, size_bytes: null, model: null, serial: null, firmware: null };
  return { name, kind: "disk", ...unknown, transport: null, driver: null, pci: null, queue: {},
    attachment, below };
}

const names = (track: Track): unknown => [
  track.before.map((s) => s.name),
  track.branches.map(names),
  track.after.map((s) => s.name),
];

test("a partition's line goes from the CPU through its disk to itself", () => {
  const disk = device("sda", [hop("cpu", "node 0"), hop("port", "ata1"), hop("device", "0:0:0:0")]);
  const track = trackTo(device("sda1", [], [disk]));
  assert.deepEqual(names(track), [["node 0", "ata1"], [], ["sda", "sda1"]]);
});

test("what the members of an array have in common is drawn once, before they branch", () => {
  const shared = [hop("cpu", "node 0"), hop("controller", "00:17.0")];
  const on = (port: string) => [...shared, hop("port", port)];
  const array = device("md0", [], [device("sda", on("ata1")), device("sdb", on("ata2"))]);
  assert.deepEqual(names(trackTo(device("dm-0", [], [array]))), [
    ["node 0", "00:17.0"],
    [[["ata1"], [], ["sda"]], [["ata2"], [], ["sdb"]]],
    ["md0", "dm-0"],
  ]);
});

test("an array of arrays keeps its branches, and shares nothing where nothing is shared", () => {
  const disk = (name: string, node: string) => device(name, [hop("cpu", node)]);
  const inner = device("md1", [], [disk("sda", "node 0"), disk("sdb", "node 0")]);
  const outer = device("md0", [], [inner, disk("sdc", "node 1")]);
  assert.deepEqual(names(trackTo(outer)), [
    [],
    [[["node 0"], [[[], [], ["sda"]], [[], [], ["sdb"]]], ["md1"]], [["node 1"], [], ["sdc"]]],
    ["md0"],
  ]);
});

test("what several targets have in common is drawn once, and nothing stands over them", () => {
  const on = (port: string) => [hop("cpu", "node 0"), hop("pci-bridge", "00:1c.0"), hop("port", port)];
  const track = trackToAll([device("sda", on("ata1")), device("sdb", on("ata2"))]);
  assert.deepEqual(names(track), [
    ["node 0", "00:1c.0"],
    [[["ata1"], [], ["sda"]], [["ata2"], [], ["sdb"]]],
    [],
  ]);
});
