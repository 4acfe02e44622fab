#!/usr/bin/env python3
"""A web shop on Tomcat whose sessions never end, and a healthy one; a series of heap dumps while visitors come.

    tomcat_shop.py leak|healthy JARS FOLDER

JARS is the folder of Tomcat's jars. Each visitor of the leaking shop leaves a session for ever: they add up in the
map of the session manager, which no class of the shop knows. In the healthy one they end after a second of rest, as many
come as go, and the last dump has not the most of them.

One dump after each round, of live objects, by jcmd.
"""

import http.client
import pathlib
import subprocess
import sys
import tempfile
import time

ROUNDS = [300, 420, 250, 380, 500, 300, 460, 350]
# Visitors before the first dump: threads, buffers and caches of the server are there.
WARM_UP = [400, 400]


def visit(port, visitors):
    for visitor in range(visitors):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", f"/cart?article={visitor}")
        response = connection.getresponse()
        if response.status != 200:
            sys.exit(f"the shop answers {response.status}: {response.read()[:500]}")
        cookie = response.getheader("Set-Cookie").split(";")[0]
        response.read()
        if visitor % 4 == 0:
            # Some come back once.
            connection.request("GET", f"/cart?article={visitor}", headers={"Cookie": cookie})
            connection.getresponse().read()
        connection.close()


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("leak", "healthy"):
        sys.exit(__doc__)
    leak = sys.argv[1] == "leak"
    jars = ":".join(str(jar) for jar in sorted(pathlib.Path(sys.argv[2]).glob("*.jar")))
    folder = pathlib.Path(sys.argv[3]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.hprof.gz"):
        old.unlink()
    source = pathlib.Path(__file__).resolve().with_name("TomcatShop.java")
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", work, str(source)], check=True)
        command = ["java", "-Xmx256m", f"-Djava.io.tmpdir={work}", "-cp", f"{work}:{jars}", "TomcatShop", "-1" if leak else "1"]
        shop = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            serve(shop, leak, folder)
        finally:
            shop.stdin.close()
            try:
                shop.wait(timeout=30)
            except subprocess.TimeoutExpired:
                shop.kill()


def serve(shop, leak, folder):
    ready, pid, port = shop.stdout.readline().split()
    assert ready == "ready"
    for visitors in WARM_UP:
        visit(int(port), visitors)
        if not leak:
            time.sleep(3)
    for number, visitors in enumerate(ROUNDS, 1):
        visit(int(port), visitors)
        shop.stdin.write("s")
        shop.stdin.flush()
        count = shop.stdout.readline().strip()
        path = folder / f"shop-{number:02}.hprof.gz"
        command = ["jcmd", pid, "GC.heap_dump", "-gz=1", str(path)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if said.returncode != 0 or not path.exists():
            sys.exit(f"{' '.join(command)}: {said.stdout}{said.stderr}")
        path.chmod(0o644)
        print(f"round {number}: {visitors} visitors, {count}", flush=True)
        if not leak:
            time.sleep(3)


main()
