"""What a call gives back: blocks to read, and details for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Any

from airlock_tool._errors import ToolError
from airlock_tool._plain import to_plain
from airlock_tool._text import require_text, to_json


@dataclass(frozen=True)
class Image:
    """A picture as a block of a result."""

    data: bytes
    """The raw bytes, not base64."""
    mime_type: str = "image/png"
    """A media type."""

    def __post_init__(self) -> None:
        if not isinstance(self.data, (bytes, bytearray, memoryview)):
            raise TypeError(f"an image's data must be bytes, not {type(self.data).__name__}")
        object.__setattr__(self, "data", bytes(self.data))
        object.__setattr__(self, "mime_type", require_text("an image's mime_type", self.mime_type))


@dataclass(frozen=True)
class Link:
    """A reference to something that the reader may fetch on its own."""

    uri: str
    """An absolute URI, for example `file:///workspace/report.html`."""
    name: str
    """What to call it in a list; one line."""
    mime_type: str | None = None
    """The media type behind the URI, where it is known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "uri", require_text("a link's uri", self.uri))
        object.__setattr__(self, "name", require_text("a link's name", self.name))
        if self.mime_type is not None:
            object.__setattr__(self, "mime_type", require_text("a link's mime_type", self.mime_type))


Content = str | Image | Link
"""One block of a result, as a model or a person reads it: a text (plain or Markdown), a picture, a link."""


@dataclass
class Result:
    """What a call gives back when it succeeded.

    A tool may return one, or less: see `Result.of`.
    """

    content: Sequence[Content] = ()
    """Blocks for the model, in the order in which it should read them."""
    details: Any = None
    """A value for programs: whatever has a form in JSON, dataclasses too. `None` is none."""

    def __post_init__(self) -> None:
        if isinstance(self.content, (str, Image, Link)):
            self.content = (self.content,)
        self.content = tuple(
            block if isinstance(block, (Image, Link)) else require_text("a block of a result", block)
            for block in self.content
        )

    @property
    def text(self) -> str:
        """The blocks of text, one to a line."""
        return "\n".join(block for block in self.content if isinstance(block, str))

    @cached_property
    def details_json(self) -> str | None:
        """The details as JSON; `None` where there are none.

        # Raises
        TypeError where they have no form in JSON.
        """
        if self.details is None:
            return None
        try:
            return to_json(to_plain(self.details, "details"))
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"the details of a result have no form in JSON: {error}") from error

    def check(self) -> None:
        """Makes sure that the details can be written.

        # Raises
        TypeError where they have no form in JSON.
        """
        _ = self.details_json

    @classmethod
    def of(cls, returned: object) -> Result:
        """The result that is meant by what a tool returned.

        - a `Result` is itself
        - a `str`, `Image` or `Link` is one block
        - a `dict` or a dataclass is the details, and as JSON also the text, since a model reads no details
        - `None` is a result without anything

        # Raises
        - TypeError for anything else
        - ToolError for a `dict` that is an error of MCP's (`isError`), which would otherwise pass for details
        """
        match returned:
            case {"isError": is_error, "content": list(blocks)} if is_error:
                texts = [
                    block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
                ]
                raise ToolError("\n".join(texts) or "the tool returned a result that is an error, without a text")
            case Result():
                return returned
            case None:
                return cls()
            case str() | Image() | Link():
                return cls((returned,))
            case _ if isinstance(returned, dict) or (is_dataclass(returned) and not isinstance(returned, type)):
                details = cls(details=returned)
                return cls((details.details_json or "",), returned)
            case _:
                raise TypeError(
                    f"a tool can't return a value of type {type(returned).__name__}: "
                    "return a str, dict, dataclass, airlock.Result, airlock.Image, airlock.Link or None"
                )
