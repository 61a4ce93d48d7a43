"""The repository that the day is spent on: attrs, with its tests and its documentation, as its authors published it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

# pip has compared its digest with the one in requirements.txt.
SDIST = Path(os.environ["DAY_SDIST"])

# Nothing that a person has configured may change what git does here, and no date may change a commit.
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_{what}": "day@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    **{f"GIT_{who}_DATE": "2025-03-13T00:00:00Z" for who in ("AUTHOR", "COMMITTER")},
}


class Project:
    """A git repository with the unpacked source distribution as its first commit."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        with tarfile.open(SDIST) as archive:
            archive.extractall(folder)
        [self.root] = folder.iterdir()
        self.git("init", "--quiet")
        self.tree = self.commit("as published")

    def git(self, *args: str) -> str:
        ran = subprocess.run(
            ["git", *args], cwd=self.root, env={**os.environ, **GIT}, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def commit(self, title: str) -> str:
        """Commits everything and returns the id of the tree, which two equal folders have in common."""
        self.git("add", "--all", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", title)
        self.tree = self.git("rev-parse", "HEAD^{tree}").strip()
        return self.tree

    def start_from(self, tree: str) -> None:
        """Makes the folder as it was in another clone of the same project, whose objects are here."""
        self.git("read-tree", "--reset", "-u", tree)
        self.git("clean", "--quiet", "-d", "--force", "-x")
        self.commit("a task begins")
        assert self.tree == tree, (self.tree, tree)

    def borrow_from(self, other: Project) -> None:
        """Makes the objects of another clone readable here."""
        (self.root / ".git/objects/info/alternates").write_text(f"{other.root}/.git/objects\n")

    def changes(self) -> set[str]:
        """What differs from the last commit: `M path`, `A path`, `D path` or `R old -> new`."""
        self.git("add", "--all", ".")
        listed = self.git("diff", "--cached", "--name-status", "--find-renames=40%", "-z", "HEAD").split("\0")
        changes = set()
        while len(listed) > 1:
            kind, path = listed.pop(0)[0], listed.pop(0)
            changes.add(f"R {path} -> {listed.pop(0)}" if kind == "R" else f"{kind} {path}")
        return changes

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def python(self, *args: str) -> str:
        """Runs Python in the project, without leaving anything there."""
        environment = {
            **os.environ,
            "PYTHONPATH": "src",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self._folder.parent / "hypothesis"),
        }
        ran = subprocess.run(
            [sys.executable, *args], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{args}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def tests(self, *files: str) -> None:
        self.python("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files)

    def compiles(self) -> None:
        """That every file in Python is valid, and that the package can be imported."""
        sources = (
            "import ast, pathlib\nfor path in pathlib.Path().rglob('*.py*'): ast.parse(path.read_bytes(), str(path))"
        )
        self.python("-c", sources)
        self.python("-c", "import attr, attrs")
