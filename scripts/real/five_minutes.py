#!/usr/bin/env python3
"""The three commands of README.md that find a leak, run word for word on a Tomcat whose sessions never end.

    five_minutes.py [JARS]

JARS is the folder of Tomcat's jars; without it that of `real.py`. The commands are those of README.md's block: only the program,
its process id, the folder that the last line names and the time are put in. Fails where the block has another shape, or where
`report` does not name who keeps the sessions, with the class of what is kept, and a line of the shop's own code that allocates
what stays. `open` needs a screen: that it is what the last lines say is all that is checked of it.

A program that clears up when it ends, as Tomcat's `stop` does, has nothing left for the walk of the end: so the shop is ended by
Ctrl+C here.

MEMORY_CITY names the program, by default target/release/memory-city. Needs a JDK 17 or newer; takes three minutes.
"""

import http.client
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "scripts/real/TomcatShop.java"
HEADING = "## Find a leak in three commands"
# Walks are ten seconds apart, or twenty where nothing is collected. Some are needed to see that it grows from one to the next.
SECONDS = 75
VISITORS_PER_SECOND = 150
# What must be said of the leak: who keeps what, and by which field. As in real.py, without the numbers of its dumps.
NAMED = [
    r"\.StandardManager › java\.util\.concurrent\.ConcurrentHashMap holds [\d,]+ org\.apache\.catalina\.session\.StandardSession \(",
    r"\.StandardManager → sessions: java\.util\.concurrent\.ConcurrentHashMap\b",
    r"\bthis java\.util\.concurrent\.ConcurrentHashMap has [\d,]+ elements\b",
]
# What the lines of the shop do that allocate what a visitor leaves.
ALLOCATING = ["request.getSession(true)", "new Cart()", 'setAttribute("cart"', "new Article(", '"article " + number']
ENVIRONMENT = {**os.environ, "MEMORY_CITY_CACHE": ""}


