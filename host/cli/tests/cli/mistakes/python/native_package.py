import airlock_tool as airlock

import native


@airlock.tool
def answer() -> str:
    """Has a mistake."""
    return native.answer()
