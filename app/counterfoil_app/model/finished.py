"""What a replay leaves: for the verdict, and to be looked at again after another bundle was open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from counterfoil import AuditReport, BundleSummary, Dispute, Kept, Sample, StepTable, Trust
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.divergence_table import DivergenceTable


@dataclass(frozen=True)
class VerdictMaterial:
    """What a verdict is made from.

    Attributes:
        report: What the replay found.
        summary: The overview of the bundle; None when it could not be read.
        steps: The step table.
        order: The client's order file, if one was given.
        trust: What it rests on, for who knows the user's keys; None where that is no more than the report says.
    """

    report: AuditReport
    summary: BundleSummary | None
    steps: StepTable
    order: Path | None = None
    trust: Trust | None = None


@dataclass(frozen=True)
class Finished:
    """What a replay left, so that it can be looked at again after another bundle was open.

    Attributes:
        path: The bundle.
        order: The client's order file, if one was given.
        data: The data file, if one was chosen.
        summary: The overview; None for a file that could not be read.
        client: That of the client's order file; None when none was given.
        steps: The step table.
        divergence: How far the states lay apart.
        dispute: The dispute, or None.
        resumed_from: Step of the last checkpoint from which the replay went on.
        sample: The segments that were replayed.
        report: What the replay found; None when it ended without.
        failure: Why it ended without, or why the file could not be read.
        verdict_file: Where the signed verdict lies, once there is one.
        kept: What another replay can go on from.
        file: Where it is kept among the results; None when it has no report.
        stopped: Whether the user stopped it.
    """

    path: Path
    order: Path | None
    data: Path | None
    summary: BundleSummary | None
    client: BundleSummary | None
    steps: StepTable
    divergence: DivergenceTable
    dispute: Dispute | None
    resumed_from: int | None
    sample: Sample | None
    report: AuditReport | None
    failure: Failure | None
    verdict_file: Path | None
    kept: Kept | None
    file: Path | None = None
    stopped: bool = False
