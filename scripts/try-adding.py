#!/usr/bin/env python3
"""Applies the worked examples of docs/adding.md to a copy of the sources, and runs the commands that go with them.

A block whose first line says `file: PATH` is a new file; one that says `line: PATH, after: TEXT` is put behind the first
line of that file that is TEXT; one that says `check` is run in the copy, and what follows `prints:` must be in what it
prints. So the page cannot promise more than compiles.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "target" / "adding"


def fail(message):
    sys.exit(f"docs/adding.md: {message}")


def blocks(page):
    """Header line (without its comment sign) and contents of each block that has one."""
    for match in re.finditer(r"^```\w+\n(.*?)^```", page, re.S | re.M):
        first, _, rest = match.group(1).partition("\n")
        header = re.match(r"(?://|#) (file|line|check)\b:? ?(.*)", first)
        if header:
            yield header.group(1), header.group(2), rest


def copy_sources():
    if COPY.exists():
        shutil.rmtree(COPY)
    left_out = {"target", ".git", "out", "fuzz"}
    # With new times: cargo compiles anew what is younger than it has.
    shutil.copytree(ROOT, COPY, copy_function=shutil.copy, ignore=lambda folder, names: left_out & set(names) if Path(folder) == ROOT else set())


def name_copy():
    """Gives the copy another version: cargo tells packages in one build folder apart by it, not by where they lie."""
    manifest = COPY / "Cargo.toml"
    text = manifest.read_text()
    renamed = re.sub(r'(\[workspace\.package\]\nversion = ")[^"]*"', r'\g<1>0.0.0-adding"', text)
    if renamed == text:
        fail("Cargo.toml has no version to change")
    manifest.write_text(renamed)


def apply(kind, header, text):
    if kind == "file":
        path = COPY / header
        if path.exists():
            fail(f"{header} is there already")
        path.write_text(text)
        return
    name, _, after = header.partition(", after: ")
    path = COPY / name
    lines = path.read_text().split("\n")
    at = next((i for i, line in enumerate(lines) if line.strip() == after.strip()), None)
    if at is None:
        fail(f"{name} has no line `{after}`")
    if len(text.strip().split("\n")) != 1:
        fail(f"{name}: one line was promised")
    lines.insert(at + 1, text.rstrip("\n"))
    path.write_text("\n".join(lines))


# In the profile of the tests with our crates unoptimised, and with the features of the whole workspace, so that libraries are those of
# the tests: one quick build for all commands of the page.
OURS = ["", *(f"-{crate.name}" for crate in sorted((ROOT / "crates").iterdir()))]
QUICK = [flag for name in OURS for flag in ("--config", f"profile.ci.package.memory-city{name}.opt-level=0")]
TARGET = ROOT / "target"
ENVIRONMENT = dict(os.environ, CARGO_TARGET_DIR=str(TARGET), MEMORY_CITY_CACHE="")
ENVIRONMENT.pop("RUSTC_WORKSPACE_WRAPPER", None)


def build():
    command = ["cargo", "build", "-q", "--profile", "ci", *QUICK, "--workspace", "--bins", "--examples"]
    done = subprocess.run(command, cwd=COPY, env=ENVIRONMENT)
    if done.returncode != 0:
        fail(f"the examples do not compile ({done.returncode})")


def check(text):
    command, _, expected = text.partition("# prints:")
    command = re.sub(r"cargo run -q(?: --no-default-features| --release)? --example (\w+)", rf"{TARGET}/ci/examples/\1", command.strip())
    command = re.sub(r"cargo run -q(?: --no-default-features| --release)? --", f"{TARGET}/ci/memory-city", command)
    print(f"$ {command}", flush=True)
    done = subprocess.run(command, shell=True, cwd=COPY, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"`{command}` ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    if expected.strip() and expected.strip() not in done.stdout:
        fail(f"`{command}` did not print `{expected.strip()}`:\n{done.stdout}")


def main():
    found = list(blocks((ROOT / "docs" / "adding.md").read_text()))
    if sum(kind == "line" for kind, _, _ in found) < 5:
        fail("there are fewer than five worked examples")
    copy_sources()
    name_copy()
    for kind, header, text in found:
        if kind != "check":
            apply(kind, header, text)
    build()
    for kind, _, text in found:
        if kind == "check":
            check(text)
    print(f"docs/adding.md: {len(found)} blocks, all as promised")


main()
