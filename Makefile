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
	'openjdk-17-jdk-headless|openjdk-21-jdk-headless|default-jdk-headless' libh2-java python3 python3-venv musl-tools
# What the sample city of http-pool is recorded from.
RECORDER_PACKAGES := libcommons-httpclient-java libcommons-logging-java libcommons-codec-java
# What the recorder's benchmark records, besides the Tomcat of `make real`.
BENCH_PACKAGES := libh2-java liblucene8-java
# A browser for the page that `page` writes. Ubuntu has none that runs without its package daemon: there that test is skipped
# unless a Chromium is installed.
BROWSER := $(shell grep -qs '^ID=debian' /etc/os-release && echo chromium)

# Setting up comes before building, also under `make -j`.
.NOTPARALLEL:
.PHONY: help run pictures build test engine-test engine-test-and-build build-ahead recorder-test viewer-test window-test adding-test bench real fmt lint tour setup setup-test

help:
	@echo "make run     set up, build, and open the sample city (without a display: render a tour of pictures)"
	@echo "make test    set up and run all tests"
	@echo "make recorder-test   half an hour of the recorder: each collector, each way to end, classes that come and go"
	@echo "make bench   run the benchmarks; results and how to read them: benches/README.md"
	@echo "make real    leaks of real applications (Spark, Tomcat), other tools on the same dumps, a hunt in a window: docs/real.md"
	@echo "make pictures   the pictures of README.md, drawn anew"
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

# The pictures of README.md, as the program draws them now.
pictures: build
	@scripts/pictures.sh

# A test that would skip itself for want of a JVM fails here: it has been installed.
test: export MEMORY_CITY_REQUIRE_JVM := 1
# Indexes of traces that tests open are not kept among those of the user.
test: export MEMORY_CITY_CACHE := $(CURDIR)/target/test-cache
test: export MEMORY_CITY_REQUIRE_PYTHON := 1
ifneq ($(BROWSER),)
test: export MEMORY_CITY_REQUIRE_BROWSER := 1
endif
VIEWER_TESTS := --lib --bins --test render --test detail --test city_memory --test live_view

# Fast checks first: the engine without the viewer, then the viewer on a software GPU, then a real window.
test: setup setup-test lint-engine engine-test-and-build lint viewer-test window-test adding-test

# For release as well as `lint` and the viewer's tests: what all of them need is checked, and built, once.
lint-engine:
	@rustfmt --check --edition 2024 $(SOURCES)
	$(CARGO) clippy --locked --release --workspace --no-default-features --all-targets -- -D warnings

engine-test:
	$(CARGO) test --locked --workspace --no-default-features

# The engine's tests wait for other programs for a third of their time: what comes next is built meanwhile, behind them. Whether that
# succeeds, and why not, is said when its turn comes.
engine-test-and-build:
	@mkdir -p target; nice -n 19 $(MAKE) --no-print-directory build-ahead >target/build-ahead.log 2>&1 & ahead=$$!; \
	$(MAKE) --no-print-directory engine-test || { kill $$ahead 2>/dev/null; exit 1; }; \
	wait $$ahead || true

build-ahead:
	-$(CARGO) clippy --locked --release --all-targets -- -D warnings
	$(CARGO) test --locked --release --no-run $(VIEWER_TESTS)
	$(CARGO) test --locked --release --no-run --test window

# Each collector of each JDK: every way to end, every leak, a minute of classes that come and go.
recorder-test: export MEMORY_CITY_REQUIRE_JVM := 1
recorder-test: export MEMORY_CITY_CACHE := $(CURDIR)/target/test-cache
recorder-test: setup setup-test
	@scripts/install.sh $(RECORDER_PACKAGES)
	$(CARGO) test --locked --no-default-features --test recorder -- --ignored --test-threads 1
	$(CARGO) test --locked -p memory-city-agent -- --ignored --test-threads 1

lint: 
	@rustfmt --check --edition 2024 $(SOURCES)
	$(CARGO) clippy --locked --release --all-targets -- -D warnings

viewer-test:
	$(CARGO) test --locked --release $(VIEWER_TESTS)

window-test:
	$(CARGO) test --locked --release --test window

# The worked examples of docs/adding.md, in a copy of the sources.
adding-test:
	scripts/try-adding.py

bench: setup setup-test
	@scripts/install.sh $(BENCH_PACKAGES)
	$(CARGO) bench --bench layout --bench grouping --bench hprof --bench closures --bench series --bench trace --bench windows --bench table --bench json --bench live --bench recorder --bench recording --no-default-features
	$(CARGO) bench --bench frame --bench live_frames --bench charts --bench rest

# Downloads Spark, Tomcat and VisualVM into target/real.
real: setup setup-test
	$(CARGO) build --locked --release --no-default-features --bin memory-city --example retained
	scripts/real/real.py
	scripts/real/five_minutes.py
	MEMORY_CITY_REQUIRE_REAL=1 $(CARGO) test --locked --release --test window spark

fmt:
	@rustfmt --edition 2024 $(SOURCES)

setup:
	@scripts/install.sh $(RUN_PACKAGES)

# Python's WebSocket client and JSON Schema validator go into an environment of its own: nothing of the system is changed.
setup-test:
	@scripts/install.sh $(TEST_PACKAGES) $(BROWSER)
	@test -x target/python/bin/python || python3 -m venv target/python
	@target/python/bin/python -c 'import websockets, jsonschema' 2>/dev/null || \
		target/python/bin/pip install --quiet 'websockets>=13' 'jsonschema>=4'
