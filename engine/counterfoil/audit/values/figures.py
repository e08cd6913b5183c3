"""The figures of an audit in sentences, so that whoever shows one says the same: window, printed report, command line.

All of them come from the report or the verdict, or from what the trainer recorded. Where two figures differ because
they are about different steps, each sentence says which. Pure.
"""

from __future__ import annotations

from counterfoil_core.base.sentence import Sentence, joined, say
from counterfoil_core.statement.judgement import Verdict
from counterfoil_core.values.report import AuditReport, Kept
from counterfoil_core.values.runfacts import Score
from counterfoil_core.values.steptable import Recorded


def steps_said(judged: AuditReport | Verdict) -> Sentence:
    """How many steps were ordered, recorded where these are fewer, judged, and different."""
    recorded = (
        say(", {0:,} recorded", judged.steps_recorded) if judged.steps_recorded < judged.steps_ordered else say("")
    )
    mismatches = judged.steps_replayed - judged.steps_matching
    different = say(", {0:,} different", mismatches) if mismatches else say("")
    return say("{0:,} ordered{1}, {2:,} judged{3}", judged.steps_ordered, recorded, judged.steps_replayed, different)


def recorded_log_said(recorded: Recorded) -> Sentence:
    """How large the rounding log is that the trainer recorded."""
    return say(
        "{0:,} entries, {1:,} bytes in all {2:,} steps of the run",
        recorded.all_log_entries,
        recorded.all_log_bytes,
        len(recorded),
    )


def log_said(judged: AuditReport | Verdict) -> Sentence:
    """What the log of the steps that match came to: that of a step that differs belongs to other values."""
    counts = judged.statement.counts if isinstance(judged, Verdict) else judged
    return say(
        "{0:,} entries, {1:,} bytes in the {2:,} steps that match; {3:,} corrections, {4:,} contradictions, "
        "{5:,} omissions",
        int(counts.log_entries),
        int(counts.log_bytes),
        judged.steps_matching,
        int(counts.corrections),
        int(counts.contradictions),
        int(counts.omissions),
    )


def sittings_said(report: AuditReport) -> Sentence:
    """How often it was gone on with; empty where it was not, so that its time is that from begin to end."""
    if report.sittings < 2:
        return say("")
    return say(
        "in {0} sittings: it was stopped and gone on with, and the time between them is not counted", report.sittings
    )


def kept_said(kept: Kept) -> Sentence:
    """What is kept of an audit that was stopped: whole segments, which may be fewer steps than were judged."""
    return say(
        "{0:,} of {1:,} segments with {2:,} judged steps, the last of them step {3:,}",
        kept.segments,
        kept.chosen,
        kept.judged,
        kept.step,
    )


def score_said(score: Score) -> Sentence:
    """What a model scored, on which data: what follows from its counts, and those counts that are one number.

    A number of digits is shown; the counts are exact, and stand in what is signed.
    """
    metrics, correct, counted = score.metrics, score.count("correct"), score.count("counted")
    parts, told = [], {"counted", "correct"} if "accuracy" in metrics else set[str]()
    if "accuracy" in metrics:
        parts.append(say("{0:,} of {1:,} right ({2:.2f} %)", correct, counted, float(100 * metrics["accuracy"])))
    if "macro_f1" in metrics:
        parts.append(say("macro F1 {0:.4f}", float(metrics["macro_f1"])))
    if "perplexity" in metrics:
        parts.append(say("perplexity {0:.6g}", float(metrics["perplexity"])))
        told |= {"counted", "nats"}
    for one in score.counts:
        if not one.shape and one.name not in told:
            parts.append(say("{0} {1:,}", one.name, score.count(one.name) or 0))
    return joined(*(parts or [say("{0:,} counts", sum(len(one.values) for one in score.counts))]), between=", ")


def score_lines(score: Score) -> tuple[tuple[Sentence, Sentence], ...]:
    """What a model scored, with its root and that of the data, as lines with their names."""
    return (
        (say("Score"), score_said(score)),
        (say("Model root"), say("{0}", score.model_root.hex)),
        (say("Data root"), say("{0}", score.data_root.hex)),
    )


def figures(judged: AuditReport | Verdict, recorded: Recorded | None = None) -> tuple[tuple[Sentence, Sentence], ...]:
    """Return the figures of a report with their names, but for the times, which each place shows in its own way.

    Args:
        judged: What an audit found, or what is signed of it.
        recorded: What the trainer recorded; None where it could not be read.
    """
    lines = [(say("Steps"), steps_said(judged))]
    if judged.exact_bits is None:
        if recorded is not None and len(recorded):
            lines.append((say("Rounding log, recorded"), recorded_log_said(recorded)))
        lines.append((say("Rounding log, judged"), log_said(judged)))
    facts = judged.run_facts if isinstance(judged, Verdict) else judged.facts
    if facts is not None and facts.score is not None:
        lines.extend(score_lines(facts.score))
    return tuple(lines)


def joined_time(duration: str, report: AuditReport) -> Sentence:
    """A duration that somebody wrote in their own way, with the sittings that it is the sum of."""
    return joined(duration, sittings_said(report), between=", ")
