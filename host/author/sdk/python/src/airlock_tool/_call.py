"""The call that is running, and what the host offers meanwhile."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from airlock_tool._errors import Cancelled
from airlock_tool._text import require_text

if TYPE_CHECKING:
    from airlock_tool._pending import PendingAction, Volatile
    from airlock_tool._tool import Tool


@dataclass(frozen=True)
class Session:
    """The conversation that a call belongs to."""

    id: str
    """The same for every call of one conversation."""
    workspace: str | None
    """Where the workspace is found (`/workspace`); `None` where this session has none."""
    has_pending_store: bool
    """Whether `push` has somewhere to put an action."""


class Host(Protocol):
    """What the world imports. Errors of a push are raised as `PushError`."""

    def log(self, level: int, message: str) -> None: ...

    def report_progress(self, message: str, progress: float | None, total: float | None) -> None: ...

    def is_cancelled(self) -> bool: ...

    def session(self) -> Session | None: ...

    def push(self, action: PendingAction) -> str: ...


@dataclass(frozen=True)
class Call:
    """What the functions of this package need to know while a tool is running."""

    host: Host
    tool: Tool[..., object]
    """The one that is called, or that pushed the action that is being resolved."""
    volatile: dict[str, Volatile]
    """The volatile actions of the live instance, by their ids."""
    id: str
    """The call's id, or that of the action that is being resolved."""


CURRENT: ContextVar[Call | None] = ContextVar("airlock call", default=None)


def session() -> Session | None:
    """The current session; `None` outside of a call, for example while the module is imported."""
    call = CURRENT.get()
    return call.host.session() if call else None


def call_id() -> str | None:
    """What the host's logs call the current call: its id, or that of the action that is being resolved."""
    call = CURRENT.get()
    return call.id if call else None


def is_cancelled() -> bool:
    """Whether the caller no longer wants the current call's answer.

    A tool that runs for long asks now and then, most simply with `check_cancelled`. One that doesn't is stopped from
    outside soon after.
    """
    call = CURRENT.get()
    return call.host.is_cancelled() if call else False


def check_cancelled() -> None:
    """Ends a cancelled call.

    # Raises
    Cancelled if `is_cancelled`.
    """
    if is_cancelled():
        raise Cancelled


def progress(message: str, done: float | None = None, total: float | None = None) -> None:
    """Tells whoever waits what the current call is doing: perhaps `done` of `total`, in a unit of the tool's own.

    `done` never goes down within a call.
    """
    call = CURRENT.get()
    if call:
        message = require_text("the message of a progress", message)
        call.host.report_progress(message, _number(done), _number(total))


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)
