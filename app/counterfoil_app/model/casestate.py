"""Where a case stands, and what is the next thing to do: from its files and the kept results. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from counterfoil_app.model.case_file import Case, CaseFile, FileKind, Replay
from counterfoil_app.model.history import Past


class CaseState(Enum):
    """Where a case stands."""

    ORDERED = "ordered"
    """There is an order, and no run of it."""
    RECORDED = "recorded"
    """There is a run that was not replayed here."""
    REPLAYING = "replaying"
    STOPPED = "stopped"
    """A replay was stopped, or ended with its computer; it can be gone on with."""
    UNSIGNED = "unsigned"
    """A replay found something that could be signed, and was not."""
    CONCLUDED = "concluded"
    """What was found is signed, or was signed by somebody else."""
    GIVEN = "given"
    """There is a file of it that nobody has judged here: a capsule, weights, a verdict."""


class NextStep(Enum):
    """The next thing to do."""

    OPEN = "open"
    REPLAY = "replay"
    SHOW_REPLAY = "show replay"
    RESUME = "resume"
    SIGN = "sign"
    SHOW_RESULT = "show result"
    FIND = "find"


@dataclass(frozen=True)
class Standing:
    """Where a case stands."""

    state: CaseState  #: In one word.
    next: NextStep  #: What is to be done.
    file: CaseFile  #: The file that this is about.
    past: Past | None = None  #: What its last replay here found; None for none.
    replay: Replay | None = None  #: What it waits to be gone on with; None for none.


def result_of(file: CaseFile, pasts: Sequence[Past]) -> Past | None:
    """The last kept result of a run; where neither file nor result says which run it is, by its place."""
    return next((past for past in pasts if _is_of(past, file)), None) if file.kind is FileKind.RUN else None


def standing_of(case: Case, pasts: Sequence[Past], running: Path | None = None) -> Standing | None:
    """Say where a case stands: what waits for the user goes before what is done.

    Args:
        case: The case.
        pasts: The kept results, newest first.
        running: The run that is being replayed now; None for none.

    Returns:
        None for a case without a file.
    """
    runs = [_of_run(file, result_of(file, pasts), running) for file in case.of_kind(FileKind.RUN)]
    if runs:
        return min(runs, key=lambda standing: _URGENCY.index(standing.state))  # the first of those that are alike
    others = [file for file in case.files if file.kind is not FileKind.ORDER]
    judged = [file for file in others if file.outcome]
    for file in (*judged, *others):
        return Standing(CaseState.CONCLUDED if file.outcome else CaseState.GIVEN, _open(file), file)
    return next((Standing(CaseState.ORDERED, _open(file), file) for file in case.files), None)


_URGENCY = (
    CaseState.REPLAYING, CaseState.STOPPED, CaseState.UNSIGNED, CaseState.RECORDED, CaseState.CONCLUDED,
)  # fmt: skip


def _of_run(file: CaseFile, past: Past | None, running: Path | None) -> Standing:
    if running is not None and file.file == running:
        return Standing(CaseState.REPLAYING, NextStep.SHOW_REPLAY, file, past)
    if file.replay is not None:
        return Standing(CaseState.STOPPED, _there(file, NextStep.RESUME), file, past, file.replay)
    if past is None or (past.stopped and not past.signable):
        return Standing(CaseState.RECORDED, _there(file, NextStep.REPLAY), file, past)
    # A result is shown, and signed, without its file.
    if past.signable:
        return Standing(CaseState.UNSIGNED, NextStep.SIGN, file, past)
    return Standing(CaseState.CONCLUDED, NextStep.SHOW_RESULT, file, past)


def _open(file: CaseFile) -> NextStep:
    return _there(file, NextStep.OPEN)


def _there(file: CaseFile, step: NextStep) -> NextStep:
    return step if file.is_there else NextStep.FIND


def _is_of(past: Past, file: CaseFile) -> bool:
    return past.about == file.about and (past.about is not None or past.path.absolute() == file.file)
