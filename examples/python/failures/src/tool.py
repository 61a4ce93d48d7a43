"""A tool that fails in every way that a tool in Python can, to see what the caller reads, and what is left."""

import json
import os
import sys
from typing import Annotated, Literal, NoReturn

import airlock_tool as airlock

How = Literal[
    "tool-error",
    "error",
    "error-with-a-cause",
    "bad-result",
    "bad-details",
    "bad-push",
    "missing-module",
    "read-only",
    "outside",
    "network",
    "sys-exit",
    "interrupt",
    "recursion",
    "memory",
    "cancelled",
    "trap",
    "endless-loop",
    "deep-json",
]


@airlock.tool
def failures(
    how: Annotated[How, "In which way."],
    when: Annotated[Literal["now", "apply", "reject"], "In the call, or in an action that it pushes."] = "now",
) -> str:
    """Fails."""
    if when == "now":
        fail(how)
    airlock.push(f"Failures: {how} on {when}", state={"how": how, "when": when})
    return f"Would fail on {when}."


@failures.apply
def apply(state: dict[str, str]) -> str:
    if state["when"] == "apply":
        fail(state["how"])
    return "Nothing failed."


@failures.reject
def reject(state: dict[str, str]) -> None:
    if state["when"] == "reject":
        fail(state["how"])


@airlock.tool(read_only=True)
def alive() -> str:
    """Counts its calls, and so shows whether the instance is still the same."""
    global _calls
    _calls += 1
    return str(_calls)


_calls = 0


def fail(how: str) -> NoReturn:
    match how:
        # Said by the tool on purpose: the caller reads just this.
        case "tool-error":
            raise airlock.ToolError("Name a file that exists.")
        # All others reach the caller as something that went wrong, and the traceback goes to the
        # log.
        case "error":
            dict[str, str]()["no such key"]
        case "error-with-a-cause":
            try:
                int("twelve")
            except ValueError as error:
                raise RuntimeError("the settings can't be read") from error
        case "bad-result":
            airlock.Result([b"bytes are no text"])  # type: ignore[list-item]
        case "bad-details":
            raise airlock.ToolError(json.dumps({"cycle": _cycle()}))
        case "bad-push":
            airlock.push("two\nlines", apply=lambda: None)
        case "missing-module":
            import numpy  # type: ignore[import-not-found]

            numpy.zeros(1)
        # What the sandbox forbids is an `OSError`, as it is on any machine.
        case "read-only":
            open("new.txt", "w").close()
        case "outside":
            open("/etc/passwd").close()
        case "network":
            import socket

            socket.create_connection(("127.0.0.1", 80))
        # These would end a program. They don't end the instance.
        case "sys-exit":
            sys.exit(3)
        case "interrupt":
            raise KeyboardInterrupt
        case "recursion":
            _recurse(0)
        case "memory":
            _kept = [bytearray(1 << 20) for _ in range(1 << 20)]
        # These end it, and with it the counter of `alive`. The session goes on with a new one.
        case "cancelled":
            raise airlock.Cancelled
        case "trap":
            os._exit(1)
        case "endless-loop":
            while True:
                pass
        case "deep-json":
            json.loads("[" * 1_000_000)
    raise AssertionError(f"{how} did not fail")


def _recurse(depth: int) -> int:
    return max(depth, _recurse(depth + 1))


def _cycle() -> list[object]:
    cycle: list[object] = []
    cycle.append(cycle)
    return cycle
