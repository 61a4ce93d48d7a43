"""A tool: a function, with what a host has to know about it."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, overload

from airlock_tool._docstring import Docstring
from airlock_tool._names import check_line, check_tool_name, label_of
from airlock_tool._pending import Resolution
from airlock_tool._plain import to_plain
from airlock_tool._record import Field, Record, described, hints_of
from airlock_tool._result import Image, Link, Result
from airlock_tool._shapes import Anything, Misfit, Schema, Shape
from airlock_tool._text import require_text, to_json
from airlock_tool._types import shape_of

# Unlike unions, and Any.
_RESULTS = (str, dict, Result, Image, Link)

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Handler = TypeVar("Handler", bound=Callable[..., object])


class Traits(Flag):
    """What a host may assume about a tool without having called it."""

    HIDDEN = auto()
    DEFERRABLE = auto()
    READ_ONLY = auto()
    DESTRUCTIVE = auto()
    IDEMPOTENT = auto()
    OPEN_WORLD = auto()


@dataclass(frozen=True)
class Definition:
    """What a host is told about a tool."""

    name: str
    label: str
    description: str
    parameters: Schema
    output: Schema | None
    traits: Traits


class Tool(Generic[P, R]):
    """A function that a host can call; made by the decorator `tool`. Called from Python it is the function."""

    def __init__(
        self, function: Callable[P, R], definition: Definition, params: _Params, must_return: bool = False
    ) -> None:
        update_wrapper(self, function)
        self.must_return = must_return
        """Whether its type hint promises a result, so that `None` is none."""
        self._function = function
        self._params = params
        self._apply: _StateHandler | None = None
        self._reject: _StateHandler | None = None
        self.definition = definition
        """What a host is told about it."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<airlock tool {self.name!r}>"

    @property
    def function(self) -> Callable[..., object]:
        """The one that was decorated."""
        return self._function

    @property
    def name(self) -> str:
        """What a host calls it."""
        return self.definition.name

    def apply(self, handler: Handler) -> Handler:
        """Decorates the function that does what a durable action announced: `handler(state)` or `handler(state, resolution)`.

        The type hint of `state` says what the tool pushes as `state=`. When the function raises, the action is pending again and may be
        applied once more: so it either did nothing then, or can tell what it already did. See `Resolution.attempt`.
        """
        self._apply = _StateHandler.of(self, "apply", handler, self._apply)
        return handler

    def reject(self, handler: Handler) -> Handler:
        """Decorates the function that cleans up after a discarded durable action, or says something about it.

        It takes what the one for `apply` takes. Where it returns `None`, the caller reads
        `Discarded: <label>. Reason: <reason>`. The action is gone whatever it does.
        """
        self._reject = _StateHandler.of(self, "reject", handler, self._reject)
        return handler

    @property
    def has_reject(self) -> bool:
        """Whether a discarded durable action is told to the tool."""
        return self._reject is not None

    @property
    def is_read_only(self) -> bool:
        """Whether it has promised to push no action."""
        return Traits.READ_ONLY in self.definition.traits

    def run(self, params: Any) -> object:
        """Calls the function with params that came as JSON.

        # Raises
        Misfit where they don't fit; and whatever the function raises.
        """
        return self._function(**self._params.arguments(params))  # type: ignore[call-arg]

    def seal(self, state: object) -> bytes:
        """A state together with whose it is.

        # Raises
        TypeError where the tool can't apply it, which had better be known when it is pushed.
        """
        if self._apply is None:
            raise TypeError(
                f"the tool `{self.name}` pushes a state and has nothing to apply it with: "
                f"decorate a function with @{getattr(self._function, '__name__', 'tool')}.apply"
            )
        plain = to_plain(state, "state")
        try:
            self._apply.shape.decode(plain, "")
        except Misfit as misfit:
            raise TypeError(f"the state doesn't fit the type hint of @{self.name}.apply: {misfit}") from misfit
        # Not as UTF-8: this comes back exactly as it is, a surrogate without its partner too.
        return json.dumps({"tool": self.name, "state": plain}, separators=(",", ":")).encode()

    def handler(self, applied: bool) -> Callable[..., object] | None:
        """What a state is given to, where there is one."""
        handler = self._apply if applied else self._reject
        return None if handler is None else handler.function

    def resolve(self, applied: bool, state: Any, resolution: Resolution) -> object:
        """Calls the handler for a state that `seal` has written, or returns None where there is no such handler.

        # Raises
        RuntimeError where the state doesn't fit; and whatever the handler raises.
        """
        handler = self._apply if applied else self._reject
        if handler is None:
            if applied:
                raise RuntimeError(f"the tool `{self.name}` has nothing to apply a state with")
            return None
        return handler.call(state, resolution)


