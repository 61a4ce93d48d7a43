"""Text and JSON as they cross the border to the host, which is strict about both."""

from __future__ import annotations

import json
from typing import Any


def utf8(text: str) -> str:
    """`text` with U+FFFD for each surrogate that has no partner, since those have no form in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def to_json(value: Any) -> str:
    """`value` as compact JSON, in which `NaN` and the infinities have no form.

    # Raises
    TypeError, ValueError or RecursionError, by what is wrong with the value.
    """
    return utf8(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def require_text(what: str, value: object) -> str:
    """`value`, which has to be a `str`; `what` names it in the error."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    return utf8(value)
