"""Python's `logging`, into the host's log."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from airlock_tool._call import CURRENT
from airlock_tool._text import utf8

TRACE = 5
"""A level of `logging` below `DEBUG`, for following every step: the host's `trace`."""


# Where the modules of a component lay when it was built: no place that means anything to who reads
# a traceback.
_ROOT = Path(__file__).parent.parent


class HostHandler(logging.Handler):
    """Hands each record to the host that the current call came from; outside of a call, to the standard error.

    `install` adds one to the root logger of a component. The message of a root logger's record goes as it is, with those of others
    goes the logger's name.
    """

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = utf8(self.format(record))
            call = CURRENT.get()
            if call is None:
                print(f"{record.levelname}: {message}", file=sys.stderr)
            else:
                call.host.log(record.levelno, message)
        except Exception:
            self.handleError(record)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record).replace(f'File "{_ROOT}/', 'File "')
        return text if record.name in ("root", "airlock_tool") else f"{record.name}: {text}"


def install() -> None:
    """Sends whatever is logged to the host, which decides what is shown."""
    logging.addLevelName(TRACE, "TRACE")
    root = logging.getLogger()
    root.addHandler(HostHandler())
    root.setLevel(logging.NOTSET)
    # What goes wrong with a log line must not end up in the log again.
    logging.raiseExceptions = False
