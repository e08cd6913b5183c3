"""What is done while calls fail: each command with its files, what it must end with, and what its outputs must be."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterfoil.audit.parts.partfile import read_part
from counterfoil.signing.privatekeys import load_private_key
from counterfoil.training.recorder import record
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.bundle.capsule import CapsuleReader
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.statement.verdict import verify_signed
from support.fork_server import ForkServer

STEPS = 4
SMALL = ("--steps", STEPS, "--width", 4, "--batch-size", 8, "--checkpoint-every", 2)


@dataclass(frozen=True)
class Work:
    """A command that is tried.

    Attributes:
        name: What the table calls it.
        arguments: Those of ``counterfoil``, in a folder of its own.
        code: The exit code that is right.
        inputs: Files that it reads, copied into its folder.
        outputs: Files that it writes: each is absent, or whole.
        resume: What is added to go on where it stopped.
        signs: Whether a process of its own holds the key.
    """

    name: str
    arguments: tuple[str, ...]
    code: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    resume: tuple[str, ...] = ()
    signs: bool = True


_KNOWN = ("--order", "order.cfoil", "--trainer-key", "trainer.pub.pem")
_VERDICT = ("--verdict", "verdict.json", "--key", "auditor.pem")
_READS = ("order.cfoil", "trainer.pub.pem", "auditor.pem", "auditor.pub.pem")
_AUDIT = (*_KNOWN, *_VERDICT, "--csv", "steps.csv", "--progress", "kept")

WORKS = (
    Work("order", ("order", "digits-cnn", "--out", "new.cfoil", *map(str, SMALL)), 0, (), ("new.cfoil",), signs=False),
    Work(
        "train",
        ("train", "order.cfoil", "--out", "new.cfoil", "--key", "trainer.pem", "--heads", "heads.jsonl"),
        0,
        ("order.cfoil", "trainer.pem"),
        ("new.cfoil",),
        ("--resume",),
    ),
    Work(
        "audit of an honest run",
        ("audit", "run.cfoil", *_AUDIT),
        0,
        ("run.cfoil", *_READS),
        ("verdict.json", "steps.csv"),
        ("--resume",),
    ),
    Work(
        "audit of a cheat",
        ("audit", "cheat.cfoil", *_AUDIT, "--capsule", "new.capsule.cfoil"),
        1,
        ("cheat.cfoil", *_READS),
        ("verdict.json", "steps.csv", "new.capsule.cfoil"),
        ("--resume",),
    ),
    Work(
        "audit into a part",
        ("audit", "run.cfoil", *_KNOWN, "--segments", "1-1", "--partial", "new.part"),
        0,
        ("run.cfoil", *_READS),
        ("new.part",),
        signs=False,
    ),
    Work(
        "merge",
        ("merge", "1.part", "2.part", "--run", "run.cfoil", *_AUDIT),
        0,
        ("run.cfoil", "1.part", "2.part", *_READS),
        ("verdict.json", "steps.csv"),
        ("--resume",),
    ),
    Work(
        "sign",
        ("sign", "unsigned.json", "--out", "verdict.json", "--key", "auditor.pem"),
        0,
        ("unsigned.json", *_READS),
        ("verdict.json",),
    ),
    Work(
        "adjudicate",
        ("adjudicate", "dispute.cfoil", *_KNOWN, *_VERDICT),
        1,
        ("dispute.cfoil", *_READS),
        ("verdict.json",),
    ),
    Work(
        "export weights",
        ("export", "weights", "run.cfoil", "--safetensors", "weights"),
        0,
        ("run.cfoil",),
        ("weights/model.safetensors",),
        signs=False,
    ),
    Work(
        "export csv",
        ("export", "csv", "run.cfoil", "--out", "steps.csv"),
        0,
        ("run.cfoil",),
        ("steps.csv",),
        signs=False,
    ),
    Work("keygen", ("keygen", "new.pem", "--no-passphrase"), 0, (), ("new.pem", "new.pub.pem"), signs=False),
)


def prepare(folder: Path, server: ForkServer) -> None:
    """Make the files that the commands read, and let the server load the kernels that they need."""

    def done(code: int, *arguments: object) -> None:
        ended = server.run(*arguments, fork=False)
        assert ended.code == code, ended.said

    order, run, cheat = (folder / f"{name}.cfoil" for name in ("order", "run", "cheat"))
    done(0, "order", "digits-cnn", "--out", order, *SMALL)
    for name in ("trainer", "auditor"):
        done(0, "keygen", folder / f"{name}.pem", "--no-passphrase")
    done(0, "train", order, "--out", run, "--key", folder / "trainer.pem", "--threads", 1)
    for _ in record(order, cheat, load_private_key(folder / "trainer.pem", None), tamper=LabelFlip(step=3), threads=1):
        pass
    known = ("--order", order, "--threads", 1)
    capsule = folder / "dispute.cfoil"
    done(1, "audit", cheat, *known, "--capsule", capsule, "--progress", folder / "kept")
    done(0, "audit", run, *known, "--unsigned", folder / "unsigned.json", "--progress", folder / "kept")
    for number in (1, 2):
        part = folder / f"{number}.part"
        done(0, "audit", run, *known, "--segments", f"{number}-{number}", "--partial", part)
    shutil.rmtree(folder / "kept", ignore_errors=True)


def facts(path: Path) -> Any:
    """What a whole output says, without times and what is drawn by chance; raises where it is not whole."""
    return _FACTS[path.name](path)


def _run(path: Path) -> Any:
    with BundleReader.open(path) as reader:
        root = run_tree(reader.step_records(None)).root.hex if reader.has_run else ""
        return reader.manifest.digest.hex, root


def _verdict(path: Path) -> Any:
    signed = verify_signed(path.read_bytes(), load_public_key(path.with_name("auditor.pub.pem")))
    return signed.outcome.value


def _capsule(path: Path) -> Any:
    with CapsuleReader.open(path) as reader:
        return [leaf.record.step for leaf in reader.contents().leaves]


def _rows(path: Path) -> Any:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if not lines[-1].endswith("\n"):
        raise ValueError("the last line has no end")
    return len(lines)


def _part(path: Path) -> Any:
    return len(read_part(path).segments)


def _weights(path: Path) -> Any:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _private_key(path: Path) -> Any:
    return load_private_key(path, None).public.key_id != ""


def _public_key(path: Path) -> Any:
    return load_public_key(path).key_id != ""


_FACTS: dict[str, Callable[[Path], Any]] = {
    "new.cfoil": _run,
    "verdict.json": _verdict,
    "new.capsule.cfoil": _capsule,
    "steps.csv": _rows,
    "new.part": _part,
    "model.safetensors": _weights,
    "new.pem": _private_key,
    "new.pub.pem": _public_key,
}
