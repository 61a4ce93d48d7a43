"""Files are found by a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

import airlock_tool as airlock


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**/*.{py,toml}", "pyproject.toml", True),
        ("**/*.{py,toml}", "src/deep/tool.py", True),
        ("**/*.{py,toml}", Path("src/tool.pyc"), False),
        ("src/**", "src/a/b", True),
        ("*.md", ".md", False),
        ("**", ".git/config", False),
        ("{a,{b,c}d}?", "cd", False),
        ("{a,{b,c}d}?", "cdx", True),
        ("{a", "{a", True),
        ("[ab]", "a", False),
    ],
)
def test_a_path_matches_a_pattern_or_not(pattern: str, path: Path | str, expected: bool) -> None:
    assert airlock.matches_glob(pattern, path) is expected


def test_files_are_found_sorted_and_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ["b/x.md", "b.md", "b/y.txt", ".git/z.md"]:
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text("")
    Path("a.md").symlink_to("b.md")
    assert airlock.glob("**/*.md") == [Path("b.md"), Path("b/x.md")]
