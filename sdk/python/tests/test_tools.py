"""Calls, pushes and resolutions, with a host in memory."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

import airlock_tool as airlock
from airlock_tool import _log, _network
from airlock_tool._tool import Tool
from airlock_tool.testing import FailedError, Host


def tool_of(body: Callable[[], object], **options: Any) -> Tool[..., Any]:
    """A tool called `it` that takes nothing."""

    def it() -> object:
        return body()

    return airlock.tool(name="it", description="Does it.", **options)(it)


def call(body: Callable[[], object]) -> airlock.Result:
    return Host([tool_of(body)]).call("it")


@dataclass
class Sum:
    total: int


IMAGE = airlock.Image(b"\x89PNG")
LINK = airlock.Link("file:///workspace/a", "a")


@pytest.mark.parametrize(
    ("returned", "content", "details"),
    [
        (None, (), None),
        ("text", ("text",), None),
        (IMAGE, (IMAGE,), None),
        (LINK, (LINK,), None),
        ({"a": 1}, ('{"a":1}',), '{"a":1}'),
        (Sum(3), ('{"total":3}',), '{"total":3}'),
        (airlock.Result(["a", IMAGE, LINK]), ("a", IMAGE, LINK), None),
        (airlock.Result("a", details=False), ("a",), "false"),
        (airlock.Result(details=[Sum(1), b"\x00", {2}]), (), '[{"total":1},"AA==",[2]]'),
        ("lone \ud800, pair \ud83d\ude00", ("lone \ufffd, pair \U0001f600",), None),
        ({"\ud800": "ü"}, ('{"\ufffd":"ü"}',), '{"\ufffd":"ü"}'),
    ],
)
def test_what_a_tool_returns_becomes_a_result(returned: object, content: object, details: str | None) -> None:
    result = call(lambda: returned)
    assert result.content == content
    assert result.details_json == details


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def body() -> NoReturn:
        raise error

    return body


def recurse() -> object:
    return recurse()


def cycle() -> dict[str, object]:
    found: dict[str, object] = {}
    found["self"] = found
    return found


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (raising(RuntimeError("disk on fire")), "disk on fire"),
        (raising(Exception("disk on fire")), "disk on fire"),
        (raising(Exception()), "Exception"),
        (raising(KeyError("k")), "KeyError: 'k'"),
        (raising(OSError(69, "Read-only file system", "a")), "OSError: [Errno 69] Read-only file system: 'a'"),
        (raising(airlock.LimitExceeded("too many")), "too many"),
        (raising(Mute()), "Mute: Mute, whose __str__ raised ValueError"),
        (raising(MemoryError()), "MemoryError"),
        (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
        (raising(GeneratorExit()), "GeneratorExit"),
        (lambda: sys.exit(3), "it called sys.exit(3)"),
        (lambda: sys.exit(), "it called sys.exit()"),
        (recurse, "RecursionError: maximum recursion depth exceeded"),
        (lambda: 5, "TypeError: a tool can't return a value of type int: return a str, dict,"),
        (lambda: airlock.Result([5]), "TypeError: a block of a result must be a str, not int"),  # type: ignore[list-item]
        (
            lambda: {"a": float("nan")},
            "TypeError: the details of a result have no form in JSON: Out of range float values",
        ),
        (lambda: {"a": object()}, "have no form in JSON: at details.a: a value of type object has no form in JSON"),
        (
            lambda: {(1, 2): 3},
            "have no form in JSON: at details: a key of type tuple has no form in JSON: keys are str",
        ),
        (cycle, "have no form in JSON: maximum recursion depth exceeded"),
        (lambda: airlock.Image("text"), "TypeError: an image's data must be bytes, not str"),  # type: ignore[arg-type]
    ],
)
def test_whatever_goes_wrong_is_told_and_ends_no_instance(body: Callable[[], object], message: str) -> None:
    with pytest.raises(FailedError) as failed:
        call(body)
    assert message in str(failed.value)


class OwnError(Exception):
    """One of the tool's own."""


