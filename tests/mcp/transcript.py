"""Has the conversation of the transcript in the documentation again, with `airlock serve`, and compares it word for word.

With UPDATE_EXPECT=1 in the environment, the transcript is rewritten. Ids and digests change: they are ID and DIGEST here.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import mcp
from mcp import StdioServerParameters, types
from mcp.client.stdio import stdio_client

AIRLOCK = os.environ["AIRLOCK"]
# The file that has the section, which ends where the next one begins.
KEPT = Path(sys.argv[1])
HEADING = "## Example conversations\n"
RENAME = {"files": ["draft-*.txt"], "find": "^draft", "replace": "chapter"}
APPLY = {"action": "apply", "reason": "they asked for chapters"}
# Where a text has the tool's own list of what the host has listed already: it is left out from here.
LEFT_OUT = re.compile(r"Prepared rename plan|Renamed 3 files")
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
DIGEST = re.compile(r"sha256:[0-9a-f]{12}\b")


class Conversation:
    """A folder with three drafts, and what is said there."""

    def __init__(self, folder: Path) -> None:
        self.said: list[str] = []
        self.workspace = folder / "book"
        self.workspace.mkdir()
        for number in (1, 2, 3):
            (self.workspace / f"draft-{number}.txt").write_text(f"Chapter {number}\n")
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder)}

    def say(self, who: str, text: str) -> None:
        lines = DIGEST.sub("sha256:DIGEST", ID.sub("ID", text)).splitlines()
        own = next((at for at, line in enumerate(lines) if LEFT_OUT.search(line)), None)
        shown = lines if own is None else [*lines[:own], "…"]
        self.said += [who, *(f"  {line}".rstrip() for line in shown)]

    def look(self) -> None:
        names = sorted(file.name for file in self.workspace.glob("*.txt"))
        self.said.append("in the folder: " + " ".join(names))

    async def have(self, decision: dict[str, str] | None) -> None:
        """A person decides as the client asks them, or is asked nothing by it."""

        async def ask(_context: Any, question: types.ElicitRequestParams) -> types.ElicitResult:
            self.say("the user is asked:", question.message)
            self.said.append(f"the user answers: {json.dumps(decision)}")
            return types.ElicitResult(action="accept", content=decision)

        server = StdioServerParameters(command=AIRLOCK, args=["serve"], env=self.environment, cwd=str(self.workspace))
        asking = ask if decision else None
        async with mcp.Client(stdio_client(server), elicitation_callback=asking) as client:
            await self.call(client, "batch_rename_preview", RENAME)
            self.look()
            read = await self.call(client, "resolve", APPLY)
        if decision is None:
            told = read.split("`")[1]
            self.terminal(f"{told} --reason 'so they are called'")
        self.look()

    async def call(self, client: mcp.Client, tool: str, arguments: dict[str, Any]) -> str:
        self.said.append(f"the model calls {tool}: {json.dumps(arguments)}")
        result = await client.call_tool(tool, arguments)
        # Of text alone: clients may put blocks together as they like.
        text = "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
        self.say("the model reads, as an error:" if result.is_error else "the model reads:", text)
        return text

    def terminal(self, command: str) -> None:
        path = f"{Path(AIRLOCK).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**self.environment, "PATH": path}
        ran = subprocess.run(
            ["bash", "-c", command], cwd=self.workspace, env=environment, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        self.say("in a terminal:", f"$ {command}\n{ran.stdout}")


async def section() -> str:
    asked = {"decision": "apply", "reason": "those are the chapters"}
    by_client, by_terminal = await conversation(asked), await conversation(None)
    # What is said twice, word for word, is shown once.
    same = next(at for at, (one, other) in enumerate(zip(by_client, by_terminal, strict=False)) if one != other)
    return f"""{HEADING}
The client is the package `mcp` from PyPI, and can ask its user.
`ID` and `DIGEST` replace an id and a digest, and `…` replaces omitted lines.
`tests/mcp/transcript.py` compares every other line with a new run.

```text
{chr(10).join(by_client)}
```

With a client that can't ask:

```text
…
{chr(10).join(by_terminal[same - 1 :])}
```
"""


async def conversation(decision: dict[str, str] | None) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        had = Conversation(Path(folder))
        await asyncio.wait_for(had.have(decision), timeout=120)
        return had.said


def main() -> None:
    now = asyncio.run(section())
    text = KEPT.read_text(encoding="utf-8")
    start = text.index(HEADING)
    following = re.compile(r"^#{1,3} ", re.MULTILINE).search(text, start + len(HEADING))
    end = following.start() if following else len(text)
    kept = text[start:end].rstrip("\n") + "\n"
    if kept == now:
        print(f"{KEPT.name}: the conversation goes as it is written there")
    elif os.environ.get("UPDATE_EXPECT"):
        KEPT.write_text(text[:start] + now + ("\n" if following else "") + text[end:], encoding="utf-8")
        print(f"{KEPT.name}: rewritten")
    else:
        diff = difflib.unified_diff(kept.splitlines(), now.splitlines(), str(KEPT), "what is said", lineterm="")
        sys.exit("\n".join([*diff, "If it is right so, run this again with UPDATE_EXPECT=1."]))


main()
