"""Delivered weights for tests: exported from a run, saved by the library itself, compared with a basis."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from counterfoil.audit.values.delivery import Basis, DeliveryReport
from counterfoil.delivery.export import export_weights
from counterfoil.delivery.verification import verify_weights
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from counterfoil_core.values.trust import MachineTrust, OrderTrust, TrainerTrust, Trust


def basis_for(run: Path) -> Basis:
    """What a verdict that says VERIFIED says of a run."""
    with BundleReader.open(run) as reader:
        trust = Trust(OrderTrust.CLIENT, TrainerTrust.NAMED, MachineTrust.TESTED)
        root, trainer = run_tree(reader.step_records()).root, open_said(RunClaim, reader.claim()).key_id
        return Basis(root, reader.manifest.digest, "VERIFIED", trust, "0" * 64, trainer_key=trainer)


def exported(run: Path, folder: Path, **settings: Any) -> dict[str, Tensor]:
    """The tensors of a run's export, as the library loads them."""
    *_, path = export_weights(run, folder, **settings)
    assert isinstance(path, Path)
    return load_file(path)


def delivered(folder: Path, tensors: Mapping[str, Tensor], name: str = "model.safetensors") -> Path:
    """Save tensors as a client gets them."""
    folder.mkdir(exist_ok=True)
    save_file({key: tensor.contiguous().clone() for key, tensor in tensors.items()}, folder / name)
    return folder


def compared(folder: Path, run: Path, basis: Basis | None = None, **settings: Any) -> DeliveryReport:
    """Compare weights with a run."""
    *_, report = verify_weights(folder, run, basis or basis_for(run), **settings)
    assert isinstance(report, DeliveryReport)
    return report
