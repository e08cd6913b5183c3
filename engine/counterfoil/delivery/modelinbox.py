"""Compares a delivered model with a run in a process in a box, for a verdict that names the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from counterfoil.audit.boxed.start import why_open
from counterfoil.audit.values.delivery import Basis, DeliveryOutcome, DeliveryReport
from counterfoil.talk.line import Line
from counterfoil.talk.port import Enclosure, Port
from counterfoil.talk.process import Process
from counterfoil.talk.table import DELIVERY
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest


def model_and_run(
    model: Path, run: Path, basis: Basis, cancel: CancelToken
) -> tuple[DeliveryReport | None, Digest | None]:
    """Compare a model with a run; returns what was found, and the model's digest where it is the run's.

    Args:
        model: The folder of the model.
        run: The run.
        basis: What says that it is verified.
        cancel: Stops it.

    Raises:
        CounterfoilError: As :func:`.verification.verify_weights` and :func:`.modeldigest.model_digest`.
    """
    found: DeliveryReport | None = None
    process = Process(DELIVERY)
    try:
        reads = str(model.absolute()), str(run.absolute())
        process.enclose(Enclosure(reads, open=why_open("")))
        for said in process.ask(COMPARES, COMPARES.call(compare, (*map(Path, reads), basis), {}), cancel):
            if isinstance(said, Digest):
                return found, said
            found = said
    finally:
        process.end(now=True)
    return found, None


def main() -> None:
    """Compare one: what the process is."""
    line = Line(DELIVERY, COMPARES)
    if line.enclosed() is not None:
        line.serve(None)


def compare(
    _process: None, model: Path, run: Path, basis: Basis, cancel: CancelToken
) -> Iterator[DeliveryReport | Digest]:
    """Yield what was found, and behind it the model's digest where it is the run's."""
    from counterfoil.delivery.modeldigest import model_digest
    from counterfoil.delivery.verification import verify_weights

    for event in verify_weights(model, run, basis, cancel=cancel):
        if isinstance(event, DeliveryReport):
            yield event
            if event.outcome is DeliveryOutcome.DELIVERED:
                yield from (each for each in model_digest(model, event, cancel) if isinstance(each, Digest))


COMPARES = Port[None](compare, given="_process")
"""What the process may be asked."""
