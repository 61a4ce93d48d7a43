"""What goes into a component, and what is said where none can be made. That one is made, the conformance suite shows."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from airlock_tool.__main__ import main
from airlock_tool._archive import Archive
from airlock_tool._build import _explain
from airlock_tool._bundle import Entry, EntryError, find_entry, stage
from airlock_tool._dispatch import NO_TOOL

SDK = Path(__file__).parent.parent


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    """Files by their paths, with `__` for `/` and without `.py`."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_an_entry_is_a_file_or_a_module(project: Path) -> None:
    write(project, src__tool="", src__mine__tool="", src__mine__parts__deep="")
    for package in ("mine", "mine/parts"):
        (project / "src" / package / "__init__.py").touch()
    src = project / "src"

    def entry(named: str) -> Entry:
        return find_entry(named, [src])

    assert entry("src/tool.py") == Entry("tool", src)
    assert entry("tool") == Entry("tool", src)
    assert entry("src/mine/tool.py") == Entry("mine.tool", src)
    assert entry("mine.parts.deep") == Entry("mine.parts.deep", src)
    assert entry("src/mine/__init__.py") == Entry("mine", src)


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("src/tool.py", "there is no file src/tool.py: name the one with the tools"),
        ("nothing", "there is neither a file nothing nor a module of that name in "),
        ("src", "src is a folder: name the file with the tools, for example src/tool.py"),
        ("src/my-tool.py", "`my-tool` is not a valid module name: rename the file"),
        ("src/json.py", "`json` is the name of an existing module: rename the file"),
        ("src/airlock_tool.py", "`airlock_tool` is the name of an existing module"),
    ],
)
def test_an_entry_that_can_not_be_one_is_refused(
    project: Path, named: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, **{"src__my-tool": "", "src__json": "", "src__airlock_tool": ""})
    assert main(["build", named]) == 1
    assert capsys.readouterr().err.startswith(f"error: {problem}")
    assert not list(project.glob("*.wasm"))


def test_what_is_imported_anywhere_goes_in_and_nothing_else(project: Path) -> None:
    src, packages = project / "src", project / "packages"
    write(
        src,
        tool="import json, beside as b\nfrom .relative import x\n\n\ndef lazily():\n    from deep.inside import y\n",
        beside="try:\n    import absent\nexcept ImportError:\n    pass\nimport spaces.one\n",
        unused="",
    )
    write(packages, deep__inside="import needed", deep__tests__test_it="import unneeded", needed="", unneeded="")
    (packages / "deep/__init__.py").write_text("type Alias = int  # of another Python than this")
    (packages / "deep/native.cpython-311-x86_64-linux-gnu.so").touch()
    (packages / "deep/native.cpython-314-wasm32-wasi.so").touch()
    (packages / "deep/data.json").touch()
    write(packages, spaces__one="")
    target = project / "staged"
    target.mkdir()
    search = [packages, SDK / "src"]
    assert stage(Entry("tool", src), search, [], target) == {
        "tool",
        "beside",
        "deep",
        "needed",
        "spaces",
        "airlock_tool",
    }
    found = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert {path for path in found if not path.startswith("airlock_tool/")} == {
        "tool.py",
        "beside.py",
        "deep/__init__.py",
        "deep/inside.py",
        "deep/data.json",
        "deep/native.cpython-314-wasm32-wasi.so",
        "needed.py",
        "spaces/one.py",
    }
    assert "airlock_tool/_component.py" in found


def test_what_no_import_names_can_be_included(project: Path) -> None:
    write(project, tool="", plugin="")
    target = project / "staged"
    target.mkdir()
    search = [SDK / "src"]
    assert "plugin" in stage(Entry("tool", project), search, ["plugin"], target)
    with pytest.raises(EntryError, match="there is no module `absent` to include"):
        stage(Entry("tool", project), search, ["absent"], target)


