#!/usr/bin/env python3
"""Leaks of real applications, and other tools on the same dumps: `make real` runs this and writes docs/real.md.

    real.py [--fresh] [--only NAME] [-o FILE]

Downloads Spark (PyPI), Tomcat and VisualVM (Debian), all into target/real: nothing of the system is changed. Records dumps
there once; `--fresh` records them again. Then asks `memory-city report` what leaks, checks that what must be named is
named, and compares retained sizes object by object. Needs a JDK 17, an internet connection the first time, and 2 GB of
disk; takes five minutes.
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "scripts/real"
WORK = ROOT / "target/real"
BIN = ROOT / "target/release/memory-city"
RETAINED = ROOT / "target/release/examples/retained"
PYSPARK = "3.5.3"
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
    """What report says first, and whether that is right."""
    environment = {**os.environ, "MEMORY_CITY_CACHE": ""}
    dumps = sorted(folder.glob("*.hprof.gz"))
    printed = run([BIN, "report", *dumps], env=environment)
    head, _, rest = printed.partition("HEAP OVER TIME")
    head = head.strip("\n")
    named = APPLICATIONS[name]["named"]
    if named is None:
        wrong = [] if "Nothing accumulates" in head else ["that nothing accumulates is not said"]
    else:
        wrong = [f"{pattern} is not found" for pattern in named if not re.search(pattern, head)]
    objects = re.findall(r"UTC\s+([\d,]+)", rest)
    return {"head": head, "wrong": wrong, "objects": objects[-1] if objects else "?"}


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
    return table_of(run(command)), sizes


def ours(dump, of, *options):
    """What we say of the objects of a file with addresses."""
    return table_of(run([RETAINED, dump, "--of", of, *options]))


def compare(dump, work):
    """The objects that keep most, by VisualVM and by us: under our rules, and under its rules with its sizes of objects."""
    raw = work / "dump.hprof"
    with gzip.open(dump, "rb") as packed, raw.open("wb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)
    theirs, sizes = visualvm(raw, work)
    addresses = work / "addresses.tsv"
    addresses.write_text("".join(f"0x{address:x}\n" for address in theirs))
    default = ours(raw, addresses)
    as_theirs = ours(raw, addresses, "--plain", "--sizes", sizes)
    rows = []
    for address, (kind, _, retained) in theirs.items():
        rows.append((address, kind, retained, as_theirs[address][2], default[address][2]))
    raw.unlink()
    return rows


def number(value):
    return f"{value:,}"


def write(results, compared, output):
    lines = [
        "# Leaks of real applications",
        "",
        f"Written by `make real`; how the dumps are made: `scripts/real/`. Spark {PYSPARK}, Tomcat 10.1, JDK 17, eight live",
        "dumps each while the application works. *Right* says whether the first lines of `memory-city report` name the",
        "collection that is to be fixed with its elements, or, for a healthy application, that nothing accumulates.",
        "",
        "| application | what | objects at the end | right |",
        "|---|---|---:|---|",
    ]
    for name, result in results.items():
        right = "yes" if not result["wrong"] else "**no**: " + "; ".join(result["wrong"]).replace("|", "\\|")
        what = APPLICATIONS[name]["what"]
        lines.append(f"| {name} | {what} | {result['objects']} | {right} |")
    lines += ["", "## What `report` says first", ""]
    for name, result in results.items():
        lines += [f"{name}:", "```", *(line.rstrip() for line in result["head"].splitlines() if line.strip()), "```", ""]
    lines += [
        "## Retained sizes against VisualVM",
        "",
        f"The {TOP} objects that keep most in the last dump, as the heap library of VisualVM (Debian's 2.1.5) computes it.",
        "*As VisualVM* is what Memory City computes under the rules of that tool, *ours* is its own answer. The rules:",
        "",
        "- **References.** VisualVM lets every reference keep what it refers to; in the VM weak, phantom and finalizer references",
        "  do not. What also such a reference holds has no single owner for VisualVM, so that the owner retains less.",
        "- **Classes.** The dump names classes of the bootstrap loader alone as roots. The VM never unloads those of its other",
        "  own loaders either, so for us the VM holds them, not their loader; for VisualVM the loader owns all they hold.",
        "- **Sizes.** VisualVM counts each class object as 72 bytes and leaves out fields that the VM hides; we give what the VM",
        "  needs. The comparison uses its sizes of objects.",
        "- **Hidden references.** A dump leaves out the fields of class objects, such as their name; we put them back.",
        "  So an owner of classes retains these texts as well.",
        "",
        "The objects that differ under the same rules are class loaders, classes, their lists and what shares objects with them.",
        "Whether the rule on hidden references explains all of their difference has not been traced byte by byte.",
        "",
    ]
    for name, rows in compared.items():
        equal = sum(theirs == like for _, _, theirs, like, _ in rows)
        lines += [
            f"### {name}: {equal} of {len(rows)} equal to the byte under the same rules",
            "",
            "| object | VisualVM | as VisualVM | difference | ours |",
            "|---|---:|---:|---:|---:|",
        ]
        for address, kind, theirs, like, default in rows:
            difference = number(like - theirs) if like != theirs else ""
            lines.append(f"| `{kind}` 0x{address:x} | {number(theirs)} | {number(like)} | {difference} | {number(default)} |")
        lines.append("")
    output.write_text("\n".join(lines).rstrip("\n") + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--fresh", action="store_true", help="record the dumps again")
    arguments.add_argument("--only", choices=APPLICATIONS, help="one application; prints instead of writing the page")
    arguments.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/real.md")
    asked = arguments.parse_args()
    set_up()
    names = [asked.only] if asked.only else list(APPLICATIONS)
    folders = {name: record(name, asked.fresh) for name in names}
    results = {name: report(name, folder) for name, folder in folders.items()}
    for name, result in results.items():
        say(f"--- {name}: {'right' if not result['wrong'] else '; '.join(result['wrong'])}\n{result['head']}")
    if not asked.only:
        with tempfile.TemporaryDirectory(dir=WORK) as work:
            leaks = {name: folder for name, folder in folders.items() if APPLICATIONS[name]["named"]}
            compared = {name: compare(max(folder.glob("*.hprof.gz")), pathlib.Path(work)) for name, folder in leaks.items()}
        write(results, compared, asked.output)
        say(f"written: {asked.output}")
    sys.exit(any(result["wrong"] for result in results.values()))


main()
