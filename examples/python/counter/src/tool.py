"""A counter in the memory of one live instance: what it pushes is a closure, and is gone with the instance."""

from dataclasses import dataclass
from typing import Annotated

import airlock_tool as airlock


@dataclass
class Counter:
    value: int = 0
    applied: int = 0


COUNTER = Counter()


@airlock.tool
def counter(by: Annotated[int, "What to add."] = 1) -> airlock.Result:
    """Adds to a counter, when somebody has said yes. Its value lasts as long as the session."""

    def add(resolution: airlock.Resolution) -> airlock.Result:
        COUNTER.value += by
        COUNTER.applied += 1
        return airlock.Result(f"The counter is {COUNTER.value}. Reason: {resolution.reason}", details=COUNTER)

    airlock.push(
        f"Counter: add {by}",
        apply=add,
        reject=lambda: f"The counter stays at {COUNTER.value}.",
        details={"by": by},
    )
    return airlock.Result(f"The counter is {COUNTER.value}, and would be {COUNTER.value + by}.", details=COUNTER)