def commands():
    """The three commands of the block, and the one that its comment has, each as words."""
    section = (ROOT / "README.md").read_text().partition(HEADING + "\n")[2].partition("\n## ")[0]
    block = re.search(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    shape = re.compile(
        r"(?P<record>memory-city record -- java -jar app\.jar) +# or: (?P<attach>memory-city attach PID --for \d+m)\n"
        r"(?P<report>memory-city report (?P<folder>app-\d{4}-\d\d-\d\d-\d{6})) +# the folder that the last line names\n"
        r"(?P<open>memory-city open (?P=folder))\n"
    )
    found = block and shape.fullmatch(block[1])
    if not found:
        sys.exit(f"README.md: the block of {HEADING!r} has another shape than this script knows:\n{block and block[1]}")
    return {name: shlex.split(found[name]) for name in ("record", "attach", "report", "open")}


def put_in(words, replaced):
    """A command of README.md with what is another here: words, or several of them in a row, by others."""
    text = shlex.join(words)
    for old, new in replaced.items():
        assert text.count(old) == 1, f"{old!r} in {text!r}"
        text = text.replace(old, shlex.join(new))
    print("$", re.sub(r"-cp \S+", "-cp ...", text), flush=True)
    words = shlex.split(text)
    assert words[0] == "memory-city"
    program = pathlib.Path(os.environ.get("MEMORY_CITY", ROOT / "target/release/memory-city")).resolve()
    return [str(program), *words[1:]]


def visit(port, until):
    """Visitors come, each with a session of its own, until somebody says it is enough. How many."""
    begun, visitors = time.monotonic(), 0
    while not until():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", f"/cart?article={visitors}")
        response = connection.getresponse()
        if response.status != 200:
            sys.exit(f"the shop answers {response.status}: {response.read()[:500]}")
        response.read()
        connection.close()
        visitors += 1
        time.sleep(max(0.0, begun + visitors / VISITORS_PER_SECOND - time.monotonic()))
    return visitors


def ready(program):
    word, pid, port = program.stdout.readline().split()
    assert word == "ready"
    return pid, int(port)


def end(program):
    """What a user does who presses Ctrl+C. `record` hands it on."""
    program.send_signal(signal.SIGINT)
    try:
        program.wait(timeout=120)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
        sys.exit("it does not end")


def recorded(command, java, folder, said):
    """`record`: the program from its start to Ctrl+C."""
    words = put_in(command, {"java -jar app.jar": java})
    with said.open("w") as errors:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
        program = subprocess.Popen(words, cwd=folder, env=ENVIRONMENT, text=True, **pipes)
        try:
            _, port = ready(program)
            enough = time.monotonic() + SECONDS
            visitors = visit(port, lambda: time.monotonic() >= enough)
        finally:
            end(program)
    return visitors


def attached(command, java, folder, said):
    """`attach`: the program runs before, and goes on."""
    with said.open("w") as errors:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        program = subprocess.Popen(java, cwd=folder, text=True, **pipes)
        try:
            pid, port = ready(program)
            enough = time.monotonic() + 2
            visitors = visit(port, lambda: time.monotonic() >= enough)
            words = put_in(command, {"PID": [pid], command[-1]: [f"{SECONDS}s"]})
            recorder = subprocess.Popen(words, cwd=folder, env=ENVIRONMENT, stderr=errors)
            try:
                visitors += visit(port, lambda: recorder.poll() is not None)
            finally:
                recorder.kill()
            if recorder.wait() != 0:
                sys.exit(f"attach failed ({recorder.returncode}): {said.read_text()}")
            enough = time.monotonic() + 1
            visit(port, lambda: time.monotonic() >= enough)
        finally:
            end(program)
    return visitors


def part(report, heading):
    """The part of a report below a heading."""
    found = re.search(rf"^{re.escape(heading)}.*?\n(.*?)(?:\n\n|\Z)", report, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def wrong_in(report):
    """What is missing in a report. Prints what is there."""
    leak = part(report, "WHAT LEAKS")
    print("WHAT LEAKS", leak, sep="\n")
    wrong = [f"{pattern} is not found in what leaks" for pattern in NAMED if not re.search(pattern, leak)]
    sites = part(report, "ALLOCATION SITES, BY SAMPLES")
    print("ALLOCATION SITES, BY SAMPLES", sites, sep="\n")
    lines = SOURCE.read_text().splitlines()
    places = {int(line) for line in re.findall(r"TomcatShop\b\S*\([^)]*\) line (\d+) allocates what stays", sites)}
    allocating = {line: lines[line - 1].strip() for line in sorted(places)}
    for line, text in allocating.items():
        print(f"  {SOURCE.name}:{line}: {text}")
    if not any(what in text for text in allocating.values() for what in ALLOCATING):
        wrong.append(f"no line of the shop that allocates what stays is named, but {allocating}")
    return wrong


def follow(name, run, block, java, work):
    """One of both ways, from the command to the report. What is wrong."""
    folder = work / name
    folder.mkdir()
    said = work / f"{name}.txt"
    visitors = run(block[name], java, folder, said)
    last = [line.strip() for line in said.read_text().splitlines() if line.strip()][-2:]
    print(f"{visitors} visitors", *last, sep="\n", flush=True)
    trace = last[-1].split()[-1]
    if not re.fullmatch(r"TomcatShop-\d{4}-\d\d-\d\d-\d{6}", trace) or not (folder / trace).is_dir():
        return [f"the last line names no folder of that form: {last[-1]}"]
    ways = [shlex.join([*block[way][:-1], trace]) for way in ("open", "report")]
    wrong = [f"the last lines do not say {way!r}" for way, line in zip(ways, last) if not line.endswith(way)]
    asked = put_in(block["report"], {block["report"][-1]: [trace]})
    done = subprocess.run(asked, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return [*wrong, f"report failed ({done.returncode})"]
    return wrong + wrong_in(done.stdout)


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    block = commands()
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else ROOT / "target/real/tomcat/usr/share/java").resolve()
    jars = ":".join(str(jar) for jar in sorted(folder.glob("*.jar")))
    if not jars:
        sys.exit(f"{folder}: no jars of Tomcat; scripts/real/real.py fetches them")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        subprocess.run(["javac", "-nowarn", "-XDsuppressNotes", "-cp", jars, "-d", work, SOURCE], check=True)
        java = ["java", "-Xmx256m", f"-Djava.io.tmpdir={work}", "-cp", f"{work}:{jars}", "TomcatShop", "-1"]
        wrong = []
        for name, run in [("record", recorded), ("attach", attached)]:
            wrong += [f"{name}: {what}" for what in follow(name, run, block, java, work)]
    for what in wrong:
        print(what, file=sys.stderr)
    sys.exit(bool(wrong))


main()
