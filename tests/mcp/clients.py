"""One conversation with `airlock serve`, by each client in Python and in each era of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import fastmcp
import mcp
from fastmcp.client.elicitation import ElicitResult as Answer
from mcp import StdioServerParameters, types
from mcp.client.stdio import stdio_client

AIRLOCK = os.environ["AIRLOCK"]
RENAME = {"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"}


class Place:
    """A workspace with one file, and a store."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.workspace = Path(self._folder.name, "photos")
        self.workspace.mkdir()
        (self.workspace / "a.jpeg").write_text("a")
        self.environment = {**os.environ, "AIRLOCK_STORE": str(Path(self._folder.name, "pending.db"))}

    def names(self) -> list[str]:
        return sorted(file.name for file in self.workspace.glob("a.*"))

    def server(self) -> StdioServerParameters:
        return StdioServerParameters(command=AIRLOCK, args=["serve"], env=self.environment, cwd=str(self.workspace))

    def airlock(self, *args: str) -> str:
        ran = subprocess.run([AIRLOCK, *args], cwd=self.workspace, env=self.environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


class OfMcp:
    """PyPI's `mcp`. `decision` is what a person answers; without one the client asks nobody."""

    def __init__(self, mode: str) -> None:
        self.name = f"mcp, {mode}"
        self.mode = mode

    async def connect(self, stack: AsyncExitStack, place: Place, asked: list[str], decision: str | None) -> Any:
        async def ask(_context: Any, question: types.ElicitRequestParams) -> types.ElicitResult:
            asked.append(question.message)
            return types.ElicitResult(action="accept", content={"decision": decision, "reason": "their own"})

        client = mcp.Client(
            stdio_client(place.server()), mode=self.mode, elicitation_callback=ask if decision else None
        )
        return await stack.enter_async_context(client)

    async def call(self, client: Any, tool: str, arguments: dict[str, Any]) -> tuple[str, bool, Any]:
        result = await client.call_tool(tool, arguments)
        return "\n".join(block.text for block in result.content), bool(result.is_error), result.structured_content

    async def tools(self, client: Any) -> dict[str, bool | None]:
        return {tool.name: tool.annotations.read_only_hint for tool in (await client.list_tools()).tools}


class OfFastMcp:
    """PyPI's `fastmcp`."""

    def __init__(self, mode: str) -> None:
        self.name = f"fastmcp, {mode}"
        self.mode = mode

    async def connect(self, stack: AsyncExitStack, place: Place, asked: list[str], decision: str | None) -> Any:
        async def ask(message: str, _type: Any, _params: Any, _context: Any) -> Answer[Any]:
            asked.append(message)
            return Answer(action="accept", content={"decision": decision, "reason": "their own"})

        transport = fastmcp.client.transports.StdioTransport(
            command=AIRLOCK, args=["serve"], env=place.environment, cwd=str(place.workspace), keep_alive=False
        )
        client = fastmcp.Client(transport, mode=self.mode, elicitation_handler=ask if decision else None)
        return await stack.enter_async_context(client)

    async def call(self, client: Any, tool: str, arguments: dict[str, Any]) -> tuple[str, bool, Any]:
        result = await client.call_tool(tool, arguments, raise_on_error=False)
        return "\n".join(block.text for block in result.content), result.is_error, result.structured_content

    async def tools(self, client: Any) -> dict[str, bool | None]:
        return {tool.name: tool.annotations.read_only_hint for tool in await client.list_tools()}


async def decides(kind: Any, decision: str | None) -> None:
    """A preview, then the model wants it applied, and a person decides."""
    place, asked = Place(), []
    async with AsyncExitStack() as stack:
        client = await kind.connect(stack, place, asked, decision)
        tools = await kind.tools(client)
        assert tools == {"batch_rename_preview": True, "ast_edit": True, "resolve": False}, tools

        text, failed, structured = await kind.call(client, "batch_rename_preview", RENAME)
        assert not failed, text
        assert text.startswith("Preview only, nothing has changed yet"), text
        assert structured == {"renames": [{"from": "a.jpeg", "to": "a.jpg"}]}, structured
        assert place.names() == ["a.jpeg"]

        text, failed, _ = await kind.call(client, "resolve", {"action": "apply", "reason": "the model's"})
        if decision is None:
            # Who is asked nothing decides in a terminal, with the command that the model was told.
            assert failed, text
            assert place.names() == ["a.jpeg"], text
            command = text.split("`")[1].split()
            assert command[:3] == ["airlock", "resolve", "apply"], text
            place.airlock(*command[1:], "--reason", "their own")
        else:
            [message] = asked
            assert "renamed a.jpeg -> a.jpg" in message, message
            assert not failed, text
        expected = ["a.jpeg"] if decision == "discard" else ["a.jpg"]
        assert place.names() == expected, text

        text, failed, _ = await kind.call(client, "batch_rename_preview", {"files": 3})
        assert failed, text
        assert "don't fit its schema" in text, text
    resolved = json.loads(place.airlock("log", "--all", "--json"))["log"][0]["resolved"]
    assert resolved["reason"] == "their own", resolved
    evidence = resolved["decidedBy"]["evidence"]
    assert evidence == ("none" if decision is None else "client"), resolved


async def main() -> None:
    # None of them names an era of its own but these.
    kinds = [kind(mode) for kind in (OfMcp, OfFastMcp) for mode in ("legacy", "auto", "2026-07-28")]
    for kind in kinds:
        for decision in ("apply", "discard", None):
            await asyncio.wait_for(decides(kind, decision), timeout=120)
        print(f"{kind.name}: previewed, asked, applied, discarded, decided at a terminal")


asyncio.run(main())
