"""From Python's type hints to shapes."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from airlock_tool import _shapes as shapes
from airlock_tool._record import Record
from airlock_tool._shapes import Shape

_SCALARS: dict[Any, Shape] = {
    str: shapes.Scalar("string", str),
    int: shapes.Scalar("integer", int),
    float: shapes.Scalar("number", float),
    bool: shapes.Scalar("boolean", bool),
    None: shapes.Scalar("null", type(None)),
    type(None): shapes.Scalar("null", type(None)),
    Any: shapes.Anything(),
    object: shapes.Anything(),
    Path: shapes.PATH,
    bytes: shapes.BYTES,
    list: shapes.Array(shapes.Anything()),
    dict: shapes.Dictionary(shapes.Anything()),
}
_ARRAYS: dict[Any, tuple[Any, bool]] = {
    list: (list, False),
    Sequence: (list, False),
    set: (set, True),
    frozenset: (frozenset, True),
}
_SUPPORTED = (
    "str, int, float, bool, None, Any, bytes, pathlib.Path, list, set, tuple, dict with str keys, "
    "Optional and other unions, Literal, enums, dataclasses, and Annotated around any of them"
)


def shape_of(hint: Any, where: str) -> Shape:
    """The shape that a type hint stands for; `where` names the parameter or field in errors.

    # Raises
    TypeError where JSON has nothing like the type.
    """
    # One by one, since a hint with a dict in it has no hash.
    for scalar, shape in _SCALARS.items():
        if hint is scalar:
            return shape
    if isinstance(hint, typing.NewType):
        return shape_of(hint.__supertype__, where)
    # An alias made by the statement `type`, of Python 3.12.
    if type(hint).__name__ == "TypeAliasType":
        return shape_of(hint.__value__, where)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return shapes.Choice.of_enum(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _record_of(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(arguments, where)
    if origin is typing.Literal:
        return shapes.Choice.of_literals(arguments)
    if origin in (typing.Union, types.UnionType):
        return shapes.Union(tuple(shape_of(argument, where) for argument in arguments))
    if origin in _ARRAYS:
        make, unique = _ARRAYS[origin]
        return shapes.Array(shape_of(arguments[0], where), make, unique)
    if origin is tuple:
        return _tuple(arguments, where)
    if origin in (dict, Mapping):
        key, value = arguments
        if key is not str:
            raise TypeError(f"{where}: the keys of a dict must be str, as in JSON")
        return shapes.Dictionary(shape_of(value, where))
    raise TypeError(f"{where}: {_told(hint)} has no form in JSON. What has one: {_SUPPORTED}.")


@cache
def _record_of(described: type) -> Record:
    """One for each class, so that it is seen where a class is part of itself."""
    return Record.of_dataclass(described, shape_of)


def _tuple(arguments: tuple[Any, ...], where: str) -> Shape:
    match arguments:
        case (item, end) if end is Ellipsis:
            return shapes.Array(shape_of(item, where), tuple)
        case _:
            return shapes.Row(tuple(shape_of(argument, where) for argument in arguments))


def _annotated(arguments: tuple[Any, ...], where: str) -> Shape:
    """`Annotated[T, "a description", {"minItems": 1}]`: texts describe, dicts are keywords of JSON Schema."""
    hint, *metadata = arguments
    keywords: shapes.Schema = {}
    for about in metadata:
        if isinstance(about, str):
            keywords["description"] = about
        elif isinstance(about, dict):
            keywords.update(about)
    return shapes.Annotated(shape_of(hint, where), keywords)


def _told(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) else str(hint)
