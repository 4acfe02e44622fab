#!/usr/bin/env python3
"""Leaks of real applications, and other tools on the same dumps: `make real` runs this and writes docs/real.md.

    real.py [--fresh] [--only NAME] [-o FILE]

Downloads Spark (PyPI), Tomcat and VisualVM (Debian) and hprof-analyzer (crates.io), all into target/real: nothing of the
system is changed. Records dumps
there once; `--fresh` records them again. Then asks `memory-city report` what leaks, checks that what must be named is
named, and compares retained sizes object by object. Needs a JDK 17, an internet connection the first time, and 2 GB of
disk; takes five minutes.
"""

import argparse
import gzip
import json
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
HPROF_ANALYZER = "0.3.2"
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
    if not (WORK / "hprof-analyzer/bin/hprof-analyzer").exists():
        say(f"hprof-analyzer {HPROF_ANALYZER} from crates.io: some minutes to compile")
        command = ["cargo", "install", "--quiet", "--locked", "--root", WORK / "hprof-analyzer"]
        run([*command, "hprof-analyzer", "--version", HPROF_ANALYZER])


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


def hprof_analyzer(dump, work):
    """The same of hprof-analyzer, by its queries. What a class object takes follows from its class, not from its type."""
    tool = WORK / "hprof-analyzer/bin/hprof-analyzer"

    def rows(query):
        said = run([tool, "query", dump, "--progress", "never", "--format", "json", "--query", query], stderr=subprocess.DEVNULL)
        return [[cell["v"] for cell in row] for row in json.loads(said)[0]["rows"]]

    biggest = rows(
        'SELECT @objectAddress, @displayName, @usedHeapSize, @retainedHeapSize FROM ".*" '
        f"ORDER BY @retainedHeapSize DESC LIMIT {TOP}"
    )
    types = rows("SELECT classof(x), MAX(x.@usedHeapSize) FROM INSTANCEOF java.lang.Object x GROUP BY classof(x)")
    sizes = work / "hprof-analyzer-sizes.tsv"
    sizes.write_text("".join(f"{name}\t{size}\n" for name, size in types if name != "java.lang.Class"))
    return {row[0]: (row[1], row[2], row[3]) for row in biggest}, sizes


# The tools: how they are asked, and what `retained --like` calls their rules.
TOOLS = {"VisualVM": (visualvm, "visualvm"), "hprof-analyzer": (hprof_analyzer, "hprof-analyzer")}


def compare(dump, work):
    """By tool: the names of the rules, and for each of the objects that keep most its address, type, what the tool says, and
    what we say from its rules to ours, rule by rule."""
    raw = work / dump.name.removesuffix(".gz")
    with gzip.open(dump, "rb") as packed, raw.open("wb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)
    compared = {}
    for tool, (asked, rules) in TOOLS.items():
        theirs, sizes = asked(raw, work)
        addresses = work / "addresses.tsv"
        addresses.write_text("".join(f"0x{address:x}\n" for address in theirs))
        said = run([RETAINED, raw, "--of", addresses, "--like", rules, "--sizes", sizes]).splitlines()
        names = said[0].split("\t")[3:]
        rows = []
        for line in said[1:]:
            address, kind, _, *steps = line.split("\t")
            rows.append((int(address, 16), kind, theirs[int(address, 16)][2], [int(step) for step in steps]))
        compared[tool] = (names, rows)
    raw.unlink()
    return compared


def number(value):
    return f"{value:,}"


def write(results, compared, output):
    lines = [
        "# Leaks of real applications",
        "",
        f"`make real` writes this page; the scripts in `scripts/real/` make the dumps. Spark {PYSPARK}, Tomcat 10.1, JDK 17, eight live dumps each while",
        "the application works. *Right* is yes if the first lines of `memory-city report` name the faulty collection with its elements. For",
        "a healthy application it is yes if they say that nothing accumulates.",
        "",
        "| application | description | objects at the end | right |",
        "|---|---|---:|---|",
    ]
    for name, result in results.items():
        right = "yes" if not result["wrong"] else "**no**: " + "; ".join(result["wrong"]).replace("|", "\\|")
        what = APPLICATIONS[name]["what"]
        lines.append(f"| {name} | {what} | {result['objects']} | {right} |")
    lines += ["", "## First lines of `report`", ""]
    for name, result in results.items():
        lines += [f"{name}:", "```", *(line.rstrip() for line in result["head"].splitlines() if line.strip()), "```", ""]
    lines += [
        "## Retained sizes against other tools",
        "",
        f"The tables have the {TOP} objects that retain most in the last dump. The heap library of VisualVM (Debian's 2.1.5) and hprof-analyzer {HPROF_ANALYZER}",
        "compute the same objects. *As theirs* is the size that Memory City computes under all rules of that tool: it must be equal to the byte.",
        "*Ours* is its own answer. Between the two, one rule after the other becomes ours, and a column has the change by each. The changes add up",
        "to the whole difference. [The rules](retained.md#tools-that-count-otherwise).",
        "",
    ]
    for name, tools in compared.items():
        for tool, (names, rows) in tools.items():
            equal = sum(theirs == steps[0] for _, _, theirs, steps in rows)
            lines += [
                f"### {name}, {tool}: {equal} of {len(rows)} equal to the byte under the same rules",
                "",
                "| object | " + f"{tool} | as theirs | " + " | ".join(f"*{name}*" for name in names[1:]) + " | ours |",
                "|---|" + "---:|" * (len(names) + 2),
            ]
            for address, kind, theirs, steps in rows:
                changes = [number(after - before) if after != before else "" for before, after in zip(steps, steps[1:])]
                cells = [f"`{kind}` 0x{address:x}", number(theirs), number(steps[0]), *changes, number(steps[-1])]
                lines.append("| " + " | ".join(cells) + " |")
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
        for name, tools in compared.items():
            for tool, (_, rows) in tools.items():
                unequal = [address for address, _, theirs, steps in rows if theirs != steps[0]]
                if unequal:
                    say(f"{name}: {len(unequal)} objects differ from {tool} under its own rules")
                    results[name]["wrong"].append("retained sizes")
    sys.exit(any(result["wrong"] for result in results.values()))


main()
