"""Finds files by a pattern, by the rules that all SDKs share (tests/conformance/cases/files.json holds them)."""

from __future__ import annotations

import os
import sys
from enum import Enum, auto
from pathlib import Path

# A relative path that begins with `workspace` or `scratch` would be taken for the component's own folder.
_WORKSPACE = "/workspace" if sys.platform == "wasi" else "."


def glob(pattern: str) -> list[Path]:
    """The files of the workspace whose paths match `pattern`, sorted.

    `*` stands for any characters of one name and `?` for one, `**` as a whole name for any folders or none, and at the
    end for all that is below; `{py,toml}` is either. Nothing else is special, and capital letters differ from small ones.
    A name that begins with a dot is matched only by a pattern that has that dot, so that `.git` is not entered unless it
    is named.

    The paths are relative to the workspace. Only files are in it, each once: symbolic links are neither followed nor
    listed.

    # Raises
    OSError where a folder can't be read. That nothing matches is no error.
    """
    steps = _compile(pattern)
    found = []
    # Each but the workspace itself ends with `/`.
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(f"{_WORKSPACE}/{folder}") as entries:
            for entry in entries:
                path = folder + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if any(_follow(steps, f"{path}/")[0]):
                        folders.append(f"{path}/")
                elif entry.is_file(follow_symlinks=False) and _matches(steps, path):
                    found.append(path)
    return [Path(path) for path in sorted(found)]


def matches_glob(pattern: str, path: Path | str) -> bool:
    """Whether a path matches a pattern of `glob`, whatever is there."""
    return _matches(_compile(pattern), str(path).removeprefix("./"))


class _Kind(Enum):
    CHARACTER = auto()
    ONE = auto()
    """`?`"""
    MANY = auto()
    """`*`"""
    FOLDERS = auto()
    """`**/`, between two names; the step behind it is INSIDE."""
    INSIDE = auto()
    """`**/`, within a name."""
    EITHER = auto()
    """An alternative begins here, and the next one at that step."""
    JUMP = auto()
    """An alternative ends here, and its braces at that step."""


# What a pattern asks of a path, step by step. A path is followed through all of its ways at once, so that no pattern takes
# longer than its length times the path's.
_Step = tuple[_Kind, str | int]


def _compile(pattern: str) -> list[_Step]:
    pattern = pattern.removeprefix("./")
    steps: list[_Step] = []
    # Of the braces that are open: their latest alternative, and where others ended.
    opened: list[tuple[int, list[int]]] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        after = _behind_folders(pattern, at, bool(opened)) if character == "*" else None
        if after is not None:
            steps += [(_Kind.FOLDERS, 0), (_Kind.INSIDE, 0)]
            if pattern[after - 1] == "*":
                steps.append((_Kind.MANY, 0))
            at = after
            continue
        at += 1
        if character == "*":
            steps.append((_Kind.MANY, 0))
        elif character == "?":
            steps.append((_Kind.ONE, 0))
        elif character == "{" and _is_closed(pattern[at:]):
            opened.append((len(steps), []))
            steps.append((_Kind.EITHER, 0))
        elif character == "," and opened:
            alternative, ends = opened.pop()
            steps.append((_Kind.JUMP, 0))
            steps[alternative] = (_Kind.EITHER, len(steps))
            opened.append((len(steps), [*ends, len(steps) - 1]))
            steps.append((_Kind.EITHER, 0))
        elif character == "}" and opened:
            alternative, ends = opened.pop()
            steps[alternative] = (_Kind.EITHER, alternative + 1)
            for end in ends:
                steps[end] = (_Kind.JUMP, len(steps))
        else:
            steps.append((_Kind.CHARACTER, character))
    return steps


def _behind_folders(pattern: str, at: int, is_within: bool) -> int | None:
    """Where the pattern goes on behind a `**` that is a whole name, with its `/`."""
    before = pattern[at - 1] if at else "/"
    after = pattern[at + 2 : at + 3] or "end"
    if pattern[at : at + 2] != "**" or not (before == "/" or (is_within and before in "{,")):
        return None
    if after == "/":
        return at + 3
    return at + 2 if after == "end" or (is_within and after in ",}") else None


def _is_closed(rest: str) -> bool:
    """Whether there is a `}` for the `{` before."""
    depth = 1
    for character in rest:
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return True
    return False


def _matches(steps: list[_Step], path: str) -> bool:
    reached, begins = _follow(steps, path)
    _skip(steps, reached, begins, None)
    return reached[len(steps)]


def _follow(steps: list[_Step], path: str) -> tuple[list[bool], bool]:
    """The steps that are next behind `path`, and whether a name begins there."""
    reached = [True] + [False] * len(steps)
    begins = True
    for character in path:
        _skip(steps, reached, begins, character)
        is_name = character != "/"
        is_shown = is_name and not (begins and character == ".")
        following = [False] * len(reached)
        for at, (kind, wanted) in enumerate(steps):
            if not reached[at]:
                continue
            if kind is _Kind.CHARACTER:
                following[at + 1] |= wanted == character
            elif kind is _Kind.ONE:
                following[at + 1] |= is_shown
            elif kind is _Kind.MANY:
                following[at] |= is_shown
            elif kind is _Kind.FOLDERS:
                following[at + 1] |= begins and is_shown
            elif kind is _Kind.INSIDE:
                following[at if is_name else at - 1] = True
        reached = following
        begins = not is_name
    return reached, begins


def _skip(steps: list[_Step], reached: list[bool], begins: bool, character: str | None) -> None:
    """Adds the steps that are reached without a character. All of these lie ahead."""
    for at, (kind, to) in enumerate(steps):
        if not reached[at]:
            continue
        # `*.md` is not `.md`.
        if kind is _Kind.MANY and not (begins and character == "."):
            reached[at + 1] = True
        elif kind is _Kind.FOLDERS and begins:
            reached[at + 2] = True
        elif kind is _Kind.EITHER:
            reached[at + 1] = reached[int(to)] = True
        elif kind is _Kind.JUMP:
            reached[int(to)] = True
