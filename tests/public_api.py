"""Which crates' types are in the public interface of ours, by rustdoc's JSON: see tests/public-api."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OWN = "airlock_"

# What may be in any interface.
EVERYWHERE = {"alloc", "core", "std"}

# Ours, and what of others is in its interface, each on purpose.
NAMED: dict[str, dict[str, str]] = {
    "airlock_model": {
        "bytes": "a plugin's bytes are shared, not copied",
        "serde_core": "values are written and read",
        "getrandom": "the cause of a `HostError`",
        "globset": "rules compile many patterns together",
        "schemars": "patterns and wants have a JSON Schema",
        "serde_json": "params and what comes with a decision are JSON",
        "tokio": "causes of a `HostError`",
    },
    "airlock_render": {
        "anstyle": "colours",
        "serde_core": "JSON is escaped as it is written",
        "serde_json": "JSON is shown",
    },
    "airlock_store_sqlite": {},
    "airlock_store_postgres": {},
    "airlock_worker": {},
    "airlock_workspace": {"serde_core": "change sets and read sets are written and read"},
    "airlock_host": {
        "serde_json": "params",
        "tokio_util": "`CancellationToken`, by which a call is cancelled",
        "wasmtime": "`Engine::wasmtime`, the one way around",
    },
    "airlock_ast_edit": {"serde_json": "params"},
    "airlock_rules": {"schemars": "rules have a JSON Schema", "serde_core": "rules are read and written"},
    "airlock_registry": {
        "bytes": "components and signatures are sent without a copy",
        "futures_core": "`BoxFuture`, another name for a boxed future",
        "serde_core": "references and places are read and written",
    },
    "airlock_desk": {
        "etcetera": "the cause of `Error::NoPlace`",
        "schemars": "the operator's file has a JSON Schema",
        "serde_core": "records are written, and the operator's file is read",
        "tokio_util": "`CancellationToken`",
    },
    "airlock_signature": {"schemars": "signers have a JSON Schema", "serde_core": "signers are read and written"},
    "airlock_serve": {"tokio": "`TcpListener`", "tokio_util": "`CancellationToken`"},
    "airlock_author": {
        "anyhow": "what went wrong, with its causes",
        "serde_core": "values are written and read",
        "tokio_util": "`CancellationToken`",
    },
    "airlock_test_kit": {
        "schemars": "the report has a JSON Schema",
        "serde_core": "values are written and read",
        "serde_json": "params",
    },
}


def types(value: Any) -> Iterator[int]:
    """The ids of all types and traits that a part of rustdoc's JSON names."""
    if isinstance(value, dict):
        path = value.get("resolved_path")
        if isinstance(path, dict) and "id" in path:
            yield path["id"]
        trait = value.get("trait")
        if isinstance(trait, dict) and "id" in trait:
            yield trait["id"]
        for part in value.values():
            yield from types(part)
    elif isinstance(value, list):
        for part in value:
            yield from types(part)


def is_written(item: dict[str, Any], inner: dict[str, Any]) -> bool:
    """Whether somebody wrote it so: not what is implemented for whatever fits."""
    implementation = inner.get("impl")
    return implementation is None or not (implementation["is_synthetic"] or implementation["blanket_impl"])


def foreign(document: dict[str, Any]) -> dict[str, set[str]]:
    """The crates that items of this one name, each with the names of these items."""
    index, paths = document["index"], document["paths"]
    crates = {str(number): crate["name"] for number, crate in document["external_crates"].items()}
    found: dict[str, set[str]] = {}
    for item in index.values():
        inner = item["inner"]
        is_public = item["visibility"] in ("public", "default")
        if item["crate_id"] != 0 or not is_public or "module" in inner or not is_written(item, inner):
            continue
        if "impl" in inner:
            # Its trait is no part of what others must name to use the type; its functions are items
            # of their own.
            continue
        for name in types(inner):
            path = paths.get(str(name))
            if path is None or path["crate_id"] == 0:
                continue
            crate = crates[str(path["crate_id"])]
            if crate not in EVERYWHERE and not crate.startswith(OWN):
                found.setdefault(crate, set()).add(f"{item['name']} has {'::'.join(path['path'])}")
    return found


def main() -> None:
    """Compares what there is with what is named."""
    folder = Path(sys.argv[1])
    problems = []
    for ours, named in NAMED.items():
        document = json.loads((folder / f"{ours}.json").read_text())
        found = foreign(document)
        print(f"{ours}: {', '.join(sorted(found)) or 'nothing of others'}")
        problems += [
            f"{ours}: {place}" for crate in sorted(found.keys() - named.keys()) for place in sorted(found[crate])
        ]
        problems += [f"{ours}: nothing of {crate} is there any more" for crate in sorted(named.keys() - found.keys())]
    if problems:
        print("\nnot named on purpose, in tests/public_api.py:", *problems, sep="\n  ", file=sys.stderr)
        sys.exit(1)


main()