# As componentize-py 0.25 says it.
FAILED = """\
Traceback (most recent call last):
  File "<string>", line 1, in <module>
AssertionError: Traceback (most recent call last):
  File "/0/airlock_entry.py", line 8, in <module>
    Tool, Resolver = load('tool')
                     ~~~~^^^^^^^^
  File "/0/airlock_tool/_component.py", line 42, in load
    plugin = Plugin.of_module(importlib.import_module(module), _Host())
                              ~~~~~~~~~~~~~~~~~~~~~~~^^^^^^^^
  File "/python/importlib/__init__.py", line 88, in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
           ~~~~~~~~~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "<frozen importlib._bootstrap>", line 1398, in _gcd_import
  File "/0/tool.py", line 3, in <module>
    import {module}
ModuleNotFoundError: No module named '{module}'


Caused by:
    ModuleNotFoundError: No module named '{module}'
"""


def test_what_python_said_while_a_tool_was_built_is_told_with_its_place(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "src").mkdir()
    told = _explain(FAILED.replace("{module}", "yaml"), project / "src")
    assert (told.message, told.file, told.line) == ("ModuleNotFoundError: No module named 'yaml'", "src/tool.py", 3)
    assert told.help is not None
    assert told.help.startswith("it is not where ")
    assert told.trace == (
        "Traceback (most recent call last):\n"
        f'  File "{project}/src/tool.py", line 3, in <module>\n'
        "    import yaml\n"
        "ModuleNotFoundError: No module named 'yaml'"
    )
    assert str(told).startswith("src/tool.py:3: ModuleNotFoundError: No module named 'yaml'\n  help: it is not where ")
    told = _explain(FAILED.replace("{module}", "_ctypes"), project)
    assert told.help == "that part of Python's library needs what a component can't have"
    # Compiled for the machine that builds, and so left out.
    (project / "src/fast.cpython-311-x86_64-linux-gnu.so").touch()
    told = _explain(FAILED.replace("{module}", "fast"), project / "src")
    assert told.help is not None
    assert told.help.startswith("packages with native code")
    (project / "src/tool.py").touch()
    problem = f"ValueError: tool has no tool: {NO_TOOL}"
    told = _explain(
        FAILED.replace("ModuleNotFoundError: No module named '{module}'\n\n\n", f"{problem}\n\n\n"), project / "src"
    )
    assert (told.message, told.file, told.help) == ("the module has no tool", "src/tool.py", NO_TOOL)
    told = _explain("it broke\n", Path())
    assert (told.message, told.trace, told.file) == ("componentize-py failed", "it broke", None)


def test_an_archive_gives_modules_from_memory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, kept__inner="value = __name__", kept____init__="", alone="raise KeyError('in it')", spaces__one="")
    (project / "kept/__init__.py").write_text("from kept.inner import value")
    archive = Archive()
    archive.add(project)
    monkeypatch.setattr(sys, "meta_path", [archive])
    for path in project.rglob("*.py"):
        path.unlink()
    import kept  # type: ignore[import-not-found]

    assert kept.value == "kept.inner"
    import spaces.one  # type: ignore[import-not-found]

    assert spaces.one.__name__ == "spaces.one"
    with pytest.raises(KeyError) as raised:
        import alone  # type: ignore[import-not-found]  # noqa: F401
    assert [frame.path for frame in raised.traceback][-1] == Path("<alone>") or "<alone>" in str(raised.traceback[-1])
    with pytest.raises(ModuleNotFoundError):
        import kept.absent  # type: ignore[import-not-found]
    for name in ("kept", "kept.inner", "spaces", "spaces.one"):
        del sys.modules[name]


def test_the_wheel_has_the_world_the_types_and_the_licence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=SDK, check=True, capture_output=True)
    [wheel] = tmp_path.glob("airlock_tool-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    world = {f"airlock_tool/wit/{path.name}" for path in (SDK / "src/airlock_tool/wit").glob("*.wit")}
    assert len(world) == 6
    assert world | {"airlock_tool/py.typed", "airlock_tool/testing.py"} <= names
    assert [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    assert not [name for name in names if "__pycache__" in name]
