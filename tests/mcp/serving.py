"""Where clients meet `airlock serve`: the folder that it is about, and the ways to it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

AIRLOCK = os.environ["AIRLOCK"]
LISTENING = re.compile(r"listening on (http:\S+)")

# Those who may speak with a server over HTTP; `eve` may preview, and not decide.
TOKENS = {"ann": "a" * 40, "bob": "b" * 40, "eve": "e" * 40}


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

    def airlock(self, *args: str) -> str:
        ran = subprocess.run([AIRLOCK, *args], cwd=self.workspace, env=self.environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def tokens(self) -> Path:
        """A file that has everybody's."""
        file = Path(self._folder.name, "tokens")
        file.touch(mode=0o600)
        file.write_text("".join(f"{name}:{token}{':read-only' * (name == 'eve')}\n" for name, token in TOKENS.items()))
        return file

    @asynccontextmanager
    async def serving(self, *options: str) -> AsyncIterator[str]:
        """A server over HTTP, by its address."""
        server = await asyncio.create_subprocess_exec(
            *[AIRLOCK, "serve", "--http", "127.0.0.1:0", "--token-file", str(self.tokens()), *options],
            cwd=self.workspace,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert server.stderr is not None
        try:
            said = []
            while line := (await server.stderr.readline()).decode():
                said.append(line)
                if listening := LISTENING.match(line):
                    break
            else:
                raise AssertionError(f"it ended before it listened: {said}")
            # Nobody may wait for somebody to read what it says.
            reading = asyncio.create_task(server.stderr.read())
            yield listening[1]
        finally:
            if server.returncode is None:
                server.terminate()
            await server.wait()
        await reading


class Stdio:
    """A server that the client starts."""

    def __init__(self, place: Place, *options: str) -> None:
        self._place = place
        self._args = ["serve", *options]

    async def of_mcp(self, _stack: AsyncExitStack) -> Any:
        environment, folder = self._place.environment, str(self._place.workspace)
        return stdio_client(StdioServerParameters(command=AIRLOCK, args=self._args, env=environment, cwd=folder))

    def of_fastmcp(self) -> Any:
        environment, folder = self._place.environment, str(self._place.workspace)
        return StdioTransport(command=AIRLOCK, args=self._args, env=environment, cwd=folder, keep_alive=False)


class Http:
    """A server that is there, for one of those who have a token."""

    def __init__(self, url: str, principal: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {TOKENS[principal]}"}

    async def of_mcp(self, stack: AsyncExitStack) -> Any:
        # It waits for as long as an answer may take that a person gives.
        client = await stack.enter_async_context(httpx2.AsyncClient(headers=self._headers, timeout=120))
        return streamable_http_client(self._url, http_client=client)

    def of_fastmcp(self) -> Any:
        return StreamableHttpTransport(self._url, headers=self._headers)
