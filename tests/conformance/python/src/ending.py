"""How a call ends."""

import logging
import os
import random
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import airlock_tool as airlock

_count = 0


@dataclass(frozen=True)
class Ending:
    how: str
    text: str = ""
    times: int = 1
    details: Any = None
    attempt: int = 1

    def end(self, resolution: airlock.Resolution | None = None) -> airlock.Result | str | None:
        match self.how:
            case "text":
                return self._say()
            case "blocks":
                image = airlock.Image(bytes(range(256)), "image/png")
                link = airlock.Link("file:///workspace/report.html", "report", "text/html")
                return airlock.Result([self.text, image, link])
            case "nothing":
                return None
            case "tool-error":
                raise airlock.ToolError(self.text)
            case "failed":
                raise RuntimeError(self.text)
            case "crash":
                os._exit(1)
            case "wait":
                airlock.progress("waiting")
                while True:
                    airlock.check_cancelled()
            case "flaky":
                attempt = resolution.attempt if resolution else 1
                if attempt < self.attempt:
                    raise RuntimeError(f"attempt {attempt} fails")
                return self._say()
            case "resolution":
                return _told(resolution) if resolution else None
            case "report":
                return self._report()
            case "count":
                return _next()
            case "push":
                airlock.push(self.text, apply=lambda: None)
                return f"pushed {self.text}"
            case "vary":
                _vary()
                return self._say()
            case "glob":
                return airlock.Result(details=self._glob())
        raise airlock.ToolError(f"no such ending: {self.how}")

    def _say(self) -> airlock.Result:
        return airlock.Result([self.text * self.times], details=self.details)

    def _glob(self) -> list[str]:
        if self.details is None:
            return [str(path) for path in airlock.glob(self.text)]
        return [path for path in self.details if airlock.matches_glob(self.text, path)]

    def _report(self) -> airlock.Result:
        logging.log(airlock.TRACE, "a trace")
        logging.debug("a debug")
        logging.info("an info")
        logging.warning("a warn")
        logging.error("an error")
        airlock.progress("half", 1, 2)
        airlock.progress("some")
        return self._say()


APPLIED = Ending("text", "applied")
NOTHING = Ending("nothing")


def _told(resolution: airlock.Resolution) -> airlock.Result:
    return airlock.Result(
        details={
            "actionId": resolution.action_id,
            "label": resolution.label,
            "sourceToolName": resolution.source_tool_name,
            "reason": resolution.reason,
            "extra": resolution.extra,
            "attempt": resolution.attempt,
        }
    )


def _vary() -> None:
    Path("varied").write_text("")
    written = os.stat("varied").st_mtime_ns
    order = list({str(number) for number in range(50)})
    Path("varied").write_text(f"{order} {random.random()} {uuid.uuid4()} {os.urandom(8)!r} {time.time_ns()} {written}")


def _next() -> str:
    global _count
    _count += 1
    return str(_count)
