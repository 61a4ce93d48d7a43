"""The conformance suite's tool, as tests/conformance/README.md has it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import airlock_tool as airlock
from ending import APPLIED, NOTHING, Ending

Ended = airlock.Result | str | None


@airlock.tool(read_only=True)
def answer(end: Ending) -> Ended:
    """Ends at once."""
    return end.end()


@dataclass
class Staged:
    apply: Ending
    reject: Ending
    pad: str


@airlock.tool(destructive=True)
def stage(
    label: str, details: Any = None, apply: Ending = APPLIED, reject: Ending = NOTHING, pad: int = 0
) -> airlock.Result:
    """Pushes a durable action."""
    airlock.push(label, state=Staged(apply, reject, "x" * pad), details=details, source_tool_name="stage")
    return airlock.Result([f"staged {label}"])


@stage.apply
def apply_staged(staged: Staged, resolution: airlock.Resolution) -> Ended:
    return staged.apply.end(resolution)


@stage.reject
def reject_staged(staged: Staged, resolution: airlock.Resolution) -> Ended:
    return staged.reject.end(resolution)


@airlock.tool
def stage_quietly(label: str, apply: Ending = APPLIED) -> airlock.Result:
    """Pushes a durable action that nothing is told of when it is discarded."""
    airlock.push(label, state=apply, source_tool_name="stage_quietly")
    return airlock.Result([f"staged {label}"])


@stage_quietly.apply
def apply_quietly(ending: Ending, resolution: airlock.Resolution) -> Ended:
    return ending.end(resolution)


@dataclass
class Held:
    label: str
    source: str | None = None
    details: Any = None
    unwritable: bool = False
    apply: Ending = APPLIED
    reject: Ending | None = None


@airlock.tool
def hold(actions: list[Held], catch: bool = False) -> airlock.Result:
    """Pushes volatile actions."""
    told, ids = [], []
    for action in actions:
        try:
            ids.append(_push(action))
        except airlock.PushError as refused:
            if not catch:
                raise
            told.append(f"refused: {refused}")
        else:
            told.append(f"pushed {action.label}")
    return airlock.Result(told, details={"ids": ids})


def _push(action: Held) -> str:
    return airlock.push(
        action.label,
        apply=_ends(action.apply),
        reject=_ends(action.reject) if action.reject else None,
        details={("a", "list"): 1} if action.unwritable else action.details,
        source_tool_name=action.source,
    )


def _ends(ending: Ending) -> Callable[[airlock.Resolution], Ended]:
    return lambda resolution: ending.end(resolution)


@airlock.tool(read_only=True)
def surroundings() -> airlock.Result:
    """Says what the tool knows of its session."""
    session = airlock.session()
    assert session is not None
    return airlock.Result(
        details={
            "id": session.id,
            "workspace": session.workspace,
            "hasPendingStore": session.has_pending_store,
        }
    )


@airlock.tool(hidden=True, read_only=True)
def whisper(text: str) -> str:
    """Says it in capital letters."""
    return text.upper()
