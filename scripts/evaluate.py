#!/usr/bin/env python3
"""Scores verdicts on labelled programs: those of tests/java/zoo, which leak or are healthy, and the twins in which the leak is mended
(-Dfixed=true, where a source has it). Each program takes its own heap dumps. Writes the table of docs/evaluation.md.

    scripts/evaluate.py [PROGRAM ...]     BIN names the program to try (default: target/release/memory-city)

With names of programs only these run, and nothing is written.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ZOO = ROOT / "tests" / "java" / "zoo"
PAGE = ROOT / "docs" / "evaluation.md"
BIN = os.environ.get("BIN", str(ROOT / "target" / "release" / "memory-city"))
# As in the test of the same programs: every run is like the other.
FLAGS = ["-Xmx64m", "-XX:+UseSerialGC", "-XX:MarkSweepAlwaysCompactCount=1", "-XX:TieredStopAtLevel=1"]
# A dump in which one object keeps less than this share of the heap has no suspect.
SUSPECT = 10.0


def city(*words):
    environment = dict(os.environ, MEMORY_CITY_CACHE="")
    environment.pop("RUST_LOG", None)
    done = subprocess.run([BIN, *map(str, words)], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout


def names(text, alternatives):
    """Whether one of the alternatives stands there as a word of its own."""
    return any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in alternatives.split("|"))


class Run:
    """A run of a program, and what was said about it."""

    def __init__(self, label, fixed):
        self.label, self.fixed = label, fixed
        self.leaks = not fixed and bool(label["leaks"])
        self.title = label["program"] + (", mended" if fixed else "")

    def look(self, classes, folder):
        program = self.label["program"]
        dumps = Path(folder) / self.title.replace(", ", "-")
        dumps.mkdir()
        path = f"{classes}:{self.label.get('class_path') or ''}"
        java = ["java", *FLAGS, f"-Ddumps={dumps}", f"-Dfixed={str(self.fixed).lower()}", "-cp", path]
        subprocess.run([*java, f"zoo.{program.lower()}.{program}"], check=True, capture_output=True)
        taken = sorted(dumps.iterdir())
        self.lines = [json.loads(city("report", *taken[:count], "--format", "json"))["verdict"] for count in range(2, len(taken) + 1)]
        self.final = self.lines[-1]
        self.is_alarm = self.final["kind"] in ("leak", "grows")
        self.is_right = self.right(self.final)
        self.points = self.points_needed(len(taken))
        self.by_class = self.class_growth(taken)
        self.by_size = self.largest_object(taken[-1])
        for dump in taken:
            dump.unlink()
        return self

    def right(self, verdict):
        """Whether a first line is right: it names the owner of the largest leak, or says that nothing accumulates where nothing leaks."""
        alarm = verdict["kind"] in ("leak", "grows")
        if not self.leaks:
            return not alarm
        owner = self.label["leaks"][0]["named"]
        or_nothing = self.label.get("or_nothing", False) and verdict["kind"] == "ok"
        return or_nothing or alarm and any(names(verdict["headline"], one) for one in owner[:2])

    def points_needed(self, taken):
        """The least number of dumps from which on the first line is right."""
        needed = None
        for count, verdict in zip(range(2, taken + 1), self.lines):
            needed = (needed or count) if self.right(verdict) else None
        return needed

    def class_growth(self, taken):
        """A comparison of class histograms: the class that grew most. Right where the label says that it piles up."""
        rows = csv.DictReader(city("report", *taken, "--grouping", "type", "--format", "csv", "--table", "growing").splitlines())
        first = next((row for row in rows if row["kind"] == "group"), None)
        alarm = first is not None and 10 * int(first["growth_bytes"]) >= int(first["first_bytes"])
        holds = self.label["leaks"][0].get("holds", "") if self.leaks else ""
        return alarm, alarm and bool(holds) and names(first["group"].replace("$", "."), holds)

    def largest_object(self, dump):
        """The rule of suspects: of one dump, the object that keeps most, where that is much of the heap, with its owners."""
        table = json.loads(city("analyse", "biggest", dump, "-p", "top=50", "--format", "json"))["analyses"][0]["tables"][0]
        rows = [row["values"] for row in table["rows"]]
        # Classes and threads are roots of much; what they keep is the suspect.
        rows = [row for row in rows if not row["type"].startswith("class ") and row["type"] != "java.lang.Thread"]
        alarm = bool(rows) and rows[0]["share"] >= SUSPECT
        owner = self.label["leaks"][0]["named"] if self.leaks else []
        text = f"{rows[0]['type']} {rows[0]['owners']}" if rows else ""
        return alarm, alarm and any(names(text, one) for one in owner[:2])


def scores(runs, answer):
    """Counts of one detector: right names of leaks, alarms on others; precision, recall and F1 of naming."""
    leaks = [run for run in runs if run.leaks]
    others = [run for run in runs if not run.leaks]
    right = sum(answer(run)[1] for run in leaks)
    alarms = sum(answer(run)[0] for run in runs)
    false = sum(answer(run)[0] for run in others)
    precision = right / alarms if alarms else 0.0
    recall = right / len(leaks) if leaks else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return f"{right} of {len(leaks)} | {false} of {len(others)} | {precision:.2f} | {recall:.2f} | {f1:.2f}"


def table(runs):
    detectors = [
        ("first line of `report`, all dumps", lambda run: (run.is_alarm, run.is_right and run.leaks)),
        ("class that grew most (histograms compared)", lambda run: run.by_class),
        (f"largest object, from {SUSPECT:.0f} % of the heap (one dump)", lambda run: run.by_size),
    ]
    lines = ["| detector | right name, leaks | alarm, others | precision | recall | F1 |", "|---|---|---|---|---|---|"]
    lines += [f"| {title} | {scores(runs, answer)} |" for title, answer in detectors]
    leaks = [run for run in runs if run.leaks]
    points = [run.points for run in leaks if run.points]
    lines += ["", "Dumps from which on the first line is right:", "", "| dumps | leaks |", "|---|---|"]
    lines += [f"| {count} | {points.count(count)} |" for count in sorted(set(points))]
    wrong = [run for run in runs if not run.is_right]
    if wrong:
        lines += ["", "Wrong first lines:", "", "| run | first line |", "|---|---|"]
        lines += [f"| {run.title} | {run.final['kind'].upper()} {run.final['headline']} |" for run in wrong]
    return "\n".join(lines)


def main(only):
    labels = json.loads((ZOO / "expected.json").read_text())
    labels = [label for label in labels if not only or label["program"] in only]
    runs = [Run(label, False) for label in labels]
    runs += [Run(label, True) for label in labels if "Series.FIXED" in (ZOO / f"{label['program']}.java").read_text()]
    with tempfile.TemporaryDirectory() as folder:
        libraries = ":".join(filter(None, {label.get("class_path") for label in labels}))
        classes = Path(folder) / "classes"
        sources = sorted(map(str, ZOO.glob("*.java")))
        subprocess.run(["javac", "-nowarn", "-cp", libraries or "/usr/share/java/h2.jar", "-d", classes, *sources], check=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = list(pool.map(lambda run: run.look(classes, folder), runs))
    leaks = sum(run.leaks for run in runs)
    twins = sum(run.fixed for run in runs)
    counts = f"{len(runs)} runs: {leaks} leak, {twins} are mended twins of them, {len(runs) - leaks - twins} are healthy."
    text = f"{counts}\n\n{table(runs)}\n"
    print(text)
    if not only:
        page = PAGE.read_text()
        begin, end = "<!-- scores -->\n", "<!-- end of scores -->\n"
        before, rest = page.split(begin)
        PAGE.write_text(before + begin + "\n" + text + "\n" + end + rest.split(end)[1])


main(set(sys.argv[1:]))
