"""Writes a large bundle: well-formed, signed and consistent, so that every check before a replay passes.

The state is that of a GPT-2 of 85 million parameters under AdamW, about 1 GB; the order stores it after every step. No
step is computed: the state stays the initial one, which only a replay could tell.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.sessions import key_in
from counterfoil.bundle.writer import BundleWriter
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.claims import Acceptance, RunClaim
from counterfoil_core.signing.statements import sign_said

LOG_BYTES = 1_000_000


def write_large_bundle(folder: Path, gigabytes: int) -> Path:
    """Write ``large.cfoil`` of at least so many GB (10^9 bytes) and return its path."""
    size = Gpt2Size(layers=12, heads=12, width=768, context=128)
    text = np.random.default_rng(0).integers(0, 256, 4 * 2 * (size.context + 1)).astype(np.uint8).tobytes()
    small = order_gpt2(text, size=size, batch_size=2, steps=1)
    state = {name: np.ascontiguousarray(array) for name, array in small.initial.items()}
    state_bytes = sum(array.nbytes for array in state.values())
    steps = max(1, -(-(gigabytes * 10**9 - state_bytes) // state_bytes))
    order = order_gpt2(text, size=size, batch_size=2, steps=steps, checkpoint_every=1)
    order.write(folder / "large-job.cfoil", trial=False)
    key = key_in(folder, "large.pem")
    log = np.random.default_rng(1).integers(0, 256, LOG_BYTES).astype(np.uint8).tobytes()
    manifest, root = order.manifest, state_root(state)
    with BundleReader.open(folder / "large-job.cfoil") as reader, BundleWriter.create(folder / "large.cfoil") as writer:
        found = reader.check_order_contents()
        sites = len(Program.from_bytes(found.program).sites)
        fingerprints = np.zeros(sites, np.uint64)
        writer.write_order(manifest, found.programs, found.schedule, found.scalars, found.data, found.initial)
        writer.begin_run(Turns.alone(Places(sites)), steps * len(log))
        leaves = [leaf_hash(StepRecord(0, manifest.initial_root, None, None, None).to_bytes())]
        for step in range(1, steps + 1):
            record = StepRecord(step, root, Digest.of(log), Digest.of(fingerprints.tobytes()), 1.0)
            leaves.append(leaf_hash(record.to_bytes()))
            writer.append_step(step, log=log, log_entries=1, fingerprints=fingerprints, loss=1.0, state_root=root)
            writer.write_checkpoint(step, state)
        claim = RunClaim(
            order=manifest.digest,
            run_root=MerkleTree(leaves).root,
            steps=steps,
            environment={},
            signed_at="2026-01-31T12:00:00Z",
        )
        writer.finish_run(sign_said(claim, key), sign_said(Acceptance.of(manifest.digest, None), key))
    return folder / "large.cfoil"


def main(arguments: Sequence[str]) -> None:
    """Write the bundle, beside its order."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks large", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gigabytes", type=int)
    options = parser.parse_args(arguments)
    print(f"Wrote {write_large_bundle(options.folder, options.gigabytes)}.")
