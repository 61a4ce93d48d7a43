"""Compares the table of control files with the files that programs look for where they start, as strace sees it."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = {"name": "a", "version": "1.0.0", "scripts": {"test": "true"}}
MANIFEST = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'

# Files that programs read as plain source, list, or make themselves.
SOURCES = {
    "HEAD": "a repository only with `objects` and `refs`, which rules look for",
    "__init__.py": "source",
    "README": "text",
    "README.md": "text",
    "README.txt": "text",
    "src": "source",
    "benches": "source",
    "examples": "source",
    "tests": "source",
    "target": "what cargo has built",
    ".pytest_cache": "what pytest knows of its last run",
    "RCS": "old versions that make would check out, if RCS were installed",
    "SCCS": "the same for SCCS",
}

MAKING = {"mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat"}


def projects(python):
    """Each program's name, the files of a project, and the command."""
    return [
        ("git", {}, ["git", "status"]),
        ("npm install", {"package.json": json.dumps(PACKAGE)}, ["npm", "install", "--offline", "--no-audit"]),
        ("npm test", {"package.json": json.dumps(PACKAGE)}, ["npm", "test"]),
        ("Node.js", {"given.js": ""}, ["node", "given.js"]),
        ("cargo", {"Cargo.toml": MANIFEST, "src/lib.rs": ""}, ["cargo", "test", "--offline"]),
        ("pytest", {"test_given.py": "def test_it():\n    pass\n"}, [python, "-m", "pytest", "--quiet"]),
        ("Python", {"given.py": ""}, [python, "given.py"]),
        ("make", {}, ["make", "--dry-run"]),
    ]


def looked_for(files, command):
    """The top-level names that a command looks for in a folder with these files, except those that it makes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "project"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        folder.mkdir(exist_ok=True)
        trace = folder.parent / "trace"
        # With -y, each descriptor has its path, that of the current folder too.
        strace = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", "trace=%file", "-o", str(trace)]
        ran = subprocess.run(strace + command, cwd=folder, capture_output=True, text=True)
        found, made = set(), set()
        for call, arguments in re.findall(r"^\d+ +(\w+)\((.*)", trace.read_text(errors="replace"), re.MULTILINE):
            paths = re.findall(r'(?:<([^>]*)>, )?"((?:[^"\\]|\\.)*)"', arguments)
            # The rest are arguments of a program, or the target of a link.
            for start, path in paths[:1] if call in {"execve", "readlink", "readlinkat"} else paths:
                path = os.path.normpath(os.path.join(start or folder, path))
                if path.startswith(f"{folder}/"):
                    makes = "O_CREAT" in arguments or call in MAKING
                    (made if makes else found).add(os.path.relpath(path, folder))
    assert ran.returncode == 0 or command[0] in {"git", "make"}, ran.stderr
    # Leaves out the project's own files and those that the command made.
    given = set(files) | made
    return {path for path in found if not any(Path(path).is_relative_to(one) for one in given)}


def is_known(program, path):
    """Whether the table has it."""
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {"XDG_STATE_HOME": state, "XDG_CONFIG_HOME": state}
        command = [program, "policy", "explain", f"./{path}", "--json"]
        told = subprocess.run(command, cwd=state, env=environment, capture_output=True, text=True, check=True)
    told = json.loads(told.stdout)
    return bool(told["controlFiles"]) or told["builds"]


def main(program, python):
    missing = []
    for name, files, command in projects(python):
        found = looked_for(files, command)
        found = {path for path in found if Path(path).parts[0] not in SOURCES}
        print(f"{name}: {', '.join(sorted(found)) or 'nothing'}")
        # A control: without it an empty trace would pass.
        assert found or name in {"Python", "git"}, f"{name} was not seen to look for anything"
        missing += [f"{name} looks for {path}" for path in sorted(found) if not is_known(program, path)]
    for line in missing:
        print(f"not in the table: {line}", file=sys.stderr)
    sys.exit(1 if missing else 0)


main(*sys.argv[1:])
