"""The shapes that JSON values can have: each gives its JSON Schema, and makes Python's values of JSON's."""

from __future__ import annotations

import base64
import binascii
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

Schema = dict[str, Any]


class Misfit(ValueError):
    """A JSON value that hasn't the shape that it should have."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)


class Shape(ABC):
    """One type of a parameter or field."""

    @abstractmethod
    def schema(self) -> Schema:
        """The JSON Schema (2020-12) of this shape, without references."""

    @abstractmethod
    def decode(self, value: Any, where: str) -> Any:
        """The Python value for a JSON value; `where` names it in errors, for example `plan.files[3]`.

        # Raises
        Misfit where it has another shape.
        """


class Anything(Shape):
    def schema(self) -> Schema:
        return {}

    def decode(self, value: Any, where: str) -> Any:
        return value


@dataclass(frozen=True)
class Scalar(Shape):
    """`str`, `int`, `float`, `bool` or `None`."""

    json_type: str
    python_type: type

    def schema(self) -> Schema:
        return {"type": self.json_type}

    def decode(self, value: Any, where: str) -> Any:
        # By `type`, since `True` is an `int` in Python and none in JSON.
        if type(value) is self.python_type:
            return value
        if self.python_type is float and type(value) is int:
            return float(value)
        if self.python_type is int and type(value) is float and value.is_integer():
            return int(value)
        raise _not_a(self.json_type, value, where)


@dataclass(frozen=True)
class Text(Shape):
    """A value that JSON has as text: a path, or bytes as base64."""

    keywords: Schema
    parse: Callable[[str], Any]

    def schema(self) -> Schema:
        return {"type": "string", **self.keywords}

    def decode(self, value: Any, where: str) -> Any:
        if not isinstance(value, str):
            raise _not_a("string", value, where)
        try:
            return self.parse(value)
        except ValueError as error:
            raise Misfit(where, str(error)) from error


def _bytes_of(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"it is not base64: {error}") from error


PATH = Text({}, Path)
BYTES = Text({"contentEncoding": "base64"}, _bytes_of)


@dataclass(frozen=True)
class Choice(Shape):
    """One of some values: a `Literal`, or an enum's."""

    choices: tuple[tuple[Any, Any], ...]
    """Pairs of a JSON value and the Python value that it means."""

    @classmethod
    def of_literals(cls, values: Iterable[Any]) -> Choice:
        return cls(tuple((value.value if isinstance(value, Enum) else value, value) for value in values))

    @classmethod
    def of_enum(cls, enum: type[Enum]) -> Choice:
        return cls(tuple((member.value, member) for member in enum))

    def schema(self) -> Schema:
        values = [value for value, _ in self.choices]
        if all(isinstance(value, str) for value in values):
            return {"type": "string", "enum": values}
        return {"enum": values}

    def decode(self, value: Any, where: str) -> Any:
        for choice, meant in self.choices:
            # `True == 1` in Python, and not in JSON.
            if choice == value and isinstance(choice, bool) == isinstance(value, bool):
                return meant
        raise Misfit(where, f"{_told(value)} is none of {', '.join(_told(choice) for choice, _ in self.choices)}")


@dataclass(frozen=True)
class Array(Shape):
    """A list, a set or a tuple of any length."""

    items: Shape
    make: Callable[[list[Any]], Any] = list
    unique: bool = False

    def schema(self) -> Schema:
        schema: Schema = {"type": "array", "items": self.items.schema()}
        return {**schema, "uniqueItems": True} if self.unique else schema

    def decode(self, value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise _not_a("array", value, where)
        return self.make([self.items.decode(item, f"{where}[{index}]") for index, item in enumerate(value)])


@dataclass(frozen=True)
class Row(Shape):
    """A tuple with a shape for each of its places."""

    places: tuple[Shape, ...]

    def schema(self) -> Schema:
        return {
            "type": "array",
            "prefixItems": [place.schema() for place in self.places],
            "minItems": len(self.places),
            "maxItems": len(self.places),
        }

    def decode(self, value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise _not_a("array", value, where)
        if len(value) != len(self.places):
            raise Misfit(where, f"it has {len(value)} items, and needs {len(self.places)}")
        pairs = zip(self.places, value, strict=True)
        return tuple(place.decode(item, f"{where}[{index}]") for index, (place, item) in enumerate(pairs))


@dataclass(frozen=True)
class Dictionary(Shape):
    """An object whose keys are up to the caller."""

    values: Shape

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.values.schema()}

    def decode(self, value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _not_a("object", value, where)
        return {key: self.values.decode(item, _below(where, key)) for key, item in value.items()}


@dataclass(frozen=True)
class Union(Shape):
    """One of several shapes: the first that fits."""

    options: tuple[Shape, ...]

    def schema(self) -> Schema:
        schemas = [option.schema() for option in self.options]
        if all(schema.keys() == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}

    def decode(self, value: Any, where: str) -> Any:
        problems = []
        for option in self.options:
            try:
                return option.decode(value, where)
            except Misfit as misfit:
                problems.append(str(misfit))
        raise Misfit("", "; ".join(dict.fromkeys(problems)))


@dataclass(frozen=True)
class Annotated(Shape):
    """A shape with more about it: a description, keywords of JSON Schema."""

    shape: Shape
    keywords: Schema

    def schema(self) -> Schema:
        return {**self.shape.schema(), **self.keywords}

    def decode(self, value: Any, where: str) -> Any:
        return self.shape.decode(value, where)


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _not_a(wanted: str, value: Any, where: str) -> Misfit:
    return Misfit(where, f"{_told(value)} is not of type {wanted}")


def _told(value: Any) -> str:
    """A JSON value, short enough for an error."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list():
            return "an array"
        case dict():
            return "an object"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
