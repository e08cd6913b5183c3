"""A folder with keys, orders, runs that are honest and runs that lie, and commands that are run in it.

Every run is of an order of ``inputs/`` under an exact profile, whose values, leaves and run root are the same on every
machine; or it is a stored file of another test.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from msgspec import structs
from tests.frozen.store import HERE, INPUTS

from counterfoil import LabelFlip
from counterfoil.cli import main
from counterfoil.signing.privatekeys import PrivateKey, key_from_seed
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder
from counterfoil_core.signing.statements import open_said, sign_said
from support.bundles import flip_bit
from support.heads import record_with_heads
from support.jobs import record_run, replace_bytes, set_row
from support.malicious import Trainer, record_malicious

TESTS = HERE.parent
SEEDS = {"trainer": 1, "auditor": 2, "client": 3, "other": 4, "list": 5}
"""The secrets of the keys, 32 times the same byte."""
TIME = "2026-01-01T00:00:00Z"
_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
ENVIRONMENT = {"device": "cpu", "torch": "2.13.0"}
"""What the trainer says of its machine."""
BORROWED = {
    "rounded.cfoil": "engine/golden/digits.run.cfoil",
    "rounded-order.cfoil": "engine/golden/digits.job.cfoil",
    "release-run.cfoil": "compatibility/0.9.0/run.cfoil",
    "release-lie.cfoil": "compatibility/0.9.0/lie.cfoil",
    "release-lie.capsule.cfoil": "compatibility/0.9.0/lie.capsule.cfoil",
    "turns.cfoil": "vectors/turns.cfoil",
    "stopped.cfoil": "vectors/stopped.cfoil",
    "transformer.cfoil": "vectors/transformer.cfoil",
}
"""Stored files of other tests, by the names that they have here."""


@dataclass
class FlippedBit(Trainer):
    """Hands on a state of which one bit of one weight is another one."""

    def result(self, inputs: Any, result: Any, train: Any) -> Any:
        if not self.acting:
            return result
        name = "head.weight"
        changed = result.state[name].clone()
        changed.view(torch.int32).view(-1)[-1] ^= 1
        return replace(result, state={**result.state, name: changed})


@dataclass
class OtherLoss(Trainer):
    """Records a better loss than it had."""

    def result(self, inputs: Any, result: Any, train: Any) -> Any:
        return replace(result, loss=result.loss * 0.5) if self.acting else result


@dataclass
class OtherRate(Trainer):
    """Trains with another learning rate."""

    def inputs(self, inputs: Any) -> Any:
        if not self.acting:
            return inputs
        return replace(inputs, scalars={**inputs.scalars, "lr": inputs.scalars["lr"] * 2})


def seal(path: Path, key: PrivateKey, **claim: Any) -> None:
    """Sign a run as it now is, at a moment and on a machine that never change."""
    with BundleReader.open(path) as reader:
        old, root = open_said(RunClaim, reader.claim()), run_tree(reader.step_records()).root
        signature, order = reader.order_signature(), reader.manifest.digest
    client = None if signature is None else open_said(SignedOrder, signature, order=order)
    said = {"run_root": root, "public_key": key.public.pem, "signed_at": TIME, "environment": ENVIRONMENT}
    replace_bytes(path, "/run/claim", sign_said(structs.replace(old, **(said | claim)), key))
    replace_bytes(path, "/run/acceptance", sign_said(Acceptance.of(order, client), key, _WHEN))


def _row(dataset: str, row: int, value: Any) -> Callable[[Path], None]:
    return partial(set_row, dataset=dataset, row=row, value=value)


SIGNED_AGAIN: dict[str, Callable[[Path], None]] = {
    "loss-changed.cfoil": _row("/run/losses", 2, 0.5),
    "fingerprint-changed.cfoil": partial(flip_bit, dataset="/run/fingerprints", element=5),
    "state-root-changed.cfoil": partial(flip_bit, dataset="/run/state_roots", element=40),
}
"""Changes of the honest run after which its trainer signs it again."""
CHANGED: dict[str, Callable[[Path], None]] = {
    "loss-unsigned.cfoil": _row("/run/losses", 2, 0.5),
    "checkpoint-changed.cfoil": partial(flip_bit, dataset="/run/checkpoints/0000000004/head.weight", element=3),
    "data-changed.cfoil": partial(flip_bit, dataset="/order/data/images", element=100),
    "initial-changed.cfoil": partial(flip_bit, dataset="/order/initial/head.weight", element=3),
    "schedule-changed.cfoil": partial(flip_bit, dataset="/order/schedule", element=3),
    "scalars-changed.cfoil": partial(flip_bit, dataset="/order/scalars", element=3),
    "program-changed.cfoil": partial(flip_bit, dataset="/order/program", element=300),
    "manifest-changed.cfoil": partial(flip_bit, dataset="/order/manifest", element=30),
    "claim-changed.cfoil": partial(flip_bit, dataset="/run/claim", element=300),
    "acceptance-changed.cfoil": partial(flip_bit, dataset="/run/acceptance", element=300),
    "junk.cfoil": lambda path: path.write_bytes(b"This is no bundle.\n" * 100),
    "empty.cfoil": lambda path: path.write_bytes(b""),
}
"""Changes of the honest run that nobody signs."""


@dataclass
class World:
    """The folder, and the names of files whose bytes are not the same everywhere.

    Attributes:
        folder: Where everything lies; commands are run in it.
        labels: What stands for the SHA-256 of a file, by the digits.
    """

    folder: Path
    labels: dict[str, str] = field(default_factory=dict)
    _seen: set[tuple[Path, int, int]] = field(default_factory=set)

    def key(self, name: str) -> PrivateKey:
        """A key whose secret everybody knows."""
        return key_from_seed(bytes([SEEDS[name]] * 32))

    def build(self) -> World:
        """Write keys, orders and runs."""
        for name, seed in SEEDS.items():
            private = Ed25519PrivateKey.from_private_bytes(bytes([seed] * 32))
            pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            path = self.folder / f"{name}.pem"
            path.write_bytes(pem)
            path.chmod(0o600)
            path.with_suffix(".pub.pem").write_text(self.key(name).public.pem)
        for path in INPUTS.glob("*.cfoil"):
            shutil.copy(path, self.folder / path.name)
        for name, path in BORROWED.items():
            shutil.copy(TESTS / path, self.folder / name)
        self._record()
        return self

    def _record(self) -> None:
        folder, key = self.folder, self.key("trainer")
        order = folder / "order.cfoil"
        run, _ = record_with_heads(order, folder, key)
        run.rename(folder / "run.cfoil")
        record_run(order, folder / "lie.cfoil", key, tamper=LabelFlip(3))
        record_malicious(order, folder / "weight-lie.cfoil", key, FlippedBit(4))
        record_malicious(order, folder / "rate-lie.cfoil", key, OtherRate(5))
        record_run(folder / "shares.cfoil", folder / "shared.cfoil", key)
        record_run(folder / "shares.cfoil", folder / "shared-lie.cfoil", key, tamper=LabelFlip(3, "y", 3, 2))
        record_run(folder / "other.cfoil", folder / "other-run.cfoil", key)
        for name in ("run", "lie", "weight-lie", "rate-lie", "shared", "shared-lie", "other-run"):
            seal(folder / f"{name}.cfoil", key)
        for name, change in (SIGNED_AGAIN | CHANGED).items():
            shutil.copy(folder / "run.cfoil", folder / name)
            change(folder / name)
            if name in SIGNED_AGAIN:
                seal(folder / name, key)
        shutil.copy(folder / "run.cfoil", folder / "others-run.cfoil")
        seal(folder / "others-run.cfoil", self.key("other"))
        shutil.copy(folder / "run.cfoil", folder / "wrong-root.cfoil")
        seal(folder / "wrong-root.cfoil", key, run_root=Digest.of(b"another root"))
        # A stored file: how long another one is depends on HDF5's library, and the sentence says it.
        (folder / "cut.cfoil").write_bytes((folder / "rounded.cfoil").read_bytes()[:50_000])
        np.save(folder / "row.npy", _images(folder / "run.cfoil")[:1])

    # What is printed

    def label_files(self) -> None:
        """Learn the SHA-256 of each file that lies there."""
        for path in sorted(self.folder.rglob("*")):
            seen = (path, path.stat().st_mtime_ns, path.stat().st_size)
            if path.is_file() and path.suffix in _LABELLED and seen not in self._seen:
                self._seen.add(seen)
                self.labels.setdefault(Digest.of_file(path).hex, path.name)
                if path.suffix == ".json" and (data := _payload(path)) is not None:
                    self.labels.setdefault(Digest.of(data).hex, f"the payload of {path.name}")

    def plain(self, text: str) -> str:
        """What a command printed or wrote, without what differs from machine to machine or from run to run."""
        for digits, name in self.labels.items():
            text = text.replace(digits, f"<SHA-256 of {name}>").replace(digits[:12], f"<SHA-256 of {name}, 12 digits>")
        text = text.replace(str(self.folder), "<folder>")
        for pattern, place in _PLACES:
            text = re.sub(pattern, place, text)
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines())

    def counterfoil(self, line: str, *writes: str) -> str:
        """Run a command, and return how it ended, what it printed, and the payloads of the statements it wrote."""
        with self.inside(), io.StringIO() as shown, io.StringIO() as errors:
            with redirect_stdout(shown), redirect_stderr(errors):
                code = main(line.split())
            printed, complained = shown.getvalue(), errors.getvalue()
        self.label_files()
        parts = [f"$ counterfoil {line}\nexit code {code}\n"]
        parts += [f"\n--- {name}\n{self.plain(_json_in(text))}" for name, text in
                  (("standard output", printed), ("standard error", complained)) if text]  # fmt: skip
        parts += [f"\n--- {name}\n{self.plain(self.written(name))}" for name in writes]
        return "".join(parts)

    def written(self, name: str) -> str:
        """The text of a file that a command wrote; of an envelope its payload, of JSON with a line for each value."""
        path = self.folder / name
        if not path.exists():
            return "not written\n"
        data = path.read_bytes() if (within := _payload(path)) is None else within
        return _json_in(data.decode()) if data.startswith(b"{") else data.decode()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Be in the folder, on no terminal."""
        before, environment = Path.cwd(), dict(os.environ)
        # What a usage line calls the program hangs on what was started.
        program, arguments = sys.modules["__main__"], sys.argv
        package, program.__package__ = program.__package__, None
        sys.argv = ["counterfoil"]
        os.chdir(self.folder)
        for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES", "COUNTERFOIL_PASSPHRASE"):
            os.environ.pop(name, None)
        os.environ.update(COLUMNS="100", COUNTERFOIL_SANDBOX="off", XDG_STATE_HOME=str(self.folder / "state"))
        try:
            yield
        finally:
            sys.argv, program.__package__ = arguments, package
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)


