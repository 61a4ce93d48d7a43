import airlock_tool as airlock


@airlock.tool
def answer(size: complex) -> str:
    """Has a mistake."""
    return str(size)
