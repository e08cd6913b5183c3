"""Counts what a run shows of itself; nothing is replayed, and nothing is taken from what no digest binds.

The run is inspected first (checks 1 to 6), so programs, schedule and data are those of the order digest, and the order
is that of the trainer's signature.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from counterfoil.audit.overview import summarise
from counterfoil.audit.programfacts import Sort, data_uses, operations_of, tokens_read
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.checked import OnProgress
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.hearing.inspection import Inspection, stages
from counterfoil_core.parties.signatures import Keys
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.values.runfacts import KINDS, PARTS, OperationCount, RunFacts, seconds_between

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
    with inspected(
        path, trainer_key=trainer_key, client_key=client_key, cancel=cancel, progress=progress
    ) as inspection:
        return facts_in(inspection, energy_kwh)


@contextmanager
def inspected(
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
    """Count what a run shows that :func:`inspected` opened; ``energy_kwh`` as for :func:`facts_of`."""
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
    )


def _place(sort: Sort) -> tuple[int, int, str]:
    part, kind, precision = sort
    return PARTS.index(part), KINDS.index(kind), precision


def _runs(programs: Turns[Program], steps: int, each: int) -> Iterator[tuple[Program, int]]:
    """Each program, and how often it runs in so many steps, ``each`` times in one of its own."""
    for name, program in programs.parts.items():
        yield program, each * programs.count(name, steps)
