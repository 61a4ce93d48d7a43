"""The tool as a server of the Model Context Protocol in Python, over standard input and output, without a sandbox."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("beside")
folder = Path(sys.argv[1])


@server.tool(name="rename_prefix", description="Shows how files would be renamed whose names begin with a text.")
def rename_prefix(prefix: str, replacement: str) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(prefix))
    if not names:
        return "No file's name begins so."
    lines = [f"{name} -> {replacement}{name.removeprefix(prefix)}" for name in names]
    return "\n".join([f"Would rename {len(names)} files:", *lines, ""])


server.run("stdio")
