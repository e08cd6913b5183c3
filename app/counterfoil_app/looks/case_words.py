"""The words, icons and tones for cases: where they stand, what is to be done, and what their files are."""

from __future__ import annotations

from datetime import datetime

from counterfoil import AdjudicationOutcome, DeliveryOutcome, Outcome
from counterfoil_app.engine import strangers
from counterfoil_app.engine.strangers import name_of
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.theme import Tone
from counterfoil_app.looks.words import Look
from counterfoil_app.model.case_file import Case, CaseFile, FileKind
from counterfoil_app.model.casestate import CaseState, NextStep, Standing
from counterfoil_app.model.history import Past

_tr = texts("case_words")


def name_of_case(case: Case) -> str:
    """What a case is called: its number, if it has one, and the client's name for the job."""
    title = strangers.sentence(case.title) or _tr("Order {0}").format(case.order[:12])
    return f"{strangers.sentence(case.parties.number)} \u2013 {title}" if case.parties.number else title


def file_kind(kind: FileKind) -> str:
    """What a file is to its case."""
    return {
        FileKind.ORDER: _tr("Order"),
        FileKind.RUN: _tr("Run"),
        FileKind.VERDICT: _tr("Verdict"),
        FileKind.CAPSULE: _tr("Dispute capsule"),
        FileKind.WEIGHTS: _tr("Weights"),
    }[kind]


def next_step(step: NextStep) -> str:
    """What the button says that does the next thing."""
    return {
        NextStep.OPEN: _tr("Open"),
        NextStep.REPLAY: _tr("Open to replay"),
        NextStep.SHOW_REPLAY: _tr("Show the replay"),
        NextStep.RESUME: _tr("Resume"),
        NextStep.SIGN: _tr("Sign\u2026"),
        NextStep.SHOW_RESULT: _tr("Show"),
        NextStep.FIND: _tr("Find it\u2026"),
    }[step]


def standing(found: Standing) -> Look:
    """How the state of a case is shown."""
    look = _state(found)
    return Look(_tr("{0}, file moved").format(look.word), "warning", Tone.WARN) if found.next is NextStep.FIND else look


def _state(found: Standing) -> Look:
    past = found.past
    if found.state in (CaseState.UNSIGNED, CaseState.CONCLUDED) and past is not None:
        look = result(past)
        unsigned = _tr("{0}, not signed").format(look.word)
        return Look(unsigned, look.icon, look.tone) if found.state is CaseState.UNSIGNED else look
    if found.state is CaseState.CONCLUDED:
        return outcome(found.file)
    return {
        CaseState.ORDERED: Look(_tr("ordered"), "order", Tone.MUTED),
        CaseState.RECORDED: Look(_tr("recorded, not replayed here"), "waiting", Tone.INFO),
        CaseState.REPLAYING: Look(_tr("being replayed"), "running", Tone.INFO),
        CaseState.STOPPED: Look(_tr("stopped"), "pause", Tone.WARN),
        CaseState.GIVEN: Look(_tr("given to you, not judged here"), "information", Tone.INFO),
    }[found.state]


def result(past: Past) -> Look:
    """How what a replay found is shown, with how much of the run it holds for."""
    look = words.outcome(past.outcome, trust=past.trust)
    return Look(strangers.sentence(translate(past.headline)), look.icon, look.tone)


def outcome(file: CaseFile) -> Look:
    """How the outcome of a verdict, an adjudication or a comparison is shown, as it was when it was last read.

    It is a memory, and what it rests on was not kept: so nothing is shown as verified.
    """
    icon = {FileKind.VERDICT: "verdict", FileKind.WEIGHTS: "compare"}.get(file.kind, "disputed")
    return Look(
        words.as_signed(strangers.sentence(file.outcome)), icon, Tone.BAD if file.outcome in _BAD else Tone.INFO
    )


_BAD = (Outcome.DISPUTED.value, AdjudicationOutcome.CONFIRMED.value, DeliveryOutcome.DIFFERENT.value)


def sentence(found: Standing) -> str:
    """Where a case stands, in a sentence about the file that this is about."""
    file, past = found.file, found.past
    name, folder = name_of(file.file), strangers.sentence(str(file.file.parent))
    if found.next is NextStep.FIND:
        return _tr("{0} is no longer in {1}: file moved; find it.").format(name, folder)
    if found.state is CaseState.STOPPED and found.replay is not None:
        steps = text.count(found.replay.steps)
        if not found.replay.step:
            return _tr("The replay of {0} ({1} steps) did not come to its end.").format(name, steps)
        return _tr("The replay of {0} stopped after step {1} of {2}.").format(
            name, text.count(found.replay.step), steps
        )
    if past is not None and found.state in (CaseState.UNSIGNED, CaseState.CONCLUDED):
        judged = _tr("{0}: {1} of {2} steps judged on {3}.").format(
            name, text.count(past.judged), text.count(past.ordered), day(past.when)
        )
        signed = _tr("Signed in {0}.").format(name_of(past.signed)) if past.signed is not None else ""
        return f"{judged} {signed}".strip()
    about = {
        CaseState.ORDERED: _tr("{0} in {1}. No run of it was opened here."),
        CaseState.RECORDED: _tr("{0} in {1}. Replay it to see whether it comes out the same."),
        CaseState.REPLAYING: _tr("{0} in {1} is replayed now."),
        CaseState.GIVEN: _tr("{0} in {1}."),
        CaseState.CONCLUDED: _judged_here(file.kind),
    }[found.state]
    return about.format(name, folder)


def _judged_here(kind: FileKind) -> str:
    """Who says what a case came to: a verdict says it itself, of a capsule and of weights it was found on this desk."""
    if kind is FileKind.CAPSULE:
        return _tr("The step that {0} in {1} is about was adjudicated here.")
    if kind is FileKind.WEIGHTS:
        return _tr("{0} in {1}: the weights were compared here.")
    return _tr("So says {0} in {1}.")


def runs(case: Case, standings: list[Look]) -> str:
    """How the runs of a case stand, where it has several; empty for one."""
    if len(standings) < 2:
        return ""
    counts: dict[str, int] = {}
    for look in standings:
        counts[look.word] = counts.get(look.word, 0) + 1
    said = ", ".join(f"{text.count(number)} \u00d7 {word}" for word, number in counts.items())
    return _tr("{0} runs: {1}.").format(text.count(len(standings)), said)


def day(when: datetime) -> str:
    """A day as it is here."""
    return when.astimezone().strftime("%Y-%m-%d")
