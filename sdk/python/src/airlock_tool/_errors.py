"""How a call may end badly, and who reads what about it."""

from __future__ import annotations

import inspect
import sys
import traceback
from dataclasses import dataclass
from enum import Enum


class ToolError(Exception):
    """Said by the tool on purpose: the message reaches the caller word for word.

    Raise it for a sentence that tells the caller what to do better. Any other exception reaches the caller as something
    that went wrong without its doing.
    """


class InvalidParams(ToolError):
    """Raised by the SDK where params don't fit the tool's types."""


class Cancelled(BaseException):
    """The tool noticed that nobody wants the answer any more, and stopped.

    Like `asyncio.CancelledError` it is no `Exception`, so that `except Exception` lets it through.
    """

    def __str__(self) -> str:
        return "cancelled"


class PushError(Exception):
    """The host did not accept a pending action. Nothing was pushed, and the tool may go on."""


class StoreUnavailable(PushError):
    """There is no store here."""

    TEXT = "Pending action store unavailable for custom tools in this runtime."

    def __init__(self, message: str = TEXT) -> None:
        super().__init__(message)


class LimitExceeded(PushError):
    """The session holds as many actions as it may, or a part of this one is too large; the message says which."""


class InvalidAction(PushError):
    """The action can't be shown to a person, for example for an empty label; the message says why."""


class FailureKind(Enum):
    """Which case of the world's `tool-error` a failure becomes."""

    TOOL = "tool"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Failure:
    """What the host is told about a call that raised."""

    kind: FailureKind
    message: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure that an exception becomes."""
        match error:
            case Cancelled():
                return cls(FailureKind.CANCELLED)
            case ToolError():
                return cls(FailureKind.TOOL, _text(error))
            case SystemExit():
                return cls(FailureKind.FAILED, f"it called sys.exit({'' if error.code is None else repr(error.code)})")
            case _:
                return cls(FailureKind.FAILED, told(error))


# Their names say nothing that the message doesn't.
_PLAIN = (Exception, RuntimeError)


def told(error: BaseException, always: bool = False) -> str:
    """What is said of an exception, with its place: `always`, or where the tool has no words of its own for it."""
    name, text = type(error).__qualname__, _text(error)
    if not text:
        return f"{name}{_place(error, always)}"
    if isinstance(error, ModuleNotFoundError) and sys.platform == "wasi":
        text += "; a component has the modules that were found when it was built: see `airlock-py build --include`"
    if isinstance(error, PushError):
        # The host's words, which for what is a mistake of the tool's have a place.
        is_mistake = isinstance(error, InvalidAction) or error.__cause__ is not None
        return f"{text}{_place(error, always=True)}" if is_mistake else text
    if isinstance(error, RuntimeError) and text == "can't start new thread":
        text += ": a tool has no threads; asyncio does several things in one"
    plain = text if type(error) in _PLAIN else f"{name}: {text}"
    return f"{plain}{_place(error, always)}"


def place_of(function: object) -> str:
    """Where a function of the tool's stands, behind what is said of it; nothing where that isn't known."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    module = getattr(function, "__module__", None) or ""
    return f" ({_file(module)}:{code.co_firstlineno})" if code and _is_tools(module) else ""


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _place(error: BaseException, always: bool = False) -> str:
    """Where in the tool's sources an exception comes from; nothing where the tool raised it with words of its own."""
    frames = [(frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(module, line) for module, line in frames if _is_tools(module)]
    if not own:
        return ""
    is_composed = (
        not always and own[-1] == frames[-1] and (type(error) in _PLAIN or type(error).__module__ != "builtins")
    )
    module, line = own[-1]
    return "" if is_composed else f" ({_file(module)}:{line})"


def _is_tools(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in ("", "airlock_tool") and top not in sys.stdlib_module_names


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"{type(error).__qualname__}, whose __str__ raised {type(broken).__qualname__}"
