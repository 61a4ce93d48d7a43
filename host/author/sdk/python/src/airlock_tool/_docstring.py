"""What a docstring says about a function or class, and about each of its parameters or fields."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

_HEADER = re.compile(r"(Args|Arguments|Parameters|Params|Attributes):\s*$")
_ENTRY = re.compile(r"(\s+)\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_FIELD = re.compile(r":param\s+(?:[^:]*\s)?(\w+):\s*(.*)$")


@dataclass
class Docstring:
    """A docstring, taken apart."""

    description: str = ""
    """All of it but for what is in `parameters`."""
    parameters: dict[str, str] = field(default_factory=dict)
    """The parameters or fields that it describes, each on one line."""

    @classmethod
    def of(cls, described: object) -> Docstring:
        """Reads Google's style (`Args:`, `Attributes:`) and Sphinx's (`:param name:`)."""
        text = described.__doc__ if isinstance(described, type) else inspect.getdoc(described)
        # What dataclasses write by themselves, says no more than the schema.
        if text is None or (isinstance(described, type) and text.startswith(f"{described.__name__}(")):
            return cls()
        return _parse(inspect.cleandoc(text))


def _parse(text: str) -> Docstring:
    kept: list[str] = []
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    indent: str | None = None
    in_section = False
    for line in text.splitlines():
        if _HEADER.match(line):
            in_section, indent, current = True, None, None
            continue
        if in_section and (not line.strip() or line[0].isspace()):
            entry = _ENTRY.match(line)
            if entry and (indent is None or len(entry[1]) <= len(indent)):
                indent, name, rest = entry.groups()
                current = found.setdefault(name, [])
                current.append(rest)
            elif current is not None:
                current.append(line.strip())
            continue
        in_section = False
        if entry := _FIELD.match(line):
            current = found.setdefault(entry[1], [])
            current.append(entry[2])
        elif current is not None and line[:1].isspace():
            current.append(line.strip())
        else:
            current = None
            kept.append(line)
    return Docstring(
        re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(),
        {name: " ".join(part for part in parts if part) for name, parts in found.items()},
    )
