"""Imports out of the component's own memory.

componentize-py keeps what was imported while it built the component, and nothing else: its files are gone when the component runs. Python's own
library imports many of its parts only when they are needed (a codec, `_strptime`), and so do tools. Worse, the folders that
Python then looks for are folders of the workspace, whose files nobody has vouched for.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
import types
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from airlock_tool import _network

# What can't work in a component, or is for whoever develops.
# fmt: off
_LEFT_OUT = frozenset((
    "__phello__", "_android_support", "_apple_support", "_ios_support", "_osx_support", "_pydatetime", "_pydecimal",
    "_pyio", "_pyrepl", "antigravity", "bdb", "bz2", "code", "codeop", "concurrent.futures.process", "cProfile",
    "ctypes", "curses", "dbm", "doctest", "ensurepip", "ftplib", "http.server", "idlelib", "imaplib", "lzma",
    "mailbox", "mmap", "multiprocessing", "nntplib", "pdb", "pickletools", "poplib", "profile", "pstats", "pty",
    "pydoc", "pydoc_data", "site-packages", "smtplib", "ssl", "test", "this", "tkinter", "trace", "tty", "turtle",
    "turtledemo", "unittest", "venv", "webbrowser", "wsgiref", "xmlrpc",
))
# fmt: on


class Archive(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """The sources of modules, compressed. A module is compiled when it is imported."""

    def __init__(self) -> None:
        self._sources: dict[str, tuple[bool, bytes]] = {}
        """By their full names: whether it is a package, and its source."""

    def add(self, root: Path) -> None:
        """Takes the modules below a folder that are not imported yet."""
        for name, is_package, path in _modules(root):
            if name not in sys.modules:
                self._sources[name] = (is_package, zlib.compress(path.read_bytes(), 9))
            # A namespace package has no file of its own.
            package = name.rpartition(".")[0]
            while package and package not in sys.modules:
                self._sources.setdefault(package, (True, zlib.compress(b"")))
                package = package.rpartition(".")[0]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._sources:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=self.is_package(fullname))

    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        if module.__name__ in _network.CLOSED:
            _network.CLOSED[module.__name__](module)

    def get_code(self, fullname: str) -> types.CodeType | None:
        # No path: a traceback would look for its lines in the workspace.
        return self.source_to_code(self._source(fullname), f"<{fullname}>")

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self._source(fullname))

    def is_package(self, fullname: str) -> bool:
        return self._sources[fullname][0]

    def _source(self, fullname: str) -> bytes:
        try:
            return zlib.decompress(self._sources[fullname][1])
        except KeyError:
            raise ImportError(f"the component has no module {fullname}", name=fullname) from None


def replace_file_imports() -> None:
    """From now on, imports come from memory: Python's library, and the modules that were built in. No file is looked for."""
    archive = Archive()
    # Not by the file of `os`, which is frozen.
    library, built_in = Path(linecache.__file__).parent, Path(__file__).parent.parent
    archive.add(library)
    archive.add(built_in)
    _remember_lines(built_in)
    for name, close in _network.CLOSED.items():
        if name in sys.modules:
            close(sys.modules[name])
    sys.meta_path[:] = [importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter, archive]
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()


def _modules(root: Path) -> Iterator[tuple[str, bool, Path]]:
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        if not _LEFT_OUT.isdisjoint((parts[0], name)):
            continue
        if name:
            yield name, is_package, path


def _remember_lines(root: Path) -> None:
    """Keeps the lines of the tool's own modules, for tracebacks."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(f"{root}/") and not file.startswith(str(Path(__file__).parent)):
            lines = linecache.getlines(file)
            # Without a time, so that nobody looks whether the file has changed.
            linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
