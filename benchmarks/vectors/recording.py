"""Records a vector's job as a trainer whose key and clock stand still."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.compute.exactly import exactly
from counterfoil_core.arithmetic.compute.interpreter import Interpreter, StepResult
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, step_key
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import site_margins
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision
from counterfoil_core.bundle.places import Places
from counterfoil_core.bundle.schema import OrderManifest, StepRecord, run_tree
from counterfoil_core.commit.fingerprints import fingerprints_digest
from counterfoil_core.commit.merkle import leaf_hash
from counterfoil_core.commit.state import state_root
from counterfoil_core.kernels.exact.forms import Profile
from counterfoil_core.order.executable import step_inputs
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


def write_run(path: Path, draft: OrderDraft, turned: int | None = None, *, signed: bool = False) -> dict[str, Any]:
    """Write the run of an order, signed by its client or not; returns what a second implementation must find in it."""
    manifest, key = draft.manifest, trainer_key()
    signature = sign_said(SignedOrder(manifest.digest), client_key(), _MOMENT) if signed else None
    client = None if signature is None else open_said(SignedOrder, signature, order=manifest.digest)
    records = [StepRecord(0, manifest.initial_root, None, None, None)]
    steps = []
    with BundleWriter.create(path) as writer:
        programs = draft.programs.map(Program.to_bytes)
        writer.write_order(
            manifest, programs, draft.schedule, draft.scalars, draft.data, dict(draft.initial), signature
        )
        done = [
            (recorded, arithmetic_of(manifest.precision).encode_log(recorded.logs))
            for recorded in record_steps(draft, turned)
        ]
        extent = manifest.extent_of(len(done))
        places = draft.programs.map(lambda program: Places(len(program.places)))
        writer.begin_run(places, sum(len(log) for _, log in done), extent.steps)
        for step, (recorded, log) in enumerate(done, 1):
            arrays = {name: tensor.numpy() for name, tensor in recorded.result.state.items()}
            root = state_root(arrays)
            fingerprints = recorded.fingerprints
            record = StepRecord(
                step,
                root if extent.is_committed(step) else None,
                Digest.of(log),
                fingerprints_digest(fingerprints),
                recorded.result.loss,
            )
            records.append(record)
            entries = sum(len(site.indices) for site in recorded.logs)
            writer.append_step(
                step,
                log=log,
                log_entries=entries,
                fingerprints=fingerprints,
                loss=record.loss or 0.0,
                state_root=record.state_root,
            )
            if extent.is_checkpoint(step):
                writer.write_checkpoint(step, arrays)
            steps.append(
                {
                    "state_root": root.hex,
                    "loss": canonical.float_text(recorded.result.loss),
                    "fingerprints": [f"{number:016x}" for number in fingerprints.tolist()],
                    "log": log.hex(),
                    "record": record.to_bytes().decode(),
                    "leaf": leaf_hash(record.to_bytes()).hex,
                }
            )
        run_root = finish(writer, manifest, records, client)
    return {
        "order": manifest.digest.hex,
        **_told(draft),
        "run_root": run_root.hex,
        "client_key": None if client is None else client.key_id,
        "key_id": key.public.key_id,
        "turned_step": turned,
        **_counted(draft),
        "steps": steps,
    }


def finish(
    writer: BundleWriter, manifest: OrderManifest, records: Sequence[StepRecord], client: SignedOrder | None
) -> Digest:
    """Finish a run with these records, of an order that a client signed or not; returns its run root."""
    run_root, steps, key = run_tree(records).root, len(records) - 1, trainer_key()
    ordered = manifest.steps if steps < manifest.steps else None
    claim = RunClaim(manifest.digest, run_root, steps, {"device": "cpu"}, ordered, signed_at=SIGNED_AT)
    writer.finish_run(sign_said(claim, key), sign_said(Acceptance.of(manifest.digest, client), key, _MOMENT))
    return run_root


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
