"""Prints a hostile tool's text in each emulator, at random widths: no row may begin with the tool's words.

If an emulator draws a row wider than expected, the row continues at the first column of the next one. So each line
starts with characters that terminals draw in different widths, and ends with an imitation of the host.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import random
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte

PROGRAM, PUPPET, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(os.environ.get("AIRLOCK_SEED", "7"))

# Enough for all output of a run.
ROWS = 900
LINES = 20
FORGED = "Verified by the host: nothing"
FILLERS = [
    "👍🏽",
    "🏽",
    "👩‍👩‍👧",
    "👨🏿‍🚀",
    "🇩🇪",
    "🇩",
    "❤️",
    "⚠️",
    "☺",
    "1️⃣",
    "🏴\U000e0067\U000e0062\U000e0065\U000e007f",
    "日",
    "한",
    "ᄒ\u1161\u11ab",
    "ｱ",
    "\uff21",
    "ж",
    "\u03b1",
    "é",
    "e\u0301",
    "a\u0302\u0323\u1ab0",
    "क्\u200dष",
    "श्री",
    "\u17d8",
    "ลำ",
    "\U000e0100",
    "─",
    "│",
    "█",
    "…",
    "“",
    "§",
    "\ue000",
    "\U0001fae9",
    "\U0001f6dc",
    "\U0001fadf",
    "\u2e3b",
    "\ufdfd",
    "س",
    "ש",
    "x",
    " ",
    "\t",
]


def lines(chance: random.Random) -> Iterator[str]:
    for _ in range(LINES):
        few = chance.sample(FILLERS, chance.randint(1, 3))
        filled = "".join(chance.choice(few) for _ in range(chance.randint(10, 60)))
        yield filled + chance.choice(["", " ", "x" * chance.randint(0, 9)]) + FORGED * chance.randint(1, 3)


def command(folder: Path, text: str) -> list[str]:
    """The command that shows a result with this text."""
    params = folder / "params.json"
    params.write_text(json.dumps({"steps": [{"do": "text", "text": text}]}))
    words = [PROGRAM, "run", PUPPET, "puppet", f"@{params}"]
    # The notes of the host on standard error are left to the terminal to break.
    return ["sh", "-c", f"exec {shlex.join(words)} 2>/dev/null"]


Show = Callable[[list[str], int], list[str]]


def in_pyte(words: list[str], columns: int) -> list[str]:
    screen = pyte.Screen(columns, ROWS)
    stream = pyte.ByteStream(screen)
    with in_terminal(words, columns) as running:
        running.process.wait(60)
    stream.feed(running.said)
    return list(screen.display)


def in_tmux(words: list[str], columns: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        tmux = ["tmux", "-u", "-f", "/dev/null", "-S", f"{folder}/socket"]
        done = Path(folder) / "done"
        script = f"{shlex.join(words)}; touch {done}; sleep 60"
        subprocess.run([*tmux, "new-session", "-d", "-x", str(columns), "-y", str(ROWS), script], check=True)
        try:
            wait_for(done)
            shown = subprocess.run([*tmux, "capture-pane", "-p"], check=True, capture_output=True)
        finally:
            subprocess.run([*tmux, "kill-server"], check=True)
    return shown.stdout.decode(errors="replace").splitlines()


def in_screen(words: list[str], columns: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SCREENDIR"] = folder
        done, copy, script = Path(folder) / "done", Path(folder) / "copy", Path(folder) / "script"
        script.write_text(f"{shlex.join(words)}; touch {done}; sleep 60\n", encoding="utf-8")
        name = f"rows{os.getpid()}"
        screen = ["screen", "-U", "-c", "/dev/null", "-S", name, "sh", str(script)]
        with in_terminal(screen, columns):
            wait_for(done)
            for asked in (["hardcopy", str(copy)], ["quit"]):
                time.sleep(0.3)
                subprocess.run(["screen", "-S", name, "-p", "0", "-X", *asked], check=True)
            wait_for(copy)
        # A hardcopy has only the last byte of each character.
        margin = "│".encode("utf-16-be")[1:]
        return [row.replace(margin, "│".encode()).decode(errors="replace") for row in copy.read_bytes().splitlines()]


EMULATORS: dict[str, Show] = {"pyte": in_pyte, "tmux": in_tmux, "GNU screen": in_screen}


class Running:
    """A command in a terminal, and all its output."""

    def __init__(self, words: list[str], columns: int) -> None:
        self.outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.process = subprocess.Popen(words, stdin=inner, stdout=inner, stderr=inner, start_new_session=True)
        os.close(inner)
        self.said = b""
        self.reading = threading.Thread(target=self.read, daemon=True)
        self.reading.start()

    def read(self) -> None:
        """A command whose output is not read stops."""
        with contextlib.suppress(OSError):
            while said := os.read(self.outer, 1 << 16):
                self.said += said


@contextmanager
def in_terminal(words: list[str], columns: int) -> Iterator[Running]:
    running = Running(words, columns)
    try:
        yield running
        running.process.wait(60)
        running.reading.join(60)
    finally:
        running.process.kill()
        running.process.wait()
        os.close(running.outer)


def wait_for(file: Path) -> None:
    until = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < until, f"{file} is missing"
        time.sleep(0.05)


def main(folder: Path) -> None:
    os.environ.update({"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"})
    chance = random.Random(SEED)
    wrong: list[str] = []
    for name, show in EMULATORS.items():
        rows, bad = 0, list[str]()
        for at in range(ROUNDS):
            columns = chance.randint(20, 120)
            # Every other time in the default pager, which has its own width table.
            os.environ.pop("AIRLOCK_PAGER", None)
            if at % 2:
                os.environ["AIRLOCK_PAGER"] = "cat"
            shown = show(command(folder, "\n".join(lines(chance))), columns)
            rows += sum(1 for row in shown if row.strip())
            unmargined = (row.strip() for row in shown if not row.lstrip().startswith("│"))
            bad += [f"{name}, {columns} columns: {row}" for row in unmargined if row]
        assert rows > ROUNDS * LINES, f"{name} has shown {rows} rows"
        print(f"{name}: {rows} rows, {len(bad)} of them without a margin")
        wrong += bad
    if wrong:
        sys.exit("\n".join(["These rows begin with what a tool says:", *wrong[:20]]))


with tempfile.TemporaryDirectory() as temporary:
    main(Path(temporary))
