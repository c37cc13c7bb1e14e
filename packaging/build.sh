#!/usr/bin/env bash
# Builds every package into dist/: static archives for x86_64 and aarch64, a .deb, an .rpm, a wheel
# and an SBOM. Needs what `make packages` installs. Each is then tried by packaging/try.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

here=$PWD/packaging
out=$PWD/dist
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
work=$target/packages
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
summary="Know why a disk is slow, prove what makes it faster, keep only what helped"
maintainer=${MAINTAINER:-seekwell developers <seekwell@example.org>}

# Files get the time of the commit, so that the same sources give the same packages.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
export PATH=$work/venv/bin:$PATH

rm -rf "$out" "$work/tree"
mkdir -p "$out" "$work/tree"

cargo xtask dist --out "$work"

# What is installed, below usr: the program, its traces, man pages, completions, licences.
stage() { # TARGET DIR
  local usr=$2/usr
  install -D "$target/$1/dist/seekwell" "$usr/bin/seekwell"
  for page in "$work"/man/*.1; do
    install -D -m 644 "$page" "$usr/share/man/man1/$(basename "$page")"
    gzip -9n "$usr/share/man/man1/$(basename "$page")"
  done
  install -D -m 644 "$work/completions/seekwell.bash" \
    "$usr/share/bash-completion/completions/seekwell"
  install -D -m 644 "$work/completions/_seekwell" "$usr/share/zsh/vendor-completions/_seekwell"
  install -D -m 644 "$work/completions/seekwell.fish" \
    "$usr/share/fish/vendor_completions.d/seekwell.fish"
  install -D -m 644 -t "$usr/share/doc/seekwell" README.md LICENSE-APACHE LICENSE-MIT
  install -D -m 644 -t "$usr/share/seekwell/traces" traces/*.parquet
}

# No panic passes through C, and the index of runs needs none of these parts of SQLite.
export CFLAGS="-fno-asynchronous-unwind-tables -fno-unwind-tables"
export LIBSQLITE3_FLAGS="-USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS5 -USQLITE_ENABLE_RTREE"
for arch in x86_64 aarch64; do
  triple=$arch-unknown-linux-musl
  RUSTFLAGS="--cfg traces_beside" \
    cargo zigbuild --quiet --profile dist --target "$triple" --package seekwell
  name=seekwell-$version-$arch-linux
  stage "$triple" "$work/tree/$arch"
  cp -r "$work/tree/$arch/usr" "$work/tree/$name"
  tar -C "$work/tree" --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" -cJf "$out/$name.tar.xz" "$name"
done

deb() {
  local root=$work/tree/deb
  cp -r "$work/tree/x86_64" "$root"
  rm "$root"/usr/share/doc/seekwell/LICENSE-*
  install -m 644 "$here/copyright" "$root/usr/share/doc/seekwell/copyright"
  {
    echo "seekwell ($version) unstable; urgency=medium"
    printf '\n  * As CHANGELOG.md of the sources says.\n\n'
    echo " -- $maintainer  $(date -uRd "@$SOURCE_DATE_EPOCH")"
  } | gzip -9n >"$root/usr/share/doc/seekwell/changelog.gz"
  # One program that runs on every release, as in the archives.
  mkdir -p "$root/usr/share/lintian/overrides"
  echo "seekwell: statically-linked-binary [usr/bin/seekwell]" \
    >"$root/usr/share/lintian/overrides/seekwell"
  mkdir "$root/DEBIAN"
  cat >"$root/DEBIAN/control" <<CONTROL
Package: seekwell
Version: $version
Architecture: amd64
Maintainer: $maintainer
Section: admin
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Description: inspect, measure and tune disks
 seekwell shows how a disk is attached, measures it, explains what limits it
 and how that is known, and tries changes with automatic rollback.
CONTROL
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  dpkg-deb --root-owner-group --build "$root" "$out/seekwell_${version}_amd64.deb" >/dev/null
}

rpm_() {
  rpmbuild -bb --quiet --target x86_64 \
    --define "_topdir $work/rpm" --define "_rpmdir $out" \
    --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
    --define "version $version" --define "summary $summary" \
    --define "tree $work/tree/x86_64" "$here/seekwell.spec"
}

deb
rpm_
for arch in x86_64 aarch64; do
  python "$here/pack_wheel.py" "$version" "$summary" "$arch" "$work/tree/$arch/usr" "$out"
done
cargo metadata --format-version 1 --locked --filter-platform x86_64-unknown-linux-musl |
  python "$here/sbom.py" Cargo.lock >"$out/seekwell-$version.cdx.json"

cp -r "$here/untested" "$out/untested"
(cd "$out" && find . -maxdepth 1 -type f -printf '%P\0' | sort -z | xargs -0 sha256sum >"$work/sums")
mv "$work/sums" "$out/SHA256SUMS"
ls -l --block-size=K "$out"
