"""Which modules and packages a tool needs, and where they are."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# By lines and not by syntax trees: a tool may use syntax that is newer than the Python that builds
# it.
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)
# What componentize-py brings.
_GENERATED = frozenset({"wit_world", "componentize_py_types", "componentize_py_runtime", "poll_loop"})
_IGNORED = shutil.ignore_patterns(
    "__pycache__", "*.pyc", ".*", "tests", "test", "conftest.py", "*.so", "*.pyd", "*.dylib"
)
# Compiled for WebAssembly, unlike what `_IGNORED` leaves out.
_WASM_LIBRARY = "*.cpython-314-wasm32-wasi.so"


@dataclass(frozen=True)
class Entry:
    """The module with the tools."""

    module: str
    """Its full name."""
    root: Path
    """The folder that it is imported from."""


class EntryError(Exception):
    """There is no such module, or it can't be one; the message says what to do."""


def find_entry(named: str, search: Iterable[Path]) -> Entry:
    """The module that a path or a module's name means.

    # Raises
    EntryError where there is none.
    """
    path = Path(named)
    if path.suffix == ".py" or path.exists():
        return _entry_of_file(path)
    search = list(search)
    for folder in search:
        if _locate(folder, *named.split(".")) is not None:
            return _checked(Entry(named, folder))
    folders = ", ".join(str(folder) for folder in search)
    raise EntryError(f"there is neither a file {named} nor a module of that name in {folders}")


def _entry_of_file(path: Path) -> Entry:
    if path.is_dir():
        raise EntryError(f"{path} is a folder: name the file with the tools, for example {path}/tool.py")
    if not path.is_file():
        raise EntryError(f"there is no file {path}: name the one with the tools, or put them into src/tool.py")
    parts = [path.stem]
    folder = path.resolve().parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    if parts[-1] == "__init__":
        parts.pop()
    return _checked(Entry(".".join(parts), folder))


def _checked(entry: Entry) -> Entry:
    top, *_ = parts = entry.module.split(".")
    if not all(part.isidentifier() for part in parts):
        raise EntryError(f"`{entry.module}` is not a valid module name: rename the file to letters, digits and `_`")
    if top in sys.stdlib_module_names or top in _GENERATED or top == "airlock_tool":
        raise EntryError(f"`{top}` is the name of an existing module: rename the file")
    return entry


def stage(entry: Entry, search: Iterable[Path], include: Iterable[str], folder: Path) -> set[str]:
    """Copies the entry's package, what it imports, and so on, from where `search` finds it; says what was copied.

    Whatever is imported anywhere in a package counts, inside of functions too, and packages are taken whole, since what they import by a
    computed name can't be seen. A name that is found nowhere is left out: it may be optional.
    """
    search = [entry.root, *search]
    waiting = [entry.module.partition(".")[0], "airlock_tool", *include]
    staged: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in staged or name in sys.stdlib_module_names or name in _GENERATED:
            continue
        copied = _copy(name, search, folder)
        if copied is None:
            if name in include:
                raise EntryError(f"there is no module `{name}` to include")
            continue
        staged.add(name)
        waiting += _imports(copied)
    return staged


def _copy(name: str, search: Iterable[Path], folder: Path) -> Path | None:
    for place in search:
        found = _locate(place, name)
        if found is None:
            continue
        target = folder / found.name
        if found.is_file():
            shutil.copyfile(found, target)
            return target
        shutil.copytree(found, target, ignore=_IGNORED, dirs_exist_ok=True)
        for library in found.rglob(_WASM_LIBRARY):
            shutil.copyfile(library, target / library.relative_to(found))
        # A namespace package may have parts in other places too.
        if (found / "__init__.py").is_file():
            return target
    target = folder / name
    return target if target.is_dir() else None


def _locate(folder: Path, *parts: str) -> Path | None:
    """A package's folder, or a module's file."""
    below = folder.joinpath(*parts)
    if (below / "__init__.py").is_file():
        return below
    module = below.with_name(f"{below.name}.py")
    if module.is_file():
        return module
    if below.is_dir() and next(below.rglob("*.py"), None):
        return below
    return None


def _imports(copied: Path) -> Iterator[str]:
    for file in [copied] if copied.is_file() else sorted(copied.rglob("*.py")):
        text = file.read_text(encoding="utf-8", errors="replace")
        for from_name, names in _IMPORT.findall(text):
            for name in (from_name or names).split(","):
                # The first word, since `import a.b as c`; nothing where the import is relative.
                top = name.strip().partition(" ")[0].partition(".")[0]
                if top.isidentifier():
                    yield top
