"""Objects with named properties: dataclasses, and the parameters of functions."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airlock_tool._docstring import Docstring
from airlock_tool._names import json_name
from airlock_tool._plain import to_plain
from airlock_tool._shapes import Annotated, Misfit, Schema, Shape

ShapeOf = Callable[[Any, str], Shape]
"""`shape_of`, which needs this module itself."""


@dataclass(frozen=True)
class Field:
    """One property of a record."""

    name: str
    """The parameter or field in Python."""
    shape: Shape
    required: bool
    default: Any = None
    """Where it is not required, as a Python value. None too where only a call could tell."""

    def schema(self) -> Schema:
        schema = self.shape.schema()
        if not self.required and self.default is not None:
            schema["default"] = to_plain(self.default, self.name)
        return schema


class Record(Shape):
    """A JSON object, and what is made of its properties."""

    def __init__(self, name: str, make: Callable[..., Any], fields: Callable[[], list[Field]]) -> None:
        self._name = name
        self._make = make
        # Called when first needed, so that a dataclass may be part of itself.
        self._read_fields = fields
        self._open = False

    @classmethod
    def of_dataclass(cls, described: type, shape_of: ShapeOf) -> Record:
        return cls(described.__name__, described, lambda: _fields_of(described, shape_of))

    @cached_property
    def fields(self) -> dict[str, Field]:
        """By their names in JSON."""
        return {json_name(field.name): field for field in self._read_fields()}

    def schema(self) -> Schema:
        if self._open:
            raise TypeError(f"{self._name} contains itself, and the schema of params can't be recursive")
        self._open = True
        try:
            properties = {name: field.schema() for name, field in self.fields.items()}
        finally:
            self._open = False
        schema: Schema = {"type": "object", "properties": properties}
        if required := [name for name, field in self.fields.items() if field.required]:
            schema["required"] = required
        return {**schema, "additionalProperties": False}

    def decode(self, value: Any, where: str) -> Any:
        values = self.values(value, where)
        try:
            return self._make(**values)
        except ValueError as error:
            # Said by `__post_init__`, most likely.
            raise Misfit(where, str(error)) from error

    def values(self, value: Any, where: str) -> dict[str, Any]:
        """The properties that are there, by their names in Python.

        # Raises
        Misfit where one is missing, unknown, or of another shape.
        """
        if not isinstance(value, Mapping):
            raise Misfit(where, "it is not of type object")
        fields = self.fields
        for name in value:
            if name not in fields:
                raise Misfit(where, f"there is no `{name}`; there are: {', '.join(fields) or 'none'}")
        for name, field in fields.items():
            if field.required and name not in value:
                raise Misfit(where, f"`{name}` is missing")
        return {
            fields[name].name: fields[name].shape.decode(item, f"{where}.{name}" if where else name)
            for name, item in value.items()
        }


def described(shape: Shape, description: str | None) -> Shape:
    """`shape` with a description, where it has none of its own."""
    if not description or (isinstance(shape, Annotated) and "description" in shape.keywords):
        return shape
    return Annotated(shape, {"description": description})


def _fields_of(described_class: type, shape_of: ShapeOf) -> list[Field]:
    hints = hints_of(described_class)
    docs = Docstring.of(described_class).parameters
    found = []
    for field in dataclasses.fields(described_class):
        if not field.init:
            continue
        shape = shape_of(hints[field.name], f"{described_class.__name__}.{field.name}")
        shape = described(shape, docs.get(field.name))
        if field.default is not dataclasses.MISSING:
            found.append(Field(field.name, shape, required=False, default=field.default))
        elif field.default_factory is not dataclasses.MISSING:
            found.append(Field(field.name, shape, required=False, default=field.default_factory()))
        else:
            found.append(Field(field.name, shape, required=True))
    return found


def hints_of(described: Any) -> dict[str, Any]:
    """The type hints of a class or function, with strings in them resolved.

    # Raises
    TypeError where a string names nothing.
    """
    try:
        return typing.get_type_hints(described, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{described.__qualname__}: a type hint can't be resolved: {error}. "
            "What it names has to be defined at the top level of the module."
        ) from error
