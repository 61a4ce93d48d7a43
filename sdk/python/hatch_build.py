"""Packs the licence into the source archive as a file: in the repository it is a link, which hatchling would pack as one."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FollowLinks(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        files = build_data["force_include"]
        build_data["force_include"] = {str(Path(path).resolve()): name for path, name in files.items()}
