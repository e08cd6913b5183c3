"""Counts what a run shows of itself; nothing is replayed, and nothing is taken from what no digest binds.

The run is inspected first (checks 1 to 6), so programs, schedule and data are those of the order digest, and the order
is that of the trainer's signature.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from counterfoil.audit.overview import summarise
from counterfoil.program.rowreads import positions_read
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import ArraySpec
from counterfoil_core.bundle.strictfile import OnProgress
from counterfoil_core.hearing.inspection import Inspection, stages
from counterfoil_core.operators.convolutions import facts as convolutions
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import Node, Value
from counterfoil_core.operators.pointwise import facts as pointwise
from counterfoil_core.operators.products import facts as products
from counterfoil_core.operators.reductions import facts as reductions
from counterfoil_core.order.evaluation import score_names, score_of
from counterfoil_core.parties.signatures import Keys
from counterfoil_core.program.estimate import node_flops
from counterfoil_core.program.graph import Program, node_values
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.values.runfacts import (
    CONVOLUTION,
    ELEMENTWISE,
    INTEGERS,
    KINDS,
    MATRIX,
    OTHER,
    PARTS,
    REDUCTION,
    DataUse,
    OperationCount,
    RunFacts,
    Score,
    seconds_between,
)

# Counts what a program shows: operations by part, kind and precision, tokens, and the rows that it reads. Pure.

_KINDS = {
    operator.name: kind
    for kind, family in (
        (MATRIX, products), (CONVOLUTION, convolutions), (ELEMENTWISE, pointwise), (REDUCTION, reductions),
    )
    for operator in family.FACTS
}  # fmt: skip
_COPY = "aten._to_copy.default"

Sort = tuple[str, str, str]
"""Part of a step, kind and precision of operations."""


def kind_of(node: Node) -> str:
    """Return the kind of an operator, by the family that declares it."""
    return _KINDS.get(node.operator, OTHER)


def precision_of(program: Program, node: Node, precision: AnyPrecision) -> str:
    """Return in what an operator computes under a profile.

    A profile that rounds computes every floating-point number in its compute dtype. Under an exact profile the operands
    of products keep S bits, and everything else is defined on float32 values (docs/numerics.md).

    Args:
        program: The program.
        node: One of its operators.
        precision: The profile of the order.
    """
    types = (*(program.types[value.number] for value in node_values(node)), *node.outputs)
    if not any(item is not None and item.floating for item in types):
        return INTEGERS
    if isinstance(precision, ExactPrecision) and kind_of(node) in (MATRIX, CONVOLUTION):
        return f"{precision.bits} bits"
    return precision.compute


def operations_of(program: Program, times: int, precision: AnyPrecision) -> Counter[Sort]:
    """Count the operations of a program by part, kind and precision.

    A product of an m x k and a k x n matrix takes 2 m k n operations. A convolution takes two for each element of its
    result and each of the kernel's that it meets; the gradient of its input as many, and that of its weight. Any other
    operator takes one for each element that it reads or makes, whichever are more; a view none.

    Args:
        program: The program.
        times: How often it runs.
        precision: The profile of the order.
    """
    counted: Counter[Sort] = Counter()
    for node in program.nodes:
        if node.entry.operator_class is not OperatorClass.VIEW:
            sort = node.phase, kind_of(node), precision_of(program, node, precision)
            counted[sort] += times * node_flops(program.types, node)
    return counted


def tokens_read(program: Program) -> int:
    """Return how many elements of a step's rows the embeddings of a program look up, each input once."""
    origins = {number: number for number, item in enumerate(program.inputs) if item.kind == "batch"}
    read: dict[int, int] = {}
    for node in program.nodes:
        values = list(node_values(node))
        if node.operator == "aten.embedding.default" and len(node.args) > 1:
            indices = node.args[1]
            described = program.types[indices.number] if isinstance(indices, Value) else None
            if isinstance(indices, Value) and indices.number in origins and described is not None:
                origin = origins[indices.number]
                read[origin] = max(read.get(origin, 0), described.elements)
        elif _shows(node) and values and values[0].number in origins:
            for number in range(node.first_value, node.first_value + len(node.outputs)):
                origins[number] = origins[values[0].number]
    return sum(read.values())


