"""A host in memory, for testing tools in plain Python, without building them.

    import tool
    from airlock_tool.testing import Host


    def test_it_waits_for_a_decision(tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        host = Host(tool)
        assert host.call("empty_file", path="notes.txt").text == "Would remove 12 bytes."
        assert host.apply().text == "Emptied notes.txt."

It keeps the rules about what is pending. It is no sandbox: a preview could change files here, and only here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from airlock_tool._call import Session
from airlock_tool._dispatch import Plugin
from airlock_tool._errors import Cancelled, Failure, FailureKind, InvalidAction, StoreUnavailable, ToolError
from airlock_tool._names import check_line
from airlock_tool._pending import PendingAction, Resolution
from airlock_tool._result import Result
from airlock_tool._tool import Tool


class FailedError(Exception):
    """A call raised something else than a `ToolError`: what the caller would read."""


@dataclass(frozen=True)
class Pending:
    """A pending action, as somebody who decides sees it."""

    id: str
    label: str
    source_tool_name: str
    details: Any
    durable: bool
    attempts: int
    """How often it was tried to apply it."""


class Host:
    """Calls tools, and keeps what they push."""

    def __init__(self, tools: ModuleType | Iterable[Tool[..., Any]], *, store: bool = True) -> None:
        """`tools` are those of a module, or some. Without a `store`, every push raises `StoreUnavailable`."""
        self._tools = tools
        self._imports = _Imports(store)
        self._plugin = self._instance()

    @property
    def pending(self) -> list[Pending]:
        """What waits for a decision, the topmost first."""
        return [action.shown() for action in reversed(self._imports.actions)]

    @property
    def log(self) -> list[tuple[int, str]]:
        """The lines of the log, each with its level."""
        return self._imports.lines

    @property
    def progress(self) -> list[tuple[str, float | None, float | None]]:
        """What was reported of the progress."""
        return self._imports.progress

    def cancel(self) -> None:
        """From now on, every call is cancelled."""
        self._imports.cancelled = True

    def restart(self) -> None:
        """Goes on with another instance, which knows of no volatile action. The globals of modules stay as they are."""
        self._plugin = self._instance()

    def call(self, tool: str, /, **params: Any) -> Result:
        """Calls a tool.

        # Raises
        ToolError where the tool said so on purpose; FailedError where it raised anything else; Cancelled.
        """
        return _succeeded(self._plugin.execute("test", tool, json.dumps(params)))

    def apply(self, reason: str = "", *, extra: dict[str, Any] | None = None, id: str | None = None) -> Result:
        """Applies the topmost action, or that of an id. Where that fails, the action is pending again.

        # Raises
        As `call`; LookupError where there is no such action.
        """
        action = self._imports.take(id)
        action.attempts += 1
        done = self._plugin.apply(action.pushed.state, action.resolution(reason, extra, action.attempts))
        if isinstance(done, Failure):
            self._imports.actions.append(action)
        return _succeeded(done)

    def discard(self, reason: str = "", *, extra: dict[str, Any] | None = None, id: str | None = None) -> Result:
        """Discards the topmost action, or that of an id. It is gone, whatever the tool does.

        # Raises
        As `call`; LookupError where there is no such action.
        """
        action = self._imports.take(id)
        done: Result | Failure | None = None
        if action.pushed.has_reject:
            resolution = action.resolution(reason, extra, action.attempts + 1)
            done = self._plugin.reject(action.pushed.state, resolution)
        if done is None:
            return Result([f"Discarded: {action.pushed.label}. Reason: {reason}"])
        return _succeeded(done)

    def _instance(self) -> Plugin:
        if isinstance(self._tools, ModuleType):
            return Plugin.of_module(self._tools, self._imports)
        return Plugin(self._tools, self._imports)


@dataclass
class _Action:
    id: str
    pushed: PendingAction
    attempts: int = 0

    @property
    def source(self) -> str:
        return self.pushed.source_tool_name or "custom_tool"

    def shown(self) -> Pending:
        details = None if self.pushed.details is None else json.loads(self.pushed.details)
        durable = self.pushed.state is not None
        return Pending(self.id, self.pushed.label, self.source, details, durable, self.attempts)

    def resolution(self, reason: str, extra: dict[str, Any] | None, attempt: int) -> Resolution:
        return Resolution(self.id, self.pushed.label, self.source, reason, extra, attempt)


class _Imports:
    """What the world imports."""

    def __init__(self, store: bool) -> None:
        self._has_store = store
        self._pushed = 0
        self.actions: list[_Action] = []
        self.lines: list[tuple[int, str]] = []
        self.progress: list[tuple[str, float | None, float | None]] = []
        self.cancelled = False

    def log(self, level: int, message: str) -> None:
        self.lines.append((level, message))

    def report_progress(self, message: str, progress: float | None, total: float | None) -> None:
        self.progress.append((message, progress, total))

    def is_cancelled(self) -> bool:
        return self.cancelled

    def session(self) -> Session | None:
        return Session("test", "/workspace", self._has_store)

    def push(self, action: PendingAction) -> str:
        if not self._has_store:
            raise StoreUnavailable
        try:
            check_line("the label", action.label)
            check_line("the source tool name", action.source_tool_name or "custom_tool")
        except ValueError as error:
            raise InvalidAction(str(error)) from None
        self._pushed += 1
        self.actions.append(_Action(f"action-{self._pushed}", action))
        return self.actions[-1].id

    def take(self, id: str | None) -> _Action:
        if not self.actions:
            raise LookupError("No pending action to resolve. Nothing to apply or discard.")
        if id is None:
            return self.actions.pop()
        for index, action in enumerate(self.actions):
            if action.id == id:
                return self.actions.pop(index)
        raise LookupError(f"there is no pending action {id}")


def _succeeded(done: Result | Failure) -> Result:
    match done:
        case Failure(FailureKind.TOOL, message):
            raise ToolError(message)
        case Failure(FailureKind.CANCELLED):
            raise Cancelled
        case Failure(_, message):
            raise FailedError(message)
        case _:
            return done
