"""Tools for Airlock in Python: what they do waits for a decision.

A tool is a function. It looks at the workspace, says what it would do, and pushes a pending action; only when somebody has
decided to apply that, the workspace is writable.

    from dataclasses import dataclass
    from pathlib import Path
    from typing import Annotated

    import airlock_tool as airlock


    @dataclass
    class Plan:
        path: Path


    @airlock.tool
    def empty_file(path: Annotated[Path, "Which file."]) -> str:
        '''Removes everything from a file, and keeps the file.'''
        size = path.stat().st_size
        airlock.push(f"Empty file: {path}", state=Plan(path))
        return f"Would remove {size} bytes."


    @empty_file.apply
    def apply(plan: Plan) -> str:
        plan.path.write_text("")
        return f"Emptied {plan.path}."

`airlock-py build` makes a component of it. What is printed or logged goes to the host's log.
"""

from airlock_tool._call import Session, call_id, check_cancelled, is_cancelled, progress, session
from airlock_tool._errors import (
    Cancelled,
    InvalidAction,
    InvalidParams,
    LimitExceeded,
    PushError,
    StoreUnavailable,
    ToolError,
)
from airlock_tool._glob import glob, matches_glob
from airlock_tool._log import TRACE
from airlock_tool._pending import Resolution, push
from airlock_tool._result import Content, Image, Link, Result
from airlock_tool._tool import Tool, tool

__all__ = [
    "TRACE",
    "Cancelled",
    "Content",
    "Image",
    "InvalidAction",
    "InvalidParams",
    "LimitExceeded",
    "Link",
    "PushError",
    "Resolution",
    "Result",
    "Session",
    "StoreUnavailable",
    "Tool",
    "ToolError",
    "call_id",
    "check_cancelled",
    "glob",
    "is_cancelled",
    "matches_glob",
    "progress",
    "push",
    "session",
    "tool",
]