async def late() -> str:
    return "too late"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        # Not in the tool's words.
        (lambda: dict[str, str]()["x"], r"KeyError: 'x' \(test_tools\.py:\d+\)"),
        (lambda: json.loads("{"), r"JSONDecodeError: .* \(test_tools\.py:\d+\)"),
        (lambda: airlock.push("x"), r"TypeError: a push needs .* \(test_tools\.py:\d+\)"),  # type: ignore[call-overload]
        (
            lambda: airlock.push("x", apply=list, details={"a": late()}),
            r"the details .*: details\.a is a coroutine: a missing await\? \(test_tools\.py:\d+\)",
        ),
        # In the tool's words.
        (raising(RuntimeError("disk on fire")), "disk on fire"),
        (raising(OwnError("out of paper")), "OwnError: out of paper"),
        # In the host's, about a mistake of the tool's.
        (raising(airlock.InvalidAction("the label is empty")), r"the label is empty \(test_tools\.py:\d+\)"),
    ],
)
def test_what_the_tool_did_not_write_is_told_with_its_place(body: Callable[[], object], message: str) -> None:
    with pytest.raises(FailedError) as failed:
        call(body)
    assert re.fullmatch(message, str(failed.value))


@pytest.mark.filterwarnings("error")
def test_a_forgotten_await_is_refused_with_its_place() -> None:
    tool = tool_of(lambda: airlock.push("x", state={"items": [1, 2, {"x": late()}]}))
    tool.apply(lambda state: None)
    with pytest.raises(FailedError, match=r"^TypeError: state\.items\[2\]\.x is a coroutine: a missing await\? "):
        Host([tool]).call("it")
    with pytest.raises(FailedError, match=r"details\.a\[0\] is a coroutine: a missing await\?"):
        call(lambda: {"a": [late()]})


def test_a_coroutine_that_is_thrown_away_fails_the_call() -> None:
    def forgets() -> str:
        late()  # type: ignore[unused-coroutine]  # The mistake itself.
        return "Done."

    async def forgets_inside() -> str:
        return forgets()

    told = r"^`late` \(.*test_tools\.py:\d+\) was never awaited, so nothing came of it: a missing await\?$"
    for body in (forgets, forgets_inside):
        with pytest.raises(FailedError, match=told):
            call(body)


async def fails() -> None:
    await asyncio.sleep(0)
    raise ValueError("in a task")


def test_a_task_that_is_left_behind_fails_the_call() -> None:
    ended: list[bool] = []

    async def work(seconds: float) -> None:
        await asyncio.sleep(seconds)
        ended.append(True)

    async def at_once() -> str:
        asyncio.create_task(work(0))  # noqa: RUF006
        return "Done."

    async def half_way() -> str:
        asyncio.create_task(work(60))  # noqa: RUF006
        await asyncio.sleep(0.001)
        return "Done."

    told = r"^`.*work` \(.*test_tools\.py:\d+\) had not ended when the tool returned, so the rest of it is lost: await its task, or cancel it$"
    for body in (at_once, half_way):
        with pytest.raises(FailedError, match=told):
            call(body)
    assert not ended


def test_a_task_that_fails_and_that_nobody_awaits_fails_the_call() -> None:
    async def body() -> str:
        asyncio.create_task(fails())  # noqa: RUF006
        await asyncio.sleep(0.001)
        return "Done."

    told = r"^a task that nobody awaits failed: ValueError: in a task \(test_tools\.py:\d+\): a missing await\?$"
    with pytest.raises(FailedError, match=told):
        call(body)


def test_tasks_that_ended_were_cancelled_or_were_asked_are_no_mistake() -> None:
    async def ended() -> str:
        asyncio.create_task(asyncio.sleep(0))  # noqa: RUF006
        await asyncio.sleep(0.001)
        return "Done."

    async def cancelled() -> str:
        asyncio.create_task(asyncio.sleep(60)).cancel()
        return "Done."

    async def asked() -> str:
        results = await asyncio.gather(fails(), return_exceptions=True)
        return f"{results}"

    async def timed_out() -> str:
        try:
            await asyncio.wait_for(asyncio.sleep(60), 0.001)
        except TimeoutError:
            return "Too late."
        return "Done."

    for body in (ended, cancelled, asked, timed_out):
        call(body)


