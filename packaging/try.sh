#!/usr/bin/env bash
# Installs every package of dist/ in a clean root and runs the program there. Needs root, for the
# roots: a Debian of its own for the .deb, empty ones for the archives and the .rpm.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$PWD/dist
roots=$(mktemp -d)
trap 'echo "failed: packaging/try.sh, line $LINENO" >&2' ERR
trap 'umount "$roots"/*/proc 2>/dev/null || true; rm -rf "$roots"' EXIT

try() { # WHAT COMMAND...: the program must name itself, look at a file system, model a machine and
  # find its traces.
  local what=$1
  shift
  "$@" --version | grep -q '^seekwell .*dist build'
  "$@" inspect --json / >"$roots/inspection"
  python3 -c "import json, sys; json.load(sys.stdin)" <"$roots/inspection"
  "$@" bench --on nvme-ssd.toml --iodepth=32 --runtime=1s --no-keep >"$roots/bench"
  grep -q MODELLED "$roots/bench"
  "$@" trace stats web-light >"$roots/stats"
  grep -q 'requests' "$roots/stats"
  echo "ok: $what: $("$@" --version)"
}

root() { # NAME: an empty root with what the program reads.
  mkdir -p "$roots/$1/proc" "$roots/$1/tmp"
  mount -t proc none "$roots/$1/proc"
}

(cd "$out" && sha256sum --check --quiet SHA256SUMS)
echo "ok: checksums"

root archive
tar -C "$roots/archive" --strip-components=1 -xf "$out"/seekwell-*-x86_64-linux.tar.xz
try "archive, x86_64, in an empty root" chroot "$roots/archive" /bin/seekwell

tar -C "$roots/archive" --strip-components=1 -xf "$out"/seekwell-*-aarch64-linux.tar.xz
cp "$(command -v qemu-aarch64-static)" "$roots/archive/bin/"
try "archive, aarch64, emulated" chroot "$roots/archive" /bin/qemu-aarch64-static /bin/seekwell

root rpm
rpm --root "$roots/rpm" --install --nodeps --noscripts --ignoreos "$out"/seekwell-*.rpm
test -s "$roots/rpm/usr/share/man/man1/seekwell.1.gz"
try ".rpm, in an empty root" chroot "$roots/rpm" /usr/bin/seekwell

debootstrap --variant=minbase bookworm "$roots/debian" >"$roots/log" 2>&1 ||
  { tail -n 5 "$roots/log" >&2; exit 1; }
mount -t proc none "$roots/debian/proc"
cp "$out"/seekwell_*_amd64.deb "$roots/debian/tmp/seekwell.deb"
chroot "$roots/debian" dpkg --install /tmp/seekwell.deb >/dev/null
try ".deb, in a new Debian" chroot "$roots/debian" /usr/bin/seekwell
chroot "$roots/debian" dpkg --purge seekwell >/dev/null
test ! -e "$roots/debian/usr/bin/seekwell"
lintian --fail-on error "$out"/seekwell_*_amd64.deb
echo "ok: lintian"

python3 -m venv "$roots/venv"
"$roots/venv/bin/pip" install --quiet --no-index --find-links "$out" seekwell-cli
try "wheel, in a virtual environment" "$roots/venv/bin/seekwell"

python3 - "$out"/seekwell-*.cdx.json <<'PYTHON'
import json, sys
bom = json.load(open(sys.argv[1]))
refs = {part["bom-ref"] for part in bom["components"]} | {bom["metadata"]["component"]["bom-ref"]}
named = {ref for part in bom["dependencies"] for ref in [part["ref"], *part["dependsOn"]]}
assert named == refs and len(refs) > 50, (len(refs), named ^ refs)
print(f"ok: SBOM, {len(refs)} components")
PYTHON
