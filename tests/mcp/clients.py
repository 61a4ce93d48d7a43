"""Conversations with `airlock serve`, by each client in Python, in each era of the protocol, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import fastmcp
import mcp
from fastmcp.client.elicitation import ElicitResult as Answer
from mcp import types
from serving import TOKENS, Http, Place, Stdio

RENAME = {"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"}
APPLY = {"action": "apply", "reason": "the model's"}
PREVIEWS = {"batch_rename_preview": True, "ast_edit": True, "list_pending": True}
TOOLS = {**PREVIEWS, "resolve": False}


class Result(NamedTuple):
    """What a tool gave back."""

    text: str
    failed: bool
    structured: Any
    meta: dict[str, Any]


class Person:
    """Whoever the client asks: they give the same answer each time. Without one, it asks nobody."""

    def __init__(self, decision: str | None) -> None:
        self.answer = {"decision": decision, "reason": "their own"} if decision else None
        self.asked: list[str] = []


class OfMcp:
    """PyPI's `mcp`."""

    def __init__(self, mode: str) -> None:
        self.name = f"mcp, {mode}"
        self.mode = mode

    async def connect(self, stack: AsyncExitStack, door: Stdio | Http, person: Person) -> Any:
        async def ask(_context: Any, question: types.ElicitRequestParams) -> types.ElicitResult:
            person.asked.append(question.message)
            return types.ElicitResult(action="accept", content=person.answer)

        asking = ask if person.answer else None
        client = mcp.Client(await door.of_mcp(stack), mode=self.mode, elicitation_callback=asking)
        return await stack.enter_async_context(client)

    async def call(self, client: Any, tool: str, arguments: dict[str, Any]) -> Result:
        result = await client.call_tool(tool, arguments)
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
            person.asked.append(message)
            return Answer(action="accept", content=person.answer)

        asking = ask if person.answer else None
        client = fastmcp.Client(door.of_fastmcp(), mode=self.mode, elicitation_handler=asking)
        return await stack.enter_async_context(client)

    async def call(self, client: Any, tool: str, arguments: dict[str, Any]) -> Result:
        result = await client.call_tool(tool, arguments, raise_on_error=False)
        text = "\n".join(block.text for block in result.content)
        return Result(text, result.is_error, result.structured_content, result.meta or {})

    async def tools(self, client: Any) -> dict[str, bool | None]:
        return {tool.name: tool.annotations.read_only_hint for tool in await client.list_tools()}


async def decides(kind: Any, place: Place, door: Stdio | Http, decision: str | None) -> None:
    """A preview, then the model wants it applied, and a person decides."""
    person = Person(decision)
    async with AsyncExitStack() as stack:
        client = await kind.connect(stack, door, person)
        tools = await kind.tools(client)
        assert tools == TOOLS, tools

        preview = await kind.call(client, "batch_rename_preview", RENAME)
        assert not preview.failed, preview
        assert preview.text.startswith("Preview only, nothing has changed yet"), preview
        assert preview.structured is None, preview
        assert place.names() == ["a.jpeg"]

        resolved = await kind.call(client, "resolve", APPLY)
        if decision is None:
            # Who is asked nothing decides in a terminal, with the command that the model was told.
            assert resolved.failed, resolved
            assert place.names() == ["a.jpeg"], resolved
            command = resolved.text.split("`")[1].split()
            assert command[:3] == ["airlock", "resolve", "apply"], resolved
            place.airlock(*command[1:], "--reason", "their own")
        else:
            [message] = person.asked
            assert "renamed a.jpeg -> a.jpg" in message, message
            assert not resolved.failed, resolved
        expected = ["a.jpeg"] if decision == "discard" else ["a.jpg"]
        assert place.names() == expected, resolved

        wrong = await kind.call(client, "batch_rename_preview", {"files": 3})
        assert wrong.failed, wrong
        assert "don't fit its schema" in wrong.text, wrong
    logged = json.loads(place.airlock("log", "--all", "--json"))["log"][0]["resolved"]
    assert logged["reason"] == "their own", logged
    evidence = logged["decidedBy"]["evidence"]
    assert evidence == ("none" if decision is None else "client"), logged


async def keeps_apart(kind: Any, place: Place, url: str) -> None:
    """Nobody decides about what is somebody else's, and who may only preview decides about nothing."""
    async with AsyncExitStack() as stack:
        ann, bob, eve = [await kind.connect(stack, Http(url, name), Person("apply")) for name in TOKENS]
        of_ann, of_eve = [await kind.call(client, "batch_rename_preview", RENAME) for client in (ann, eve)]

        assert await kind.tools(bob) == TOOLS
        assert "There is no pending action" in await refused(kind, bob, of_ann)
        assert await kind.tools(eve) == PREVIEWS
        assert "there is no tool `resolve`" in await refused(kind, eve, of_eve)
        assert place.names() == ["a.jpeg"]

        applied = await kind.call(ann, "resolve", apply_of(of_ann))
        assert not applied.failed, applied
        assert place.names() == ["a.jpg"]


def apply_of(preview: Result) -> dict[str, Any]:
    [pending] = preview.meta["airlock/pending"]
    return {**APPLY, "id": pending["id"]}


async def refused(kind: Any, client: Any, preview: Result) -> str:
    """Why an action is not applied."""
    try:
        resolved = await kind.call(client, "resolve", apply_of(preview))
    except mcp.MCPError as error:
        return str(error)
    assert resolved.failed, resolved
    return resolved.text


async def converses(kind: Any, decision: str | None) -> None:
    place = Place()
    await decides(kind, place, Stdio(place), decision)
    place = Place()
    async with place.serving() as url:
        await decides(kind, place, Http(url, "ann"), decision)


async def shares(kind: Any) -> None:
    place = Place()
    async with place.serving() as url:
        await keeps_apart(kind, place, url)


class Warnings(logging.Handler):
    """What the clients complain about, where an answer of the server's is none that they expect."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(f"{record.name}: {record.getMessage()}")


async def main() -> None:
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    # None of them names an era of its own but these.
    kinds = [kind(mode) for kind in (OfMcp, OfFastMcp) for mode in ("legacy", "auto", "2026-07-28")]
    for kind in kinds:
        for decision in ("apply", "discard", None):
            await asyncio.wait_for(converses(kind, decision), timeout=240)
        await asyncio.wait_for(shares(kind), timeout=120)
        assert warnings.said == [], warnings.said
        print(f"{kind.name}: previewed, applied, discarded, decided at a terminal, and over HTTP; kept apart there")


asyncio.run(main())
