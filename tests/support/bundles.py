"""Builds plausible bundles without any training, and spoils them one bit at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil.bundle.writer import BundleWriter
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.precision import Precision
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.schema import ArraySpec, OrderManifest, StepRecord, run_tree
from counterfoil_core.commit.state import state_root, tensor_digest
from counterfoil_core.signing.claims import Acceptance, RunClaim
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said

Array = NDArray[Any]


@dataclass
class Step:
    """What a run holds of one step."""

    log: bytes
    log_entries: int
    fingerprints: Array
    loss: float
    state: dict[str, Array]


@dataclass
class Contents:
    """Everything that goes into a bundle, to be changed before it is written."""

    manifest: OrderManifest
    program: bytes
    schedule: Array
    scalars: Array
    data: dict[str, Array]
    initial: dict[str, Array]
    steps: list[Step] = field(default_factory=list)

    def records(self) -> list[StepRecord]:
        """Return the step records of the run, as docs/bundle-format.md defines them."""
        records = [StepRecord(0, self.manifest.initial_root, None, None, None)]
        for number, step in enumerate(self.steps, 1):
            root = state_root(step.state) if self.manifest.extent.is_committed(number) else None
            fingerprints = Digest.of(step.fingerprints.astype("<u8").tobytes())
            records.append(StepRecord(number, root, Digest.of(step.log), fingerprints, step.loss))
        return records


def random_state(rng: np.random.Generator) -> dict[str, Array]:
    """Return a small state with every dtype, an empty tensor, a zero-dimensional one and one that is left out."""
    return {
        "fc.weight": rng.standard_normal((40, 150)).astype(np.float32),
        "fc.bias": rng.standard_normal(40).astype(np.float32),
        "bn.num_batches_tracked": np.array(rng.integers(1000), np.int64),
        "mask": rng.random((3, 5)) < 0.5,
        "index": rng.integers(0, 9, 7).astype(np.int32),
        "empty": np.zeros((0, 3), np.float32),
        "bytes": rng.integers(0, 256, 11).astype(np.uint8),
        "slot": np.zeros((30, 50), np.float32),
    }


def make_contents(
    *,
    steps: int = 5,
    commit_every: int = 1,
    checkpoint_every: int = 2,
    seed: int = 0,
    run: bool = True,
    row: int | None = None,
    rows: int = 20,
) -> Contents:
    """Return the contents of a bundle of random arrays; ``row``, if given, is one row that the schedule names."""
    rng = np.random.default_rng(seed)
    batch = 4
    program = b'{"nodes":[]}'
    schedule = rng.integers(0, rows, (steps, batch))
    if row is not None:
        schedule[-1, -1] = row
    scalars = rng.random((steps, 2))
    data = {
        "x": rng.standard_normal((rows, 1, 8, 8)).astype(np.float32),
        "y": rng.integers(0, 10, rows).astype(np.int64),
    }
    initial = random_state(rng)

    def spec(name: str, array: Array) -> ArraySpec:
        return ArraySpec(array.dtype.name, array.shape, tensor_digest(name, array))

    manifest = OrderManifest(
        title="a test",
        recipe="none",
        optimizer="none",
        seed=2**64 - 1,
        steps=steps,
        batch_size=batch,
        commit_every=commit_every,
        checkpoint_every=checkpoint_every,
        precision=Precision(),
        programs=Turns.alone(Digest.of(program)),
        schedule=spec("schedule", schedule),
        scalars=spec("scalars", scalars),
        scalar_names=("lr", "step"),
        data={name: spec(name, array) for name, array in data.items()},
        data_root=state_root(data),
        initial_root=state_root(initial),
    )
    contents = Contents(manifest, program, schedule, scalars, data, initial)
    if run:
        for number in range(1, steps + 1):
            log = rng.bytes(int(rng.integers(0, 3000))) if number != 2 else b""
            fingerprints = rng.integers(0, 2**64, 6, dtype=np.uint64)
            contents.steps.append(Step(log, len(log) // 2, fingerprints, float(rng.random()), random_state(rng)))
    return contents


def test_key(folder: Path) -> SigningKey:
    """Return the trainer's key of the folder, made on first use; it has no passphrase."""
    path = folder / "trainer.pem"
    if not path.exists():
        generate_key(path, None)
    return load_private_key(path, None)


