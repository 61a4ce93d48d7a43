"""Who decides: the three ways in which the day is spent with Airlock."""

from __future__ import annotations

# An operator's file for a project in Python. What no rule lets through is asked, as without rules.
RULES = """\
decide = "person"

[[rule]]
name = "deletions"
kinds = ["deleted"]
then = "ask"

[[rule]]
name = "code, tests and pages"
paths = ["src/", "tests/", "docs/", "changelog.d/", "README.md"]
max-files = 15
then = "allow"
"""

CONFIGURATIONS = {
    "a person": 'decide = "person"\n',
    "a person, with rules": RULES,
    "the model": 'decide = "model"\n',
}
