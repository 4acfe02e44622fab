#!/usr/bin/env python3
"""Leaks of real applications, and other tools on the same dumps: `make real` runs this and writes docs/real.md.

    real.py [--fresh] [--only NAME] [-o FILE]

Downloads Spark (PyPI), Tomcat and VisualVM (Debian), builds hprof-analyzer (crates.io), all into target/real: nothing of
the system is changed. Records dumps there once; `--fresh` records them again. Then asks `memory-city report` what leaks,
checks that what must be named is named, and compares retained sizes object by object. Needs a JDK 17, an internet
connection the first time, 3 GB of disk, and about ten minutes, most of them for building hprof-analyzer.
"""

import argparse
import gzip
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "scripts/real"
WORK = ROOT / "target/real"
BIN = ROOT / "target/release/memory-city"
RETAINED = ROOT / "target/release/examples/retained"
HPROF_ANALYZER = WORK / "tools/bin/hprof-analyzer"
PYSPARK = "3.5.3"
ANALYZER = "0.3.2"
# How many of the objects that keep most are compared.
TOP = 40

# What must be said first of each: patterns that must all be found, or that nothing grows.
APPLICATIONS = {
    "spark-leak": {
        "what": "Spark driver that keeps 48 query executions in one `ArrayList`, made through the py4j gateway",
        "named": [r"\bArrayList\b", r"bindings|Gateway", r"\b6\b", r"\b48\b", r"QueryExecution"],
    },
    "spark-healthy": {"what": "the same queries, nothing kept, Spark's history of queries limited", "named": None},
    "tomcat-leak": {
        "what": "Tomcat whose sessions never end",
        "named": [r"\bsessions\b", r"\bConcurrentHashMap\b", r"\b1,?100\b", r"\b3,?760\b", r"StandardSession"],
    },
    "tomcat-healthy": {"what": "Tomcat whose sessions end after a second of rest", "named": None},
}


def say(what):
    print(what, file=sys.stderr, flush=True)


def run(command, **options):
    """Runs a command; what it prints on standard output."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed ({done.returncode})\n{done.stdout}")
    return done.stdout


def measured(command, **options):
    """Runs a command; what it prints, its seconds and the most memory it had, in MB."""
    started = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True, **options)
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed ({status})\n{printed}")
    return printed, time.monotonic() - started, used.ru_maxrss / 1024


def set_up():
    python = WORK / "python/bin/python"
    if not (WORK / "python/lib").exists() or not list(WORK.glob("python/lib/python*/site-packages/pyspark")):
        say(f"Spark {PYSPARK}: about 320 MB from PyPI")
        run([sys.executable, "-m", "venv", WORK / "python"])
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"pyspark=={PYSPARK}", "setuptools"])
    for package, folder in [("libtomcat10-java", "tomcat"), ("visualvm", "visualvm")]:
        if not (WORK / folder / "usr").exists():
            say(f"{package} from Debian")
            (WORK / "debs").mkdir(parents=True, exist_ok=True)
            run(["apt-get", "download", "-qq", package], cwd=WORK / "debs", stderr=subprocess.DEVNULL)
            package_file = max((WORK / "debs").glob(f"{package}_*.deb"))
            run(["dpkg", "-x", package_file, WORK / folder])
    if not HPROF_ANALYZER.exists():
        say(f"hprof-analyzer {ANALYZER} from crates.io: builds for some minutes")
        target = ["--target-dir", WORK / "tools-target"]
        run(["cargo", "install", "--quiet", "hprof-analyzer", "--version", ANALYZER, "--locked", "--root", WORK / "tools", *target])
        shutil.rmtree(WORK / "tools-target", ignore_errors=True)


def record(name, fresh):
    """The folder with the dumps of an application."""
    folder = WORK / "dumps" / name
    if not fresh and len(list(folder.glob("*.hprof.gz"))) == 8:
        return folder
    application, variant = name.split("-")
    say(f"recording {name}")
    if application == "spark":
        python = WORK / "python/bin/python"
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python)}
        said = run([python, HERE / "spark_driver.py", variant, folder], env=environment, stderr=subprocess.DEVNULL)
    else:
        jars = WORK / "tomcat/usr/share/java"
        said = run([sys.executable, HERE / "tomcat_shop.py", variant, jars, folder], stderr=subprocess.DEVNULL)
    (folder / "said.txt").write_text(said)
    return folder


def report(name, folder):
    """What report says first, whether that is right, and how long it took."""
    environment = {**os.environ, "MEMORY_CITY_CACHE": ""}
    dumps = sorted(folder.glob("*.hprof.gz"))
    printed, seconds, memory = measured([BIN, "report", *dumps], env=environment)
    head, _, rest = printed.partition("HEAP OVER TIME")
    head = head.strip("\n")
    named = APPLICATIONS[name]["named"]
    if named is None:
        wrong = [] if "othing grows" in head else ["that nothing grows is not said"]
    else:
        wrong = [f"{pattern} is not found" for pattern in named if not re.search(pattern, head)]
    objects = re.findall(r"UTC\s+([\d,]+)", rest)
    return {"head": head, "wrong": wrong, "seconds": seconds, "memory": memory, "objects": objects[-1] if objects else "?"}


def table_of(text):
    """Address to (type, own, retained) of lines with tabs."""
    rows = [line.split("\t") for line in text.splitlines()]
    return {int(row[0], 16): (row[1], int(row[2]), int(row[3])) for row in rows}


def visualvm(dump, work):
    """What VisualVM says: address to (type, own, retained), and a file with what objects of each type take."""
    jar = WORK / "visualvm/usr/share/visualvm/visualvm/modules/org-graalvm-visualvm-lib-jfluid-heap.jar"
    run(["javac", "-nowarn", "-cp", jar, "-d", work, HERE / "BiggestObjects.java"])
    sizes = work / "visualvm-sizes.tsv"
    command = ["java", "-Xmx2g", f"-Djava.io.tmpdir={work}", "-cp", f"{jar}:{work}", "BiggestObjects", dump, str(TOP), sizes]
    printed, seconds, memory = measured(command)
    return table_of(printed), sizes, seconds, memory
