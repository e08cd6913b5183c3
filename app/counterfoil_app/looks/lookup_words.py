"""What is said of a hash or of weights in a run, and of verdicts on a trainer, in words. Pure."""

from __future__ import annotations

from counterfoil import LedgerRun, LedgerVerdict, Place, RunOutcome, StepWeights
from counterfoil_app.looks import text, words
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Tone
from counterfoil_app.looks.words import Look

_tr = texts("lookup")


def place_said(place: Place) -> str:
    """What has the hash."""
    name, _, chunk = place.path.rpartition("/")
    return {
        "run root": _tr("the run root"),
        "order": _tr("the order"),
        "state": _tr("the whole state"),
        "tensor": _tr("the tensor {0}").format(place.path),
        "chunk": _tr("chunk {0} of the tensor {1}").format(chunk, name),
        "data": _tr("the data array {0}").format(place.path),
        "source file": _tr("a file that the order names as its source: {0}").format(place.path),
    }.get(place.what, place.what)


def weights_said(state: StepWeights) -> str:
    """What a stored state has in common with weights."""
    said = _tr("{0} of {1} tensors are the same").format(text.count(state.same), text.count(state.tensors))
    missing = _tr("missing in the file: {0}").format(text.count(state.missing))
    return f"{said}; {missing}" if state.missing else said


def run_look(outcome: RunOutcome) -> Look:
    """What the verdicts on a run say together."""
    return {
        RunOutcome.CLEAN: Look(_tr("clean"), "verified", Tone.OK),
        RunOutcome.DISPUTED: Look(_tr("disputed"), "disputed", Tone.BAD),
        RunOutcome.UNDECIDED: Look(_tr("undecided"), "inconclusive", Tone.WARN),
    }[outcome]


def verdict_look(verdict: LedgerVerdict) -> Look:
    """What a verdict or an adjudication of a dispute says."""
    if verdict.kind == "adjudication":
        return {
            "CONFIRMED": Look(_tr("adjudicated: CONFIRMED"), "disputed", Tone.BAD),
            "REJECTED": Look(_tr("adjudicated: REJECTED"), "verified", Tone.OK),
        }.get(verdict.outcome, Look(words.as_signed(verdict.outcome), "inconclusive", Tone.WARN))
    tone = Tone.BAD if verdict.outcome == "DISPUTED" else Tone.WARN
    return Look(words.as_signed(verdict.outcome), "disputed" if tone is Tone.BAD else "inconclusive", tone)


def outcomes_said(run: LedgerRun) -> str:
    """What each verdict on a run says, by time."""
    answered = _tr("{0} (answered)")
    return ", ".join(answered.format(one.outcome) if one.replied else one.outcome for one in run.verdicts)


def most_replayed(run: LedgerRun) -> LedgerVerdict:
    """The verdict for which most of a run was replayed."""
    return max(run.verdicts, key=lambda one: one.steps_replayed)


def coverage_said(run: LedgerRun) -> str:
    """How much of a run was replayed at most."""
    most = most_replayed(run)
    return _tr("{0} of {1} steps").format(text.count(most.steps_replayed), text.count(most.steps_recorded))
