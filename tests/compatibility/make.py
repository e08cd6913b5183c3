"""Makes the folder of this version: an order, a run, a run that lies, its capsule, and what was signed about them.

Run it once for a version, when it is released: ``python -m tests.compatibility.make``. What is there is never made
again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import counterfoil
from counterfoil import Digest
from counterfoil.cli import main as counterfoil_command
from counterfoil.signing.kinds import ReleaseList
from counterfoil.signing.privatekeys import load_private_key
from counterfoil_core.signing.statements import sign_said

HERE = Path(__file__).resolve().parent
STEPS, WRONG = 4, 3


def command(*words: str, ends: int = 0) -> None:
    """Run a command; exits where it ends otherwise than it should."""
    if counterfoil_command(list(words)) != ends:
        sys.exit(f"{words} did not end with {ends}")


def make(folder: Path) -> None:
    """Make the files of this version in a folder, which must not be there."""
    folder.mkdir()
    for party in ("trainer", "auditor", "builder"):
        command("keygen", str(folder / f"{party}.pem"), "--no-passphrase")
    order = str(folder / "order.cfoil")
    command(
        "order", "digits-cnn", "--out", order, "--steps", str(STEPS), "--width", "2", "--batch-size", "4",
        "--checkpoint-every", "2",
    )  # fmt: skip
    key = load_private_key(folder / "trainer.pem", None)
    for name, tamper in (("run", None), ("lie", counterfoil.LabelFlip(WRONG))):
        for _ in counterfoil.record(Path(order), folder / f"{name}.cfoil", key, tamper=tamper):
            pass
    signed = ("--key", str(folder / "auditor.pem"), "--verdict")
    command("audit", str(folder / "run.cfoil"), "--order", order, *signed, str(folder / "run.verdict.json"))
    command(
        "audit", str(folder / "lie.cfoil"), "--order", order, *signed, str(folder / "lie.verdict.json"),
        "--capsule", str(folder / "lie.capsule.cfoil"), ends=1,
    )  # fmt: skip
    command(
        "adjudicate", str(folder / "lie.capsule.cfoil"), *signed, str(folder / "lie.adjudication.json"), ends=1
    )  # fmt: skip
    listed = {path.name: Digest.of_file(path) for path in sorted(folder.glob("*.cfoil"))}
    release = sign_said(
        ReleaseList(counterfoil.__version__, "0" * 40, listed), load_private_key(folder / "builder.pem", None)
    )
    (folder / "files.release.json").write_bytes(release)
    # Nobody signs with them again: only what was signed is kept.
    for party in ("trainer", "auditor", "builder"):
        (folder / f"{party}.pem").unlink()
    digests = {path.name: Digest.of_file(path).hex for path in sorted(folder.iterdir())}
    (folder / "digests.json").write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    make(HERE / counterfoil.__version__)
