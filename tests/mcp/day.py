"""An agent's day: a scripted model does twenty tasks in a project that others wrote, with the tools of `airlock serve`.

The day is spent three times, with others who decide, and the tasks that it can do are done with the reference filesystem
server too. Each task's result is checked, and is the same in all ways. DAY.md says what each way costs; with UPDATE_EXPECT=1
in the environment it is rewritten. Times are printed and not compared.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import mcp
from day.agent import Agent
from day.code import CODE
from day.configuration import CONFIGURATIONS, RULES
from day.moves import MOVES
from day.page import Spent, differences, each, totals
from day.person import AIRLOCK, Person
from day.project import Project
from day.reference import Reference
from day.second_thoughts import SECOND_THOUGHTS
from day.task import Task
from day.upkeep import UPKEEP
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

PAGE = Path(__file__).with_name("DAY.md")
MEASURED = "<!-- measured: written by UPDATE_EXPECT=1 tests/mcp/run -->"
# Each begins with what those before it have left.
ORDER = ["rename module", "move tests", "rename function", "fix lints", "drop Python", "write entry", "apply diff"]
ORDER += ["write module", "correct edit", "add headers", "set values", "narrow change", "rename page", "rename logos"]
ORDER += ["convert citation", "reformat citation", "take back", "stop benchmarks", "pin actions", "build with"]
ALL = {**MOVES, **CODE, **UPKEEP, **SECOND_THOUGHTS}
TASKS: list[Task] = [ALL[name] for name in ORDER]
assert len(TASKS) == len(ALL) == 20


async def spend(who: str, configuration: str, folder: Path, known: list[str]) -> tuple[Spent, Project, list[str]]:
    """A day with Airlock; also the tree that each task leaves, after the one that the first begins with.

    Where these trees are known, the result is compared with them; else it is checked.
    """
    project = Project(folder / "project")
    config = folder / "config/airlock/airlock-host.toml"
    config.parent.mkdir(parents=True)
    config.write_text(configuration)
    environment = {
        **os.environ,
        # So that the store is the usual one, and commands for a terminal name no other.
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    person = Person(project.root, environment)
    server = StdioServerParameters(command=AIRLOCK, args=["serve"], env=environment, cwd=str(project.root))
    trees, counts = [project.tree], []
    async with mcp.Client(stdio_client(server), elicitation_callback=person.asked) as client:
        agent = Agent(client, person)
        tools = agent.start()
        await agent.tools()
        for task in TASKS:
            try:
                count = agent.start()
                await task.does(agent)
                changes = project.changes()
                assert changes == task.touches, (
                    f"too much: {changes - task.touches}, too little: {task.touches - changes}"
                )
                if not known:
                    task.check(project)
                    assert project.changes() == changes, "the check leaves something"
            except AssertionError as error:
                raise AssertionError(f"{who}: {task.title}: {error}") from error
            count.files = len(changes)
            counts.append(count)
            trees.append(project.commit(task.title))
            assert trees == known[: len(trees)] or not known, f"{who}: {task.title}: another result than before"
    return Spent(who, tools, counts), project, trees


async def days(folder: Path) -> tuple[list[Spent], Spent]:
    spent: list[Spent] = []
    trees: list[str] = []
    for at, (who, configuration) in enumerate(CONFIGURATIONS.items()):
        day, done, trees = await spend(who, configuration, folder / str(at), trees)
        spent.append(day)
    reference = Reference(Project(folder / "reference"), done)
    tools, counts = await reference.spends(TASKS, trees)
    return spent, Spent("nobody (reference server)", tools, counts)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            spent, reference = asyncio.run(asyncio.wait_for(days(Path(folder)), timeout=900))
        except BaseExceptionGroup as group:
            # Clients wrap what fails within them once for each of their tasks.
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise error from None
    tables = [totals(spent, reference), each(TASKS, spent, reference)]
    measured = "\n".join(
        ["", *tables[0], "", "```toml", *RULES.splitlines(), "```", "", "## Task by task", "", *tables[1], ""]
    )
    kept = PAGE.read_text(encoding="utf-8")
    words, _, before = kept.partition(MEASURED + "\n")
    print(measured)
    if os.environ.get("UPDATE_EXPECT"):
        PAGE.write_text(f"{words}{MEASURED}\n{measured}", encoding="utf-8")
        print(f"{PAGE.name}: rewritten")
    elif differing := differences(before, measured):
        sys.exit("\n".join([*differing, "If it is right so, run this again with UPDATE_EXPECT=1."]))
    else:
        print(f"{PAGE.name}: the day costs what is written there")


if __name__ == "__main__":
    main()
