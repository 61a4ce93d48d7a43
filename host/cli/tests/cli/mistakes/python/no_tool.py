import airlock_tool


def answer() -> str:
    """Has a mistake."""
    return "Answered."
