"""Makes the golden orders, runs and digests again: ``python tests/engine/make_golden.py [NAME ...]``.

Without names all of them; with names these alone, and the digests of the others stay.

The trainer's key is thrown away: what counts is the run root, which does not depend on it.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes.gpt2 import Gpt2Size
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from support.bundles import test_key
from support.jobs import digits_order, gpt2_order, record_run, sign_again

FOLDER = Path(__file__).parent / "golden"
DIGESTS = FOLDER / "golden.json"
ORDERS: dict[str, Callable[[], OrderDraft]] = {
    "digits": lambda: digits_order(steps=4, width=2, batch_size=4, checkpoint_every=4),
    "gpt2": lambda: gpt2_order(
        steps=3, size=Gpt2Size(layers=1, heads=2, width=8, context=8), batch_size=2, checkpoint_every=3
    ),
    "exact": lambda: gpt2_order(
        steps=3,
        size=Gpt2Size(layers=1, heads=2, width=8, context=8),
        batch_size=2,
        checkpoint_every=3,
        precision=ExactPrecision(20),
    ),
}


def job_path(name: str) -> Path:
    return FOLDER / f"{name}.job.cfoil"


def run_path(name: str) -> Path:
    return FOLDER / f"{name}.run.cfoil"


def digests(run: Path) -> dict[str, Any]:
    """What a run must come to."""
    with BundleReader.open(run) as reader:
        records = reader.step_records()
        return {
            "order": reader.manifest.digest.hex,
            "program": reader.manifest.program.hex,
            "run_root": run_tree(records).root.hex,
            "state_roots": [record.state_root.hex if record.state_root else None for record in records],
            "logs": [Digest.of(reader.log(step)).hex for step in range(1, reader.manifest.steps + 1)],
            "losses": [loss.hex() for loss in reader.losses().tolist()],
        }


def machine() -> dict[str, str]:
    """What decides about last bits: another machine may log other decisions, and so reach another run root."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    vendors = [line.split(":")[1].strip() for line in lines if line.startswith("vendor_id")]
    return {
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__.split("+")[0],
        "vendor": vendors[0] if vendors else platform.machine(),
    }


def main(names: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    found: dict[str, Any] = json.loads(DIGESTS.read_text()) if names else {"machine": machine()}
    with tempfile.TemporaryDirectory() as keys:
        for name in names or ORDERS:
            ORDERS[name]().write(job_path(name))
            key = test_key(Path(keys))
            record_run(job_path(name), run_path(name), key)
            sign_again(
                run_path(name),
                key,
                environment=tuple(sorted(machine().items())),
                signed_at="2026-01-01T00:00:00Z",
            )
            found[name] = digests(run_path(name))
    DIGESTS.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
