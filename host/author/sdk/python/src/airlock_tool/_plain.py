"""Python's values as JSON has them."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

from airlock_tool._names import json_name


def to_plain(value: Any, where: str = "") -> Any:
    """`value` made of `dict`, `list`, `str`, `int`, `float`, `bool` and `None` alone.

    Dataclasses become objects, enums their values, bytes base64, paths text. `where` names the value in errors.

    # Raises
    TypeError for a value that has no such form; RecursionError for one that contains itself.
    """
    match value:
        case None | bool():
            return value
        case Enum():
            return to_plain(value.value, where)
        case str() | int() | float():
            return value
        case Mapping():
            return {_key(key, where): to_plain(item, f"{where}.{key}") for key, item in value.items()}
        case list() | tuple() | Set():
            return [to_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case PurePath():
            return str(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {
                json_name(field.name): to_plain(getattr(value, field.name), f"{where}.{field.name}")
                for field in fields(value)
                if field.init
            }
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            # Else Python complains of it once more, some time later.
            value.close()
        kind = "coroutine" if inspect.iscoroutine(value) else type(value).__name__
        raise TypeError(f"{where.lstrip('.') or 'it'} is a {kind}: a missing await?")
    raise TypeError(f"{_at(where)}a value of type {type(value).__name__} has no form in JSON")


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{_at(where)}a key of type {type(key).__name__} has no form in JSON: keys are str")
    return key


def _at(where: str) -> str:
    return f"at {where.lstrip('.')}: " if where else ""