def test_none_is_no_result_where_the_type_hint_promises_one() -> None:
    @airlock.tool(description="Does it.")
    def promises() -> str:  # type: ignore[return]
        "too late".strip()

    @airlock.tool(description="Does it.")
    def may() -> str | None:
        return None

    host = Host([promises, may])
    with pytest.raises(
        FailedError,
        match=r"^TypeError: the tool `promises` returned None, .*: a missing return\? \(test_tools\.py:\d+\)$",
    ):
        host.call("promises")
    assert host.call("may").content == ()


def test_a_dict_that_is_an_error_of_mcp_fails_the_call() -> None:
    blocks = [{"type": "text", "text": "no such file"}, {"type": "text", "text": "try another"}]
    with pytest.raises(airlock.ToolError, match=r"^no such file\ntry another$"):
        call(lambda: {"content": blocks, "isError": True})
    assert call(lambda: {"content": blocks, "isError": False}).details is not None


def test_a_socket_says_that_there_is_no_network() -> None:
    # The module is everybody's here, so a stand-in with the same names is closed.
    stand_in = types.ModuleType("socket")
    stand_in.__dict__.update(vars(socket), socket=type("socket", (socket.socket,), {}))
    _network.close(stand_in)
    with pytest.raises(OSError, match="a tool has no network here"):
        stand_in.socket()
    with pytest.raises(socket.gaierror, match="a tool has no network here"):
        stand_in.getaddrinfo("example.com", 80)


def test_asyncio_says_that_there_is_no_network() -> None:
    async def body() -> None:
        await asyncio.open_connection("example.com", 80)

    with pytest.raises(FailedError, match="a tool has no network here"):
        call(body)


def test_what_a_tool_says_on_purpose_is_told_word_for_word() -> None:
    with pytest.raises(airlock.ToolError, match=r"^Name a file\.$"):
        call(raising(airlock.ToolError("Name a file.")))


def test_cancelled_is_no_exception_that_a_tool_catches_by_mistake() -> None:
    def body() -> None:
        try:
            airlock.check_cancelled()
        except Exception:
            raise AssertionError from None

    host = Host([tool_of(body)])
    host.call("it")
    host.cancel()
    with pytest.raises(airlock.Cancelled):
        host.call("it")


def test_params_that_do_not_fit_are_the_caller_s_to_mend() -> None:
    @airlock.tool
    def it(count: int) -> str:
        """Counts."""
        return str(count)

    with pytest.raises(airlock.ToolError, match="the params of `it` don't fit: count: 'x' is not of type integer"):
        Host([it]).call("it", count="x")
    with pytest.raises(FailedError, match="this plugin has no tool `that`; it has it"):
        Host([it]).call("that")


@dataclass
class Plan:
    words: list[str]


@airlock.tool
def plan(words: list[str]) -> str:
    """Plans."""
    airlock.push("Plan: say it", state=Plan(words), details={"words": len(words)})
    return "planned"


@plan.apply
def apply_plan(state: Plan, resolution: airlock.Resolution) -> str:
    if resolution.attempt < 2 and "flaky" in state.words:
        raise RuntimeError("not yet")
    return " ".join([*state.words, resolution.reason, str(resolution.extra)])


@plan.reject
def reject_plan(state: Plan) -> str:
    return f"unsaid: {' '.join(state.words)}"


def test_a_durable_action_outlives_its_instance() -> None:
    host = Host([plan])
    host.call("plan", words=["lone \ud800", "ü"])
    [pending] = host.pending
    assert (pending.label, pending.source_tool_name, pending.details) == ("Plan: say it", "plan", {"words": 2})
    assert pending.durable
    host.restart()
    assert host.apply("now", extra={"a": 1}).text == "lone \ufffd ü now {'a': 1}"
    assert host.pending == []


