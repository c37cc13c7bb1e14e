# make checkup   build and look at the disk under this directory
# make test      the gate: everything that must hold before a change goes in
# make page      build the report's page from web/ (Node)
# make fuzz      feed the parsers nonsense, FUZZ_SECONDS (30) each (nightly Rust and cargo-fuzz)
# make bench     the engine beside fio, written to docs/bench
# make dist      man pages and completions, written to dist
# make packages  archives, .deb, .rpm, wheel and SBOM, written to dist, each installed and tried
# make deny      licences and known holes of dependencies (cargo-deny)

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
CARGO       ?= cargo
TARGET      := $(or $(CARGO_TARGET_DIR),target)
RELEASE     := $(TARGET)/release/seekwell

.PHONY: checkup test fuzz bench bench-python dist packages deny page test-page test-python compiler test-tools python-tools
.DEFAULT_GOAL := checkup

# A gate builds once: what makes a second build faster only fills its disk.
ifdef CI
export CARGO_INCREMENTAL := 0
endif

checkup: compiler
	$(CARGO) build --release --package seekwell --no-default-features
	$(RELEASE) checkup . -o checkup.html --force

# Clippy takes the compiler's place in `cargo check`, so that the documentation is made from what it
# has checked.
LINT := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings

test: compiler test-tools python-tools
	$(CARGO) fmt --all --check
	$(LINT) $(CARGO) check --workspace --all-targets
	$(LINT) RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps --document-private-items
	$(CARGO) build --workspace --all-targets
	$(TARGET)/debug/xtask test

# --- the Python module: tested in an environment of its own -------------------------------------
# It is built as the tests are, which shares what they are made of.

PYTHON := $(TARGET)/python
MODULE := crates/seekwell-python

# Other tests take DuckDB from it.
python-tools:
	@python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
	  && $(MAKE) --no-print-directory $(PYTHON)/.installed || true

test-python:
	@if [ -e $(PYTHON)/.installed ]; then \
	  $(CARGO) build --quiet --workspace --all-targets && \
	  cp $(TARGET)/debug/libseekwell_python.so $(MODULE)/python/seekwell/_native.abi3.so && \
	  . $(PYTHON)/bin/activate && \
	  PYTHONPATH=$(abspath $(MODULE)/python) pytest -q -rs $(MODULE); \
	else \
	  echo "skipped: the Python module needs Python 3.10 or later with venv, and PyPI" >&2; \
	fi

bench-python: python-tools
	$(CARGO) build --release --package seekwell-python
	cp $(TARGET)/release/libseekwell_python.so $(MODULE)/python/seekwell/_native.abi3.so
	PYTHONPATH=$(abspath $(MODULE)/python) $(PYTHON)/bin/python -m seekwell.bench

$(PYTHON)/.installed: $(MODULE)/pyproject.toml
	@python3 -m venv $(PYTHON) 2>/dev/null
	@$(PYTHON)/bin/pip install --quiet ansible-core duckdb fio-plot matplotlib mypy polars pyarrow pytest
	@$(PYTHON)/bin/pip install --quiet 'ray>=2.50' || echo "note: Ray is not installed" >&2
	@touch $@

# --- the page: in git as it is built, so that only changes to web/ need Node --------------------

PAGE := crates/seekwell-report/page.html

page: web/node_modules/.installed
	cd web && npm run --silent build
	cp web/dist/index.html $(PAGE)

test-page:
	@if command -v npm >/dev/null; then \
	  $(MAKE) --no-print-directory web/node_modules/.installed && \
	  cd web && npm run --silent typecheck && npm test --silent && npm run --silent build && \
	  { cmp dist/index.html ../$(PAGE) || \
	    { echo "$(PAGE) is not what web/ builds; needed: make page" >&2; exit 1; }; }; \
	else \
	  echo "skipped: the page's own tests need Node" >&2; \
	fi

web/node_modules/.installed: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# --- what the machine needs ------------------------------------------------------------------------

