"""Conversations with `airlock serve`, by each client in Python, in each era of the protocol, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import AsyncExitStack
from typing import Any

import mcp
from kinds import APPLY, KINDS, RENAME, Person, Result
from serving import TOKENS, Http, Place, Stdio

FILES = ["read_file", "list_directory", "find_files", "grep", "write_file", "edit_file", "apply_patch"]
FILES += ["search_replace", "edit_values", "move_file", "copy_file", "delete_file", "make_directory"]
PREVIEWS = dict.fromkeys([*FILES, "batch_rename_preview", "run_script", "ast_edit", "undo", "list_pending"], True)
TOOLS = {**PREVIEWS, "resolve": False}


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


async def edits(kind: Any, place: Place) -> None:
    """An agent with these tools alone writes a file, edits it and reads it."""
    changes = [
        ("write_file", {"content": "one\ntwo\n"}, "one\ntwo\n"),
        ("edit_file", {"edits": [{"old_text": "two", "new_text": "three"}]}, "one\nthree\n"),
    ]
    async with AsyncExitStack() as stack:
        client = await kind.connect(stack, Stdio(place), Person("apply"))
        for tool, params, expected in changes:
            preview = await kind.call(client, tool, {"path": "b.txt", **params})
            assert preview.text.startswith("Preview only, nothing has changed yet"), preview
            applied = await kind.call(client, "resolve", APPLY)
            assert not applied.failed, applied
            assert (place.workspace / "b.txt").read_text() == expected, tool
            read = await kind.call(client, "read_file", {"path": "b.txt"})
            assert expected in read.text, read


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
    for kind in KINDS:
        for decision in ("apply", "discard", None):
            await asyncio.wait_for(converses(kind, decision), timeout=240)
        await asyncio.wait_for(edits(kind, Place()), timeout=120)
        await asyncio.wait_for(shares(kind), timeout=120)
        assert warnings.said == [], warnings.said
        print(f"{kind.name}: previewed, applied, discarded, edited, decided at a terminal, over HTTP; kept apart there")


asyncio.run(main())
