"""Records a vector's job as a trainer whose key and clock stand still; steps that shares make, too."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.bundle.writer import BundleWriter
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.exchange import Alone
from counterfoil.training.execution import PartDone, SharedStep, execute_shared
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.combination import ExactSum, common_exponents
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepInputs, StepResult
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import site_margins
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import NonFiniteError
from counterfoil_core.base.generators import finish as finished
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.bundle.schema import StepRecord, run_tree
from counterfoil_core.bundle.shares import sum_bits
from counterfoil_core.commit.fingerprints import fingerprints_digest
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.kernels.exact.combine import quantised
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.order.admission import places_of
from counterfoil_core.order.executable import LoadedOrder, step_inputs
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import open_said, sign_said

KEY_SEED = Digest.of(b"counterfoil conformance vectors: a key that everybody knows").value
"""The trainer's secret key, which is no secret."""
SIGNED_AT = "2026-01-01T00:00:00Z"
_CLIENT_SEED = Digest.of(b"counterfoil conformance vectors: a client's key that everybody knows").value
_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
_CPU = torch.device("cpu")


@dataclass(frozen=True)
class RecordedStep:
    """A step as the trainer has it: its result, log and fingerprints."""

    result: StepResult
    logs: tuple[SiteLog, ...]
    fingerprints: npt.NDArray[np.uint64]


def trainer_key() -> SigningKey:
    """The key that signs the vectors' runs."""
    return key_from_seed(KEY_SEED)


def client_key() -> SigningKey:
    """The key that signs the vectors' orders as their client."""
    return key_from_seed(_CLIENT_SEED)


def record_steps(draft: OrderDraft, turned: int | None = None) -> Iterator[RecordedStep]:
    """Execute an order step by step on one thread, up to its last step or where its rule ends the run.

    Args:
        draft: The order.
        turned: The step in which the first logged decision is taken the other way, as another machine might take it;
            everything that follows is computed from it. None takes all as they come.
    """
    manifest = draft.manifest
    interpreters = draft.programs.map(lambda program: interpreter_of(program, manifest.precision))
    kernels = Kernels(_CPU, 1)
    watch = None if manifest.may_stop_early is None else manifest.may_stop_early.watch()
    state: Mapping[str, Tensor] = {name: torch.from_numpy(np.array(array)) for name, array in draft.initial.items()}
    data: Any = draft.data
    try:
        for step in range(1, manifest.steps + 1):
            program, interpreter = draft.programs.of(step), interpreters.of(step)
            read = {name: data[name] for name in program.batch_names}
            inputs = step_inputs(manifest, step, state, draft.schedule[step - 1], draft.scalars[step - 1], read)
            own = arithmetic_of(manifest.precision).recorder(program, kernels)
            own.begin_step(step_key(manifest.digest, step))
            recorded = RecordedStep(interpreter.run(inputs, rounder=own), tuple(own.logs), own.fingerprints)
            if step == turned:
                other = arithmetic_of(manifest.precision).replayer(program, kernels, keep_log=True)
                other.follow(step_key(manifest.digest, step), turn_first(recorded.logs))
                result = interpreter.run(inputs, rounder=other)
                recorded = RecordedStep(result, tuple(other.own_logs), other.fingerprints)
            state = recorded.result.state
            yield recorded
            if watch is not None and watch.fires(recorded.result.loss):
                return
    finally:
        kernels.close()


def interpreter_of(program: Program, precision: AnyPrecision) -> Interpreter:
    """What executes a program on one thread."""
    if isinstance(precision, ExactPrecision):
        return Interpreter(program, _CPU, torch.float32, exactly(Profile(precision.bits)))
    return Interpreter(program, _CPU)


def turn_first(logs: Sequence[SiteLog]) -> tuple[SiteLog, ...]:
    """Return the logs of a step with the first decision of the first site that has one turned round."""
    chosen = next(number for number, log in enumerate(logs) if len(log.ups))
    ups = logs[chosen].ups.copy()
    ups[0] = not ups[0]
    return (*logs[:chosen], replace(logs[chosen], ups=ups), *logs[chosen + 1 :])


@dataclass(frozen=True)
class DoneStep:
    """A step as it is written: what :class:`counterfoil.training.execution.SharedStep` has of one without shares."""

    state: Mapping[str, Tensor]
    loss: float
    log: bytes
    log_entries: int
    fingerprints: npt.NDArray[np.uint64]
    shares: None = None


def write_run(path: Path, draft: OrderDraft, turned: int | None = None, *, signed: bool = False) -> dict[str, Any]:
    """Write the run of an order, signed by its client or not; returns what a second implementation must find in it."""
    encode = arithmetic_of(draft.manifest.precision).encode_log
    done = [
        DoneStep(
            one.result.state, one.result.loss, encode(one.logs), sum(len(site.indices) for site in one.logs),
            one.fingerprints,
        )
        for one in record_steps(draft, turned)
    ]  # fmt: skip
    run_root, client, steps = write_steps(path, draft, done, signed=signed)
    return {
        "order": draft.manifest.digest.hex, **_told(draft), "run_root": run_root.hex,
        "client_key": None if client is None else client.key_id, "key_id": trainer_key().public.key_id,
        "turned_step": turned, **_counted(draft),
        "steps": [{**told, "log": one.log.hex()} for told, one in zip(steps, done, strict=True)],
    }  # fmt: skip