def _shows(node: Node) -> bool:
    """Whether an operator gives elements of its first argument, perhaps in another dtype or shape."""
    return node.entry.operator_class is OperatorClass.VIEW or node.operator == _COPY


def rows_used(program: Program) -> dict[str, npt.NDArray[np.bool_]]:
    """Say which rows of a step a program reads: of a batch that is shorter it leaves out those that fill it.

    Where that cannot be told (:func:`counterfoil.program.rowreads.positions_read`) every row counts as read.

    Returns:
        For each data array a truth for each row of the program, bool ``[rows]``.
    """
    found = positions_read(program)
    if found is None:
        found = {item.name: np.ones(item.type.shape[0], np.bool_) for item in program.inputs if item.kind == "batch"}
    return found


def data_uses(
    data: Mapping[str, ArraySpec], programs: Turns[Program], schedule: npt.NDArray[np.int64]
) -> Iterator[DataUse]:
    """Say how much of each data array some steps read, by name.

    Args:
        data: The order's data arrays.
        programs: Its programs, and which step has which.
        schedule: The rows that each step names, int64 ``[steps, rows]``; the shares of a step have equal parts of them,
            one behind the other.
    """
    used = {name: rows_used(program) for name, program in programs.parts.items()}
    names = np.resize(np.array(programs.pattern, object), len(schedule)) if len(schedule) else np.array([], object)
    for name, spec in sorted(data.items()):
        read, filling = [np.array([], np.int64)], 0
        for program, rows in used.items():
            if name in rows:
                steps = schedule[names == program]
                truth = np.resize(rows[name], steps.shape[1]) if len(rows[name]) else np.zeros(steps.shape[1], np.bool_)
                read.append(steps[:, truth].ravel())
                filling += int(steps[:, ~truth].size)
        all_rows = np.concatenate(read)
        row = int(np.prod(spec.shape[1:], dtype=np.int64))
        yield DataUse(
            name, spec.dtype, spec.shape, spec.digest, int(all_rows.size), int(np.unique(all_rows).size),
            int(all_rows.size) * row, filling,
        )  # fmt: skip


_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,6})?")


def facts_of(
    path: str | os.PathLike[str],
    *,
    trainer_key: PublicKey | None = None,
    client_key: PublicKey | None = None,
    energy_kwh: str = "",
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
) -> RunFacts:
    """Count what a run shows.

    Args:
        path: The run.
        trainer_key: The key that must have signed it; that which it names unless given.
        client_key: The key that must have signed the order, if given.
        energy_kwh: What it took, in kilowatt-hours, in decimal digits: nothing here knows it. Empty for nothing.
        cancel: Looked at while long files are read.
        progress: Called with the steps whose log and fingerprints were compared, and their total.

    Raises:
        GivenFileError: The file is an order that nobody has run yet, or the energy is no number.
        BundleError: The file is no bundle.
        RefusedError: A check fails: nothing is counted of what nothing binds.
        CancelledError: ``cancel`` was set.
    """
    if energy_kwh and not _DECIMAL.fullmatch(energy_kwh):
        raise GivenFileError(
            say("The energy is no number of kilowatt-hours."), remedy=say("Give decimal digits, such as 1250.5.")
        )
    with open_inspected_run(
        path, trainer_key=trainer_key, client_key=client_key, cancel=cancel, progress=progress
    ) as inspection:
        return facts_in(inspection, energy_kwh)


@contextmanager
def open_inspected_run(
    path: str | os.PathLike[str],
    *,
    trainer_key: PublicKey | None = None,
    client_key: PublicKey | None = None,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
) -> Iterator[Inspection]:
    """Open a run that passes checks 1 to 6, the stored states left out; as :func:`facts_of`."""
    with obstacles_noticed(), BundleReader.open(path) as reader:
        inspection = Inspection(reader, with_states=False)
        for _ in checks_of(inspection, Keys(trainer_key, client_key), cancel=cancel, progress=progress):
            pass
        yield inspection


