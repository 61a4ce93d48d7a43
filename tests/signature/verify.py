"""Verifies keyless bundles with PyPI's sigstore.

    verify.py CASES

CASES and the output are those of verify.mjs, without keys: this package verifies none.
It leaves it to its caller to compare the subject of a statement, so this program does.
"""

import hashlib
import json
import logging
import sys
from pathlib import Path

from sigstore.hashes import HashAlgorithm, Hashed
from sigstore.models import Bundle, TrustedRoot
from sigstore.verify import Verifier
from sigstore.verify.policy import UnsafeNoOp

logging.disable()


def verify(case):
    contents = Path(case["contents"]).read_bytes()
    digest = hashlib.sha256(contents).digest()
    verifier = Verifier(trusted_root=TrustedRoot.from_file(case["root"]))
    bundle = Bundle.from_json(Path(case["bundle"]).read_text())
    if bundle._inner.message_signature is not None:
        verifier.verify_artifact(Hashed(algorithm=HashAlgorithm.SHA2_256, digest=digest), bundle, UnsafeNoOp())
    else:
        _, payload = verifier.verify_dsse(bundle, UnsafeNoOp())
        subjects = json.loads(payload)["subject"]
        if not any(one["digest"].get("sha256") == digest.hex() for one in subjects):
            raise ValueError("another subject")


for case in json.loads(Path(sys.argv[1]).read_text()):
    try:
        verify(case)
        print("ok")
    except Exception as error:  # noqa: BLE001
        print("refused", type(error).__name__, str(error).replace("\n", " ")[:300])
