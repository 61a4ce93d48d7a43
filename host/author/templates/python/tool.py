"""The tool {{tool}}: adds a line to a file, once somebody agreed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import airlock_tool as airlock


@dataclass
class Plan:
    """What waits for a decision: enough to notice that the file has changed since."""

    path: str
    before: str
    after: str


@airlock.tool(name="{{tool}}", label="{{label}}", idempotent=True)
def preview(
    path: Annotated[str, "The file's path, relative to the workspace."],
    line: Annotated[str, "The line to add."],
) -> str:
    """Adds a line at the end of a file."""
    before = read(path)
    airlock.push(f"{{label}}: {path}", state=Plan(path, before, f"{before}{line}\n"))
    return f"Would add to {path}: {line}"


@preview.apply
def apply(plan: Plan, resolution: airlock.Resolution) -> str:
    now = read(plan.path)
    # An attempt before this one may have done it already.
    if now != plan.after:
        if now != plan.before:
            raise airlock.ToolError(f"{plan.path} changed since the preview: preview again.")
        Path(plan.path).write_bytes(plan.after.encode())
    return f"Added a line to {plan.path}. Reason: {resolution.reason}"


def read(path: str) -> str:
    try:
        # As bytes, so that the ends of lines stay what they are.
        return Path(path).read_bytes().decode()
    except (OSError, ValueError) as error:
        raise airlock.ToolError(f"can't read {path}: {error}") from error
