"""The words, icons and tones for the engine's values, in one place so that all views say the same."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from counterfoil import CheckNumber, CheckState, Outcome, StepMatch
from counterfoil_app import engine_words
from counterfoil_app.theme import Tone


@dataclass(frozen=True)
class Look:
    """How a value is shown: never by colour alone."""

    word: str
    icon: str
    tone: Tone


def _tr(text: str) -> str:
    return QCoreApplication.translate("words", text)


def outcome(value: Outcome) -> Look:
    """How an outcome is shown."""
    return {
        Outcome.VERIFIED: Look("VERIFIED", "verified", Tone.OK),
        Outcome.DISPUTED: Look("DISPUTED", "disputed", Tone.BAD),
        Outcome.INCONCLUSIVE: Look("INCONCLUSIVE", "inconclusive", Tone.WARN),
        Outcome.REFUSED: Look("REFUSED", "refused", Tone.WARN),
        Outcome.ERROR: Look("ERROR", "error", Tone.WARN),
    }[value]


def check_state(value: CheckState) -> Look:
    """How the state of a check is shown."""
    return {
        CheckState.PENDING: Look(_tr("not yet checked"), "pending", Tone.MUTED),
        CheckState.RUNNING: Look(_tr("being checked"), "running", Tone.INFO),
        CheckState.PASSED: Look(_tr("passed"), "passed", Tone.OK),
        CheckState.FAILED: Look(_tr("failed"), "failed", Tone.BAD),
        CheckState.WARNING: Look(_tr("passed, with a remark"), "warning", Tone.WARN),
        CheckState.SKIPPED: Look(_tr("not reached"), "skipped", Tone.MUTED),
    }[value]


def step_match(value: StepMatch) -> Look:
    """How the comparison of a step is shown."""
    return {
        StepMatch.MATCH: Look(_tr("match"), "passed", Tone.OK),
        StepMatch.MISMATCH: Look(_tr("mismatch"), "failed", Tone.BAD),
        StepMatch.UNJUDGED: Look(_tr("unjudged"), "skipped", Tone.MUTED),
    }[value]


def equality(equal: bool) -> Look:
    """How the comparison of two hashes is shown."""
    return Look(_tr("equal"), "passed", Tone.OK) if equal else Look(_tr("different"), "failed", Tone.BAD)


def check_title(number: CheckNumber) -> str:
    """What a check asks, with its number."""
    return f"{int(number)}. {engine_words.translated(number.title)}"


def part(name: str) -> str:
    """A part of a step's record in words."""
    return {"state": _tr("state"), "loss": _tr("loss"), "fingerprints": _tr("fingerprints"), "log": _tr("log")}.get(
        name, name
    )
