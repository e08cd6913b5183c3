"""Vectors of steps that shares make: the sum of shares, and a run."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.vectors.recording import finish, interpreter_of
from counterfoil.bundle.writer import BundleWriter
from counterfoil.training.exchange import Alone
from counterfoil.training.execution import PartDone, SharedStep, execute_shared
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.combination import ExactSum, common_exponents
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.generators import finish as finished
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.bundle.shares import sum_bits
from counterfoil_core.commit.fingerprints import fingerprints_digest
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.kernels.exact.combine import quantised
from counterfoil_core.order.admission import places_of
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.graph import Program

_TINY, _HUGE = 2.0**-149, math.ldexp(2 - 2.0**-23, 127)
_CPU = torch.device("cpu")


def combination() -> dict[str, Any]:
    """Sums of shares: their exponent, the integers, and the float32 number, or none where float32 cannot hold it."""
    few: list[Sequence[float]] = [
        # Ties of the last rounding, and what decides them.
        (1.0, 2.0**-24, 0.0), (1.0, 2.0**-24, 2.0**-51), (1.0 + 2.0**-23, 2.0**-24, 0.0), (-1.0, -(2.0**-24), 0.0),
        # Ties of what a share gives, as integers.
        (1.0, 2.0**-24, 2.0**-52), (1.0, 2.0**-24, 3 * 2.0**-52), (1.0, 5 * 2.0**-52, -3 * 2.0**-52),
        # Cancellation, zeros of either sign, what is too small to be seen.
        (1.5, -1.5, 0.0), (-0.0, -0.0, 0.0), (1.0, -1.0, 2.0**-60), (3.0, 2.0**-51, -(2.0**-51)),
        # Subnormal numbers, and the end of the range.
        (_TINY, -3 * _TINY, _TINY), (2.0**-126, -_TINY, 0.0), (_HUGE, -_HUGE, 1.0), (_HUGE, _HUGE, 0.0),
    ]  # fmt: skip
    return {"sums": [_sum(shares) for shares in few]}


def _tensors(shares: Sequence[float]) -> list[dict[str, Tensor]]:
    return [{"g": torch.tensor([share], dtype=torch.float32)} for share in shares]


def _added(shares: Sequence[float]) -> tuple[int, str | None]:
    given = _tensors(shares)
    exponent = int(common_exponents(given)[0])
    adding = ExactSum({"g": exponent}, len(shares))
    for share in given:
        adding.add(share)
    try:
        return exponent, canonical.float_text(float(adding.result()["g"]))
    except NonFiniteError:
        return exponent, None


def _sum(shares: Sequence[float]) -> dict[str, Any]:
    (exponent, total), bits = _added(shares), sum_bits(len(shares))
    integers = [int(quantised(share["g"], exponent, bits)) for share in _tensors(shares)]
    return {
        "shares": [canonical.float_text(share) for share in shares],
        "bits": bits,
        "exponent": exponent,
        "integers": [str(integer) for integer in integers],
        "sum": total,
    }


def record_shared(draft: OrderDraft) -> list[SharedStep]:
    """Execute the steps of an order with shares, on one thread."""
    initial = {name: np.array(array) for name, array in draft.initial.items()}
    order = LoadedOrder(
        draft.manifest, draft.programs, initial, draft.schedule, draft.scalars, draft.data, draft.updates
    )
    precision, shares = draft.manifest.precision, draft.manifest.shares
    assert shares is not None
    interpreters: Mapping[Digest, Interpreter] = {
        program.digest: interpreter_of(program, precision) for program in order.all_programs
    }
    kernels, arithmetic = Kernels(_CPU, 1), arithmetic_of(precision)

    def part(step: int, share: int | None, program: Program, inputs: StepInputs) -> Generator[None, None, PartDone]:
        rounder = arithmetic.recorder(program, kernels)
        rounder.begin_step(step_key(draft.manifest.digest, step))
        result = interpreters[program.digest].run(inputs, rounder=rounder)
        entries = sum(len(site.indices) for site in rounder.logs)
        yield
        return PartDone(result, arithmetic.encode_log(rounder.logs), entries, rounder.fingerprints)

    state: Mapping[str, Tensor] = order.initial
    done = []
    try:
        for step in range(1, draft.manifest.steps + 1):
            made = finished(execute_shared(order, step, state, part, Alone(shares.count)))
            assert isinstance(made, SharedStep)
            state = made.state
            done.append(made)
    finally:
        kernels.close()
    return done


def write_shared_run(path: Path, draft: OrderDraft) -> dict[str, Any]:
    """Write the run of an order with shares; returns what a second implementation must find in it."""
    manifest, shares, updates = draft.manifest, draft.manifest.shares, draft.updates
    assert shares is not None
    assert updates is not None
    records, steps = [StepRecord(0, manifest.initial_root, None, None, None)], []
    done = record_shared(draft)
    with BundleWriter.create(path) as writer:
        programs, ending = draft.programs.map(Program.to_bytes), updates.map(Program.to_bytes)
        initial = dict(draft.initial)
        writer.write_order(manifest, programs, draft.schedule, draft.scalars, draft.data, initial, None, ending)
        order = LoadedOrder(manifest, draft.programs, {}, draft.schedule, draft.scalars, draft.data, updates)
        writer.begin_run(places_of(order), sum(len(step.log) for step in done), manifest.steps)
        for number, step in enumerate(done, 1):
            arrays = {name: tensor.numpy() for name, tensor in step.state.items()}
            root, own = state_root(arrays), step.log[int(step.shares.log_ends[-1]) :]
            printed = fingerprints_digest(step.fingerprints)
            record = StepRecord(number, root, Digest.of(own), printed, step.loss, step.shares.root)
            records.append(record)
            writer.append_step(
                number,
                log=step.log,
                log_entries=step.log_entries,
                fingerprints=step.fingerprints,
                loss=step.loss,
                state_root=root,
                shares=step.shares,
            )
            if manifest.extent.is_checkpoint(number):
                writer.write_checkpoint(number, arrays)
            steps.append(_told(step, record))
        run_root = finish(writer, manifest, records, None)
    return {
        "order": manifest.digest.hex,
        "program": manifest.programs.only.hex,
        "update": shares.updates.only.hex,
        "run_root": run_root.hex,
        "combined": sorted(draft.programs.only.combined),
        "steps": steps,
    }


def _told(step: SharedStep, record: StepRecord) -> dict[str, Any]:
    def hexes(numbers: Any) -> list[str]:
        return [f"{number:016x}" for number in numbers.tolist()]

    assert record.state_root is not None
    return {
        "state_root": record.state_root.hex,
        "loss": canonical.float_text(step.loss),
        "shares": [
            {"record": share.to_bytes().decode(), "leaf": share.leaf.hex, "fingerprints": hexes(row)}
            for share, row in zip(step.shares.records, step.shares.fingerprints, strict=True)
        ],
        "exponents": step.shares.exponents.tolist(),
        "fingerprints": hexes(step.fingerprints),
        "record": record.to_bytes().decode(),
        "leaf": leaf_hash(record.to_bytes()).hex,
    }
