"""Writes what the program is made of, as CycloneDX 1.5.

Standard input is `cargo metadata`; the argument names Cargo.lock, which holds the checksums.
"""

import json
import os
import sys
import tomllib
from datetime import datetime, timezone

metadata = json.load(sys.stdin)
with open(sys.argv[1], "rb") as lock:
    locked = tomllib.load(lock)["package"]
sums = {(p["name"], p["version"]): p.get("checksum") for p in locked}
packages = {p["id"]: p for p in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
root = next(p["id"] for p in metadata["packages"] if p["name"] == "seekwell")


def needed(node):
    """What a package is built from, tests left aside."""
    kinds = lambda dep: {kind["kind"] for kind in dep["dep_kinds"]}
    return [dep["pkg"] for dep in nodes[node]["deps"] if kinds(dep) - {"dev"}]


def url(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package):
    made = {
        "type": "application" if package["id"] == root else "library",
        "bom-ref": url(package),
        "name": package["name"],
        "version": package["version"],
        "purl": url(package),
    }
    if package["license"]:
        # Older manifests have a slash for OR.
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if checksum := sums.get((package["name"], package["version"])):
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return made


reached, ahead = set(), [root]
while ahead:
    node = ahead.pop()
    if node not in reached:
        reached.add(node)
        ahead.extend(needed(node))

time = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)
parts = sorted(reached - {root}, key=lambda id: url(packages[id]))
json.dump(
    {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.isoformat().replace("+00:00", "Z"),
            "component": component(packages[root]),
        },
        "components": [component(packages[id]) for id in parts],
        "dependencies": [
            {"ref": url(packages[id]), "dependsOn": sorted({url(packages[d]) for d in needed(id)})}
            for id in [root, *parts]
        ],
    },
    sys.stdout,
    indent=1,
)
