"""Orders, records and audits one whole training; each goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.campaign.task import Found
from benchmarks.sessions import key_in
from benchmarks.whole.jobs import WholeJob
from counterfoil.audit.hearings import run_audit
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import RecordFinished, StepRecorded
from counterfoil_core.base.precision import Precision
from counterfoil_core.values.events import AuditFinished, StepReplayed
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.steptable import StepMatch


@dataclass(frozen=True)
class Lines:
    """Rows that are kept as they come, one to a line, so that nothing is lost when a process ends."""

    path: Path  #: The file.

    def keep(self, **row: Any) -> None:
        """Add a row; of two of one ``step`` the later one counts."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows in the order of their steps."""
        by_step = {row["step"]: row for row in self._read()}
        return [by_step[step] for step in sorted(by_step)]

    def _read(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            # A process that was killed may have left half a line, whose step comes again.
            if line.endswith("}"):
                yield json.loads(line)


@dataclass(frozen=True)
class Pieces:
    """The files of one training."""

    folder: Path  #: Where they lie.
    job: WholeJob  #: What is trained.
    text: Path | None  #: The text that a language model learns; None for made-up tokens.
    threads: int  #: Threads on the CPU.

    @property
    def order(self) -> Path:
        """The order."""
        return self.folder / "job.cfoil"

    @property
    def run(self) -> Path:
        """The run."""
        return self.folder / "run.cfoil"

    def lines(self, name: str) -> Lines:
        """The rows of one piece."""
        return Lines(self.folder / f"{name}.jsonl")

    def write_order(self, steps: int | None = None, precision: Precision | None = None) -> Found:
        """Write the order; of fewer steps, or in another precision, where that is told."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.job.draft(self.text, steps or self.job.steps, self.job.checkpoint_every, precision)
        draft.write(self.order, trial=False)
        return Found(f"ordered, {draft.manifest.steps} steps", {"operators": len(draft.program.nodes)})

    def record(self) -> Found:
        """Record the run, or go on recording it."""
        lines, root = self.lines("recorded"), ""
        key = key_in(self.folder)
        for event in record(self.order, self.run, key, threads=self.threads, resume=not self.run.exists()):
            if isinstance(event, StepRecorded):
                lines.keep(
                    step=event.step,
                    loss=event.loss,
                    entries=event.log_entries,
                    bytes=event.log_bytes,
                    seconds=event.seconds,
                )
            elif isinstance(event, RecordFinished):
                root = event.run_root.hex
        rows = lines.rows()
        said = f"recorded {len(rows)} steps, run root {root[:16]}"
        return Found(said, {"run_root": root, "bytes": self.run.stat().st_size, "steps": rows})

    def audit(self) -> Found:
        """Audit the run, or go on auditing it."""
        lines = self.lines("replayed")
        progress = self.folder / "progress"
        progress.mkdir(exist_ok=True)
        request = AuditRequest(self.run, self.order, threads=self.threads, progress=progress, resume=True, begin=True)
        report = None
        for event in run_audit(request):
            if isinstance(event, StepReplayed):
                row = event.row
                lines.keep(
                    step=row.step,
                    equal=row.match is StepMatch.MATCH,
                    corrections=row.corrections,
                    contradictions=row.contradictions,
                    omissions=row.omissions,
                    values=row.rounded_values,
                    seconds=row.seconds,
                )
            elif isinstance(event, AuditFinished):
                report = event.report
        assert report is not None, "an audit ends with its report"
        rows = lines.rows()
        strange = () if report.outcome is Outcome.VERIFIED else (f"{self.job.title}: {report.reason}",)
        said = f"{report.outcome.value}, {sum(row['equal'] for row in rows)} of {len(rows)} steps equal"
        return Found(said, {"outcome": report.outcome.value, "reason": str(report.reason), "steps": rows}, strange)
