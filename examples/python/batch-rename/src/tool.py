"""Renames files by a regular expression: a plan first, and the renames when somebody has said yes."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import airlock_tool as airlock


@dataclass(frozen=True)
class Rename:
    before: Path
    after: Path

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"


@dataclass(frozen=True)
class Plan:
    """What waits for the decision. It is kept as JSON, so it may be applied on another day, in another process."""

    renames: list[Rename]


@airlock.tool(destructive=True)
def batch_rename(
    files: Annotated[
        list[str], "Paths or globs, relative to the workspace: `*.jpeg`, `notes/**/*.md`.", {"minItems": 1}
    ],
    find: Annotated[
        str, "A regular expression, matched against each file's name without its folder.", {"minLength": 1}
    ],
    replace: Annotated[str, r"What replaces each match; `\1` or `\g<name>` is a group."],
) -> airlock.Result:
    """Renames many files at once. This makes a plan; nothing is renamed before it is applied."""
    try:
        pattern = re.compile(find)
        renames = [_rename(path, pattern, replace) for path in _select(files) if pattern.search(path.name)]
    except (re.error, IndexError) as error:
        raise airlock.ToolError(f"`find` and `replace` don't work: {error}") from error
    plan = Plan([rename for rename in renames if rename.before != rename.after])
    if not plan.renames:
        raise airlock.ToolError(
            "No file would get another name: nothing matches `find`, or `replace` gives the same names."
        )
    _check(plan)
    listed = [str(rename) for rename in plan.renames]
    airlock.push(f"Batch rename: {_count(plan)}", state=plan, details={"renames": listed})
    text = "\n".join([f"Prepared rename plan for {_count(plan)}.", "", *listed])
    return airlock.Result(text, details={"files": len(plan.renames)})


@batch_rename.apply
def apply(plan: Plan, resolution: airlock.Resolution) -> airlock.Result:
    if resolution.attempt > 1:
        # An attempt that was cut off may have got somewhere.
        plan = Plan([rename for rename in plan.renames if rename.before.exists() or not rename.after.exists()])
    _check(plan)
    for done, rename in enumerate(plan.renames):
        airlock.check_cancelled()
        rename.before.rename(rename.after)
        airlock.progress(str(rename), done + 1, len(plan.renames))
    return airlock.Result(f"Renamed {_count(plan)}.", details={"files": len(plan.renames)})


@batch_rename.reject
def reject(plan: Plan) -> str:
    return f"{_count(plan)} kept their names."


def _select(patterns: list[str]) -> list[Path]:
    found: set[Path] = set()
    for pattern in patterns:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise airlock.ToolError(f"`{pattern}` leaves the workspace: paths are relative to it.")
        matches = [path for path in Path().glob(pattern) if path.is_file()]
        if not matches:
            raise airlock.ToolError(f"`{pattern}` matches no file.")
        found.update(matches)
    return sorted(found)


def _rename(path: Path, pattern: re.Pattern[str], replace: str) -> Rename:
    name = pattern.sub(replace, path.name)
    if name in ("", ".", "..") or "/" in name:
        raise airlock.ToolError(f"`{path}` can't be called {name!r}.")
    return Rename(path, path.with_name(name))


def _check(plan: Plan) -> None:
    """Makes sure that no file is lost: nothing is overwritten, and all that should be there is."""
    problems = [f"`{rename.before}` is gone." for rename in plan.renames if not rename.before.is_file()]
    problems += [f"`{rename.after}` is there already." for rename in plan.renames if rename.after.exists()]
    targets = Counter(rename.after for rename in plan.renames)
    problems += [f"{count} files would be called `{path}`." for path, count in targets.items() if count > 1]
    if problems:
        raise airlock.ToolError("\n".join(["Nothing was renamed:", *problems]))


def _count(plan: Plan) -> str:
    return "1 file" if len(plan.renames) == 1 else f"{len(plan.renames)} files"
