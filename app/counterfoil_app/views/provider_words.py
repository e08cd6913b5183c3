"""What is said of providers and of two bundles that were compared, in words. Pure."""

from __future__ import annotations

from counterfoil import Member, PanelOutcome, Ruling, Standing
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Tone
from counterfoil_app.looks.words import Look

_tr = texts("providers")


def standing_look(member: Member | None) -> Look:
    """How what was found of a provider is shown; None is one whose run was not read yet."""
    if member is None:
        return Look(_tr("not read yet"), "pending", Tone.MUTED)
    return {
        Standing.REFUSED: Look(_tr("took no part"), "refused", Tone.WARN),
        Standing.WRONG: Look(_tr("not what was ordered"), "failed", Tone.BAD),
        Standing.RIGHT_THERE: Look(_tr("right where they part"), "passed", Tone.OK),
        Standing.UNTESTED: Look(_tr("not replayed"), "pending", Tone.MUTED),
    }[member.standing]


def ruling_look(ruling: Ruling) -> Look:
    """How what a replay said of one step of a provider is shown."""
    if ruling.wrong:
        return Look(_tr("not what was ordered"), "failed", Tone.BAD)
    if ruling.right:
        return Look(_tr("as ordered"), "passed", Tone.OK)
    return Look(_tr("cannot be decided here"), "inconclusive", Tone.WARN)


def outcome_look(outcome: PanelOutcome) -> Look:
    """How the outcome of a comparison is shown."""
    return {
        PanelOutcome.AGREED: Look(_tr("AGREED: all runs have the same results"), "verified-open", Tone.INFO),
        PanelOutcome.EXPOSED: Look(_tr("EXPOSED: a run is not what was ordered"), "disputed", Tone.BAD),
        PanelOutcome.UNDECIDED: Look(_tr("UNDECIDED: nobody is accused"), "inconclusive", Tone.WARN),
        PanelOutcome.REFUSED: Look(_tr("REFUSED: a run took no part"), "refused", Tone.WARN),
    }[outcome]
