"""Prints the licences of all crates that the program is compiled of: most ask for their text wherever a copy of it goes.

Usage: licenses.py, from the root of the workspace. What texts several crates share is printed once.
"""

import json
import re
import subprocess
from pathlib import Path

LICENSE = re.compile(r"(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)


def cargo(*arguments: str) -> str:
    command = ["cargo", *arguments, "--locked", "--offline"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    metadata = json.loads(cargo("metadata", "--format-version", "1"))
    host = next(line for line in subprocess.check_output(["rustc", "-vV"], text=True).splitlines() if "host: " in line)
    # Also what is compiled from C goes with a crate.
    tree = cargo(
        *["tree", "--package", "airlock-cli", "--edges", "normal", "--prefix", "none", "--format", "{p}"],
        *["--target", host.removeprefix("host: ")],
    )
    used = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    owners: dict[str, list[str]] = {}
    unknown = []
    for package in sorted(metadata["packages"], key=lambda package: (package["name"], package["version"])):
        if (package["name"], f"v{package['version']}") not in used or package["source"] is None:
            continue
        name = f"{package['name']} {package['version']} ({package['license']})"
        folder = Path(package["manifest_path"]).parent
        texts = [path for path in sorted(folder.iterdir()) if path.is_file() and LICENSE.search(path.name)]
        for path in texts:
            owners.setdefault(path.read_text(errors="replace").strip(), []).append(name)
        if not texts:
            unknown.append(name)
    print("What the program `airlock` is compiled of, beside Airlock itself, and under which licences.")
    for text, names in owners.items():
        print("", "=" * 100, *names, "=" * 100, "", text, sep="\n")
    if unknown:
        print("", "=" * 100, "Without a text of their own in their packages:", *unknown, "=" * 100, sep="\n")


main()
