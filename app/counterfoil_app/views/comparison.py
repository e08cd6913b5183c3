"""What was ordered against what was run, line by line. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from counterfoil import BundleSummary
from counterfoil_app.looks import text, words


@dataclass(frozen=True)
class ComparedField:
    """One line of the comparison.

    Attributes:
        name: What is compared.
        ordered: What was ordered.
        run: What the run was made for, or says; empty while there is no run.
        same: Whether both are the same; None where nothing can be said, because the order is the bundle's own.
        digest: Whether the values are digests.
    """

    name: str
    ordered: str
    run: str
    same: bool | None
    digest: bool = False


def _tr(source: str) -> str:
    return QCoreApplication.translate("comparison", source)


def program_lines(summary: BundleSummary) -> list[tuple[str, str, bool]]:
    """Return name, value and whether the value is a digest: of the program, or of each that takes turns and how."""
    order = summary.order
    if not order.pattern:
        return [(_tr("Program"), digest.hex, True) for _, digest in order.programs]
    turns = (_tr("Turns"), ", ".join(order.pattern), False)
    return [turns, *((_tr("Program {0}").format(name), digest.hex, True) for name, digest in order.programs)]


def compared_fields(bundle: BundleSummary, client: BundleSummary | None) -> list[ComparedField]:
    """Compare an order with the run in a bundle.

    Args:
        bundle: The opened bundle: the order that it holds, and the run.
        client: The client's own order file; None when none was opened. Then the order is what the bundle says, and only
            what the trainer signed can be compared with it.
    """
    ordered, held, run = client.order if client is not None else bundle.order, bundle.order, bundle.run
    signed = run is not None and run.run_root is not None
    run_digest = run.order_digest.hex if run is not None else ""
    lines = [
        ComparedField(
            _tr("Order digest"),
            ordered.digest.hex,
            run_digest,
            ordered.digest.hex == run_digest if signed and run is not None else None,
            digest=True,
        ),
        ComparedField(
            _tr("Steps"),
            text.count(ordered.steps),
            text.count(run.steps) if run is not None else "",
            ordered.steps == run.steps if run is not None else None,
        ),
    ]
    pairs = (
        (_tr("Title"), ordered.title, held.title, False),
        (_tr("Rows per step"), text.count(ordered.batch_size), text.count(held.batch_size), False),
        (_tr("Optimizer"), ordered.optimizer, held.optimizer, False),
        (_tr("Precision"), *_precisions(ordered.precision, held.precision), False),
        (_tr("Seed"), str(ordered.seed), str(held.seed), False),
        *_programs(client or bundle, bundle),
        (_tr("Data"), ordered.data_root.hex, held.data_root.hex, True),
        (_tr("Initial state"), ordered.initial_root.hex, held.initial_root.hex, True),
    )
    if client is None:
        return lines  # both sides of the rest would be the bundle's own words
    held_by = run is not None
    lines += [
        ComparedField(name, left, right if held_by else "", left == right if held_by else None, digest)
        for name, left, right, digest in pairs
    ]
    return lines


def _programs(ordered: BundleSummary, held: BundleSummary) -> list[tuple[str, str, str, bool]]:
    """The programs of both, each beside that of the same name in the other."""
    left, right = program_lines(ordered), program_lines(held)
    both = {name: digest for name, _, digest in (*left, *right)}
    sides = [{name: value for name, value, _ in lines} for lines in (left, right)]
    return [(name, sides[0].get(name, ""), sides[1].get(name, ""), digest) for name, digest in both.items()]


def _precisions(ordered: str, held: str) -> tuple[str, str]:
    """Both profiles in few words; in all where only the margins differ."""
    short = words.precision(ordered), words.precision(held)
    if ordered != held and short[0] == short[1]:
        return words.precision(ordered, exactly=True), words.precision(held, exactly=True)
    return short
