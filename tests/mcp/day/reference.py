"""The same tasks with the reference filesystem server, whose changes happen at once.

Its calls are derived from what a task has to change: the model is spared every search, knows each file and each line
beforehand, and makes no mistake.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

import mcp
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from day.agent import Agent
from day.person import Count, Person
from day.project import Project
from day.task import Task

SERVER = os.environ["FILESYSTEM_SERVER"]


def expressible(changes: set[str]) -> bool:
    """Whether its tools can make these changes: none of them deletes a file, and none takes a change back."""
    return bool(changes) and not any(change.startswith("D ") for change in changes)


def server(root: str, errors: TextIO) -> Any:
    # By relative paths, so that the bytes don't depend on where the folder is.
    return stdio_client(StdioServerParameters(command="node", args=[SERVER, "."], cwd=root), errlog=errors)


class Reference:
    """The tasks of one day, each from the folder that it began with."""

    def __init__(self, project: Project, done: Project) -> None:
        self._project = project
        project.borrow_from(done)

    async def spends(self, tasks: list[Task], trees: list[str]) -> tuple[Count, list[Count | None]]:
        """The cost of the list of tools, and of each task that it can do."""
        person = Person(self._project.root, dict(os.environ))
        with Path(os.devnull).open("w", encoding="utf-8") as errors:
            async with mcp.Client(server(str(self._project.root), errors)) as client:
                agent = Agent(client, person)
                start = agent.start()
                await agent.tools()
                steps = zip(tasks, pairwise(trees), strict=True)
                counts = [await self._does(agent, task, before, after) for task, (before, after) in steps]
        return start, counts

    async def _does(self, agent: Agent, task: Task, before: str, after: str) -> Count | None:
        if not expressible(set(task.touches)):
            return None
        self._project.start_from(before)
        count = agent.start()
        for change in sorted(task.touches):
            await self._changes(agent, change, after)
        assert self._project.changes() == task.touches, (task.title, self._project.changes())
        tree = self._project.commit(task.title)
        assert tree == after, f"{task.title}: it leaves other files than with Airlock"
        count.files = len(task.touches)
        return count

    async def _changes(self, agent: Agent, change: str, after: str) -> None:
        kind, path = change.split(" ", 1)
        if kind == "R":
            source, path = path.split(" -> ")
            parent = str(PurePosixPath(path).parent)
            if not (self._project.root / parent).is_dir():
                await agent.call("create_directory", path=parent)
            await agent.call("move_file", source=source, destination=path)
        new = self._project.git("show", f"{after}:{path}")
        if kind == "A":
            await agent.call("write_file", path=path, content=new)
            return
        old = self._project.text(path)
        if old == new:
            return
        await agent.call("read_text_file", path=path)
        await agent.call("edit_file", path=path, edits=edits(old, new))


@dataclass
class Block:
    """Lines `start..end` of the old text that `new` replaces."""

    start: int
    end: int
    new: list[str]


def edits(old: str, new: str) -> list[dict[str, str]]:
    """Edits that lead from one text to the other, each with as many lines around it as make its place the only one."""
    lines, becomes = old.splitlines(keepends=True), new.splitlines(keepends=True)
    codes = SequenceMatcher(None, lines, becomes, autojunk=False).get_opcodes()
    blocks = [Block(i, j, becomes[k:n]) for tag, i, j, k, n in codes if tag != "equal"]
    made: list[dict[str, str]] = []
    text = old
    while blocks:
        # From the end, so that the lines before it are still where they were.
        block = blocks.pop()
        above = blocks[-1].end if blocks else 0
        while block.start == block.end or text.count("".join(lines[block.start : block.end])) > 1:
            if block.start == above:
                # Up to the change before it: they become one. Without one, the line below is the last resort.
                if blocks:
                    before = blocks.pop()
                    block = Block(before.start, block.end, before.new + block.new)
                    above = blocks[-1].end if blocks else 0
                    continue
                block = Block(block.start, block.end + 1, [*block.new, lines[block.end]])
                continue
            block = Block(block.start - 1, block.end, [lines[block.start - 1], *block.new])
        old_text, new_text = "".join(lines[block.start : block.end]), "".join(block.new)
        made.append({"oldText": old_text, "newText": new_text})
        text = text.replace(old_text, new_text, 1)
    assert text == new
    return made