@dataclass(frozen=True)
class _StateHandler:
    function: Callable[..., object]
    shape: Shape
    takes_resolution: bool

    @classmethod
    def of(
        cls, tool: Tool[..., Any], what: str, function: Callable[..., object], earlier: _StateHandler | None
    ) -> _StateHandler:
        where = f"@{tool.name}.{what}"
        if earlier is not None:
            raise TypeError(f"{where} is given twice")
        parameters = list(inspect.signature(function).parameters.values())
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if not 1 <= len(parameters) <= 2 or any(parameter.kind not in positional for parameter in parameters):
            raise TypeError(f"{where} decorates a function that takes (state) or (state, resolution)")
        hint = hints_of(function).get(parameters[0].name)
        shape = Anything() if hint is None else shape_of(hint, f"{where}, `{parameters[0].name}`")
        return cls(function, shape, len(parameters) == 2)

    def call(self, state: Any, resolution: Resolution) -> object:
        try:
            value = self.shape.decode(state, "")
        except Misfit as misfit:
            raise RuntimeError(f"the state of the action can't be read: {misfit}") from misfit
        return self.function(value, resolution) if self.takes_resolution else self.function(value)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    label: str | None = None,
    description: str | None = None,
    output: Any = None,
    hidden: bool = False,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    open_world: bool = False,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    label: str | None = None,
    description: str | None = None,
    output: Any = None,
    hidden: bool = False,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    open_world: bool = False,
) -> Any:
    """Makes a tool of a function. The tools at the top level of the module that is built are what its plugin offers.

    The parameters of the function, with their type hints and defaults, are the tool's params; or those of a dataclass, where
    the function has one parameter, which is called `params` and is a dataclass.

    - `name`: 1 to 64 of the characters `A-Z a-z 0-9 _ . -`; left out, the function's
    - `label`: what a person reads in a list, in one line; left out, the name in words
    - `description`: what the model reads to decide whether to call the tool; left out, the docstring
    - `output`: a type that the details of every result have; left out, the function's return type where it is a dataclass
    - `hidden`: left out of listings; it can still be called by name
    - `read_only`: it never changes anything, and so never pushes an action. Any other tool may push.
    - `destructive`: what its actions do can't be undone by calling it again
    - `idempotent`: applying the same action twice has the effect of applying it once
    - `open_world`: it reaches beyond the workspace, for example over the network

    # Raises
    TypeError or ValueError where a host would refuse the tool, or a parameter has a type that JSON has nothing like.
    """
    if function is None:
        return lambda decorated: _make(
            decorated,
            name,
            label,
            description,
            output,
            {
                Traits.HIDDEN: hidden,
                Traits.READ_ONLY: read_only,
                Traits.DEFERRABLE: not read_only,
                Traits.DESTRUCTIVE: destructive,
                Traits.IDEMPOTENT: idempotent,
                Traits.OPEN_WORLD: open_world,
            },
        )
    if not callable(function):
        raise TypeError(f"@tool decorates a function, not {function!r}; options are given by name")
    return _make(function, None, None, None, None, {Traits.DEFERRABLE: True})


def _make(
    function: Callable[..., Any],
    name: str | None,
    label: str | None,
    description: str | None,
    output: Any,
    traits: dict[Traits, bool],
) -> Tool[..., Any]:
    name = check_tool_name(function.__name__ if name is None else require_text("the name of a tool", name))
    where = f"tool `{name}`"
    label = label_of(name) if label is None else require_text(f"{where}: the label", label)
    docs = Docstring.of(function)
    description = docs.description if description is None else require_text(f"{where}: the description", description)
    if not description.strip():
        raise ValueError(f"{where} has no description: give the function a docstring, which the model reads")
    hints = hints_of(function)
    params = _params_of(function, hints, docs, where)
    returned = hints.get("return")
    # What holds a result is no promise about the details in it.
    if output is None and dataclasses.is_dataclass(returned) and returned not in (Result, Image, Link):
        output = returned
    definition = Definition(
        name,
        check_line(f"{where}: the label", label),
        description,
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **params.record.schema()},
        None if output is None else shape_of(output, f"{where}, its output").schema(),
        Traits(sum(trait.value for trait, is_set in traits.items() if is_set)),
    )
    to_json(definition.parameters)
    return Tool(function, definition, params, returned in _RESULTS or dataclasses.is_dataclass(returned))


@dataclass(frozen=True)
class _Params:
    """What a call's params are made into."""

    record: Record
    whole: bool
    """Whether the function takes them as one dataclass."""

    def arguments(self, params: Any) -> dict[str, Any]:
        return {"params": self.record.decode(params, "")} if self.whole else self.record.values(params, "")


def _params_of(function: Callable[..., Any], hints: dict[str, Any], docs: Docstring, where: str) -> _Params:
    parameters = inspect.signature(function).parameters
    if list(parameters) == ["params"] and dataclasses.is_dataclass(hints.get("params")):
        whole = shape_of(hints["params"], where)
        assert isinstance(whole, Record)
        return _Params(whole, whole=True)
    fields = []
    for parameter in parameters.values():
        at = f"{where}, parameter `{parameter.name}`"
        if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            raise TypeError(f"{at}: each parameter must be a named one, without *, ** and /")
        if parameter.name not in hints:
            raise TypeError(f"{at} has no type hint")
        shape = described(shape_of(hints[parameter.name], at), docs.parameters.get(parameter.name))
        if parameter.default is inspect.Parameter.empty:
            fields.append(Field(parameter.name, shape, required=True))
        else:
            fields.append(Field(parameter.name, shape, required=False, default=parameter.default))
    return _Params(Record(where, dict, lambda: fields), whole=False)
