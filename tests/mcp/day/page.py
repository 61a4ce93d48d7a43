"""The page about the costs of the day, and its comparison with the committed one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from day.person import Count
from day.task import Task

# Ages and sizes of what is kept may be a letter longer than on another day.
TOLERANCE = 0.02


@dataclass
class Spent:
    """A day in one way."""

    who: str
    tools: Count
    tasks: list[Count | None]

    def total(self) -> Count:
        total = Count()
        for count in [self.tools, *self.tasks]:
            if count:
                total.add(count)
        return total


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def number(value: int) -> str:
    return f"{value:,}"


def totals(days: list[Spent], reference: Spent) -> list[str]:
    head = ["who decides", "tasks", "calls", "questions in the client", "decisions in a terminal"]
    head += [
        "bytes to the model",
        "of them bytes of the tools' list",
        "bytes from the model",
        "wait for the server",
        "files",
    ]
    rows = []
    for day in [*days, reference]:
        total = day.total()
        cells = [sum(1 for count in day.tasks if count), total.calls, total.asked, total.at_terminal]
        cells += [total.received, day.tools.received, total.sent]
        wait = f"{total.waited:.1f} s"
        rows.append([day.who, *[number(cell) for cell in cells], wait, number(total.files)])
    return table(head, rows)


def each(tasks: list[Task], days: list[Spent], reference: Spent) -> list[str]:
    head = [
        "task",
        "files",
        "calls",
        "decisions",
        "with rules",
        "by the model",
        "bytes to the model",
        "bytes from the model",
    ]
    head += ["calls, reference", "bytes to the model, reference", "bytes from the model, reference"]
    rows = []
    for at, task in enumerate(tasks):
        counts = [day.tasks[at] for day in days]
        first = counts[0]
        assert first
        cells = [first.files, first.calls, *[count.asked + count.at_terminal for count in counts if count]]
        row = [task.title, *[number(cell) for cell in [*cells, first.received, first.sent]]]
        other = reference.tasks[at]
        row += [number(cell) for cell in (other.calls, other.received, other.sent)] if other else ["can't"] * 3
        rows.append(row)
    return table(head, rows)


def differences(kept: str, now: str) -> list[str]:
    """The lines of two pages that differ by more than a measurement may."""
    differing = []
    old, new = kept.splitlines(), now.splitlines()
    if len(old) != len(new):
        return [f"{len(old)} lines became {len(new)}"]
    head: list[str] = []
    for before, after in zip(old, new, strict=True):
        if not after.startswith("|"):
            head = []
        elif not head:
            head = cells(after)
        same = before == after or (head and alike(head, cells(before), cells(after)))
        if not same:
            differing += [f"-{before}", f"+{after}"]
    return differing


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def alike(head: list[str], before: list[str], after: list[str]) -> bool:
    if not len(head) == len(before) == len(after):
        return False
    return all(cell_alike(*each) for each in zip(head, before, after, strict=True))


def cell_alike(column: str, before: str, after: str) -> bool:
    if column.startswith("wait"):
        return True
    if before == after or "bytes" not in column:
        return before == after
    if not all(re.fullmatch(r"[\d,]+", cell) for cell in (before, after)):
        return False
    old, new = (int(cell.replace(",", "")) for cell in (before, after))
    return abs(new - old) <= TOLERANCE * old
