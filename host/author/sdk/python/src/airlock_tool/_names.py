"""What things are called on the two sides of the border."""

from __future__ import annotations

import keyword
import re


def json_name(name: str) -> str:
    """The property that a parameter or field stands for: its own name, but `from` for `from_`, and so for each keyword."""
    bare = name.removesuffix("_")
    return bare if bare != name and keyword.iskeyword(bare) else name


def label_of(name: str) -> str:
    """What a person reads for a tool's name: `Batch rename` for `batch_rename`."""
    words = re.sub(r"[_.-]+", " ", name).strip()
    return words[:1].upper() + words[1:] or name


def check_tool_name(name: str) -> str:
    """`name`, where the world allows it for a tool."""
    if name == "resolve":
        raise ValueError("a tool can't be called `resolve`: that name is reserved for the host")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name):
        raise ValueError(f"a tool can't be called {name!r}: a name is 1 to 64 of the characters A-Z a-z 0-9 _ . -")
    return name


def check_line(what: str, text: str) -> str:
    """`text`, where it is one line and not empty."""
    if len(text.splitlines()) != 1 or not text.strip():
        raise ValueError(f"{what} must be one line, not {text!r}")
    return text
