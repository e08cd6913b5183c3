"""What is in a bundle, and what can be checked without replaying it, for whoever looks at it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator
from dataclasses import replace

from counterfoil.audit.values.summary import (
    SHOWN_PATTERN,
    ArraySummary,
    BundleSummary,
    CombiningBytes,
    OrderSummary,
    RunSummary,
    SourceSummary,
)
from counterfoil.program.recompute import count_recomputed
from counterfoil.signing.comparedsteps import FoundComparison
from counterfoil.signing.comparison import comparison_beside
from counterfoil_core.arithmetic.beforehand import beforehand
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import tensor_bytes
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.farfile import FetchedFile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.strictfile import OnProgress
from counterfoil_core.hearing.inspection import Inspection, stages, trainer_columns
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.parties.signatures import Keys
from counterfoil_core.program.limits import Limits
from counterfoil_core.remote.address import Address
from counterfoil_core.remote.ranges import Ranges
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.parties import party_ids
from counterfoil_core.values.outcome import CheckState
from counterfoil_core.values.sampling import shortfall

Reach = Callable[[Address, CancelToken], Ranges]
"""Opens a file that lies elsewhere."""


def inspect(
    path: str | os.PathLike[str] | Address,
    order_path: str | os.PathLike[str] | None = None,
    trainer_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    heads: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    *,
    client_key: PublicKey | None = None,
    quick: bool = False,
    progress: OnProgress | None = None,
    reach: Reach | None = None,
) -> BundleSummary:
    """Say what is in a bundle and what can be checked without replaying it.

    Args:
        path: An order or a run: a file of this machine, or the address of one that is read in pieces.
        order_path: The client's own order, to compare with.
        trainer_key: The trainer's public key, when it is known.
        cancel: Looked at while long files are read.
        heads: Tree heads that the trainer published while training.
        limits: How large the program may be that is looked at; the default limits unless given.
        client_key: The client's public key, when it is known: the order must be signed with it.
        quick: Leave out the comparison of the stored states, most of a large file, with their state roots.
        progress: Called with the stored states compared and their total.
        reach: Opens a file that lies elsewhere; by the libraries for it unless given.

    Raises:
        BundleError: The file is no bundle.
        GivenFileError: A file that was named is not there, or the client's order is none.
        ObstacleError: The file cannot be read, or lies elsewhere and what its server gives is not what was signed.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), open_bundle(path, cancel, reach) as reader:
        inspection = Inspection(reader, with_states=not quick)
        for _ in stages(inspection, order_path, Keys(trainer_key, client_key), heads, cancel, limits, progress):
            pass
        if reader.file.fetched is not None:
            reader.file.check_unchanged()
        return replace(summarise(inspection), comparison=_comparison(reader, path, order_path))


def open_bundle(
    path: str | os.PathLike[str] | Address, cancel: CancelToken | None, reach: Reach | None = None
) -> BundleReader:
    """Open a bundle, a file of this machine or one that is read in pieces; raises as :func:`inspect` does."""
    if not isinstance(path, Address):
        return BundleReader.open(path)
    from counterfoil.remote.files import open_transfer  # with the libraries for networks

    return BundleReader.over(FetchedFile((reach or open_transfer)(path, cancel or CancelToken())))


