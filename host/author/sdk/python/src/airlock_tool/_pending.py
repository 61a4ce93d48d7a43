"""Pushing pending actions, and what comes back when somebody has decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from airlock_tool._call import CURRENT, Call
from airlock_tool._errors import InvalidAction, StoreUnavailable
from airlock_tool._plain import to_plain
from airlock_tool._text import require_text, to_json

if TYPE_CHECKING:
    from airlock_tool._tool import Tool


@dataclass(frozen=True)
class PendingAction:
    """A preview that waits for somebody to apply or discard it, as the host gets it."""

    label: str
    source_tool_name: str | None
    details: str | None
    has_reject: bool
    state: bytes | None


@dataclass(frozen=True)
class Resolution:
    """A decision about one action."""

    action_id: str
    """What `push` returned."""
    label: str
    """As it was pushed."""
    source_tool_name: str
    """As it was pushed, with the default filled in."""
    reason: str
    """Why it was decided so, in the words of whoever decided. It should not change what happens."""
    extra: dict[str, Any] | None = None
    """Whatever else came with the decision."""
    attempt: int = 1
    """1 for the first try; higher after a failed or interrupted one, so that an apply can look for what an earlier one
    has already done."""


Closure = Callable[[Resolution], object] | Callable[[], object]
"""What a volatile action does; async functions too."""


@dataclass(frozen=True)
class Volatile:
    """What is kept for a volatile action, in the memory of the live instance."""

    tool: Tool[..., object]
    apply: Closure
    reject: Closure | None


_MISSING: Any = object()


@overload
def push(
    label: str,
    *,
    apply: Closure,
    reject: Closure | None = None,
    details: object = None,
    source_tool_name: str | None = None,
) -> str: ...


@overload
def push(
    label: str,
    *,
    state: object,
    details: object = None,
    source_tool_name: str | None = None,
) -> str: ...


def push(
    label: str,
    *,
    apply: Closure | None = None,
    reject: Closure | None = None,
    state: object = _MISSING,
    details: object = None,
    source_tool_name: str | None = None,
) -> str:
    """Puts an action on top of the session's stack, and returns its id.

    With `state` the action is **durable**: it outlives this instance, and may be resolved in another process, on another
    day, by the handlers that the tool was given with `@tool.apply` and `@tool.reject`. The state is written as JSON, so
    it is a dataclass, or whatever else the handler's type hint says.

    With `apply`, and perhaps `reject`, it is **volatile**: these are called in this very instance, and when that is gone, the
    action can only be discarded.

    - `label`: what would happen, for the person who decides; one line, not empty. A part before a colon names the source,
      as in `Batch rename: 12 files`.
    - `details`: whatever has a form in JSON, for reviewers. It stays with the pending action.
    - `source_tool_name`: what the action is said to come from. Left out, that is the tool that is running.

    # Raises
    - StoreUnavailable where there is no store, and outside of a call
    - LimitExceeded where the session holds as many actions as it may, or a part of this one is too large
    - InvalidAction where a person couldn't be shown it, or `details` has no form in JSON
    - TypeError for what is wrong in the tool itself: that it is `read_only`, a state without an `@tool.apply`, or of another type than that takes
    """
    call = CURRENT.get()
    if call is None:
        raise StoreUnavailable
    if call.tool.is_read_only:
        raise TypeError(f"the tool `{call.tool.name}` is read_only, so it can't push an action")
    label = require_text("a label", label)
    source = call.tool.name if source_tool_name is None else require_text("a source_tool_name", source_tool_name)
    written = None if details is None else _details_json(details)
    if state is not _MISSING:
        if apply is not None or reject is not None:
            raise TypeError("a push takes either a state or closures: a durable action has the handlers of its tool")
        return _push_durable(call, label, state, written, source)
    if apply is None:
        raise TypeError("a push needs `state=`, or `apply=` with what to call")
    for what, closure in (("apply", apply), ("reject", reject)):
        if closure is not None and not callable(closure):
            raise TypeError(f"`{what}` must be a function, not {type(closure).__name__}")
    action = PendingAction(label, source, written, reject is not None, None)
    action_id = call.host.push(action)
    call.volatile[action_id] = Volatile(call.tool, apply, reject)
    return action_id


def _push_durable(call: Call, label: str, state: object, details: str | None, source: str) -> str:
    envelope = call.tool.seal(state)
    return call.host.push(PendingAction(label, source, details, call.tool.has_reject, envelope))


def _details_json(details: object) -> str:
    try:
        return to_json(to_plain(details, "details"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidAction(f"the details of the action have no form in JSON: {error}") from error
