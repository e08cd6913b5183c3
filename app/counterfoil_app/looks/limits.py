"""What an outcome does not say, in a sentence: whoever reads it takes it for more than it is.

The promises, and where they end, are in docs/threat-model.md; these are the ends that people do not expect.
"""

from __future__ import annotations

from counterfoil import AdjudicationOutcome, Outcome, Sample
from counterfoil_app.looks.language import texts

_tr = texts("limits")


def not_said(outcome: Outcome | AdjudicationOutcome, sample: Sample | None = None) -> str:
    """What does not follow from an outcome; empty where there is nothing to add.

    Args:
        outcome: What was found.
        sample: Which segments were replayed; None for all of them.
    """
    if outcome is Outcome.VERIFIED and sample is not None and not sample.whole:
        return _tr("It says nothing of the segments that were not replayed, nor that the model is good or harmless.")
    return {
        Outcome.VERIFIED: _tr(
            "It does not say that the model is good or harmless, whose the data are, or what else was trained."
        ),
        Outcome.DISPUTED: _tr("It does not say why: fraud, a defect and a broken machine look alike."),
        AdjudicationOutcome.CONFIRMED: _tr("It does not say why: fraud, a defect and a broken machine look alike."),
        Outcome.INCONCLUSIVE: _tr("It accuses nobody, and accepts nothing: treat the run as not verified."),
        Outcome.REFUSED: _tr("It says nothing of the training."),
    }.get(outcome, "")
