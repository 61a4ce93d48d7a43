"""Tasks in which something goes wrong first: a text that isn't there, a change too wide, a change that breaks a test."""

from __future__ import annotations

from day.agent import Agent
from day.project import Project
from day.task import Task, touching, without

RENAMED = """\
    classes, names, attributes = _split_what(what)

    def exclude_(attribute, value):
        return not (
            value.__class__ in classes
            or attribute.name in names
            or attribute in attributes
        )
"""
KNOWN = RENAMED.replace("classes", "cls").replace("attributes", "attrs")


async def correct_edit(agent: Agent) -> None:
    path = "src/attr/filters.py"
    # As it was in an earlier version, which the model remembers.
    stale = {"old_text": "    cls, attrs = _split_what(what)\n\n    def exclude_", "new_text": "…"}
    told = await agent.fails("edit_file", path=path, edits=[stale])
    assert "cls, names, attrs = _split_what(what)" in told, told
    ambiguous = {
        "old_text": "    cls, names, attrs = _split_what(what)\n",
        "new_text": RENAMED.splitlines(keepends=True)[0],
    }
    told = await agent.fails("edit_file", path=path, edits=[ambiguous])
    assert "2" in told, told
    await agent.change("edit_file", "use whole words", path=path, edits=[{"old_text": KNOWN, "new_text": RENAMED}])


def edit_is_corrected(project: Project) -> None:
    assert RENAMED in project.text("src/attr/filters.py")
    project.tests("tests/test_filters.py")


async def narrow_change(agent: Agent) -> None:
    wide = await agent.preview("search_replace", pattern="slotted class", replacement="class with slots")
    # It sees "class with slotses", and that the changelog would be rewritten.
    assert "class with slotses" in wide, wide
    assert "CHANGELOG.md" in wide, wide
    await agent.discard("the plural is wrong, and the changelog must stay as it is")
    narrow = {"pattern": "slotted class(es)?", "replacement": "class$1 with slots", "path": "docs"}
    await agent.change("search_replace", "call them so in the documentation", **narrow)


def change_is_narrow(project: Project) -> None:
    assert "classes with slots" in project.text("docs/glossary.md")
    assert "slotted class" in project.text("CHANGELOG.md")
    without(project, "slotses", "docs")


async def take_back(agent: Agent) -> None:
    await agent.call("read_file", path="src/attr/_config.py")
    edit = {"old_text": "_run_validators = True\n", "new_text": "_run_validators = None\n"}
    await agent.change("edit_file", "leave it unset at first", path="src/attr/_config.py", edits=[edit])
    assert agent.text("src/attr/_config.py").count("= None") == 1
    # The tests say that it breaks what others rely on.
    await agent.change("undo", "the tests fail with it")


def it_is_taken_back(project: Project) -> None:
    project.tests("tests/test_config.py")


SECOND_THOUGHTS = {
    "correct edit": Task(
        "An edit whose text is stale, then ambiguous, then right",
        correct_edit,
        touching("M src/attr/filters.py"),
        edit_is_corrected,
    ),
    "narrow change": Task(
        "A change that is too wide, discarded after its preview, then right",
        narrow_change,
        touching("M docs/examples.md docs/glossary.md docs/how-does-it-work.md docs/init.md docs/why.md"),
        change_is_narrow,
    ),
    "take back": Task("A change that is applied, and taken back", take_back, touching(), it_is_taken_back),
}