def test_a_failed_apply_is_tried_again_and_a_discard_is_told() -> None:
    host = Host([plan])
    host.call("plan", words=["flaky"])
    with pytest.raises(FailedError, match="not yet"):
        host.apply()
    assert [action.attempts for action in host.pending] == [1]
    assert host.apply("now").text == "flaky now None"
    host.call("plan", words=["nothing"])
    assert host.discard().text == "unsaid: nothing"
    assert host.pending == []


def test_closures_live_in_their_instance() -> None:
    said: list[str] = []

    def body() -> str:
        airlock.push("One", apply=lambda resolution: said.append(resolution.reason), reject=lambda: "kept")
        airlock.push("Two", apply=lambda kept="no resolution taken": kept, source_tool_name="other")
        return "held"

    host = Host([tool_of(body)])
    host.call("it")
    assert [(action.label, action.source_tool_name, action.durable) for action in host.pending] == [
        ("Two", "other", False),
        ("One", "it", False),
    ]
    assert host.apply().text == "no resolution taken"
    assert host.apply("why").content == ()
    assert said == ["why"]
    host.call("it")
    assert host.discard("no").text == "Discarded: Two. Reason: no"
    assert host.discard("no").text == "kept"
    host.call("it")
    host.restart()
    with pytest.raises(FailedError, match="the preview is gone: it was in the memory of another instance"):
        host.apply()
    assert len(host.pending) == 2


def test_a_closure_is_kept_until_its_action_is_applied() -> None:
    attempts: list[int] = []

    def apply(resolution: airlock.Resolution) -> None:
        attempts.append(resolution.attempt)
        if resolution.attempt < 3:
            raise airlock.ToolError("again")

    host = Host([tool_of(lambda: airlock.push("Again", apply=apply))])
    host.call("it")
    for _ in range(2):
        with pytest.raises(airlock.ToolError, match="again"):
            host.apply()
    host.apply()
    assert attempts == [1, 2, 3]


def test_a_push_without_a_store_raises_the_contract_s_text() -> None:
    text = "Pending action store unavailable for custom tools in this runtime."
    with pytest.raises(airlock.StoreUnavailable) as outside:
        airlock.push("Outside of a call", apply=lambda: None)
    assert str(outside.value) == text

    def caught() -> str:
        try:
            return airlock.push("No store", apply=lambda: None)
        except airlock.StoreUnavailable as unavailable:
            return f"caught: {unavailable}"

    host = Host([tool_of(caught), plan], store=False)
    assert host.call("it").text == f"caught: {text}"
    with pytest.raises(FailedError, match=f"^{text}$"):
        host.call("plan", words=[])


@pytest.mark.parametrize(
    ("push", "message"),
    [
        (lambda: airlock.push("", apply=list), "the label must be one line, not ''"),
        (
            lambda: airlock.push("x", apply=list, details={1: 2}),
            "the details of the action have no form in JSON: at details: a key of",
        ),
        (
            lambda: airlock.push("x", apply=list, details=cycle()),
            "the details of the action have no form in JSON: maximum",
        ),
        (lambda: airlock.push(5, apply=list), "TypeError: a label must be a str, not int"),  # type: ignore[call-overload]
        (lambda: airlock.push("x", apply="f"), "TypeError: `apply` must be a function, not str"),  # type: ignore[call-overload]
        (lambda: airlock.push("x"), "TypeError: a push needs `state=`, or `apply=`"),  # type: ignore[call-overload]
        (lambda: airlock.push("x", apply=list, state=1), "TypeError: a push takes either"),  # type: ignore[call-overload]
        (lambda: airlock.push("x", state=1), "the tool `it` pushes a state and has nothing to apply it with"),
    ],
)
def test_a_push_that_can_not_be_is_refused(push: Callable[[], object], message: str) -> None:
    host = Host([tool_of(push)])
    with pytest.raises(FailedError) as failed:
        host.call("it")
    assert message in str(failed.value)
    assert host.pending == []


def test_a_tool_that_promised_to_push_nothing_pushes_nothing() -> None:
    it = tool_of(lambda: airlock.push("x", apply=list), read_only=True)
    with pytest.raises(FailedError, match="the tool `it` is read_only, so it can't push an action"):
        Host([it]).call("it")


