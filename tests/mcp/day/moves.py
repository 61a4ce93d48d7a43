"""Tasks that move and rename files, and follow what refers to them."""

from __future__ import annotations

from day.agent import Agent
from day.project import Project
from day.task import Task, touching, without

MOVED = """\
*** Begin Patch
*** Update File: tests/test_mypy.yml
*** Move to: tests/typing/test_mypy.yml
*** Update File: tests/typing_example.py
*** Move to: tests/typing/typing_example.py
*** End Patch
"""


async def rename_module(agent: Agent) -> None:
    await agent.call("grep", pattern=r"\b_cmp\b", glob="*.{py,pyi,md,rst,toml,ini}")
    rename = {"files": ["src/attr/_cmp.*"], "find": "^_cmp", "replace": "_comparison"}
    await agent.preview("batch_rename_preview", **rename)
    await agent.preview(
        "search_replace", pattern=r"\b_cmp\b", replacement="_comparison", glob="{src,tests}/**/*.{py,pyi}"
    )
    await agent.apply_all("rename the module and its imports")


def module_is_renamed(project: Project) -> None:
    without(project, "attr._cmp", "src", "tests")
    project.compiles()
    project.tests("tests/test_cmp.py")


async def move_type_tests(agent: Agent) -> None:
    await agent.call("grep", pattern="test_mypy|typing_example", glob="!CHANGELOG.md")
    # Not with `move_file`, twice: the second preview would be stale, as the first makes the folder.
    await agent.preview("apply_patch", patch=MOVED)
    pattern = r"tests/(test_mypy\.yml|typing_example\.py)"
    await agent.preview("search_replace", pattern=pattern, replacement="tests/typing/$1")
    await agent.apply_all("move the tests of types into a folder")


def type_tests_are_moved(project: Project) -> None:
    without(project, "tests/typing_example", "tox.ini", "pyproject.toml", ".github")
    project.compiles()


async def rename_page(agent: Agent) -> None:
    await agent.call("grep", pattern="how-does-it-work", path="docs")
    await agent.preview("move_file", source="docs/how-does-it-work.md", destination="docs/internals.md")
    await agent.preview(
        "search_replace", pattern="how-does-it-work", replacement="internals", path="docs", literal=True
    )
    await agent.apply_all("rename the page and the links to it")


def page_is_renamed(project: Project) -> None:
    without(project, "how-does-it-work", "docs")
    assert "{doc}`internals`" in project.text("docs/overview.md")


RENAME_LOGOS = """
import fs from 'node:fs';
const folder = 'docs/_static/sponsors/';
const names = fs.readdirSync(folder).filter((name) => name !== name.toLowerCase());
for (const name of names) fs.renameSync(folder + name, folder + name.toLowerCase());
for (const page of ['README.md', 'docs/index.md', 'pyproject.toml']) {
  let text = fs.readFileSync(page, 'utf8');
  for (const name of names) text = text.replaceAll(name, name.toLowerCase());
  fs.writeFileSync(page, text);
}
console.log(`renamed ${names.join(', ')}`);
"""


async def rename_logos(agent: Agent) -> None:
    await agent.call("grep", pattern=r"sponsors/\w[^)\"]*\.svg", output_mode="files_with_matches")
    text = await agent.preview(
        "run_script", script=RENAME_LOGOS, summary="write the names of the logos in small letters"
    )
    assert all(f"{name}.svg" in text for name in LOGOS), text
    await agent.apply_all("write the names of the logos in small letters")


def logos_are_renamed(project: Project) -> None:
    for path in ("README.md", "docs/index.md", "pyproject.toml"):
        text = project.text(path)
        for logo in (project.root / "docs/_static/sponsors").iterdir():
            assert logo.name == logo.name.lower(), logo
            assert logo.name in text, (path, logo)


LOGOS = ["FilePreviews", "Klaviyo", "Polar", "Privacy-Solutions", "Tidelift", "Variomedia"]
MOVES = {
    "rename module": Task(
        "Rename a module, its stub and its imports",
        rename_module,
        touching(
            "R src/attr/_cmp.py -> src/attr/_comparison.py",
            "R src/attr/_cmp.pyi -> src/attr/_comparison.pyi",
            "M src/attr/__init__.py src/attr/__init__.pyi tests/test_cmp.py",
        ),
        module_is_renamed,
    ),
    "move tests": Task(
        "Move tests to another folder, with what refers to them",
        move_type_tests,
        touching(
            "R tests/test_mypy.yml -> tests/typing/test_mypy.yml",
            "R tests/typing_example.py -> tests/typing/typing_example.py",
            "M tox.ini pyproject.toml .pre-commit-config.yaml .github/PULL_REQUEST_TEMPLATE.md",
        ),
        type_tests_are_moved,
    ),
    "rename page": Task(
        "Rename a page of the documentation and the links to it",
        rename_page,
        touching("R docs/how-does-it-work.md -> docs/internals.md", "M docs/index.md docs/overview.md"),
        page_is_renamed,
    ),
    "rename logos": Task(
        "Rename pictures to small letters, with what shows them",
        rename_logos,
        touching(
            *[f"R docs/_static/sponsors/{name}.svg -> docs/_static/sponsors/{name.lower()}.svg" for name in LOGOS],
            "M README.md docs/index.md pyproject.toml",
        ),
        logos_are_renamed,
    ),
}
