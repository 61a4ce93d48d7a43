import airlock_tool as airlock


@airlock.tool
def answer(path: str) -> str
    """Has a mistake."""
    return path
