"""The clients in Python, in each era of the protocol."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import fastmcp
import mcp
from fastmcp.client.elicitation import ElicitResult as Answer
from mcp import types
from serving import Http, Stdio

RENAME = {"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"}
APPLY = {"action": "apply", "reason": "the model's"}


class Result(NamedTuple):
    """What a tool gave back."""

    text: str
    failed: bool
    structured: Any
    meta: dict[str, Any]


class Person:
    """Whoever the client asks: they give the same answer each time, after some seconds. Without one, it asks nobody."""

    def __init__(self, decision: str | None, thinks: float = 0) -> None:
        self.answer = {"decision": decision, "reason": "their own"} if decision else None
        self.thinks = thinks
        self.asked: list[str] = []
        self.answered = asyncio.Event()

    async def asks(self, message: str) -> dict[str, str] | None:
        self.asked.append(message)
        await asyncio.sleep(self.thinks)
        self.answered.set()
        return self.answer


class OfMcp:
    """PyPI's `mcp`."""

    def __init__(self, mode: str) -> None:
        self.name = f"mcp, {mode}"
        self.mode = mode

    async def connect(self, stack: AsyncExitStack, door: Stdio | Http, person: Person) -> Any:
        async def ask(_context: Any, question: types.ElicitRequestParams) -> types.ElicitResult:
            return types.ElicitResult(action="accept", content=await person.asks(question.message))

        asking = ask if person.answer else None
        client = mcp.Client(await door.of_mcp(stack), mode=self.mode, elicitation_callback=asking)
        return await stack.enter_async_context(client)

    async def call(self, client: Any, tool: str, arguments: dict[str, Any], limit: float | None = None) -> Result:
        result = await client.call_tool(tool, arguments, read_timeout_seconds=limit)
        text = "\n".join(block.text for block in result.content)
        return Result(text, bool(result.is_error), result.structured_content, result.meta or {})

    async def tools(self, client: Any) -> dict[str, bool | None]:
        return {tool.name: tool.annotations.read_only_hint for tool in (await client.list_tools()).tools}


class OfFastMcp:
    """PyPI's `fastmcp`."""

    def __init__(self, mode: str) -> None:
        self.name = f"fastmcp, {mode}"
        self.mode = mode

    async def connect(self, stack: AsyncExitStack, door: Stdio | Http, person: Person) -> Any:
        async def ask(message: str, _type: Any, _params: Any, _context: Any) -> Answer[Any]:
            return Answer(action="accept", content=await person.asks(message))

        asking = ask if person.answer else None
        client = fastmcp.Client(door.of_fastmcp(), mode=self.mode, elicitation_handler=asking)
        return await stack.enter_async_context(client)

    async def call(self, client: Any, tool: str, arguments: dict[str, Any], limit: float | None = None) -> Result:
        result = await client.call_tool(tool, arguments, raise_on_error=False, timeout=limit)
        text = "\n".join(block.text for block in result.content)
        return Result(text, result.is_error, result.structured_content, result.meta or {})

    async def tools(self, client: Any) -> dict[str, bool | None]:
        return {tool.name: tool.annotations.read_only_hint for tool in await client.list_tools()}


# None of them names an era of its own but these.
KINDS = [kind(mode) for kind in (OfMcp, OfFastMcp) for mode in ("legacy", "auto", "2026-07-28")]
