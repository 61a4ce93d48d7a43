"""Tasks that change code."""

from __future__ import annotations

from day.agent import Agent
from day.project import Project
from day.task import Task, touching, without

HEADER = "# SPDX-License-Identifier: MIT\n"

MODULE = f'''{HEADER}
"""
Names of attributes, and of the arguments that set them.
"""


def argument_name(attribute_name):
    """
    Return the name of the argument of ``__init__`` that sets an attribute.

    >>> argument_name("__private")
    'private'
    """
    return attribute_name.lstrip("_")
'''

TEST = f'''{HEADER}
import pytest

from attr._naming import argument_name


@pytest.mark.parametrize(
    ("attribute", "argument"), [("x", "x"), ("_x", "x"), ("__x_", "x_")]
)
def test_argument_name(attribute, argument):
    """
    Leading underscores are no part of an argument's name.
    """
    assert argument == argument_name(attribute)
'''

PATCH = """\
--- a/src/attr/_version_info.py
+++ b/src/attr/_version_info.py
@@ -75,6 +75,9 @@ class VersionInfo:

         return us == them

+    def __hash__(self):
+        return hash(astuple(self))
+
     def __lt__(self, other):
         try:
             us, them = self._ensure_tuple(other)
--- a/tests/test_version_info.py
+++ b/tests/test_version_info.py
@@ -35,6 +35,12 @@ class TestVersionInfo:
         with pytest.raises(TypeError):
             vi < other

+    def test_hash(self, vi):
+        \"\"\"
+        Equal versions have equal hashes.
+        \"\"\"
+        assert 1 == len({vi, VersionInfo(19, 2, 0, "final")})
+
     @pytest.mark.parametrize("other", [[19, 2, 0, "final"]])
     def test_wrong_type(self, vi, other):
         \"\"\"
"""


async def rename_function(agent: Agent) -> None:
    await agent.call("grep", pattern=r"\bcmp_using\b", output_mode="count")
    # Not in the changelog, which says what was called so at the time.
    everywhere = {"pattern": r"\bcmp_using\b", "replacement": "compare_using", "glob": "{src,tests,docs}/**"}
    await agent.change("search_replace", "rename the function", **everywhere)


def function_is_renamed(project: Project) -> None:
    without(project, "cmp_using", "src", "tests", "docs")
    project.compiles()
    project.tests("tests/test_cmp.py")


async def fix_lints(agent: Agent) -> None:
    found = await agent.call("grep", pattern=r"assert (None|True|False) is ", path="tests", output_mode="count")
    assert "tests/test_make.py" in found, found
    ops = [{"pat": f"assert {value} is $A", "out": f"assert $A is {value}"} for value in ("None", "True", "False")]
    ops.append({"pat": "assert None is not $A", "out": "assert $A is not None"})
    await agent.change("ast_edit", "put the constant last", ops=ops, paths=["tests"], lang="python")


def lints_are_fixed(project: Project) -> None:
    # The one with a chain of comparisons is another matter.
    assert project.git("grep", "--count", "-E", "assert (None|True|False) is ", "tests").splitlines() == [
        "tests/test_converters.py:1"
    ]
    project.compiles()
    project.tests("tests/test_config.py", "tests/test_setattr.py")


async def add_headers(agent: Agent) -> None:
    await agent.call("find_files", pattern="src/**/*.pyi")
    await agent.call(
        "grep", pattern="SPDX-License-Identifier", path="src", glob="*.pyi", output_mode="files_with_matches"
    )
    header = {"pattern": r"\A", "replacement": f"{HEADER}\n", "path": "src", "glob": "*.pyi"}
    await agent.change("search_replace", "add the license header", **header)


def headers_are_added(project: Project) -> None:
    stubs = list((project.root / "src").rglob("*.pyi"))
    assert len(stubs) == 10, stubs
    for stub in stubs:
        assert stub.read_text().startswith(f"{HEADER}\n"), stub
        assert stub.read_text().count(HEADER) == 1, stub
    project.compiles()


async def write_module(agent: Agent) -> None:
    await agent.call("grep", pattern=r"lstrip\(", path="src", context=3)
    await agent.call("read_file", path="tests/test_config.py", limit=20)
    await agent.preview("write_file", path="src/attr/_naming.py", content=MODULE)
    await agent.preview("write_file", path="tests/test_naming.py", content=TEST)
    await agent.apply_all("add a module and its test")


def module_is_written(project: Project) -> None:
    project.tests("tests/test_naming.py", "--doctest-modules", "src/attr/_naming.py")


async def apply_diff(agent: Agent) -> None:
    await agent.change("apply_patch", "apply the contributor's patch", patch=PATCH)


def diff_is_applied(project: Project) -> None:
    project.tests("tests/test_version_info.py")


STUBS = "__init__ _comparison _typing_compat _version_info converters exceptions filters setters validators"
CODE = {
    "rename function": Task(
        "Rename a function in code, tests and documentation",
        rename_function,
        touching(
            "M src/attr/__init__.py src/attr/__init__.pyi src/attr/_comparison.py src/attr/_comparison.pyi",
            "M src/attrs/__init__.py src/attrs/__init__.pyi tests/test_cmp.py tests/typing/typing_example.py",
            "M docs/api.rst docs/api-attr.rst docs/comparison.md",
        ),
        function_is_renamed,
    ),
    "fix lints": Task(
        "Fix one class of lints in all tests",
        fix_lints,
        touching(
            "M tests/test_annotations.py tests/test_config.py tests/test_converters.py tests/test_dunders.py",
            "M tests/test_make.py tests/test_setattr.py tests/test_slots.py",
        ),
        lints_are_fixed,
    ),
    "add headers": Task(
        "Add a license header to all stubs",
        add_headers,
        touching("M " + " ".join(f"src/attr/{name}.pyi" for name in STUBS.split()), "M src/attrs/__init__.pyi"),
        headers_are_added,
    ),
    "write module": Task(
        "Write a module and its test",
        write_module,
        touching("A src/attr/_naming.py tests/test_naming.py"),
        module_is_written,
    ),
    "apply diff": Task(
        "Apply a unified diff",
        apply_diff,
        touching("M src/attr/_version_info.py tests/test_version_info.py"),
        diff_is_applied,
    ),
}