def inspect_stages(
    path: str | os.PathLike[str],
    order_path: str | os.PathLike[str] | None = None,
    trainer_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    heads: str | os.PathLike[str] | None = None,
    limits: Limits | None = None,
    client_key: PublicKey | None = None,
) -> Generator[BundleSummary, None, None]:
    """Say what :func:`inspect` says, as soon as it is known.

    The first summary comes before anything large is read; the checks that are still to come are RUNNING or PENDING in
    it, and the operators are not counted yet. Each further one knows the result of another check; the last is that
    of :func:`inspect`.

    Yields:
        Two summaries or more.

    Raises:
        BundleError: The file is no bundle.
        GivenFileError: A file that was named is not there, or the client's order is none.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), BundleReader.open(path) as reader:
        inspection = Inspection(reader, with_states=True)
        comparison = _comparison(reader, path, order_path)
        for _ in stages(inspection, order_path, Keys(trainer_key, client_key), heads, cancel, limits):
            yield replace(summarise(inspection), comparison=comparison)


def _comparison(
    reader: BundleReader, path: str | os.PathLike[str] | Address, order_path: str | os.PathLike[str] | None
) -> FoundComparison | None:
    """Read what lies beside the client's own order file, or else beside the file itself, as comparison with a script.

    Beside a file that lies elsewhere nothing is looked for.
    """
    places = [each for each in (order_path, path) if each is not None and not isinstance(each, Address)]
    manifest = reader.manifest
    read = (comparison_beside(place, manifest.digest, manifest.steps) for place in places)
    return next((found for found in read if found is not None), None)


def summarise(inspection: Inspection) -> BundleSummary:
    """Return the overview of an inspected bundle."""
    reader = inspection.reader
    return BundleSummary(
        path=reader.file.place,
        file_bytes=reader.file_bytes,
        order=_order_summary(inspection),
        run=_run_summary(inspection) if reader.has_run else None,
        checks=inspection.all_checks(CheckState.PENDING),
        client_order=inspection.client_order,
        sentence=joined(_sentence(inspection), _length(inspection)),
        states_checked=inspection.states_checked,
        order_source=inspection.order_source,
        given_client_key=inspection.given_client_key,
        fetched=inspection.fetched,
    )


def _sentence(inspection: Inspection) -> str:
    if inspection.failures and inspection.failure is not None:
        return say("{0} Nothing can be concluded about the training.", inspection.failure.sentence)
    if inspection.too_large is not None:
        return joined(inspection.too_large.sentence, inspection.too_large.remedy)
    if not inspection.reader.has_run:
        return say("This is an order that nobody has run yet.")
    if inspection.tree is None or (inspection.with_states and not inspection.states_checked):
        return say("The run is signed. What it holds is being compared with what the trainer signed.")
    if not inspection.states_checked:
        return say("The run is signed, and its steps are those that were signed. Its stored states were not looked at.")
    if inspection.order_source == "bundle":
        return say("The run is signed and complete. Compare it with the client's own order before you rely on it.")
    return say("The run is signed, complete, and was made for the client's order. Replay it to see whether it is true.")


def _length(inspection: Inspection) -> str:
    """How many of the ordered steps a run has, once its steps are known to be the signed ones; empty where all."""
    if inspection.tree is None or inspection.failure is not None:
        return ""
    return shortfall(inspection.reader.extent.steps, inspection.reader.manifest.steps)


def _order_summary(inspection: Inspection) -> OrderSummary:
    manifest = inspection.reader.manifest
    layout = inspection.reader.state_layout()
    sizes = {name: math.prod(shape) for name, (_, shape) in layout.items()}
    programs = inspection.order.all_programs if inspection.order is not None else None
    nodes = [node for program in programs or () for node in program.nodes]
    slots = {name.split(":", 1)[1] for name in layout if ":" in name}
    # Buffers change in the forward pass; what the update rule changes are the parameters.
    updated = {node.module for node in nodes if node.phase == "update"}
    trainable = {name for name, (dtype, _) in layout.items() if dtype == "float32" and ":" not in name}
    parameters = (slots | updated) & trainable
    return OrderSummary(
        title=manifest.title,
        recipe=manifest.recipe,
        digest=manifest.digest,
        steps=manifest.steps,
        batch_size=manifest.batch_size,
        seed=manifest.seed,
        precision=manifest.precision.describe(),
        optimizer=manifest.optimizer,
        programs=_programs(manifest),
        pattern=manifest.programs.pattern[:SHOWN_PATTERN] if manifest.programs.several else (),
        pattern_steps=len(manifest.programs.pattern) if manifest.programs.several else 0,
        operators=len(nodes),
        rounded_operators=sum(node.entry.operator_class is OperatorClass.ROUNDED for node in nodes),
        parameters=sum(sizes[name] for name in parameters),
        state_tensors=len(layout),
        state_bytes=sum(tensor_bytes(dtype, shape) for dtype, shape in layout.values()),
        data=tuple(ArraySummary(n, s.dtype, s.shape, s.digest, s.file) for n, s in sorted(manifest.data.items())),
        data_root=manifest.data_root,
        initial_root=manifest.initial_root,
        commit_every=manifest.commit_every,
        checkpoint_every=manifest.checkpoint_every,
        without_bound=None if programs is None else beforehand(manifest.precision).kinds_without_proof(programs),
        compute=manifest.precision.compute,
        exact_bits=manifest.precision.bits if isinstance(manifest.precision, ExactPrecision) else None,
        estimate=inspection.estimate,
        repeated_operators=0 if inspection.estimate is None else sum(map(count_recomputed, programs or ())),
        sources=tuple(
            SourceSummary(part, name, file.size, file.digest, source.revision)
            for part, source in sorted(manifest.sources.items())
            for name, file in sorted(source.files.items())
        ),
        client_key=inspection.client_key,
        signed_at="" if inspection.signed_order is None else inspection.signed_order.signed_at,
        may_stop_early="" if manifest.may_stop_early is None else manifest.may_stop_early.describe(),
        shares=0 if manifest.shares is None else manifest.shares.count,
        shares_added=manifest.shares is not None and manifest.shares.sums,
        parties=party_ids(manifest),
        combining=CombiningBytes(*inspection.order.combining_bytes())
        if inspection.order is not None and manifest.shares is not None
        else None,
    )


def _programs(manifest: OrderManifest) -> tuple[tuple[str, Digest], ...]:
    """The digests of the programs, each with its name; those of updates behind them, called so."""
    updates = {} if manifest.shares is None else manifest.shares.updates.parts
    ending = sorted((f"{name} update".strip(), digest) for name, digest in updates.items())
    return (*sorted(manifest.programs.parts.items()), *ending)


def _run_summary(inspection: Inspection) -> RunSummary:
    reader, claim = inspection.reader, inspection.claim
    return RunSummary(
        order_digest=claim.order if claim is not None else reader.manifest.digest,
        run_root=claim.run_root if claim is not None else None,
        steps=reader.extent.steps,
        checkpoints=reader.checkpoint_steps(),
        trainer_key=inspection.trainer_key,
        trainer_public=PublicKey.from_pem(claim.public_key.encode()).public if claim is not None else "",
        signed_at=claim.signed_at if claim is not None else "",
        environment=tuple(claim.environment.items()) if claim is not None else (),
        recorded=trainer_columns(reader, inspection.tree),
        accepted_at=inspection.accepted_at,
    )
