"""Prints the ten slowest steps and the twenty slowest tests of a run.

Usage: slowest.py STEPS [JUNIT...]    STEPS is what steps.sh collected; a JUnit report that is missing is left out
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path

SLOWEST_STEPS = 10
SLOWEST_TESTS = 20


def main(steps: Path, reports: list[Path]) -> None:
    lines = [line.split("\t", 1) for line in steps.read_text().splitlines()]
    print("\nthe slowest steps:")
    for seconds, title in sorted(lines, key=lambda line: -int(line[0]))[:SLOWEST_STEPS]:
        print(f"{int(seconds) // 60:4d}:{int(seconds) % 60:02d} min  {title}")
    tests = [
        (float(case.get("time", 0)), f"{suite.get('name')} {case.get('name')}")
        for report in reports
        if report.is_file()
        for suite in xml.parse(report).getroot()
        for case in suite.iter("testcase")
    ]
    print("the slowest tests:")
    for taken, name in sorted(tests, reverse=True)[:SLOWEST_TESTS]:
        print(f"{taken:7.1f} s    {name}")
    print(f"{len(tests)} tests took {sum(taken for taken, _ in tests):.0f} s together")


main(Path(sys.argv[1]), [Path(report) for report in sys.argv[2:]])
