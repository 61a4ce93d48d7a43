"""Tasks about versions, configuration and what belongs to a release."""

from __future__ import annotations

import json
import tomllib

from day.agent import Agent
from day.project import Project
from day.task import Task, touching, without

ENTRY = "Python 3.8 is no longer supported.\n"
BENCHMARK = """\
[testenv:codspeed]
extras = benchmark
pass_env =
    CODSPEED_TOKEN
    CODSPEED_ENV
    ARCH
    PYTHONHASHSEED
    PYTHONMALLOC
commands = pytest --codspeed -n auto bench/test_benchmarks.py


"""
CITATION = {
    "@context": "https://w3id.org/codemeta/3.0",
    "@type": "SoftwareSourceCode",
    "name": "attrs",
    "identifier": "https://doi.org/10.5281/zenodo.6925130",
    "author": [{"@type": "Person", "givenName": "Hynek", "familyName": "Schlawack", "email": "hs@ox.cx"}],
}
DROPPED = """\
*** Begin Patch
*** Update File: src/attr/_compat.py
@@
-PY_3_9_PLUS = sys.version_info[:2] >= (3, 9)
*** Update File: src/attr/_funcs.py
@@
-from ._compat import PY_3_9_PLUS, get_generic_base
+from ._compat import get_generic_base
@@
-        kwargs = {"globalns": globalns, "localns": localns}
-
-        if PY_3_9_PLUS:
-            kwargs["include_extras"] = include_extras
+        kwargs = {
+            "globalns": globalns,
+            "localns": localns,
+            "include_extras": include_extras,
+        }
*** Update File: tox.ini
@@
-    py3{8,9,10,11,12,13}-tests,
+    py3{9,10,11,12,13}-tests,
@@
-[testenv:py3{8,10,13}-tests]
+[testenv:py3{9,10,13}-tests]
@@
-depends = py3{8,10,13}-tests
+depends = py3{9,10,13}-tests
*** Update File: .github/workflows/ci.yml
@@
-          if [[ "$V" == "3.8" || "$V" == "3.9" ]]; then
+          if [[ "$V" == "3.9" ]]; then
*** End Patch
"""


async def drop_python(agent: Agent) -> None:
    await agent.call("grep", pattern=r"\b3\.8\b|py3\{8|PY_3_9", glob="!{CHANGELOG.md,PKG-INFO,*.svg}")
    await agent.call("grep", pattern="PY_3_9_PLUS", path="src/attr/_funcs.py", context=4)
    await agent.preview("apply_patch", patch=DROPPED)
    operations = [
        {"op": "replace", "path": "/project/requires-python", "value": ">=3.9"},
        {"op": "remove", "path": "/project/classifiers/1"},
    ]
    await agent.preview("edit_values", path="pyproject.toml", operations=operations)
    await agent.apply_all("drop Python 3.8")


def python_is_dropped(project: Project) -> None:
    described = tomllib.loads(project.text("pyproject.toml"))["project"]
    assert described["requires-python"] == ">=3.9"
    assert "Programming Language :: Python :: 3.8" not in described["classifiers"]
    without(project, "PY_3_9", "src", "tests")
    without(project, '"3.8"', ".github")
    project.compiles()


async def write_entry(agent: Agent) -> None:
    await agent.call("list_directory", path="changelog.d")
    await agent.call("grep", pattern="directory = ", path="pyproject.toml")
    await agent.change("write_file", "add a changelog entry", path="changelog.d/1420.breaking.md", content=ENTRY)


def entry_is_written(project: Project) -> None:
    assert project.text("changelog.d/1420.breaking.md") == ENTRY


async def set_values(agent: Agent) -> None:
    await agent.call("grep", pattern=r"^\[tool\.(ruff|coverage|mypy)", path="pyproject.toml", context=4)
    operations = [
        {"op": "replace", "path": "/tool/ruff/line-length", "value": 88},
        {"op": "add", "path": "/tool/coverage/report/fail_under", "value": 100},
        {"op": "add", "path": "/tool/mypy/strict", "value": True},
        {"op": "remove", "path": "/tool/interrogate"},
    ]
    await agent.change(
        "edit_values", "change the settings of the linters", path="pyproject.toml", operations=operations
    )


def values_are_set(project: Project) -> None:
    tools = tomllib.loads(project.text("pyproject.toml"))["tool"]
    assert tools["ruff"]["line-length"] == 88
    assert tools["coverage"]["report"]["fail_under"] == 100
    assert tools["mypy"]["strict"] is True
    assert "interrogate" not in tools
    assert "# shadowing is fine" in project.text("pyproject.toml")