def _images(run: Path) -> Any:
    import h5py

    with h5py.File(run, "r") as file:
        return file["/order/data/images"][:]


def _payload(path: Path) -> bytes | None:
    """The payload of an envelope; None where the file is none."""
    try:
        fields = json.loads(path.read_bytes())
        return base64.b64decode(fields["payload"])
    except (ValueError, KeyError, TypeError):
        return None


_LABELLED = (".cfoil", ".json", ".jsonl", ".safetensors")
_MACHINE = ("environment", "auditor")
"""Objects of JSON whose values the auditor's machine decides; their names stay."""


def _json_in(text: str) -> str:
    """A text; if it ends in a JSON object, with what the machine decides left out of this.

    Keys stay in their order; what is not written as ``--json`` writes it, nor canonical, stays as it is.
    """
    before, brace, _ = text.partition("{")
    given = text[len(before) :]
    try:
        value = json.loads(given) if brace else None
    except ValueError:
        return text
    if value is None or (json.dumps(value, indent=2) != given.rstrip("\n") and not _is_canonical(value, given)):
        return text
    return before + json.dumps(_without_machine(value), indent=2, ensure_ascii=False) + "\n"


def _is_canonical(value: Any, given: str) -> bool:
    try:
        return canonical.encode(value) == given.encode()
    except canonical.CanonicalError:
        return False


def _without_machine(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_machine(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _without_machine(each) for name, each in value.items()}
    if "seconds" in made:
        made["seconds"] = "<seconds>"
    if isinstance(made.get("payload"), str) and "signatures" in made:
        # Of an envelope within: the clock is in what is signed.
        made["payload"] = _without_machine(json.loads(base64.b64decode(made["payload"])))
        made["signatures"] = [{**each, "sig": "<signature>"} for each in made["signatures"]]
    for name, each in made.items():
        if name in _MACHINE and isinstance(each, dict) and "device" in each:
            made[name] = dict.fromkeys(each, "<machine>")
    return made


_PLACES: Sequence[tuple[str, str]] = (
    (r"(that you know: SHA-256) [0-9a-f]{64}", r"\1 <digest>"),
    (rf"(?!{TIME})\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
    (r"\d{4}-\d\d-\d\dT[\d:]*\u2026", "<time>"),
    (r"(time of the replay +)\S.*", r"\1<seconds>"),
    # The column of the step table.
    (r"(?m)^(\d+,(?:match|mismatch|unjudged),(?:[^,\n]*,){10})[^,\n]+", r"\1<seconds>"),
)
"""What differs between two runs on one machine: times of clocks, and how long something took."""
