"""Making a component of a tool: modules are gathered, and componentize-py does the rest."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from airlock_tool._bundle import EntryError, find_entry, stage
from airlock_tool._dispatch import NO_TOOL

_WIT = Path(__file__).parent / "wit"
_APP = "airlock_entry"
_APP_SOURCE = """\
import sys

# Nothing of this run is for the folders that the sources are in.
sys.dont_write_bytecode = True

from airlock_tool._component import load

Tool, Resolver = load({module!r})
"""


class BuildError(Exception):
    """No component was made: what is wrong, where, and what to do about it."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        help: str | None = None,
        trace: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.help = help
        self.trace = trace
        """All that was said besides."""

    def described(self) -> dict[str, object]:
        """For programs."""
        parts = {"message": self.message, "file": self.file, "line": self.line, "help": self.help}
        return {name: part for name, part in parts.items() if part is not None}

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        told = f"{place}: {self.message}" if place else self.message
        return "\n".join(
            [told, *([f"  help: {self.help}"] if self.help else []), *([f"\n{self.trace}"] if self.trace else [])]
        )


@dataclass(frozen=True)
class Built:
    """A component that was made."""

    path: Path
    size: int
    """In bytes."""
    packages: list[str]
    """The top-level modules and packages in it, besides the SDK and Python's own."""


def build(named: str, output: Path, include: Iterable[str] = (), paths: Iterable[Path] = ()) -> Built:
    """Makes a component of the tools in a module, which is named by its file or its name.

    What it imports is looked for beside it, in `paths`, and where this Python would look: so in the virtual environment that
    the command belongs to. `include` adds what it imports by a computed name.

    # Raises
    BuildError
    """
    if importlib.util.find_spec("componentize_py") is None:
        raise BuildError(f"componentize-py is missing: run '{sys.executable} -m pip install componentize-py'")
    paths = [path.resolve() for path in paths]
    for path in paths:
        if not path.is_dir():
            raise BuildError(f"there is no folder {path}")
    working = Path.cwd()
    try:
        entry = find_entry(named, [*paths, working / "src", working])
    except EntryError as error:
        raise BuildError(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="airlock-py-") as temporary:
        folder = Path(temporary)
        modules = folder / "modules"
        modules.mkdir()
        try:
            staged = stage(entry, [*paths, *_importable_folders()], include, modules)
        except EntryError as error:
            raise BuildError(str(error)) from error
        (modules / f"{_APP}.py").write_text(_APP_SOURCE.format(module=entry.module), encoding="utf-8")
        made = folder / "tool.wasm"
        _componentize(modules, made, entry.root)
        _put(made, output)
    return Built(output, output.stat().st_size, sorted(staged - {"airlock_tool"}))


def _importable_folders() -> list[Path]:
    """Where this Python looks for packages, without its own library."""
    own = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    # The SDK itself, which may have been imported from elsewhere; but not the current folder, which
    # `python -m` adds.
    folders = [Path(__file__).parent.parent]
    for entry in sys.path:
        folder = Path(entry).resolve()
        if folder in own or folder == Path.cwd() or folder.name == "lib-dynload":
            continue
        if folder.is_dir() and folder not in folders:
            folders.append(folder)
    return folders


def _componentize(modules: Path, output: Path, root: Path) -> None:
    command = [
        *(sys.executable, "-c", "import componentize_py; componentize_py.script()"),
        *("--wit-path", str(_WIT), "--world", "custom-tool"),
        *("componentize", _APP, "--python-path", str(modules), "--output", str(output)),
    ]
    # Else its errors have a stack of Rust's behind them, and it looks for packages by itself.
    environment = {name: value for name, value in os.environ.items() if name not in ("RUST_BACKTRACE", "VIRTUAL_ENV")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0 or not output.is_file():
        raise _explain(done.stderr or done.stdout, root)


# The traceback of the guest stands in that of componentize-py, behind this name.
_INNER = re.compile(r"AssertionError: (.*?)(?:\n\nCaused by:|\n\nStack backtrace:|\Z)", re.DOTALL)
_OWN_FRAME = re.compile(r'  File "(?:/0/airlock_(?:tool/|entry)|/python/importlib/|<frozen)[^\n]*\n(?:    [^\n]*\n)*')
_PLACE = re.compile(r'File "([^"\n]+)", line (\d+)')


def _explain(output: str, root: Path) -> BuildError:
    """What Python said while the tool was imported; where that can't be found, all that was said."""
    found = _INNER.search(output)
    if found is None:
        return BuildError("componentize-py failed", trace=output.strip())
    text = _OWN_FRAME.sub("", found[1]).replace('File "/0/', f'File "{root}/').strip()
    problem = text.splitlines()[-1] if text else "componentize-py failed"
    file, line = _place(text, root)
    if problem.startswith("ValueError: ") and problem.endswith(NO_TOOL):
        return BuildError("the module has no tool", file=file or _file_of(problem, root), help=NO_TOOL)
    return BuildError(problem, file=file, line=line, help=_advice(problem, root), trace=text)


def _file_of(problem: str, root: Path) -> str | None:
    """The file of the module that a problem begins with, as the folder that is built in knows it."""
    module = problem.removeprefix("ValueError: ").partition(" ")[0]
    path = root.joinpath(*module.split("."))
    files = [path.with_suffix(".py"), path / "__init__.py"]
    return next((_from_here(file) for file in files if file.is_file()), None)


def _from_here(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _place(text: str, root: Path) -> tuple[str | None, int | None]:
    """The last place of the tool's own sources in a traceback, as the folder that is built in knows it."""
    for file, line in reversed(_PLACE.findall(text)):
        if Path(file).is_relative_to(root):
            return _from_here(Path(file)), int(line)
    return None, None


_NATIVE = "packages with native code (numpy, pydantic) can't go into a component, unless they are built for it: take one that is Python all through"


def _advice(problem: str, root: Path) -> str | None:
    missing = re.search(r"No module named '([\w.]+)'", problem)
    if missing is None:
        return None
    name = missing[1].partition(".")[0]
    if name in sys.stdlib_module_names or name.removeprefix("_") in sys.stdlib_module_names:
        return "that part of Python's library needs what a component can't have"
    if _has_native(missing[1], [root, *_importable_folders()]):
        return _NATIVE
    return (
        f"it is not where {sys.executable} looks for packages: install it there, or name the folder that it is in with --path. And "
        + _NATIVE
    )


def _has_native(module: str, folders: Iterable[Path]) -> bool:
    """Whether a module is there, but compiled for the machine that builds."""
    *packages, name = module.split(".")
    places = [folder.joinpath(*packages) for folder in folders]
    return any(next(place.glob(f"{name}.{end}"), None) for place in places for end in ("*so", "*pyd", "*dylib"))


def _put(made: Path, output: Path) -> None:
    """Moves the component to its place: all of it or nothing."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        staged = output.with_name(f"{output.name}.new")
        staged.write_bytes(made.read_bytes())
        staged.replace(output)
    except OSError as error:
        raise BuildError(f"can't write {output}: {error.strerror or error}") from error
