"""Runs the program on a pseudo-terminal, answers its questions, and draws what it printed.

Usage: draw.py PROGRAM SVG
"""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 84
FILES = ["IMG_0001.jpeg", "IMG_0002.jpeg", "IMG_0010.JPEG", "notes.txt"]
ARGUMENTS = ["run", "batch-rename", "--files", "*", "--find", r"^IMG_0*(\d+)\.(?i:jpeg)$", "--replace", "beach-{n:2}.jpg"]
# What is asked, and what is answered.
ANSWERS = [("[?]: ", "a"), ("empty): ", "the order is right")]
# How long the program may say nothing, in seconds.
SILENCE = 60
# Of questions that are written over and over: carriage returns, and codes that move the cursor.
MOVES = re.compile(r"\r(?!\n)|\x1b\[[0-9;]*[A-HJKf]|\x1b\[\?[0-9;]*[hl]")


def run(program: str, folder: Path) -> str:
    for name in FILES:
        (folder / "photos" / name).write_text(name, encoding="utf-8")
    environment = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "AIRLOCK_PAGER": "cat",
        "PAGER": "cat",
        "COLUMNS": str(COLUMNS),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    # Compiles the plugin before, so that the picture has no progress line.
    subprocess.run([program, "inspect", "batch-rename"], env=environment, stdout=subprocess.DEVNULL, check=True)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder / "photos")
        os.execve(program, ["airlock", *ARGUMENTS], environment)
    said, answered, waiting = "", 0, list(ANSWERS)
    while True:
        if not select.select([terminal], [], [], SILENCE)[0]:
            sys.exit(f"nothing more came for {SILENCE} s:\n{said}")
        try:
            read = os.read(terminal, 65536)
        except OSError:
            break
        if not read:
            break
        said += read.decode()
        if waiting and waiting[0][0] in said[answered:]:
            os.write(terminal, f"{waiting.pop(0)[1]}\n".encode())
            answered = len(said)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0 or waiting:
        sys.exit(f"it ended with {status}:\n{said}")
    return said


def main() -> None:
    program, picture = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "photos").mkdir()
        said = MOVES.sub("", run(str(Path(program).resolve()), place)).replace("\r\n", "\n")
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w", encoding="utf-8"), force_terminal=True)
    command = shlex.join(["airlock", *ARGUMENTS])
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi(said.rstrip()))
    console.save_svg(picture, title="airlock", unique_id="airlock")


main()
