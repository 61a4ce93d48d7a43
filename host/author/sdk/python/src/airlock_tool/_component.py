"""The two sides of the border: the world's exports and imports, as componentize-py's bindings have them.

Only a component can import this: `airlock-py build` makes a module that does, and componentize-py runs it once and keeps the memory as it
is then. So all that is imported by then is there at once in each instance.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import random  # noqa: F401  componentize-py looks for it at the end, to have it seeded in each instance.
from typing import Never, TypeVar

from componentize_py_types import Err
from wit_world.exports.resolver import Resolution as WitResolution
from wit_world.imports import host as wit_host
from wit_world.imports import pending_actions as wit_pending
from wit_world.imports import types as wit

from airlock_tool import _archive, _log
from airlock_tool._call import Session
from airlock_tool._dispatch import Plugin
from airlock_tool._errors import Failure, FailureKind, InvalidAction, LimitExceeded, StoreUnavailable
from airlock_tool._pending import PendingAction, Resolution
from airlock_tool._result import Content, Image, Link, Result
from airlock_tool._text import to_json, utf8
from airlock_tool._tool import Definition, Traits

T = TypeVar("T")


def load(module: str) -> tuple[type, type]:
    """Imports the tools, and gives the classes that componentize-py takes for the world's exports.

    # Raises
    Whatever is wrong with the tools, for whoever builds them.
    """
    _log.install()
    plugin = Plugin.of_module(importlib.import_module(module), _Host())
    definitions = [_definition(definition) for definition in plugin.definitions()]
    _archive.replace_file_imports()
    start = _Start()

    class Tool:
        def definitions(self) -> list[wit.ToolDefinition]:
            return definitions

        def execute(self, call_id: str, name: str, params: str) -> wit.ToolResult:
            start.once()
            return _result(_succeeded(plugin.execute(call_id, name, params)))

    class Resolver:
        def apply(self, resolution: WitResolution) -> wit.ToolResult:
            start.once()
            return _result(_succeeded(plugin.apply(resolution.state, _resolution(resolution))))

        def reject(self, resolution: WitResolution) -> wit.ToolResult | None:
            start.once()
            result = _succeeded(plugin.reject(resolution.state, _resolution(resolution)))
            return None if result is None else _result(result)

    return Tool, Resolver


class _Start:
    """What has to wait for a live instance."""

    def __init__(self) -> None:
        self._done = False

    def once(self) -> None:
        if self._done:
            return
        self._done = True
        # Else relative paths are looked for below `/`, and the one called `scratch/…` is the wrong
        # one.
        with contextlib.suppress(OSError):  # A session may have none.
            os.chdir("/workspace")
        # For the module `tempfile`.
        os.environ["TMPDIR"] = "/scratch"


class _Host:
    """The world's imports."""

    def log(self, level: int, message: str) -> None:
        wit_host.log(_level(level), message)

    def report_progress(self, message: str, progress: float | None, total: float | None) -> None:
        wit_host.report_progress(message, progress, total)

    def is_cancelled(self) -> bool:
        return wit_host.is_cancelled()

    def session(self) -> Session | None:
        session = wit_host.session()
        return Session(session.id, session.workspace, session.has_pending_store) if session else None

    def push(self, action: PendingAction) -> str:
        pushed = wit_pending.PendingAction(
            action.label, action.source_tool_name, action.details, action.has_reject, action.state
        )
        try:
            return wit_pending.push_pending_action(pushed)
        except Err as refused:
            match refused.value:
                case wit_pending.PushError_StoreUnavailable(message):
                    raise StoreUnavailable(message) from None
                case wit_pending.PushError_LimitExceeded(message):
                    raise LimitExceeded(message) from None
                case wit_pending.PushError_Invalid(message):
                    raise InvalidAction(message) from None
            raise


def _level(level: int) -> wit_host.Level:
    if level >= logging.ERROR:
        return wit_host.Level.ERROR
    if level >= logging.WARNING:
        return wit_host.Level.WARN
    if level >= logging.INFO:
        return wit_host.Level.INFO
    return wit_host.Level.DEBUG if level >= logging.DEBUG else wit_host.Level.TRACE


def _definition(definition: Definition) -> wit.ToolDefinition:
    traits = wit.ToolTraits(0)
    for name, trait in Traits.__members__.items():
        if trait in definition.traits:
            traits |= wit.ToolTraits[name]
    return wit.ToolDefinition(
        definition.name,
        utf8(definition.label),
        utf8(definition.description),
        to_json(definition.parameters),
        None if definition.output is None else to_json(definition.output),
        traits,
    )


def _resolution(resolution: WitResolution) -> Resolution:
    return Resolution(
        resolution.action_id,
        resolution.label,
        resolution.source_tool_name,
        resolution.reason,
        None if resolution.extra is None else json.loads(resolution.extra),
        resolution.attempt,
    )


def _succeeded(outcome: T | Failure) -> T:
    if isinstance(outcome, Failure):
        _raise(outcome)
    return outcome


def _raise(failure: Failure) -> Never:
    message = utf8(failure.message)
    match failure.kind:
        case FailureKind.TOOL:
            raise Err(wit.ToolError_Tool(message))
        case FailureKind.CANCELLED:
            raise Err(wit.ToolError_Cancelled())
        case _:
            raise Err(wit.ToolError_Failed(message))


def _result(result: Result) -> wit.ToolResult:
    return wit.ToolResult([_content(block) for block in result.content], result.details_json)


def _content(block: Content) -> wit.Content:
    match block:
        case Image():
            return wit.Content_Image(wit.Blob(block.data, block.mime_type))
        case Link():
            return wit.Content_ResourceLink(wit.Link(block.uri, block.name, block.mime_type))
        case _:
            return wit.Content_Text(block)