def write_steps(
    path: Path, draft: OrderDraft, done: Sequence[DoneStep | SharedStep], *, signed: bool = False
) -> tuple[Digest, SignedOrder | None, list[dict[str, Any]]]:
    """Write the run of an order whose steps are done.

    Returns:
        Its run root, who signed the order, and of each step what a second implementation must find.
    """
    manifest, key = draft.manifest, trainer_key()
    signature = sign_said(SignedOrder(manifest.digest), client_key(), _MOMENT) if signed else None
    client = None if signature is None else open_said(SignedOrder, signature, order=manifest.digest)
    order = LoadedOrder(manifest, draft.programs, {}, draft.schedule, draft.scalars, draft.data, draft.updates)
    programs, initial = draft.programs.map(Program.to_bytes), dict(draft.initial)
    updates = None if draft.updates is None else draft.updates.map(Program.to_bytes)
    records, steps, extent = [StepRecord(0, manifest.initial_root, None, None, None)], [], manifest.extent_of(len(done))
    with BundleWriter.create(path) as writer:
        writer.write_order(manifest, programs, draft.schedule, draft.scalars, draft.data, initial, signature, updates)
        writer.begin_run(places_of(order), sum(len(one.log) for one in done), extent.steps)
        for step, one in enumerate(done, 1):
            arrays = {name: tensor.numpy() for name, tensor in one.state.items()}
            root, printed = state_root(arrays), fingerprints_digest(one.fingerprints)
            own = one.log if one.shares is None else one.log[int(one.shares.log_ends[-1]) :]
            shares = None if one.shares is None else one.shares.root
            committed = root if extent.is_committed(step) else None
            record = StepRecord(step, committed, Digest.of(own), printed, one.loss, shares)
            records.append(record)
            writer.append_step(
                step, log=one.log, log_entries=one.log_entries, fingerprints=one.fingerprints, loss=record.loss or 0.0,
                state_root=committed, shares=one.shares,
            )  # fmt: skip
            if extent.is_checkpoint(step):
                writer.write_checkpoint(step, arrays)
            steps.append(
                {
                    "state_root": root.hex, "loss": canonical.float_text(one.loss),
                    "fingerprints": hexes(one.fingerprints), "record": record.to_bytes().decode(),
                    "leaf": leaf_hash(record.to_bytes()).hex,
                }
            )  # fmt: skip
        run_root = run_tree(records).root
        ordered = manifest.steps if len(done) < manifest.steps else None
        claim = RunClaim(manifest.digest, run_root, len(done), {"device": "cpu"}, ordered, signed_at=SIGNED_AT)
        writer.finish_run(sign_said(claim, key), sign_said(Acceptance.of(manifest.digest, client), key, _MOMENT))
    return run_root, client, steps


def hexes(numbers: Any) -> list[str]:
    """Fingerprints as text."""
    return [f"{number:016x}" for number in numbers.tolist()]


def _told(draft: OrderDraft) -> dict[str, Any]:
    """The digest of the order's program; where several take turns, their pattern."""
    programs = draft.manifest.programs
    return {"pattern": list(programs.pattern)} if programs.several else {"program": programs.only.hex}


def _counted(draft: OrderDraft) -> dict[str, Any]:
    """Rounding sites and places of the order's program; of several, each with its digest, by their names."""
    counted = draft.programs.map(lambda program: _sites(draft.manifest.precision, program))
    if not draft.programs.several:
        return counted.only
    digests = draft.manifest.programs.parts
    return {"programs": {name: {"program": digests[name].hex, **found} for name, found in counted.parts.items()}}


def _sites(precision: AnyPrecision, program: Program) -> dict[str, Any]:
    sites = [
        {
            "operator": program.nodes[site.node].operator,
            "elements": site.elements,
            **_margin(precision, program, number),
        }
        for number, site in enumerate(program.sites)
    ]
    return {"sites": sites, "places": len(program.places)}


def _margin(precision: AnyPrecision, program: Program, site: int) -> dict[str, int]:
    """The margin of a rounding site; nothing under an exact profile."""
    return {"margin_bits": site_margins(program, precision)[site].bits} if isinstance(precision, Precision) else {}


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
    shares, done = draft.manifest.shares, record_shared(draft)
    assert shares is not None
    run_root, _, steps = write_steps(path, draft, done)
    return {
        "order": draft.manifest.digest.hex, "program": draft.manifest.programs.only.hex,
        "update": shares.updates.only.hex, "run_root": run_root.hex,
        "combined": sorted(draft.programs.only.combined),
        "steps": [{**told, **_shares(one)} for told, one in zip(steps, done, strict=True)],
    }  # fmt: skip


def _shares(step: SharedStep) -> dict[str, Any]:
    shares = [
        {"record": share.to_bytes().decode(), "leaf": share.leaf.hex, "fingerprints": hexes(row)}
        for share, row in zip(step.shares.records, step.shares.fingerprints, strict=True)
    ]
    return {"shares": shares, "exponents": step.shares.exponents.tolist()}
