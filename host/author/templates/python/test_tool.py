"""The tool in plain Python, with a host in memory.

These tests say what this tool is for, word for word and byte for byte. They fail as soon as it does
anything else: when you make another tool of it, change them first, and see them fail. A test that a
different tool passes too would protect nobody.
"""

from pathlib import Path

import pytest

import airlock_tool as airlock
import tool
from airlock_tool.testing import Host


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes.txt"
    notes.write_text("One\n")
    return notes


def test_a_line_is_added_once_somebody_agreed(notes: Path) -> None:
    host = Host(tool)
    assert host.call("{{tool}}", path="notes.txt", line="Two").text == "Would add to notes.txt: Two"
    # A preview shows, and changes nothing.
    assert notes.read_text() == "One\n"
    assert host.apply("it is right").text == "Added a line to notes.txt. Reason: it is right"
    assert notes.read_text() == "One\nTwo\n"


def test_a_file_that_changed_since_the_preview_is_left_alone(notes: Path) -> None:
    host = Host(tool)
    host.call("{{tool}}", path="notes.txt", line="Two")
    notes.write_text("Three\n")
    with pytest.raises(airlock.ToolError, match="changed since the preview"):
        host.apply()
    assert notes.read_text() == "Three\n"
