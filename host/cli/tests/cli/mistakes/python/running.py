"""Mistakes that show when a tool is called."""

import asyncio
import socket
import subprocess
import threading
import urllib.request
from dataclasses import dataclass

import airlock_tool as airlock


@dataclass
class Plan:
    path: str


def applied(plan: Plan) -> str:
    return "Applied."


@airlock.tool
def type_error() -> str:
    """Has a mistake."""
    lines = ["one", "two"]
    return "There are " + len(lines)


@airlock.tool
def missing_return() -> str:
    """Has a mistake."""
    lines = ["one", "two"]
    ", ".join(lines)


@airlock.tool
def exception() -> str:
    """Has a mistake."""
    lines = ["one", "two"]
    return lines[2]


@airlock.tool
def processes() -> str:
    """Has a mistake."""
    return subprocess.run(["git", "status"], capture_output=True, text=True).stdout


@airlock.tool
def threads() -> str:
    """Has a mistake."""
    thread = threading.Thread(target=print)
    thread.start()
    return "Started."


@airlock.tool
def sockets() -> str:
    """Has a mistake."""
    return str(socket.create_connection(("example.com", 80)))


@airlock.tool
def network() -> str:
    """Has a mistake."""
    return urllib.request.urlopen("https://example.com").read().decode()


@airlock.tool
def forgotten_push() -> str:
    """Has a mistake."""
    Plan("notes.txt")
    return "Staged 1 change."


forgotten_push.apply(applied)


async def push() -> None:
    await asyncio.sleep(0)
    airlock.push("Do it", state=Plan("notes.txt"))


@airlock.tool
async def forgotten_await() -> str:
    """Has a mistake."""
    push()
    return "Staged 1 change."


forgotten_await.apply(applied)


@airlock.tool
async def forgotten_task() -> str:
    """Has a mistake."""
    asyncio.create_task(push())
    return "Staged 1 change."


forgotten_task.apply(applied)


async def text() -> str:
    return "Text."


@airlock.tool
def returned_coroutine_inside() -> list[str]:
    """Has a mistake."""
    return [text()]


@airlock.tool
def two_line_label() -> str:
    """Has a mistake."""
    airlock.push("Do it:\nhere", state=Plan("notes.txt"))
    return "Would do it."


two_line_label.apply(applied)
