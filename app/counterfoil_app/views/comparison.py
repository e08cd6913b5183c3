"""What was ordered against what was run, line by line. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil import BundleSummary
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts


@dataclass(frozen=True)
class ComparedField:
    """One line of the comparison."""

    name: str  #: What is compared.
    ordered: str  #: What was ordered.
    run: str  #: What the run was made for, or says; empty while there is no run.
    #: Whether both are the same; None where nothing can be said, because the order is the bundle's own: that a file
    #: agrees with itself says nothing, and that it does not is a fault all the same.
    same: bool | None
    digest: bool = False  #: Whether the values are digests.


_tr = texts("comparison")


def program_lines(summary: BundleSummary) -> list[tuple[str, str, bool]]:
    """Return name, value and whether the value is a digest: of the program, or of each that takes turns and how."""
    order = summary.order
    if not order.pattern:
        named = [
            (_tr("Program {0}").format(name) if name else _tr("Program"), digest) for name, digest in order.programs
        ]
        return [(name, digest.hex, True) for name, digest in named]
    more = ", ..." * (order.pattern_steps > len(order.pattern))
    turns = (_tr("Turns"), ", ".join(order.pattern) + more, False)
    return [turns, *((_tr("Program {0}").format(name), digest.hex, True) for name, digest in order.programs)]


def compared_fields(bundle: BundleSummary, client: BundleSummary | None) -> list[ComparedField]:
    """Compare an order with the run in a bundle.

    Args:
        bundle: The opened bundle: the order that it holds, and the run.
        client: The client's own order file; None when none was opened. Then the order is what the bundle says, and only
            what the trainer signed can be compared with it.
    """
    alone = compares_itself(bundle, client)

    def judged(same: bool | None) -> bool | None:
        return None if same and alone else same

    ordered, held, run = client.order if client is not None else bundle.order, bundle.order, bundle.run
    signed = run is not None and run.run_root is not None
    run_digest = run.order_digest.hex if run is not None else ""
    # Whether the order's rule ended the run there check 6 says.
    shorter = run is not None and run.steps < ordered.steps and ordered.may_stop_early != ""
    lines = [
        ComparedField(
            _tr("Order digest"),
            ordered.digest.hex,
            run_digest,
            judged(ordered.digest.hex == run_digest if signed and run is not None else None),
            digest=True,
        ),
        ComparedField(
            _tr("Steps"),
            text.count(ordered.steps),
            words.recorded_steps(run.steps, ordered.steps) if run is not None else "",
            judged(None if run is None or shorter else ordered.steps == run.steps),
        ),
    ]
    if client is None:
        return lines  # both sides of the rest would be the bundle's own words
    sides = [{name: (value, digest) for name, value, digest in order_lines(each)} for each in (client, bundle)]
    exactly = ordered.precision != held.precision and sides[0][_tr("Precision")] == sides[1][_tr("Precision")]
    for name in {**sides[0], **sides[1]}:
        (left, digest), (right, also) = (side.get(name, ("", False)) for side in sides)
        if name == _tr("Precision") and exactly:  # only the margins differ
            left, right = (words.precision(order.precision, exactly=True) for order in (ordered, held))
        there = run is not None
        same = left == right if there else None
        lines.append(ComparedField(name, left, right if there else "", same, digest or also))
    return lines


def compares_itself(bundle: BundleSummary, client: BundleSummary | None) -> bool:
    """Whether the order is nobody's but the file's own: not compared with the client's, nor signed by the client."""
    return client is None and bundle.order_source == "bundle"


def _shares(summary: BundleSummary) -> str:
    """How the rows of a step are divided, and what becomes of what the shares give."""
    order = summary.order
    said = _tr("{0} of {1} rows, added exactly") if order.shares_added else _tr("{0} of {1} rows, side by side")
    return said.format(text.count(order.shares), text.count(order.batch_size // order.shares))


def order_lines(summary: BundleSummary) -> list[tuple[str, str, bool]]:
    """Return name, value and whether the value is a digest, of what an order says."""
    order = summary.order
    return [
        (_tr("Title"), order.title, False),
        *([(_tr("Early stopping"), translate(order.may_stop_early), False)] if order.may_stop_early else []),
        (_tr("Rows per step"), text.count(order.batch_size), False),
        *([(_tr("Shares"), _shares(summary), False)] if order.shares else []),
        (_tr("Optimizer"), order.optimizer, False),
        (_tr("Precision"), words.precision(order.precision), False),
        (_tr("Seed"), str(order.seed), False),
        *program_lines(summary),
        (_tr("Data"), order.data_root.hex, True),
        (_tr("Initial state"), order.initial_root.hex, True),
    ]
