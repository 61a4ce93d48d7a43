"""The command `airlock-py`, which is also `python -m airlock_tool`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from airlock_tool._build import BuildError, build


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; gives its exit code."""
    options = _parser().parse_args(arguments)
    started = time.monotonic()
    output = options.output or Path(f"{_last_name(options.entry)}.wasm")
    try:
        built = build(options.entry, output, options.include, options.path)
    except BuildError as error:
        if options.json:
            print(json.dumps({"ok": False, "errors": [error.described()], "trace": error.trace}))
        else:
            print(f"error: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps({"ok": True, "out": str(built.path), "bytes": built.size, "packages": built.packages}))
    elif not options.quiet:
        seconds = time.monotonic() - started
        print(f"{built.path}: {built.size / 1e6:.1f} MB in {seconds:.0f} s, with {', '.join(built.packages)}")
    return 0


def _last_name(entry: str) -> str:
    """`tool` for `src/tool.py` and for `mine.tool`."""
    return Path(entry).stem if entry.endswith(".py") else entry.rpartition(".")[2]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="airlock-py", description="Builds tools for Airlock that are written in Python."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "build",
        help="make a component of a module with tools",
        description="Makes a component of the tools at the top level of a module, together with the packages that it imports.",
    )
    command.add_argument(
        "entry",
        nargs="?",
        default="src/tool.py",
        metavar="ENTRY",
        help="the module with the tools: a file, or a module's name; default: src/tool.py",
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the component; default: ENTRY's name with .wasm"
    )
    command.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="NAME",
        help="include a module or package that nothing imports; may be repeated",
    )
    command.add_argument(
        "--path",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="look for packages there too, before those of this Python; may be repeated",
    )
    command.add_argument("--json", action="store_true", help="tell the result or the error as JSON on standard output")
    command.add_argument("-q", "--quiet", action="store_true", help="print nothing unless it fails")
    return parser


if __name__ == "__main__":
    sys.exit(main())
