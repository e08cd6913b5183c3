"""What a replay leaves: for the verdict, and to be looked at again after another bundle was open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from counterfoil import AuditReport, BundleSummary, Dispute, Kept, Sample, StepTable, Trust
from counterfoil_app.engine.worker import Failure
from counterfoil_app.model.divergence_table import DivergenceTable


@dataclass(frozen=True)
class VerdictMaterial:
    """What a verdict is made from."""

    report: AuditReport  #: What the replay found.
    summary: BundleSummary | None  #: The overview of the bundle; None when it could not be read.
    steps: StepTable  #: The step table.
    order: Path | None = None  #: The client's order file, if one was given.
    #: What it rests on, for who knows the user's keys; None where that is no more than the report says.
    trust: Trust | None = None


@dataclass(frozen=True)
class Finished:
    """What a replay left, so that it can be looked at again after another bundle was open."""

    path: Path  #: The bundle.
    order: Path | None  #: The client's order file, if one was given.
    data: Path | None  #: The data file, if one was chosen.
    summary: BundleSummary | None  #: The overview; None for a file that could not be read.
    client: BundleSummary | None  #: That of the client's order file; None when none was given.
    steps: StepTable  #: The step table.
    divergence: DivergenceTable  #: How far the states lay apart.
    dispute: Dispute | None  #: The dispute, or None.
    resumed_from: int | None  #: Step of the last checkpoint from which the replay went on.
    sample: Sample | None  #: The segments that were replayed.
    report: AuditReport | None  #: What the replay found; None when it ended without.
    failure: Failure | None  #: Why it ended without, or why the file could not be read.
    verdict_file: Path | None  #: Where the signed verdict lies, once there is one that says all of the report.
    kept: Kept | None  #: What another replay can go on from.
    file: Path | None = None  #: Where it is kept among the results; None when it has no report.
    stopped: bool = False  #: Whether the user stopped it.
    earlier_verdict: Path | None = None  #: A signed verdict from before more was compared, where that is the last.
