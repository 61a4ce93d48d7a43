"""The person whom the model works for."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import types

AIRLOCK = os.environ["AIRLOCK"]


@dataclass
class Count:
    """What a task costs."""

    calls: int = 0
    asked: int = 0
    at_terminal: int = 0
    received: int = 0
    sent: int = 0
    waited: float = 0
    files: int = 0

    def add(self, other: Count) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Person:
    """Whom the client asks, or who decides in a terminal. They agree with everything."""

    workspace: Path
    environment: dict[str, str]
    count: Count = field(default_factory=Count)

    async def asked(self, _context: Any, _question: types.ElicitRequestParams) -> types.ElicitResult:
        self.count.asked += 1
        return types.ElicitResult(action="accept", content={"decision": "apply", "reason": "as I asked"})

    def runs(self, command: str) -> None:
        """Runs a command from a result in a terminal, and agrees there. Without a terminal, Airlock refuses."""
        self.count.at_terminal += 1
        ours, theirs = pty.openpty()
        environment = {**self.environment, "TERM": "xterm", "PAGER": "cat"}
        line = [AIRLOCK, *command.split()]
        with subprocess.Popen(
            line,
            cwd=self.workspace,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as program:
            os.close(theirs)
            shown = b""
            answers = [(b"Apply it?", b"y\n"), (b"Reason", b"as I asked\n")]
            # A terminal that nobody has open any more can't be read.
            while more := read(ours):
                shown += more
                if answers and answers[0][0] in shown.splitlines()[-1]:
                    os.write(ours, answers.pop(0)[1])
        os.close(ours)
        assert program.returncode == 0, f"{line}\n{shown.decode()}"


def read(terminal: int) -> bytes:
    assert select.select([terminal], [], [], 60)[0], "the program waits for another answer"
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""
