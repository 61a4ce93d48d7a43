"""From type hints to JSON Schema, and from JSON to values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, Optional

import pytest

import airlock_tool as airlock
from airlock_tool._shapes import Misfit
from airlock_tool._tool import Tool
from airlock_tool._types import shape_of


class Mode(Enum):
    AS_IS = "as-is"
    LOWER = "lower"


@dataclass(frozen=True)
class Point:
    """A place.

    Attributes:
        x: From the left.
        y: From above,
            in pixels.
    """

    x: int
    y: int = 0


@dataclass
class Shape:
    points: list[Point]
    mode: Mode = Mode.AS_IS
    tags: set[str] = field(default_factory=set)
    from_: str = "here"


UserId = NewType("UserId", int)

POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "integer", "description": "From the left."},
        "y": {"type": "integer", "description": "From above, in pixels.", "default": 0},
    },
    "required": ["x"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("hint", "schema", "values"),
    [
        (str, {"type": "string"}, {"a": "a"}),
        (int, {"type": "integer"}, {5: 5}),
        (float, {"type": "number"}, {5: 5.0, 0.5: 0.5}),
        (bool, {"type": "boolean"}, {True: True}),
        (None, {"type": "null"}, {None: None}),
        (Any, {}, {"a": "a", None: None}),
        (UserId, {"type": "integer"}, {3: 3}),
        (Path, {"type": "string"}, {"a/b": Path("a/b")}),
        (bytes, {"type": "string", "contentEncoding": "base64"}, {"AAE=": b"\x00\x01"}),
        (Optional[str], {"type": ["string", "null"]}, {"a": "a", None: None}),  # noqa: UP045
        (int | str, {"type": ["integer", "string"]}, {1: 1, "1": "1"}),
        (Point | None, {"anyOf": [POINT, {"type": "null"}]}, {None: None}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, {"a": "a"}),
        (Literal[1, "b"], {"enum": [1, "b"]}, {1: 1}),
        (Mode, {"type": "string", "enum": ["as-is", "lower"]}, {"lower": Mode.LOWER}),
        (
            Annotated[int, "How many.", {"minimum": 1}],
            {"type": "integer", "description": "How many.", "minimum": 1},
            {1: 1},
        ),
    ],
)
def test_a_hint_has_a_schema_and_reads_values(hint: Any, schema: dict[str, Any], values: dict[Any, Any]) -> None:
    shape = shape_of(hint, "it")
    assert shape.schema() == schema
    for value, meant in values.items():
        decoded = shape.decode(value, "it")
        assert decoded == meant
        assert type(decoded) is type(meant)


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert repr(shape_of(int, "it").decode(5.0, "it")) == "5"


STRINGS = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("hint", "schema", "value", "meant"),
    [
        (list, {"type": "array", "items": {}}, [1, "a"], [1, "a"]),
        (list[str], STRINGS, ["a"], ["a"]),
        (Sequence[str], STRINGS, ["a"], ["a"]),
        (tuple[str, ...], STRINGS, ["a"], ("a",)),
        (set[str], {**STRINGS, "uniqueItems": True}, ["a"], {"a"}),
        (
            tuple[str, int],
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2},
            ["a", 1],
            ("a", 1),
        ),
        (dict, {"type": "object", "additionalProperties": {}}, {"a": None}, {"a": None}),
        (Mapping[str, Point], {"type": "object", "additionalProperties": POINT}, {"a": {"x": 1}}, {"a": Point(1)}),
        (Point, POINT, {"x": 1, "y": 2}, Point(1, 2)),
        (
            Shape,
            {
                "type": "object",
                "properties": {
                    "points": {"type": "array", "items": POINT},
                    "mode": {"type": "string", "enum": ["as-is", "lower"], "default": "as-is"},
                    "tags": {**STRINGS, "uniqueItems": True, "default": []},
                    "from": {"type": "string", "default": "here"},
                },
                "required": ["points"],
                "additionalProperties": False,
            },
            {"points": [{"x": 1}], "tags": ["t"], "from": "there"},
            Shape([Point(1)], tags={"t"}, from_="there"),
        ),
    ],
)
def test_containers_and_dataclasses_are_made_of_their_parts(hint: Any, schema: Any, value: Any, meant: Any) -> None:
    shape = shape_of(hint, "it")
    assert shape.schema() == schema
    assert shape.decode(value, "it") == meant


@dataclass
class Even:
    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(f"{self.number} is odd")


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (int, "5", "it: '5' is not of type integer"),
        (int, True, "it: true is not of type integer"),
        (int, 0.5, "it: 0.5 is not of type integer"),
        (float, False, "it: false is not of type number"),
        (str, None, "it: null is not of type string"),
        (bool, 1, "it: 1 is not of type boolean"),
        (bytes, "no base64!", "it: it is not base64"),
        (list[int], [1, "x"], "it[1]: 'x' is not of type integer"),
        (tuple[int, int], [1], "it: it has 1 items, and needs 2"),
        (dict[str, int], {"a": "b"}, "it.a: 'b' is not of type integer"),
        (Literal[1], True, "it: true is none of 1"),
        (Mode, "upper", "it: 'upper' is none of 'as-is', 'lower'"),
        (int | str, [], "it: an array is not of type integer; it: an array is not of type string"),
        (Point, {"y": 1}, "it: `x` is missing"),
        (Point, {"x": 1, "z": 1}, "it: there is no `z`; there are: x, y"),
        (Point, [], "it: it is not of type object"),
        (Shape, {"points": [{"x": 1}, {"x": "y"}]}, "it.points[1].x: 'y' is not of type integer"),
        (Even, {"number": 3}, "it: 3 is odd"),
    ],
)
def test_a_value_that_does_not_fit_is_named(hint: Any, value: Any, problem: str) -> None:
    with pytest.raises(Misfit) as misfit:
        shape_of(hint, "it").decode(value, "it")
    assert problem in str(misfit.value)


@dataclass
class Tree:
    children: list[Tree]


@pytest.mark.parametrize(
    ("hint", "problem"),
    [
        (complex, "it: complex has no form in JSON. What has one: str, int,"),
        (dict[int, str], "it: the keys of a dict must be str"),
        (Callable[[], None], "has no form in JSON"),
        (Tree, "Tree contains itself"),
    ],
)
def test_a_type_without_a_form_in_json_is_refused(hint: Any, problem: str) -> None:
    with pytest.raises(TypeError) as refused:
        shape_of(hint, "it").schema()
    assert problem in str(refused.value)


def test_a_state_may_be_part_of_itself() -> None:
    assert shape_of(Tree, "it").decode({"children": [{"children": []}]}, "") == Tree([Tree([])])


def test_a_function_s_parameters_are_the_params() -> None:
    @airlock.tool
    def paint(where: Point, colour: str = "red", *, deep: bool | None = None) -> None:
        """Paints a point.

        It takes its time.

        Args:
            where: Which point.
            colour (str): Of the rainbow.

        Returns:
            Nothing.
        """

    definition = paint.definition
    assert (definition.name, definition.label) == ("paint", "Paint")
    assert definition.description == "Paints a point.\n\nIt takes its time.\n\nReturns:\n    Nothing."
    assert definition.parameters == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "where": {**POINT, "description": "Which point."},
            "colour": {"type": "string", "description": "Of the rainbow.", "default": "red"},
            "deep": {"type": ["boolean", "null"]},
        },
        "required": ["where"],
        "additionalProperties": False,
    }


def test_a_dataclass_called_params_is_all_of_them() -> None:
    @airlock.tool
    def paint(params: Point) -> Point:
        """Paints.

        :param params: Is not told.
        """
        return params

    assert paint.definition.parameters["properties"] == POINT["properties"]
    assert paint.definition.output == POINT
    assert paint.run({"x": 3}) == Point(3)
    assert paint(Point(4)) == Point(4)


def plain(text: str) -> None:
    """Does something."""


def nothing() -> None:
    pass


def untyped(text) -> None:  # type: ignore[no-untyped-def]
    """Does something."""


def starred(*texts: str) -> None:
    """Does something."""


def unresolved(text: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Does something."""


