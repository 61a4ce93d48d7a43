"""What a task is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from day.agent import Agent
from day.project import Project


@dataclass(frozen=True)
class Task:
    """Something that a person asks an agent for."""

    title: str
    does: Callable[[Agent], Awaitable[None]]
    # Exactly what differs afterwards, as `Project.changes` lists it.
    touches: frozenset[str]
    check: Callable[[Project], None]


def touching(*kinds: str) -> frozenset[str]:
    """A change for each path: `M a b`, `A c`, `D d`, `R old -> new`."""
    changes: set[str] = set()
    for kind in kinds:
        letter, rest = kind.split(" ", 1)
        changes.update([kind] if letter == "R" else {f"{letter} {path}" for path in rest.split()})
    return frozenset(changes)


def without(project: Project, text: str, *paths: str) -> None:
    """That no file below these paths has the text."""
    found = [path for path in project.git("ls-files", *paths).splitlines() if text in readable(project, path)]
    assert found == [], f"{text!r} is still in {found}"


def readable(project: Project, path: str) -> str:
    return (project.root / path).read_text(encoding="utf-8", errors="replace")
