"""asyncio in a component, where nothing happens but the passing of time."""

from __future__ import annotations

import asyncio
import time
from asyncio import base_events
from collections.abc import Awaitable
from typing import Any

from airlock_tool import _awaited, _network
from airlock_tool._call import is_cancelled
from airlock_tool._errors import Cancelled, told

# How long a cancelled call may sleep before it hears of it, in seconds; the host waits for 250 ms.
_NAP = 0.05


def run(awaitable: Awaitable[Any]) -> Any:
    """What an awaitable comes to.

    Where the host cancels the call, its task is cancelled, as tasks of asyncio are.

    # Raises
    - Cancelled where it was cancelled
    - RuntimeError where it waits for what nothing can bring about, and where it left a task behind that had not ended, or
      that failed and that nobody asked
    - whatever it raises
    """
    loop = _Loop()
    try:
        asyncio.set_event_loop(loop)
        loop.main = loop.create_task(_await(awaitable))
        try:
            returned = loop.run_until_complete(loop.main)
            loop.main = None
            loop.check_left()
            return returned
        except asyncio.CancelledError:
            if loop.cancelled_by_host:
                raise Cancelled from None
            raise
        finally:
            loop.finish()
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


class _Loop(base_events.BaseEventLoop):
    """asyncio's own loop, with a clock and no files to wait for."""

    def __init__(self) -> None:
        super().__init__()
        # What the base class asks of whoever derives from it: see its `_run_once`.
        self._selector = _Clock(self)
        self.main: asyncio.Task[Any] | None = None
        self.cancelled_by_host = False
        self._failed: list[BaseException] = []
        """Of tasks that nobody asked for their results."""
        self.set_exception_handler(self._note)

    def _note(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What asyncio says of a task or future as it is thrown away, among others."""
        error = context.get("exception")
        if isinstance(error, Exception) and str(context.get("message", "")).endswith(" exception was never retrieved"):
            self._failed.append(error)
        else:
            self.default_exception_handler(context)

    def check_left(self) -> None:
        """Looks at the tasks that the tool left behind: what they had to do is lost.

        # Raises
        RuntimeError for one that failed, or that has not ended and was not cancelled.
        """
        if self._failed:
            error = self._failed[0]
            raise RuntimeError(
                f"a task that nobody awaits failed: {told(error, always=True)}: a missing await?"
            ) from error
        left = [task for task in asyncio.all_tasks(self) if not task.cancelling()]
        if left:
            # They are called Task-2, Task-10 and so on as they are made.
            first = min(left, key=lambda task: (len(task.get_name()), task.get_name()))
            raise RuntimeError(
                f"{_awaited.describe(first.get_coro())} had not ended when the tool returned, so the rest of it is lost: "
                "await its task, or cancel it"
            )

    def _process_events(self, event_list: object) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    # They would ask for threads or a selector.
    create_connection = create_datagram_endpoint = create_server = _network.refuse_later
    getaddrinfo = getnameinfo = sock_connect = _network.refuse_later

    def cancel_main(self) -> bool:
        """Cancels the task once, if the host has cancelled the call; says whether it did so now."""
        if self.cancelled_by_host or self.main is None or not is_cancelled():
            return False
        self.cancelled_by_host = True
        return self.main.cancel()

    def finish(self) -> None:
        """Cancels what the task left behind, as `asyncio.run` does."""
        left = asyncio.all_tasks(self)
        for task in left:
            task.cancel()
        if left:
            self.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.run_until_complete(self.shutdown_asyncgens())


class _Clock:
    """Takes the place of a selector."""

    def __init__(self, loop: _Loop) -> None:
        self._loop = loop
        self._is_first = True

    def select(self, timeout: float | None) -> list[Any]:
        # A task that is cancelled before its first step, never hears of it.
        if self._is_first:
            self._is_first = False
            return []
        if self._loop.cancel_main():
            return []
        if timeout is None:
            raise RuntimeError("an async tool waits for something that can never happen here")
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _NAP))
            if self._loop.cancel_main():
                break
        return []