@pytest.mark.parametrize(
    ("function", "options", "problem"),
    [
        (plain, {"name": "resolve"}, "that name is reserved for the host"),
        (plain, {"name": "two words"}, "a name is 1 to 64 of the characters"),
        (plain, {"label": ""}, "tool `plain`: the label must be one line"),
        (plain, {"label": "a\nb"}, "tool `plain`: the label must be one line"),
        (plain, {"description": 5}, "tool `plain`: the description must be a str, not int"),
        (nothing, {}, "tool `nothing` has no description: give the function a docstring"),
        (untyped, {}, "tool `untyped`, parameter `text` has no type hint"),
        (starred, {}, "tool `starred`, parameter `texts`: each parameter must be a named one"),
        (unresolved, {}, "unresolved: a type hint can't be resolved: name 'Nowhere' is not defined"),
    ],
)
def test_a_tool_that_a_host_would_refuse_is_refused_when_it_is_defined(
    function: Callable[..., None], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        airlock.tool(**options)(function)
    assert problem in str(refused.value)


def test_traits_follow_from_the_options() -> None:
    def traits(tool: Tool[..., Any]) -> str:
        return str(tool.definition.traits).removeprefix("Traits.")

    assert traits(airlock.tool(plain)) == "DEFERRABLE"
    assert traits(airlock.tool(read_only=True, hidden=True)(plain)) == "HIDDEN|READ_ONLY"
    everything = airlock.tool(destructive=True, idempotent=True, open_world=True)(plain)
    assert traits(everything) == "DEFERRABLE|DESTRUCTIVE|IDEMPOTENT|OPEN_WORLD"


def test_a_result_is_no_promise_about_its_details() -> None:
    @airlock.tool
    def one() -> airlock.Result:
        """Gives a result."""
        return airlock.Result()

    @airlock.tool
    async def two() -> airlock.Image:
        """Gives a picture."""
        return airlock.Image(b"")

    @airlock.tool
    def three() -> airlock.Link:
        """Gives a link."""
        return airlock.Link("file:///a", "a")

    assert [tool.definition.output for tool in (one, two, three)] == [None, None, None]
