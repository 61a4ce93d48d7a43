"""The tool in plain Python, with a host in memory: `pytest` from this example's folder."""

from pathlib import Path

import pytest

import airlock_tool as airlock
import tool
from airlock_tool.testing import Host


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.jpeg", "b.jpeg", "notes.txt"):
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_plan_changes_nothing_until_it_is_applied(folder: Path) -> None:
    host = Host(tool)
    planned = host.call("batch_rename", files=["*"], find=r"\.jpeg$", replace=".jpg")
    assert planned.text.splitlines()[2:] == ["a.jpeg -> a.jpg", "b.jpeg -> b.jpg"]
    assert names(folder) == ["a.jpeg", "b.jpeg", "notes.txt"]
    # As it would be on another day.
    host.restart()
    assert host.apply().text == "Renamed 2 files."
    assert names(folder) == ["a.jpg", "b.jpg", "notes.txt"]


def test_a_discarded_plan_says_so(folder: Path) -> None:
    host = Host(tool)
    host.call("batch_rename", files=["*.jpeg"], find="jpeg", replace="jpg")
    assert host.discard("not today").text == "2 files kept their names."
    assert names(folder) == ["a.jpeg", "b.jpeg", "notes.txt"]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"files": ["*"], "find": "(", "replace": ""}, "don't work: missing )"),
        ({"files": ["*"], "find": "x", "replace": r"\1"}, "don't work: invalid group reference 1"),
        ({"files": ["*.png"], "find": "x", "replace": "y"}, "`*.png` matches no file."),
        ({"files": ["../*"], "find": "x", "replace": "y"}, "`../*` leaves the workspace"),
        ({"files": ["*"], "find": "z", "replace": "y"}, "No file would get another name"),
        ({"files": ["*"], "find": "^a.*", "replace": "b.jpeg"}, "`b.jpeg` is there already."),
        ({"files": ["*.jpeg"], "find": "^[ab]", "replace": "c"}, "2 files would be called `c.jpeg`."),
        ({"files": ["*"], "find": "^a", "replace": "up/a"}, "`a.jpeg` can't be called 'up/a.jpeg'."),
    ],
)
def test_a_plan_that_would_lose_a_file_is_refused(folder: Path, params: dict[str, object], problem: str) -> None:
    host = Host(tool)
    with pytest.raises(airlock.ToolError) as refused:
        host.call("batch_rename", **params)
    assert problem in str(refused.value)
    assert host.pending == []


def test_what_changed_since_the_preview_is_found(folder: Path) -> None:
    host = Host(tool)
    host.call("batch_rename", files=["*.jpeg"], find="jpeg", replace="jpg")
    (folder / "a.jpg").touch()
    with pytest.raises(airlock.ToolError, match="is there already"):
        host.apply()
    assert names(folder) == ["a.jpeg", "a.jpg", "b.jpeg", "notes.txt"]


def test_an_apply_that_was_cut_off_goes_on_where_it_was(folder: Path) -> None:
    host = Host(tool)
    host.call("batch_rename", files=["*.jpeg"], find="jpeg", replace="jpg")
    (folder / "a.jpeg").rename(folder / "a.jpg")
    with pytest.raises(airlock.ToolError):
        host.apply()
    assert host.apply().text == "Renamed 1 file."
    assert names(folder) == ["a.jpg", "b.jpg", "notes.txt"]
