"""Python's sockets in a component, where there is no network: an error of theirs says so."""

from __future__ import annotations

import errno
import types
from typing import Any, Never

TEXT = "a tool has no network here: it gets what it needs as params, or as files of the workspace"


def refuse(*_: object, **__: object) -> Never:
    """In place of what would reach a network.

    # Raises
    OSError, always.
    """
    raise OSError(errno.ENETUNREACH, TEXT)


async def refuse_later(*_: object, **__: object) -> Never:
    """The same, for what is awaited."""
    refuse()


def close(socket: types.ModuleType) -> None:
    """Has the module `socket` refuse, in the words of this page."""

    def refuse_name(*_: object, **__: object) -> Never:
        raise socket.gaierror(socket.EAI_FAIL, TEXT)

    module: Any = socket
    module.socket.__init__ = refuse
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
        if hasattr(module, name):
            setattr(module, name, refuse_name)


def close_urls(request: types.ModuleType) -> None:
    """Has the module `urllib.request` refuse addresses like https, for which a component has no library either."""

    def refuse_address(*_: object) -> Never:
        raise OSError(errno.ENETUNREACH, TEXT)

    module: Any = request
    module.UnknownHandler.unknown_open = refuse_address


CLOSED = {"socket": close, "urllib.request": close_urls}
"""What is done to which module once it is imported."""