# Rust links through cc, and SQLite is compiled by it.
compiler:
	@if ! command -v cc >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing a C compiler" >&2; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	      apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null; \
	  else \
	    echo "a C compiler is needed: apt-get install gcc libc6-dev" >&2; exit 1; \
	  fi; \
	fi

# Tests that miss one of these say that they were skipped. PROGRAM:PACKAGE, or FILE:PACKAGE.
TOOLS := fio:fio chromium:chromium mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs \
	mkfs.vfat:dosfstools mkfs.exfat:exfatprogs mkfs.f2fs:f2fs-tools mkfs.jfs:jfsutils \
	mkfs.nilfs2:nilfs-tools mkntfs:ntfs-3g mkreiserfs:reiserfsprogs mkudffs:udftools \
	cryptsetup:cryptsetup-bin sfdisk:fdisk pvcreate:lvm2 losetup:mount bindfs:bindfs \
	script:bsdutils fincore:util-linux-extra ip:iproute2 sshd:openssh-server ssh:openssh-client \
	blkparse:blktrace bon_csv2html:bonnie++ qemu-system-x86_64:qemu-system-x86 cpio:cpio \
	promtool:prometheus initdb:postgresql openssl:openssl nbdinfo:libnbd-bin qemu-io:qemu-utils \
	/usr/share/doc/fio/examples/fio-seq-read.fio:fio-examples

test-tools:
	@missing=""; PATH="$$PATH:/usr/sbin:/sbin:$$(echo /usr/lib/postgresql/*/bin | tr " " :)"; \
	for pair in $(TOOLS); do \
	  test -e "$${pair%%:*}" || command -v "$${pair%%:*}" >/dev/null || \
	    missing="$$missing $${pair##*:}"; \
	done; \
	python3 -c 'import six' 2>/dev/null || missing="$$missing python3-six"; \
	if [ -z "$$missing" ]; then \
	  :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing for the tests:$$missing" >&2; \
	  export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; \
	  install() { apt-get install -y -qq --no-install-recommends "$$@" >/dev/null; }; \
	  install $$missing 2>/dev/null || for package in $$missing; do \
	    install $$package || \
	      echo "note: not installed: $$package; tests that need it are skipped" >&2; \
	  done; \
	else \
	  echo "note: missing:$$missing; tests that need them are skipped" >&2; \
	fi

# --- chores ----------------------------------------------------------------------------------------

FUZZ_SECONDS ?= 30

# SQLite is linked more than once in such a build, which the sanitizer takes for an error.
fuzz:
	@command -v cargo-fuzz >/dev/null || { echo "needed: cargo install cargo-fuzz" >&2; exit 1; }
	cd fuzz && export ASAN_OPTIONS=detect_odr_violation=0; \
	for target in $$($(CARGO) +nightly fuzz list); do \
	  mkdir -p "corpus/$$target" "seeds/$$target"; \
	  $(CARGO) +nightly fuzz run "$$target" "corpus/$$target" "seeds/$$target" -- \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048; \
	done

bench:
	$(CARGO) xtask bench-engine

dist:
	$(CARGO) xtask dist

# zig compiles the C parts for either architecture.
PACKAGERS := lintian:lintian rpmbuild:rpm debootstrap:debootstrap dpkg-deb:dpkg \
	qemu-aarch64-static:qemu-user-static
VENV := $(TARGET)/packages/venv

packages: compiler $(VENV)/.installed
	@missing=""; PATH="$$PATH:/usr/sbin"; for pair in $(PACKAGERS); do \
	  command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair##*:}"; \
	done; \
	if [ -n "$$missing" ]; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi
	rustup --quiet target add x86_64-unknown-linux-musl aarch64-unknown-linux-musl
	packaging/build.sh
	PATH="$$PATH:/usr/sbin" packaging/try.sh

$(VENV)/.installed:
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet cargo-zigbuild==0.24.* ziglang==0.17.* wheel
	@touch $@

deny:
	$(CARGO) deny check