def checks_of(
    inspection: Inspection,
    known: Keys,
    *,
    order: str | os.PathLike[str] | None = None,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
) -> Iterator[None]:
    """Make checks 1 to 6 of a run; yields after those that read little, and after each that may read much.

    Args:
        inspection: The opened run.
        known: The keys that must have signed, as far as they are given.
        order: The client's own order file, if it is given.
        cancel: Looked at while long files are read.
        progress: As for :func:`facts_of`.

    Raises:
        GivenFileError: The file is an order that nobody has run yet.
        RefusedError: A check fails.
        CancelledError: ``cancel`` was set.
    """
    if not inspection.reader.has_run:
        raise GivenFileError(
            say("This is an order that nobody has run yet."), remedy=say("Give the run that a trainer recorded.")
        )
    yield from stages(inspection, order, known, None, cancel, None, progress)
    if inspection.failure is not None:
        raise inspection.failure


def facts_in(inspection: Inspection, energy_kwh: str = "") -> RunFacts:
    """Count what a run shows that :func:`open_inspected_run` opened; ``energy_kwh`` as for :func:`facts_of`."""
    order, claim, manifest = inspection.order, inspection.claim, inspection.reader.manifest
    summary = summarise(inspection)
    assert order is not None
    assert claim is not None
    assert summary.run is not None
    steps, told = summary.run.steps, summary.order
    shares = 0 if manifest.shares is None else manifest.shares.count
    counted: Counter[Sort] = Counter()
    tokens = 0
    for program, times in _runs(order.programs, steps, max(shares, 1)):
        counted += operations_of(program, times, manifest.precision)
        tokens += times * tokens_read(program)
    if order.updates is not None:
        for program, times in _runs(order.updates, steps, 1):
            counted += operations_of(program, times, manifest.precision)
    started, signed = summary.run.accepted_at, summary.run.signed_at
    return RunFacts(
        order=manifest.digest,
        run_root=claim.run_root,
        trainer_key=summary.run.trainer_key,
        client_key=told.client_key,
        title=told.title,
        steps=steps,
        steps_ordered=told.steps,
        batch_size=told.batch_size,
        parameters=told.parameters,
        optimizer=told.optimizer,
        precision=told.precision,
        compute=told.compute,
        exact_bits=told.exact_bits,
        program_digests=told.programs,
        operations=tuple(
            OperationCount(part, kind, counted[part, kind, precision], precision)
            for part, kind, precision in sorted(counted, key=_place)
            if counted[part, kind, precision]
        ),
        data=tuple(data_uses(manifest.data, order.programs, order.schedule[:steps])),
        started=started,
        signed=signed,
        machine=summary.run.environment,
        energy_kwh="" if not energy_kwh else f"{Decimal(energy_kwh).normalize():f}",
        tokens=tokens,
        seconds=seconds_between(started, signed),
        score=_score_in(inspection.reader, order.programs, steps),
    )


def _score_in(reader: BundleReader, programs: Turns[Program], steps: int) -> Score | None:
    """What an evaluation scored; nothing where the last state is not that of its leaf, which an audit finds."""
    manifest = reader.manifest
    names = () if manifest.shares is not None else score_names(programs.all)
    if not names or not steps or steps != manifest.steps:
        return None
    last = {name: reader.checkpoint_tensor(steps, name)[0] for name in names}
    return score_of(manifest, reader.initial_state(), last, reader.committed_root(steps))


def _place(sort: Sort) -> tuple[int, int, str]:
    part, kind, precision = sort
    return PARTS.index(part), KINDS.index(kind), precision


def _runs(programs: Turns[Program], steps: int, each: int) -> Iterator[tuple[Program, int]]:
    """Each program, and how often it runs in so many steps, ``each`` times in one of its own."""
    for name, program in programs.parts.items():
        yield program, each * programs.count(name, steps)
