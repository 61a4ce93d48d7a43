"""Packs the program for those who have no compiler: an archive, a wheel for Python, and a package for npm.

Usage: pack.py STAGE OUT TARGET

STAGE has what goes into each: airlock, man/man1, completions, and texts. The same contents and SOURCE_DATE_EPOCH make the same packages,
to the byte.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# On PyPI and npm; `airlock-cli` is somebody else's on PyPI. RELEASING.md has all names.
NAME = "airlock-command"
SUMMARY = "Runs WebAssembly tools that cannot have an effect before somebody has decided: the command airlock"
KEYWORDS = ["wasm", "plugin", "agent", "cli", "approval"]
# What a wheel for glibc may expect of any machine.
LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
# As npm names them.
CPUS = {"x86_64": "x64", "aarch64": "arm64"}

Entry = tuple[str, bytes, int]


@dataclass
class Program:
    """What is packed, and for whom."""

    entries: list[Entry]
    version: str
    target: str
    glibc: tuple[int, int]

    @property
    def cpu(self) -> str:
        return self.target.split("-")[0]


def main(stage: Path, out: Path, target: str) -> None:
    program = look_at(stage, target)
    print(f"airlock {program.version} for {target}, which needs glibc {program.glibc[0]}.{program.glibc[1]} or later")
    archive(program, out)
    wheel(program, out)
    npm(program, out)


def look_at(stage: Path, target: str) -> Program:
    binary = stage / "airlock"
    said = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True)
    version = said.stdout.split()[1]
    glibc = oldest_glibc(binary)
    if not target.endswith("-linux-gnu") or target.split("-")[0] not in CPUS:
        sys.exit(f"error: there are no packages for {target}")
    filled = {
        b"@VERSION@": version,
        b"@PLATFORM@": f"Linux on {target.split('-')[0]}",
        b"@GLIBC@": f"{glibc[0]}.{glibc[1]}",
    }
    entries = []
    for path in sorted(path for path in stage.rglob("*") if path.is_file()):
        contents = path.read_bytes()
        if path.name == "README.md":
            for mark, text in filled.items():
                contents = contents.replace(mark, text.encode())
        entries.append((str(path.relative_to(stage)), contents, 0o755 if path == binary else 0o644))
    return Program(entries, version, target, glibc)


def oldest_glibc(binary: Path) -> tuple[int, int]:
    """The glibc that has every symbol that the binary asks for."""
    described = subprocess.run(["objdump", "-p", binary], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED +(\S+)", described))
    if not needed <= LIBRARIES:
        sys.exit(f"error: the program needs {', '.join(sorted(needed - LIBRARIES))}, which not every machine has")
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", described)
    return max((int(major), int(minor)) for major, minor in versions)


def archive(program: Program, out: Path) -> None:
    top = f"airlock-{program.version}-{program.target}"
    write_tar(out / f"{top}.tar.gz", ((f"{top}/{name}", contents, mode) for name, contents, mode in program.entries))


def npm(program: Program, out: Path) -> None:
    pages = [name for name, _, _ in program.entries if name.startswith("man/")]
    manifest = {
        "name": NAME,
        "version": program.version,
        "description": SUMMARY,
        "license": "Apache-2.0",
        "keywords": KEYWORDS,
        "os": ["linux"],
        "cpu": [CPUS[program.cpu]],
        "libc": ["glibc"],
        "bin": {"airlock": "bin/airlock"},
        "man": [f"./{page}" for page in pages],
    }
    entries = [("package.json", (json.dumps(manifest, indent=2) + "\n").encode(), 0o644)]
    for name, contents, mode in program.entries:
        entries.append((f"bin/{name}" if name == "airlock" else name, contents, mode))
    write_tar(
        out / f"{NAME}-{program.version}.tgz", ((f"package/{name}", contents, mode) for name, contents, mode in entries)
    )


def wheel(program: Program, out: Path) -> None:
    package = f"{NAME.replace('-', '_')}-{program.version}"
    tag = f"py3-none-manylinux_{program.glibc[0]}_{program.glibc[1]}_{program.cpu}"
    data, info = f"{package}.data", f"{package}.dist-info"
    places = {
        "airlock": f"{data}/scripts/airlock",
        "completions/airlock.bash": f"{data}/data/share/bash-completion/completions/airlock",
        "completions/airlock.fish": f"{data}/data/share/fish/vendor_completions.d/airlock.fish",
        "completions/_airlock": f"{data}/data/share/zsh/site-functions/_airlock",
        "LICENSE": f"{info}/licenses/LICENSE",
        "THIRD-PARTY-LICENSES": f"{info}/licenses/THIRD-PARTY-LICENSES",
    }
    readme = b""
    entries = []
    for name, contents, mode in program.entries:
        if name == "README.md":
            readme = contents
        else:
            entries.append((places.get(name, f"{data}/data/share/{name}"), contents, mode))
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {program.version}",
        f"Summary: {SUMMARY}",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "License-File: THIRD-PARTY-LICENSES",
        f"Keywords: {','.join(KEYWORDS)}",
        "Classifier: Environment :: Console",
        "Classifier: Operating System :: POSIX :: Linux",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
        "",
        "",
    ]
    about = ["Wheel-Version: 1.0", "Generator: airlock pack.py", "Root-Is-Purelib: false", f"Tag: {tag}", ""]
    entries.append((f"{info}/METADATA", "\n".join(metadata).encode() + readme, 0o644))
    entries.append((f"{info}/WHEEL", "\n".join(about).encode(), 0o644))
    entries.append((f"{info}/RECORD", record(entries, f"{info}/RECORD"), 0o644))
    with zipfile.ZipFile(out / f"{package}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, contents, mode in entries:
            entry = zipfile.ZipInfo(name, time.gmtime(epoch())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whatever this is packed on
            entry.external_attr = (0o100000 | mode) << 16
            packed.writestr(entry, contents)


def record(entries: list[Entry], itself: str) -> bytes:
    lines = []
    for name, contents, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(contents)}\n")
    return "".join([*lines, f"{itself},,\n"]).encode()


def write_tar(path: Path, entries: Iterable[Entry]) -> None:
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, mtime=epoch()) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, contents, mode in entries:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(contents), mode, epoch()
            entry.uname = entry.gname = "root"
            tar.addfile(entry, io.BytesIO(contents))


def epoch() -> int:
    return int(os.environ["SOURCE_DATE_EPOCH"])


main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
