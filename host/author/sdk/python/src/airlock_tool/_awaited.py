"""Coroutines that nobody awaits: Python says so on its standard error, where a tool's caller doesn't look."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Coroutine, Iterator
from typing import Any


@contextlib.contextmanager
def all_coroutines() -> Iterator[None]:
    """Looks after the coroutines that are made meanwhile.

    # Raises
    RuntimeError where one was thrown away before it had begun.
    """
    forgotten: list[str] = []

    def note(coroutine: Coroutine[Any, Any, Any]) -> None:
        forgotten.append(describe(coroutine))

    # What the interpreter calls for such a coroutine, to warn of it.
    hook = "_warn_unawaited_coroutine"
    before, depth = getattr(warnings, hook), sys.get_coroutine_origin_tracking_depth()
    setattr(warnings, hook, note)
    sys.set_coroutine_origin_tracking_depth(1)
    try:
        yield
    finally:
        sys.set_coroutine_origin_tracking_depth(depth)
        setattr(warnings, hook, before)
    if forgotten:
        raise RuntimeError(f"{forgotten[0]} was never awaited, so nothing came of it: a missing await?")


def describe(coroutine: object) -> str:
    """Its function, and where it was called."""
    name = getattr(coroutine, "__qualname__", "a coroutine")
    origin = getattr(coroutine, "cr_origin", None)
    if not origin:
        return f"`{name}`"
    file, line, _ = origin[0]
    return f"`{name}` ({file.removeprefix('/0/')}:{line})"
