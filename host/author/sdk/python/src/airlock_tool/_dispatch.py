"""Finding the tool that a call or a decision is for, and what became of it."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from airlock_tool import _awaited
from airlock_tool._call import CURRENT, Call, Host
from airlock_tool._errors import Failure, FailureKind, InvalidParams, place_of
from airlock_tool._pending import Closure, Resolution, Volatile
from airlock_tool._result import Result
from airlock_tool._shapes import Misfit
from airlock_tool._tool import Definition, Tool

_LOG = logging.getLogger("airlock_tool")

NO_TOOL = "decorate a function at its top level with @airlock.tool"
"""What to do where a module has none."""


class Plugin:
    """The tools of a component, and the volatile actions of one live instance of it."""

    def __init__(self, tools: Iterable[Tool[..., Any]], host: Host) -> None:
        self._tools: dict[str, Tool[..., Any]] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are called `{tool.name}`")
            self._tools[tool.name] = tool
        self._host = host
        self._volatile: dict[str, Volatile] = {}

    @classmethod
    def of_module(cls, module: Any, host: Host) -> Plugin:
        """The tools at the top level of a module, in the order in which they stand there.

        # Raises
        ValueError where there are none, or two of one name.
        """
        tools = dict.fromkeys(value for value in vars(module).values() if isinstance(value, Tool))
        if not tools:
            raise ValueError(f"{module.__name__} has no tool: {NO_TOOL}")
        return cls(tools, host)

    def definitions(self) -> list[Definition]:
        """What the host is told."""
        return [tool.definition for tool in self._tools.values()]

    def execute(self, call_id: str, name: str, params: str) -> Result | Failure:
        """Runs one tool with its params as JSON."""
        tool = self._tools.get(name)
        if tool is None:
            return Failure(FailureKind.FAILED, f"this plugin has no tool `{name}`; it has {', '.join(self._tools)}")

        def body() -> object:
            try:
                return tool.run(json.loads(params))
            except Misfit as misfit:
                raise InvalidParams(f"the params of `{name}` don't fit: {misfit}") from misfit

        done = self._run(Call(self._host, tool, self._volatile, call_id), body, tool.function, tool.must_return)
        return _or_empty(done)

    def apply(self, state: bytes | None, resolution: Resolution) -> Result | Failure:
        """Does what an action announced."""
        done = self._resolve(True, state, resolution)
        if not isinstance(done, Failure):
            self._volatile.pop(resolution.action_id, None)
        return _or_empty(done)

    def reject(self, state: bytes | None, resolution: Resolution) -> Result | Failure | None:
        """Cleans up after an action that was discarded."""
        try:
            return self._resolve(False, state, resolution)
        finally:
            self._volatile.pop(resolution.action_id, None)

    def _resolve(self, applied: bool, state: bytes | None, resolution: Resolution) -> Result | Failure | None:
        if state is None:
            return self._resolve_volatile(applied, resolution)
        try:
            envelope = json.loads(state)
            tool, plain = self._tools[envelope["tool"]], envelope["state"]
        except (ValueError, TypeError, KeyError):
            return Failure(FailureKind.FAILED, "this plugin has not pushed the action: its state is of another form")
        call = Call(self._host, tool, self._volatile, resolution.action_id)
        return self._run(call, lambda: tool.resolve(applied, plain, resolution), tool.handler(applied))

    def _resolve_volatile(self, applied: bool, resolution: Resolution) -> Result | Failure | None:
        action = self._volatile.get(resolution.action_id)
        if action is None:
            return Failure(FailureKind.FAILED, "the preview is gone: it was in the memory of another instance")
        closure = action.apply if applied else action.reject
        if closure is None:
            return None
        call = Call(self._host, action.tool, self._volatile, resolution.action_id)
        return self._run(call, lambda: _call_closure(closure, resolution), closure)

    def _run(
        self, call: Call, body: Callable[[], object], function: object, must_return: bool = False
    ) -> Result | Failure | None:
        """What came out: nothing gets past this, since what does, ends the instance with all that it holds.

        `function` is the tool's own, which is to blame for what it returns.
        """
        token = CURRENT.set(call)
        try:
            with _awaited.all_coroutines():
                returned = body()
                if inspect.isawaitable(returned):
                    from airlock_tool import _loop

                    returned = _loop.run(returned)
            if returned is None:
                if must_return:
                    raise TypeError(
                        f"the tool `{call.tool.name}` returned None, which its type hint doesn't allow: a missing return?"
                        f"{place_of(function)}"
                    )
                return None
            try:
                result = Result.of(returned)
                result.check()
            except TypeError as error:
                raise TypeError(f"{error}{place_of(function)}") from error
            return result
        except BaseException as error:
            return _failure(error)
        finally:
            CURRENT.reset(token)


def _or_empty(done: Result | Failure | None) -> Result | Failure:
    return Result() if done is None else done


def _call_closure(closure: Closure, resolution: Resolution) -> object:
    function: Callable[..., object] = closure
    return function(resolution) if _has_required_parameter(function) else function()


def _has_required_parameter(function: Callable[..., object]) -> bool:
    """Those with a default don't count: in `lambda path=path: …` it is there to keep a value of a loop."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # Some that are built in don't tell.
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(it.kind in positional and it.default is inspect.Parameter.empty for it in parameters)


def _failure(error: BaseException) -> Failure:
    failure = Failure.of(error)
    traceback = error.__traceback__
    if isinstance(error, MemoryError):
        # What used it up hangs on the frames.
        traceback = error.__traceback__ = None
    if failure.kind is FailureKind.FAILED:
        _LOG.error("%s", failure.message, exc_info=(type(error), error, _from_the_tool_on(traceback)))
    return failure


def _from_the_tool_on(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package in front."""
    while traceback and traceback.tb_frame.f_globals.get("__name__", "").startswith("airlock_tool."):
        traceback = traceback.tb_next
    return traceback
