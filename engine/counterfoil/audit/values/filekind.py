"""What a file turned out to be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from counterfoil_core.base.digest import Digest

WEIGHTS_SUFFIX = ".safetensors"
"""End of the names of files of weights that are read."""
BUNDLE_SUFFIX = ".cfoil"
"""End of the names of orders and runs."""
PICKLES = (".bin", ".ckpt", ".dill", ".joblib", ".mar", ".nemo", ".pickle", ".pkl", ".pt", ".pt2", ".pth", ".th")
"""Ends of the names of files of weights that are pickles, or hold some."""
OTHER_WEIGHTS = (
    ".ggml", ".gguf", ".h5", ".hdf5", ".keras", ".mlmodel", ".mlpackage", ".msgpack", ".npy", ".npz", ".onnx",
    ".ot", ".pb", ".pdparams", ".tflite",
)  # fmt: skip
"""Ends of the names of files in which other libraries keep weights, and which nothing here reads."""


class FileUse(Enum):
    """What a file is good for."""

    ORDER = "order"
    RUN = "run"
    CAPSULE = "dispute capsule"
    SEALED = "sealed capsule"
    """Whatever is sealed for judges; what it is shows when it is opened."""
    DATA = "data file"
    VERDICT = "verdict"
    """Or an adjudication."""
    STATEMENT = "statement about a verdict"
    """A withdrawal by its auditor, or a reply of the trainer's."""
    HEADS = "tree heads"
    REVOCATIONS = "list of revoked keys"
    WITNESS = "log of a witness"
    ANSWER = "answer of a model"
    SIGNED = "signed statement"
    """Any other: facts, rules, rows, a note, a comparison, a release, or a part of an order's or a run's history."""
    PUBLIC_KEY = "public key"
    PRIVATE_KEY = "private key"
    WEIGHTS = "weights"
    OTHER = "something else"


@dataclass(frozen=True)
class Recognised:
    """A file and what it is."""

    path: Path  #: The file.
    kind: FileUse  #: What it is.
    order: Digest | None = None  #: Digest of the order that it holds or names; None where there is none.


@dataclass(frozen=True)
class CapsuleSubject:
    """What a dispute capsule says that it is about. Nothing of it is checked."""

    title: str  #: Title of the job.
    order: Digest  #: Digest of the order.
    steps: int  #: How many steps are ordered.
    agreed_step: int  #: The step from whose state the disputed one is replayed.
    step: int  #: The disputed step.
    part: str = ""  #: Which part of it is disputed, where shares make it; as :attr:`Dispute.part`.
