"""A person who takes longer than their client lets a call take, with each client in Python, in each era of the protocol, over
stdio and over HTTP: no decision is lost, none is made up, and nothing hangs.

Usage: late.py [LIMIT]    the clients' time limit for a call, in seconds [default: 6]. late.mjs says how long the rest takes
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import Any

import mcp
from kinds import APPLY, KINDS, RENAME, Person, Result
from serving import Http, Place, Stdio

LIMIT = float(sys.argv[1]) if len(sys.argv) > 1 else 6.0
LONG = LIMIT * 20 / 6 if LIMIT < 60 else LIMIT * 10
THINKS = [LIMIT * 55 / 60, LIMIT * 65 / 60, LONG]


async def thinks_after(kind: Any, place: Place, door: Stdio | Http, decision: str, thinks: float) -> None:
    """The model wants its preview applied, and the person decides after some time."""
    person = Person(decision, thinks)
    async with AsyncExitStack() as stack:
        client = await kind.connect(stack, door, person)
        await kind.call(client, "batch_rename_preview", RENAME)
        told = [await within_limit(kind, client)]
        if "still being asked" in told[0] or told[0].startswith("failed"):
            names = place.names()
            assert names == ["a.jpeg"] or person.answered.is_set(), "nobody has decided yet"
            await person.answered.wait()
            async with asyncio.timeout(30):
                # The outcome is told with the first call after it.
                while "answered since" not in told[-1]:
                    told.append((await kind.call(client, "list_pending", {})).text)
        expected = "Applied batch rename" if decision == "apply" else "discarded it instead"
        assert expected in told[-1], (told[0], told[-1])
        assert place.names() == (["a.jpg"] if decision == "apply" else ["a.jpeg"]), told[-1]
        assert len(person.asked) == 1, person.asked
        listed: Result = await kind.call(client, "list_pending", {})
        assert listed.text == "Nothing is pending.", listed
    [logged] = json.loads(place.airlock("log", "--all", "--json"))["log"]
    assert logged["resolved"]["reason"] == "their own", logged
    assert logged["resolved"]["decidedBy"]["evidence"] == "client", logged


async def within_limit(kind: Any, client: Any) -> str:
    """What the model hears of its `resolve`, within the client's limit."""
    try:
        result: Result = await kind.call(client, "resolve", APPLY, LIMIT)
    except (mcp.MCPError, TimeoutError) as error:
        return f"failed: {error}"
    return result.text


async def over_stdio(kind: Any, options: list[str], decision: str, thinks: float) -> None:
    place = Place()
    await thinks_after(kind, place, Stdio(place, *options), decision, thinks)


async def over_http(kind: Any, options: list[str], decision: str, thinks: float) -> None:
    place = Place()
    async with place.serving(*options) as url:
        await thinks_after(kind, place, Http(url, "ann"), decision, thinks)


async def main() -> None:
    trials = {}
    for kind in KINDS:
        for at, thinks in enumerate(THINKS):
            decision = "discard" if at == 1 else "apply"
            # The server ends the call before the client does, or the client before the server.
            for patience in [LIMIT * 5 / 6, 86400][: 2 if thinks > LIMIT else 1]:
                for way in (over_stdio, over_http):
                    named = f"{kind.name}, {decision} after {thinks} s, --answer-within {patience}, {way.__name__}"
                    trial = way(kind, ["--answer-within", str(patience)], decision, thinks)
                    trials[named] = asyncio.wait_for(trial, LONG + 120)
    ends = await asyncio.gather(*trials.values(), return_exceptions=True)
    failed = {named: end for named, end in zip(trials, ends, strict=True) if end is not None}
    for named, end in failed.items():
        print(f"{named}: {end!r}", file=sys.stderr)
    print(f"{len(ends) - len(failed)} of {len(ends)} late decisions counted, and the model heard of each")
    sys.exit(1 if failed else 0)


asyncio.run(main())
