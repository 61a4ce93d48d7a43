"""The scripted model."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import mcp

from day.person import Count, Person

COMMAND = re.compile(r"`airlock (resolve apply --id \S+)`")
PENDING = re.compile(r'^- ".*" of "\w+", id (\S+)$', re.MULTILINE)


class Agent:
    """Calls tools as a model would, and counts what that costs."""

    def __init__(self, client: mcp.Client, person: Person) -> None:
        self._client = client
        self._person = person
        self._pending: list[str] = []

    @property
    def count(self) -> Count:
        return self._person.count

    def start(self) -> Count:
        """Counts from zero again."""
        self._person.count = Count()
        return self.count

    async def tools(self) -> Any:
        listed = await self._client.list_tools()
        self.count.received += size(listed.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"])
        return listed.tools

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
        began = time.perf_counter()
        result = await self._client.call_tool(tool, arguments)
        self.count.waited += time.perf_counter() - began
        self.count.calls += 1
        self.count.sent += size({"name": tool, "arguments": arguments})
        # What clients hand to the model: neither `_meta` nor what repeats the text in another form.
        blocks = result.model_dump(mode="json", by_alias=True, exclude_none=True)["content"]
        self.count.received += size([{k: v for k, v in block.items() if k != "_meta"} for block in blocks])
        text = "\n".join(block.get("text", "") for block in blocks)
        return bool(result.is_error), text

    async def call(self, tool: str, **arguments: Any) -> str:
        failed, text = await self._call(tool, arguments)
        assert not failed, f"{tool} {arguments}: {text}"
        return text

    async def fails(self, tool: str, **arguments: Any) -> str:
        """Makes a call that is wrong on purpose; returns the error."""
        failed, text = await self._call(tool, arguments)
        assert failed, f"{tool} {arguments}: {text}"
        return text

    async def preview(self, tool: str, **arguments: Any) -> str:
        """A preview of a change; returns all that the model reads."""
        text = await self.call(tool, **arguments)
        assert text.startswith("Preview only, nothing has changed yet"), text
        # The newest comes first.
        self._pending.append(PENDING.findall(text)[0])
        return text

    async def apply(self, reason: str, **which: str) -> None:
        """Has the pending actions applied; a person does it in a terminal where they must."""
        failed, text = await self._call("resolve", {"action": "apply", "reason": reason, **which})
        if failed:
            commands = COMMAND.findall(text)
            assert len(commands) == 1, text
            self._person.runs(commands[0])
        self._pending.remove(which.get("id", self._pending[-1]))

    async def apply_all(self, reason: str) -> None:
        """Has all that is pending applied, one by one, as `resolve` takes one id.

        The newest comes first: a preview that searched a file is stale once another action has changed it.
        """
        for pending in reversed(list(self._pending)):
            await self.apply(reason, id=pending)

    async def discard(self, reason: str) -> None:
        await self.call("resolve", action="discard", reason=reason)
        self._pending.pop()

    def text(self, path: str) -> str:
        """Returns a file's text without telling the model."""
        return (self._person.workspace / path).read_text(encoding="utf-8")

    async def change(self, tool: str, reason: str, **arguments: Any) -> str:
        """A change that needs no second thought: a preview and its apply. Returns the preview."""
        text = await self.preview(tool, **arguments)
        await self.apply(reason)
        return text


def size(value: Any) -> int:
    """The bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