async def stop_benchmarks(agent: Agent) -> None:
    await agent.call("grep", pattern="codspeed|benchmark|bench/", ignore_case=True, glob="!{CHANGELOG.md,PKG-INFO}")
    await agent.preview("delete_file", path="bench", recursive=True)
    await agent.preview("delete_file", path=".github/workflows/codspeed.yml")
    await agent.preview("edit_file", path="tox.ini", edits=[{"old_text": BENCHMARK, "new_text": ""}])
    operations = [
        {"op": "remove", "path": "/project/optional-dependencies/benchmark"},
        {"op": "remove", "path": "/tool/ruff/lint/per-file-ignores/bench~1**"},
    ]
    await agent.preview("edit_values", path="pyproject.toml", operations=operations)
    await agent.apply_all("delete the benchmarks, which nobody runs")


def benchmarks_are_gone(project: Project) -> None:
    without(project, "codspeed", "tox.ini", "pyproject.toml", ".github")
    without(project, "bench/", "tox.ini", "pyproject.toml")
    tomllib.loads(project.text("pyproject.toml"))


async def convert_citation(agent: Agent) -> None:
    read = await agent.call("read_file", path="CITATION.cff")
    assert "10.5281/zenodo.6925130" in read, read
    content = json.dumps(CITATION) + "\n"
    await agent.change("write_file", "say how to cite it in JSON too", path="codemeta.json", content=content)


def citation_is_converted(project: Project) -> None:
    assert json.loads(project.text("codemeta.json")) == CITATION


async def reformat_citation(agent: Agent) -> None:
    read = await agent.call("read_file", path="codemeta.json")
    # The host's block comes first.
    _, text = read.split("\n", 1)
    content = json.dumps(json.loads(text), indent=2) + "\n"
    await agent.change("write_file", "indent it", path="codemeta.json", content=content)


def citation_is_reformatted(project: Project) -> None:
    citation_is_converted(project)
    assert project.text("codemeta.json").count("\n") == 14, project.text("codemeta.json")


async def pin_actions(agent: Agent) -> None:
    await agent.call("grep", pattern="actions/checkout@", path=".github/workflows")
    replace = {"pattern": "actions/checkout@v4", "replacement": "actions/checkout@v5", "path": ".github/workflows"}
    await agent.change("search_replace", "use the new major version", literal=True, **replace)


def actions_are_pinned(project: Project) -> None:
    without(project, "actions/checkout@v4", ".github")


async def build_with(agent: Agent) -> None:
    await agent.call(
        "grep", pattern=r"base_python|python: ", glob="{tox.ini,.readthedocs.yaml,.python-version-default}"
    )
    await agent.call("read_file", path=".python-version-default")
    version = {"op": "replace", "path": "/build/tools/python", "value": "3.12"}
    await agent.preview("edit_values", path=".readthedocs.yaml", operations=[version])
    await agent.preview(
        "search_replace", path="tox.ini", pattern="base_python = py313", replacement="base_python = py312"
    )
    await agent.preview("write_file", path=".python-version-default", content="3.12\n")
    await agent.apply_all("build with Python 3.12 everywhere")


def builds_with(project: Project) -> None:
    # In either quotes.
    assert "python: '3.12'" in project.text(".readthedocs.yaml").replace('"', "'")
    assert "# Keep version in sync with tox.ini/docs." in project.text(".readthedocs.yaml")
    assert project.text("tox.ini").count("py312\n") == 2
    assert project.text(".python-version-default") == "3.12\n"


WORKFLOWS = "build-docset ci codeql-analysis pypi-package zizmor"
UPKEEP = {
    "drop Python": Task(
        "Drop a version of Python everywhere",
        drop_python,
        touching("M pyproject.toml tox.ini .github/workflows/ci.yml src/attr/_compat.py src/attr/_funcs.py"),
        python_is_dropped,
    ),
    "write entry": Task(
        "Add a changelog entry", write_entry, touching("A changelog.d/1420.breaking.md"), entry_is_written
    ),
    "set values": Task("Change settings in pyproject.toml", set_values, touching("M pyproject.toml"), values_are_set),
    "stop benchmarks": Task(
        "Delete dead code, with its settings and its workflow",
        stop_benchmarks,
        touching("D bench/test_benchmarks.py .github/workflows/codspeed.yml", "M tox.ini pyproject.toml"),
        benchmarks_are_gone,
    ),
    "convert citation": Task(
        "Convert a file from YAML to JSON", convert_citation, touching("A codemeta.json"), citation_is_converted
    ),
    "reformat citation": Task(
        "Reformat a JSON file", reformat_citation, touching("M codemeta.json"), citation_is_reformatted
    ),
    "pin actions": Task(
        "Change the version of an action in all workflows",
        pin_actions,
        touching("M " + " ".join(f".github/workflows/{name}.yml" for name in WORKFLOWS.split())),
        actions_are_pinned,
    ),
    "build with": Task(
        "Bump the version of Python that builds use",
        build_with,
        touching("M .readthedocs.yaml tox.ini .python-version-default"),
        builds_with,
    ),
}