test_key.__test__ = False  # type: ignore[attr-defined]


def make_claim(contents: Contents, key: SigningKey) -> RunClaim:
    """Return the claim that an honest trainer would sign for these contents."""
    return RunClaim(
        order=contents.manifest.digest,
        run_root=run_tree(contents.records()).root,
        steps=contents.manifest.steps,
        environment={"device": "cpu"},
        signed_at="2026-01-01T00:00:00Z",
        public_key=key.public.pem,
    )


_WHEN = datetime(2026, 1, 31, 9, tzinfo=UTC)
"""When everything here is signed: the same contents give the same file in the next second too."""


def write_bundle(path: Path, contents: Contents, key: SigningKey | None = None) -> Path:
    """Write the contents to ``path``: an order, or a run if they have steps; signed with ``key`` or a fresh one."""
    with BundleWriter.create(path) as writer:
        writer.write_order(
            contents.manifest,
            Turns.alone(contents.program),
            contents.schedule,
            contents.scalars,
            contents.data,
            contents.initial,
        )
        if contents.steps:
            write_run(writer, contents, key or test_key(path.parent))
    return path


def write_run(writer: BundleWriter, contents: Contents, key: SigningKey) -> None:
    """Write the steps of the contents behind an order that is already written."""
    records = contents.records()
    writer.begin_run(
        Turns.alone(Places(contents.steps[0].fingerprints.size)), sum(len(step.log) for step in contents.steps)
    )
    for number, step in enumerate(contents.steps, 1):
        writer.append_step(
            number,
            log=step.log,
            log_entries=step.log_entries,
            fingerprints=step.fingerprints,
            loss=step.loss,
            state_root=records[number].state_root,
        )
        if contents.manifest.extent.is_checkpoint(number):
            writer.write_checkpoint(number, step.state)
    claim = sign_said(make_claim(contents, key), key, _WHEN)
    writer.finish_run(claim, sign_said(Acceptance.of(contents.manifest.digest, None), key, _WHEN))


@contextmanager
def opened_for_change(path: Path) -> Iterator[Any]:
    """Open a bundle with h5py to change it in place, as an attacker would."""
    import h5py

    import counterfoil.bundle._hdf5  # noqa: F401  (its settings come before h5py)

    with h5py.File(path, "r+", libver=("v110", "v110"), locking=False) as file:
        yield file


def change(path: Path, dataset: str, edit: Callable[[Array], Array]) -> None:
    """Replace a dataset's contents by ``edit`` of them; dtype and shape stay."""
    with opened_for_change(path) as file:
        target = file[dataset]
        target[...] = edit(target[...])


def flip_bit(path: Path, dataset: str, element: int = 0, bit: int = 0) -> None:
    """Flip one bit of an element of a dataset; elements count in C order, bit 0 is the lowest of the first byte."""

    def edit(array: Array) -> Array:
        flat = np.array(array, order="C").reshape(-1)
        flat.view(np.uint8).reshape(flat.size, -1)[element, bit // 8] ^= np.uint8(1 << bit % 8)
        return flat.reshape(array.shape)

    change(path, dataset, edit)


def replace_manifest(contents: Contents, **fields: Any) -> Contents:
    """Return the contents with some fields of the manifest replaced."""
    return replace(contents, manifest=replace(contents.manifest, **fields))


def same_state(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    """Whether two states hold the same names, dtypes, shapes and bytes."""
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype
        and one[name].shape == other[name].shape
        and one[name].tobytes() == other[name].tobytes()
        for name in one
    )
