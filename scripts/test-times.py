#!/usr/bin/env python3
"""Prints what the tests took: seconds of each test program, the twenty slowest tests, and those that passed at a later try with what
they said at the first. Reads the runner's JUnit file."""

import sys
import xml.etree.ElementTree as xml

SLOWEST = 20
LAST_LINES = 12


def main(path):
    programs, tests, flaky = {}, [], []
    for suite in xml.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            seconds = float(case.get("time", 0))
            tests.append((seconds, f"{suite.get('name')} {case.get('name')}"))
            flaky += [(case.get("name"), first) for first in case.findall("flakyFailure")]
            count, total = programs.get(suite.get("name"), (0, 0.0))
            programs[suite.get("name")] = (count + 1, total + seconds)
    print("\nTest programs, by the sum of their tests' seconds (several run at once):")
    for name, (count, total) in sorted(programs.items(), key=lambda row: -row[1][1]):
        print(f"{total:9.1f} s {count:6} tests  {name}")
    print(f"\nThe {SLOWEST} slowest tests:")
    for seconds, name in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"{seconds:9.1f} s  {name}")
    for name, first in flaky:
        print(f"\nFLAKY  {name} passed at a later try; at the first it said:")
        said = first.findtext("system-err") or first.text or ""
        print("\n".join(f"    {line}" for line in said.splitlines()[-LAST_LINES:]))


main(sys.argv[1])
