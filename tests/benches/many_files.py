"""What renames and rewrites of many files take, beside a script that does the same.

Usage: tests/benches/many_files.py [--files N] [--rounds N] [--only rename|rewrite] [--airlock PROGRAM] [--ast-grep PROGRAM]

Each round makes a folder of N files (100,000), in directories of 100, and does in turn: a rename of
each by the script, ending in sync; a preview and an apply by `airlock run batch-rename`; a rewrite of
each by the script, and by ast-grep's own command line; a preview and an apply of the same by `airlock
run ast_edit`. It prints medians, and the ratios' medians, of times by the clock and of the processor.
`cargo bench --bench ast_edit -- --quick` installs ast-grep where it is looked for.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

RENAME = {"files": ["**/*.jpeg"], "find": r"\.jpeg$", "replace": ".jpg"}
OP = {"pat": "before($A)", "out": "after($A)"}
REWRITE = {"ops": [OP], "paths": ["**/*.py"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["rename", "rewrite"])
    root = Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--airlock", default=str(root / "target/release/airlock"))
    parser.add_argument("--ast-grep", default=str(root / "target/ast-grep/node_modules/@ast-grep/cli/ast-grep"))
    args = parser.parse_args()
    taken: dict[str, list[tuple[float, float]]] = {}
    for _ in range(args.rounds):
        for what, one in round_of(args).items():
            taken.setdefault(what, []).append(one)
    print(f"{args.files} files, {args.rounds} rounds: seconds by the clock and of the processor")
    for what, times in taken.items():
        beside = taken[what.split(",")[0] + ", script"]
        row = [statistics.median(column) for column in zip(*times, strict=True)]
        ratios = [[a / b for a, b in zip(one, other, strict=True)] for one, other in zip(times, beside, strict=True)]
        ratio = [statistics.median(column) for column in zip(*ratios, strict=True)]
        print(f"{what:20} {row[0]:7.2f} {row[1]:7.2f}   {ratio[0]:.2f}x {ratio[1]:.2f}x")


def round_of(args: argparse.Namespace) -> dict[str, tuple[float, float]]:
    with tempfile.TemporaryDirectory() as home:
        store = str(Path(home) / "pending.db")
        environment = os.environ | {"HOME": home, "AIRLOCK_STORE": store}
        folder = Path(home) / "files"

        def run(*arguments: str) -> None:
            command = [args.airlock, *arguments, "--json", "--timeout", "600"]
            ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stdout[-500:] + ran.stderr[-500:]

        taken = {}
        for kind, name, text, script, tool, params in [
            ("rename", "f{}.jpeg", "{}\n", rename_all, "batch-rename", RENAME),
            ("rewrite", "f{}.py", "before({})\n", rewrite_all, "ast_edit", REWRITE),
        ]:
            if args.only not in (None, kind):
                continue
            make(folder, args.files, name, text)
            taken[f"{kind}, script"] = timed(partial(script, folder))
            if kind == "rewrite":
                make(folder, args.files, name, text)
                taken["rewrite, ast-grep"] = timed(partial(rewrite_with_ast_grep, args.ast_grep, folder))
            make(folder, args.files, name, text)
            taken[f"{kind}, preview"] = timed(partial(run, "run", tool, json.dumps(params)))
            taken[f"{kind}, apply"] = timed(partial(run, "resolve", "apply", "--reason", "measured"))
        return taken


def make(folder: Path, files: int, name: str, text: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(files):
        directory = folder / str(number // 100)
        if number % 100 == 0:
            directory.mkdir(parents=True)
        (directory / name.format(number)).write_text(text.format(number))
    os.sync()


def rename_all(folder: Path) -> None:
    for directory, _, names in os.walk(folder):
        for name in names:
            new = re.sub(r"\.jpeg$", ".jpg", name)
            if new != name and not os.path.exists(os.path.join(directory, new)):
                os.rename(os.path.join(directory, name), os.path.join(directory, new))
    os.sync()


def rewrite_all(folder: Path) -> None:
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            new = re.sub(r"before\((.*?)\)", r"after(\1)", text)
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.write(new)
            os.rename(path + ".new", path)
    os.sync()


def rewrite_with_ast_grep(program: str, folder: Path) -> None:
    rewrite = ["--lang", "python", "--pattern", OP["pat"], "--rewrite", OP["out"]]
    command = [program, "run", *rewrite, "--update-all", str(folder)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    os.sync()


def timed(work: Callable[[], None]) -> tuple[float, float]:
    def processor() -> float:
        return sum(os.times()[:4])

    began, before = time.monotonic(), processor()
    work()
    return time.monotonic() - began, processor() - before


if __name__ == "__main__":
    main()
