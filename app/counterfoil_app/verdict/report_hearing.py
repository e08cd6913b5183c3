"""What the report on an adjudication says in the places where that on an audit says something else."""

from __future__ import annotations

from counterfoil import AdjudicationOutcome, AdjudicationReport, Digest
from counterfoil_app.looks import text, words
from counterfoil_app.looks.language import texts

_tr = texts("report")
Row = tuple[str, str | Digest | None]
"""A name, and a text, or a digest; None where it could not be read."""


def titles() -> tuple[str, str]:
    """The title, and the question that it answers."""
    return _tr("Adjudication report"), _tr("An auditor disputes a step of this run: who is right?")


def facts(report: AdjudicationReport) -> list[Row]:
    """What was judged: names and values."""
    steps = words.disputed_step(report.step, report.steps_recorded, report.agreed_step) if report.step else None
    return [
        (_tr("Job"), report.title or None),
        (_tr("File of the capsule"), report.capsule_name),
        (_tr("its SHA-256"), report.capsule_digest),
        (_tr("Order"), words.order_source(report.order_source)),
        (_tr("Order digest"), report.order_digest),
        (_tr("Run root"), report.run_root),
        (_tr("Trainer's key"), Digest.from_hex(report.trainer_key) if report.trainer_key else None),
        (_tr("Disputed"), steps),
        (_tr("Steps replayed and judged"), text.count(report.steps_replayed)),
        (_tr("Time of the replay"), text.duration(report.seconds)),
    ]


def meaning(outcome: AdjudicationOutcome) -> str:
    """What an outcome means, as a plain paragraph."""
    nothing = _tr("Nothing follows for or against the trainer, nor for or against whoever wrote the capsule.")
    return {
        AdjudicationOutcome.CONFIRMED: _tr(
            "The disputed step was carried out once more, by somebody who trusts neither side, and is not what was "
            "ordered. The trainer's signature binds it to what it signed."
        ),
        AdjudicationOutcome.REJECTED: _tr(
            "The disputed step was carried out once more, by somebody who trusts neither side, and came out as the "
            "trainer signed it. About this step the accusation is wrong; of other steps nothing was looked at."
        ),
    }.get(outcome, nothing)


def method() -> tuple[str, ...]:
    """How it was found, in sentences."""
    return (
        _tr(
            "A dispute capsule holds one step of a run, the state before it, and the proofs that both belong to what "
            "the trainer signed and the client ordered."
        ),
        _tr(
            "Everything in it was first checked against the order and the trainer's signature, and then this machine "
            "with known answers. Nothing was taken on the word of whoever wrote the capsule."
        ),
        _tr(
            "Then each step of the capsule was carried out again, operation by operation, and its hash compared with "
            "the trainer's: equal hashes mean equal results, down to the last bit."
        ),
        _tr(
            "A step that came out different was carried out once more with every sum in another order, and what "
            "differs first in it was held against its definition, or computed exactly: the trainer is accused only of "
            "what no sound machine gives."
        ),
    )
