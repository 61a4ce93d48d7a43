"""Makes a workspace of unpacked crates, which depend on each other and on nothing else of ours.

Usage: packed_crates.py FOLDER, from the root of the workspace that they were packed in.

What is not published has a stand-in there, without sources: its dependencies are part of what decides the features of all others, by which
cargo knows what it has compiled already.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

KINDS = {None: "dependencies", "dev": "dev-dependencies", "build": "build-dependencies"}


def main(folder: Path) -> None:
    described = subprocess.run(
        ["cargo", "metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"],
        check=True,
        capture_output=True,
    )
    packages = json.loads(described.stdout)["packages"]
    ours = {package["name"] for package in packages}
    published = [package for package in packages if package["publish"] is None]
    for package in packages:
        if package not in published:
            add_stand_in(folder / package["name"], package, ours)
    (folder / "Cargo.toml").write_text(manifest(published))


def manifest(published: list[dict[str, Any]]) -> str:
    lines = ["[workspace]", 'resolver = "3"', 'members = ["*"]', "", "[patch.crates-io]"]
    lines += [f'{package["name"]} = {{ path = "{package["name"]}-{package["version"]}" }}' for package in published]
    text = Path("Cargo.toml").read_text()
    return "\n".join([*lines, "", text[text.index("[profile.") :]])


def add_stand_in(folder: Path, package: dict[str, Any], ours: set[str]) -> None:
    lines = ["[package]", f'name = "{package["name"]}"', 'version = "0.0.0"', 'edition = "2024"', "publish = false"]
    for dependency in package["dependencies"]:
        if dependency["name"] not in ours:
            lines += [
                "",
                f"[{KINDS[dependency['kind']]}.{dependency['name']}]",
                f'version = "{dependency["req"]}"',
                f"default-features = {json.dumps(dependency['uses_default_features'])}",
                f"features = {json.dumps(dependency['features'])}",
            ]
    (folder / "src").mkdir(parents=True)
    (folder / "src/lib.rs").touch()
    (folder / "Cargo.toml").write_text("\n".join([*lines, ""]))


main(Path(sys.argv[1]))