def test_a_state_that_could_not_be_applied_is_refused_when_it_is_pushed() -> None:
    it = tool_of(lambda: airlock.push("x", state={"words": [1]}))
    it.apply(apply_plan)
    with pytest.raises(FailedError, match=r"the state doesn't fit the type hint of @it.apply: words\[0\]: 1 is not of"):
        Host([it]).call("it")


@pytest.mark.parametrize(
    ("handler", "problem"),
    [
        (lambda: None, r"@it.apply decorates a function that takes \(state\) or \(state, resolution\)"),
        (lambda *states: None, r"@it.apply decorates a function that takes"),
        (apply_plan, "@it.apply is given twice"),
    ],
)
def test_a_handler_that_can_not_be_called_is_refused(handler: Callable[..., object], problem: str) -> None:
    it = tool_of(lambda: None)
    with pytest.raises(TypeError, match=problem):  # noqa: PT012
        if handler is apply_plan:
            it.apply(handler)
        it.apply(handler)


def test_async_tools_run_to_their_end() -> None:
    async def slept(number: int) -> int:
        await asyncio.sleep(0.001)
        return number

    async def body() -> airlock.Result:
        numbers = await asyncio.gather(*(slept(number) for number in range(3)))
        airlock.push("Later", apply=applied)
        return airlock.Result(details=numbers)

    async def applied(resolution: airlock.Resolution) -> str:
        return f"{await slept(1)} {resolution.reason}"

    host = Host([tool_of(body)])
    assert host.call("it").details == [0, 1, 2]
    assert host.apply("why").text == "1 why"


def test_an_async_tool_that_nothing_can_wake_says_so() -> None:
    async def body() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(FailedError, match="waits for something that can never happen here"):
        call(body)


def test_a_cancelled_call_is_a_cancelled_task() -> None:
    cleaned: list[bool] = []

    async def body() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append(True)

    host = Host([tool_of(body)])
    host.cancel()
    with pytest.raises(airlock.Cancelled):
        host.call("it")
    assert cleaned == [True]


@pytest.fixture
def handler() -> Any:
    root, level = logging.getLogger(), logging.getLogger().level
    handler = _log.HostHandler()
    root.addHandler(handler)
    root.setLevel(logging.NOTSET)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.mark.usefixtures("handler")
def test_logging_and_progress_reach_the_host() -> None:
    def body() -> None:
        logging.log(airlock.TRACE, "every %s", "step")
        logging.getLogger("library").warning("lone \ud800")
        airlock.progress("half", 1, 2)
        airlock.progress("some")

    host = Host([tool_of(body)])
    host.call("it")
    assert host.log == [(5, "every step"), (30, "library: lone \ufffd")]
    assert host.progress == [("half", 1.0, 2.0), ("some", None, None)]


@pytest.mark.usefixtures("handler")
def test_a_failure_leaves_its_traceback_in_the_log() -> None:
    host = Host([tool_of(lambda: dict[str, str]()["missing"])])
    with pytest.raises(FailedError):
        host.call("it")
    [(level, text)] = host.log
    assert level == logging.ERROR
    assert re.match(r"KeyError: 'missing' \(test_tools\.py:\d+\)\nTraceback \(most recent call last\):\n", text)
    assert "test_tools.py" in text
    assert "_dispatch.py" not in text


def test_a_call_knows_its_session() -> None:
    assert (airlock.session(), airlock.call_id(), airlock.is_cancelled()) == (None, None, False)
    airlock.progress("outside of a call")
    seen: list[object] = []
    host = Host([tool_of(lambda: seen.extend((airlock.session(), airlock.call_id())))])
    host.call("it")
    assert seen == [airlock.Session("test", "/workspace", True), "test"]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are called `it`"):
        Host([tool_of(list), tool_of(list)])
    with pytest.raises(ValueError, match=r"airlock_tool\.testing has no tool"):
        Host(sys.modules["airlock_tool.testing"])
