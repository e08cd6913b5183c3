"""Order digests of every small job under every profile, and what its recording comes to under some of them.

The golden runs (tests/engine/golden) pin three recordings step by step, with logs; here are the jobs and profiles that
they do not have.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from benchmarks.honest_jobs import ORDERS
from tests.frozen.store import Texts, as_text

from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.precision import PROFILES, AnyPrecision, exact_profile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from support.jobs import record_run

STEPS = 3
CHEAP = ("digits-cnn", "logistic", "gpt2")
NETWORKS = tuple(name for name in ORDERS if name not in CHEAP)
"""Jobs whose capture or recording takes seconds."""
EXACT, ROUNDED = ("exact-24", "exact-8"), ("float64-18", "float32-bfloat16")


KINDS = {"exact": "exact-20", "rounded": "float64-24", "rows": "exact-20-rows"}
"""A profile of each way in which a step is captured."""


@cache
def _captured(name: str, kind: str) -> OrderDraft:
    torch.manual_seed(0)  # the layers that a job of its own leaves as torch made them
    return ORDERS[name](STEPS, PROFILES[KINDS[kind]])


def draft(name: str, precision: AnyPrecision) -> OrderDraft:
    """A job under a profile, which is a word in the manifest: what is captured depends on its kind alone."""
    exact = exact_profile(precision)
    made = _captured(name, "rounded" if exact is None else "rows" if exact.rows else "exact")
    return replace(made, manifest=replace(made.manifest, precision=precision))


def orders() -> dict[str, Any]:
    """Digests of program and order, by job and profile."""
    return {
        name: {
            "program": {kind: _captured(name, kind).manifest.program.hex for kind in KINDS},
            "orders": {profile: draft(name, each).manifest.digest.hex for profile, each in PROFILES.items()},
        }
        for name in CHEAP
    }


def recorded(names: tuple[str, ...], profiles: tuple[str, ...]) -> dict[str, Any]:
    """What recordings come to, by job and profile."""
    key, found = key_from_seed(bytes([1] * 32)), dict[str, Any]()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for profile in profiles:
                order, run = Path(folder, "job.cfoil"), Path(folder, "run.cfoil")
                draft(name, PROFILES[profile]).write(order, trial=False)
                record_run(order, run, key)
                with BundleReader.open(run) as reader:
                    records = reader.step_records()
                    found[f"{name}, {profile}"] = {
                        "order": reader.manifest.digest.hex,
                        "run root": run_tree(records).root.hex,
                        "last state root": records[-1].state_root.hex if records[-1].state_root else None,
                        "losses": [loss.hex() for loss in reader.losses().tolist()],
                    }
                order.unlink()
                run.unlink()
    return found


def make() -> Texts:
    """What is quick."""
    return {"roots/orders.json": as_text(orders())}


def make_recordings() -> Texts:
    """What takes minutes."""
    return {
        "roots/exact.json": as_text(recorded(CHEAP, EXACT)),
        "roots/rounded.json": as_text(recorded(CHEAP, ROUNDED)),
        "roots/networks.json": as_text(recorded(NETWORKS, ("exact-13",))),
    }
