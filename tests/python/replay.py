"""Replays transcripts of docs/live-protocol.md with a real client, and sends many messages without waiting.

Usage: replay.py ADDRESS TRANSCRIPT. A line that begins with > is sent, one with < must be heard next.
"""

import json
import sys
import threading

from websockets.sync.client import connect


def replay(address, transcript):
    with connect(address) as city:
        for line in transcript:
            direction, message = line[0], line[2:]
            if direction == ">":
                city.send(message)
            else:
                heard = json.loads(city.recv(timeout=20))
                assert heard == json.loads(message), f"heard {heard}\nexpected {message}"


def stream(address, source, times):
    """Many times in a row, in fragments, with the answers read by another thread."""
    answers = []
    with connect(address) as city:
        city.send(json.dumps({"do": "hello", "protocol": 1, "source": source}))
        assert json.loads(city.recv(timeout=20))["event"] == "ack"

        def listen():
            while len(answers) < times:
                answers.append(json.loads(city.recv(timeout=20)))

        listener = threading.Thread(target=listen)
        listener.start()
        for n in range(1, times + 1):
            tree = {"children": [{"name": f"Type ü {i}", "objects": n * i, "bytes": 8 * n * i} for i in range(50)]}
            message = json.dumps({"do": "append", "id": n, "time": {"timestamp": n, "tree": tree}}, ensure_ascii=False)
            third = len(message) // 3
            city.send([message[:third], message[third : 2 * third], message[2 * third :]])
        listener.join()
    assert [a["id"] for a in answers] == list(range(1, times + 1))
    assert all(a["event"] == "ack" for a in answers), answers[0]


if __name__ == "__main__":
    address = sys.argv[1]
    with open(sys.argv[2], encoding="utf-8") as file:
        replay(address, [line.rstrip("\n") for line in file if line.strip()])
    threads = [threading.Thread(target=stream, args=(address, f"python {i}", 200)) for i in range(3)]
    failures = []
    threading.excepthook = lambda failure: failures.append(failure)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0].exc_value
