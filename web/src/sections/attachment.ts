/**
 * How the target is attached, as a line of stations from the CPU to the disk, what stands on it and
 * the file system. Members of an array are branches; what their paths have in common is drawn once.
 */

import { h, section } from "../dom.ts";
import type { Device, Filesystem, Hop, Run } from "../types.ts";
import { capacity } from "../units.ts";

export interface Station {
  kind: string;
  name: string;
  detail: string;
  from: string;
}

/** A line of stations, entered from the left by one or more lines of its own kind. */
export interface Track {
  before: Station[];
  branches: Track[];
  after: Station[];
}

const same = (a: Hop, b: Hop) => a.kind === b.kind && a.name === b.name;

function stationOf(device: Device, hop: Hop | null): Station {
  const details = [
    hop?.detail ?? device.model?.value,
    device.role?.value,
    device.size_bytes ? capacity(device.size_bytes.value) : null,
  ];
  const known = [...new Set(details.filter((d): d is string => Boolean(d)))];
  const from = [device.model?.from, hop?.from, device.role?.from, device.size_bytes?.from];
  return {
    kind: device.kind.replace("-", " "),
    name: device.name,
    detail: known.join(", "),
    from: from.find((f) => f) ?? "",
  };
}

function disksUnder(device: Device): Device[] {
  return device.below.length > 0 ? device.below.flatMap(disksUnder) : [device];
}

/** How many stations at the start of their paths all these devices share. */
function sharedHops(devices: Device[]): number {
  const paths = devices.flatMap(disksUnder).map((d) => d.attachment);
  const first = paths[0] ?? [];
  let n = 0;
  while (n < first.length && paths.every((p) => p[n] && same(p[n]!, first[n]!))) n += 1;
  return n;
}

/** The track to a device, its first `drawn` stations left out because they are drawn already. */
export function trackTo(device: Device, drawn = 0): Track {
  if (device.below.length === 0) {
    const hops = device.attachment.slice(drawn);
    const last = hops.at(-1);
    const end = last && /^(device|disk)$/.test(last.kind) ? last : null;
    const before = end ? hops.slice(0, -1) : hops;
    return { before, branches: [], after: [stationOf(device, end)] };
  }
  if (device.below.length === 1) {
    const track = trackTo(device.below[0]!, drawn);
    return { ...track, after: [...track.after, stationOf(device, null)] };
  }
  return { ...trackToAll(device.below, drawn), after: [stationOf(device, null)] };
}

/** The tracks to several devices, with what their paths have in common drawn once. */
export function trackToAll(devices: Device[], drawn = 0): Track {
  const shared = Math.max(drawn, sharedHops(devices));
  const first = devices.flatMap(disksUnder)[0];
  return {
    before: (first?.attachment ?? []).slice(drawn, shared),
    branches: devices.map((device) => trackTo(device, shared)),
    after: [],
  };
}

function stationOfFilesystem(fs: Filesystem): Station {
  const room = fs.available_bytes ? `, ${capacity(fs.available_bytes.value)} free` : "";
  const readOnly = fs.read_only ? ", read only" : "";
  return {
    kind: "file system",
    name: fs.mount_point.value,
    detail: `${fs.fstype.value} from ${fs.source.value}${room}${readOnly}`,
    from: fs.mount_point.from,
  };
}

function drawStation(station: Station): HTMLElement {
  return h(
    "li",
    { class: "station", tabindex: 0 },
    h("span", { class: "kind" }, station.kind),
    h("strong", {}, station.name),
    h("span", { class: "detail" }, station.detail),
    station.from ? h("span", { class: "from" }, `read from ${station.from}`) : null,
  );
}

function drawTrack(track: Track): HTMLElement {
  const members = track.branches.map((branch) => h("li", {}, drawTrack(branch)));
  const fork = members.length
    ? h("li", { class: "fork" }, h("ul", { "aria-label": "members" }, ...members))
    : null;
  const [before, after] = [track.before.map(drawStation), track.after.map(drawStation)];
  return h("ol", { class: "track" }, ...before, fork, ...after);
}

/** The devices of the targets beside the first, of a run that has several. */
function others(run: Run): Device[] {
  const study = run.document.study;
  const targets = study?.kind === "together" ? study.targets : [];
  return targets.flatMap((target) => target.inspection?.device ?? []);
}

export function attachment(run: Run, prefix: string): HTMLElement {
  const { device, filesystem } = run.document.inspection;
  const all = [...(device ? [device] : []), ...others(run)];
  const track = all.length === 1 ? trackTo(all[0]!) : trackToAll(all);
  if (filesystem && all.length < 2) track.after.push(stationOfFilesystem(filesystem));
  const empty = all.length === 0 && !filesystem;
  return section(
    "Attachment",
    `${prefix}-attachment`,
    h("p", { class: "hint" }, "From the CPU to the disk and up to the file system. ",
      "Point at a station, or move to it with Tab, to see where it was read."),
    empty ? h("p", {}, "There is no block device under this target.") : drawTrack(track),
  );
}
