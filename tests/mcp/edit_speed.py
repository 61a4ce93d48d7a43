"""How long a model waits for `edit_file`: Airlock's staged change beside the edit of the reference filesystem server.

Both have the same client over stdio and a workspace of the same 20 files, and take turns. Airlock's call ends when the
change is staged: the host has rehearsed it and the store has it on disk. It is discarded before the next call, which isn't
measured. Times are printed and not compared: they depend on the machine, and on how Airlock was built.

Usage: edit_speed.py [CALLS]    [default: 200]
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TextIO

import mcp
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

AIRLOCK = os.environ["AIRLOCK"]
SERVER = os.environ["FILESYSTEM_SERVER"]
CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
WARM_UP = 20
GOAL = 0.005
LINES = "".join(f"line {number} of a file that an agent edits\n" for number in range(200))
OLD, NEW = "line 100 of", "line one hundred of"


def workspace(folder: Path) -> Path:
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.txt").write_text(LINES)
    return folder


async def connect(stack: AsyncExitStack, command: list[str], folder: Path, errors: TextIO) -> mcp.Client:
    environment = {**os.environ, "AIRLOCK_STORE": str(folder.parent / "pending.db")}
    program, *args = command
    server = StdioServerParameters(command=program, args=args, env=environment, cwd=str(folder))
    return await stack.enter_async_context(mcp.Client(stdio_client(server, errlog=errors)))


async def called(client: mcp.Client, tool: str, arguments: dict[str, Any]) -> float:
    began = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    took = time.perf_counter() - began
    assert not result.is_error, result
    return took


def airlock(client: mcp.Client) -> Callable[[], Awaitable[float]]:
    async def edit() -> float:
        edits = [{"old_text": OLD, "new_text": NEW}]
        took = await called(client, "edit_file", {"path": "7.txt", "edits": edits})
        await called(client, "resolve", {"action": "discard", "reason": "it was measured"})
        return took

    return edit


def reference(client: mcp.Client, *, dry: bool) -> Callable[[], Awaitable[float]]:
    async def edit() -> float:
        edits = [{"oldText": OLD, "newText": NEW}]
        took = await called(client, "edit_file", {"path": "7.txt", "edits": edits, "dryRun": dry})
        if not dry:
            back = [{"oldText": NEW, "newText": OLD}]
            await called(client, "edit_file", {"path": "7.txt", "edits": back})
        return took

    return edit


async def measure(errors: TextIO) -> dict[str, list[float]]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = [workspace(folder / name) for name in ("airlock", "dry", "reference")]
        ours = await connect(stack, [AIRLOCK, "serve"], places[0], errors)
        dry, theirs = [await connect(stack, ["node", SERVER, "."], place, errors) for place in places[1:]]
        ways = {
            "Airlock, staged": airlock(ours),
            "reference server, `dryRun`": reference(dry, dry=True),
            "reference server, written": reference(theirs, dry=False),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for call in range(WARM_UP + CALLS):
            for way, edit in ways.items():
                took = await edit()
                if call >= WARM_UP:
                    times[way].append(took)
        for place in places:
            assert (place / "7.txt").read_text() == LINES, f"{place.name} has another file than before"
        return times


def main() -> None:
    # The reference server says there that it has started.
    with Path(os.devnull).open("w", encoding="utf-8") as errors:
        times = asyncio.run(asyncio.wait_for(measure(errors), timeout=300))
    print(f"| `edit_file`, {CALLS} calls | median | 95th percentile |\n| --- | --- | --- |")
    for way, measured in times.items():
        late = statistics.quantiles(measured, n=20)[-1]
        print(f"| {way} | {statistics.median(measured) * 1000:.1f} ms | {late * 1000:.1f} ms |")
    median = statistics.median(times["Airlock, staged"])
    print(f"The goal of {GOAL * 1000:.0f} ms for Airlock is {'met' if median <= GOAL else 'missed'}.")


main()
