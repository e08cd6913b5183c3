"""An audit as a command shows it: its progress, its report, and the files that are made of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from counterfoil.audit.values.figures import kept_said
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import terminal
from counterfoil.cli.continuation import Written, first_error
from counterfoil.cli.elsewhere import provide_file
from counterfoil.cli.exits import SELF_SIGNED, show_error
from counterfoil.cli.keys import open_verdict_key, sign_verdict
from counterfoil.cli.options import CertificateOption, ForceOption, JsonOption, OptionalKeyOption, SealForOption
from counterfoil.cli.places import WRITES, WRITES_SIGNED
from counterfoil.cli.reader import (
    Revoked,
    check_same_signers,
    refuse_revoked,
    refuse_revoked_auditor,
    revoked_signers,
    show_revoked_signers,
)
from counterfoil.cli.seal import judges_of, show_capsule, write_for
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil.trust.store import TrustStore
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.remote.address import Address
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome

if TYPE_CHECKING:
    from counterfoil.audit.boxed.session import Session
    from counterfoil.signer.client import SignerProcess
    from counterfoil_core.base.digest import Digest
    from counterfoil_core.values.events import AuditFinished, WorkersReported
    from counterfoil_core.values.report import AuditReport, Kept
    from counterfoil_core.values.request import AuditRequest


@dataclass(frozen=True, kw_only=True)
class AuditFiles:
    """What an audit writes, and who signs it."""

    verdict: Annotated[
        Path | None,
        WRITES_SIGNED,
        typer.Option(help="Write the signed verdict to this file; needs --key.", show_default=False),
    ] = None
    key: OptionalKeyOption = None
    certificate: CertificateOption = None
    unsigned: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            help="Write the verdict to this file without a signature, for 'counterfoil sign' on the machine that has "
            "the key; it is no verdict before it is signed.",
            show_default=False,
        ),
    ] = None
    csv: Annotated[
        Path | None, WRITES, typer.Option(help="Write the table of replayed steps to this file.", show_default=False)
    ] = None
    capsule: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            help="On a confirmed dispute, write a capsule (.cfoil) of the disputed step to this file, for 'counterfoil "
            "adjudicate' on any machine.",
            show_default=False,
        ),
    ] = None
    seal_for: SealForOption = None
    json: JsonOption = False
    force: ForceOption = False

    def written(self, run: Path | Address, *others: Path | None, resume: bool = False) -> Written:
        """Check that every file can be written; returns what audits of the run have written so far.

        Args:
            run: The run.
            others: Files that are written, too.
            resume: Whether what an audit wrote that is not done may be replaced.
        """
        written = Written(run)
        for target in (self.csv, self.capsule, self.unsigned, *others):
            if target is not None:
                check_writable(target, written.may_replace(target, force=self.force, going_on=resume))
        if self.unsigned is not None and self.verdict is not None:
            raise typer.BadParameter("--unsigned is for a key on another machine: leave out --verdict and --key.")
        return written

    @property
    def says(self) -> bool:
        """Whether a verdict is written."""
        return self.verdict is not None or self.unsigned is not None

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges for whom the capsule is sealed, by their public sealing keys; see :func:`judges_of`."""
        return judges_of(self.seal_for, self.capsule)

    def signer(self, run: Path | Address, written: Written, *, resume: bool = False) -> SignerProcess | None:
        """Open the auditor's key, before work that may take hours; see :func:`open_verdict_key`."""
        force = written.may_replace(self.verdict, force=self.force, going_on=resume)
        return open_verdict_key(self.verdict, self.key, run, force, self.certificate)


@dataclass(frozen=True)
class Wanted:
    """What is made of an audit."""

    files: AuditFiles
    judges: tuple[str, ...]  #: For whom the capsule is sealed; none leaves it readable.
    signer: SignerProcess | None  #: Who signs the verdict.
    written: Written  #: Notes what was written, for whoever goes on after a stop.
    model: Path | None = None  #: A folder that the verdict names if its weights are the run's.
    store: TrustStore = field(default_factory=TrustStore)  #: What the auditor trusts.


def judge(request: AuditRequest, wanted: Wanted) -> int:
    """Audit, show what happens and what was found, and write what is wanted.

    Args:
        request: What is audited, and how.
        wanted: What is to be written.

    Returns:
        The exit code.

    Raises:
        RefusedError: What the run, its order or the verdict is signed with was revoked; nothing was replayed.
        CounterfoilError: Something could not be written; everything else was, and the progress is still there.
    """
    from counterfoil.audit.boxed.session import open_session

    with provide_file(request.run, terminal.console(stderr=True)) as run:
        request = replace(request, run=run)
        # Before the replay, which may take days.
        found = _looked_up(wanted.store, request, wanted) if wanted.store.lists else None
        with open_session(request.device) as session:
            return _judge(session, request, wanted, found)


def _looked_up(store: TrustStore, request: AuditRequest, wanted: Wanted) -> Revoked:
    """Ask the lists of revoked keys about every key of an audit; raises RefusedError where one no longer counts."""
    if wanted.signer is not None:
        refuse_revoked_auditor(store, wanted.signer.public.key_id)
    with cancel_on_interrupt() as cancel:
        from counterfoil.audit.boxed.session import signers_in_box

        found = revoked_signers(store, signers_in_box(request.run, cancel), own_order=request.order is not None)
    show_revoked_signers(terminal.console(stderr=wanted.files.json), store, found)
    refuse_revoked(found)
    return found


def _judge(session: Session, request: AuditRequest, wanted: Wanted, revoked: Revoked | None) -> int:
    console = terminal.console(stderr=wanted.files.json)
    finished = _run(session, request, wanted.files.capsule is not None, console)
    report = finished.report
    check_same_signers(revoked, report)

    from counterfoil.cli import jsonform, reports
    from counterfoil_core.values.trust import TrainerTrust
    from counterfoil_core.values.workers import Followed

    trust = report.trust_signed_by("" if wanted.signer is None else wanted.signer.public.key_id)
    if wanted.files.json:
        more = {} if revoked is None else {"revoked": revoked}
        jsonform.print_json(report, trust, self_signed=trust.trainer is TrainerTrust.AUDITOR, **more)
    else:
        reports.show_report(console, report, trust)
    if finished.kept is not None:
        again = "'counterfoil audit'" if isinstance(request.workers, Followed) else "The same command"
        console.print(f"Kept: {_judged(finished.kept)}. {again} with --resume goes on from there.", soft_wrap=True)
    if finished.problem:
        console.print(markup(finished.problem))
    failed = first_error(
        [
            lambda: _write_table(finished, wanted, console),
            lambda: _write_capsule(session, finished, wanted, console),
            lambda: _write_verdict(request, wanted, report, console),
        ],
        show_error,
    )
    if failed is not None:
        if finished.leftover:
            console.print("What was judged is kept: the same command with --resume writes what is missing.")
        raise failed
    if not finished.interrupted:
        wanted.written.forget()
        for path in finished.leftover:
            with suppress(OSError):  # the next audit of this run replaces it
                path.unlink(missing_ok=True)
    if trust.trainer is TrainerTrust.AUDITOR:
        reports.show_self_signed(terminal.console(stderr=True))
        return SELF_SIGNED
    return report.outcome.exit_code


def _write_table(finished: AuditFinished, wanted: Wanted, console: Console) -> None:
    path = wanted.files.csv
    if path is None:
        return
    from counterfoil.audit.table import write_steps_csv

    assert finished.steps is not None, "the engine of this process keeps its table"
    with wanted.written.noted(path):
        write_steps_csv(finished.steps, path)
    console.print(f"Wrote {markup(str(path))}.")


def _write_capsule(session: Session, finished: AuditFinished, wanted: Wanted, console: Console) -> None:
    path = wanted.files.capsule
    if path is None:
        return
    dispute = finished.report.dispute
    if not session.has_capsule and finished.interrupted and dispute is not None and dispute.stands_alone:
        raise CounterfoilError(
            "The capsule was not written: the audit was stopped before its evidence was gathered.",
            remedy="The same command with --resume goes on from there.",
        )
    if not session.has_capsule:
        console.print("No capsule was written: there is no single step that accuses the trainer.")
        return
    with wanted.written.noted(path):
        write_for(wanted.judges, path, session.write_capsule)
    show_capsule(console, path, session.handed, wanted.judges)


def _write_verdict(request: AuditRequest, wanted: Wanted, report: AuditReport, console: Console) -> None:
    files = wanted.files
    if not files.says:
        return
    if not report.is_about:
        # There is nothing that a verdict could be about; the exit code says the rest.
        console.print("No verdict was written: the file could not be read as a bundle, or changed meanwhile.")
        return
    from counterfoil_core.statement.verdict import preview_verdict

    model = None if wanted.model is None else _delivered(wanted.model, Path(request.file), report, console)
    statement = preview_verdict(report, datetime.now(UTC), model)
    if files.unsigned is not None:
        with wanted.written.noted(files.unsigned):
            write_whole(files.unsigned, statement, what="the statement")
        console.print(f"Wrote {markup(str(files.unsigned))}.", soft_wrap=True)
        console.print("It is not signed yet. Where the key is:")
        console.print(f"counterfoil sign {markup(files.unsigned.name)} --key KEY --out verdict.json", soft_wrap=True)
    elif files.verdict is not None and wanted.signer is not None:
        with wanted.written.noted(files.verdict):
            sign_verdict(statement, wanted.signer, files.verdict, console)


def _run(session: Session, request: AuditRequest, capsule: bool, console: Console) -> AuditFinished:
    done = 0
    finished: AuditFinished | None = None
    restoring = request.resume
    restored = 0
    lost: set[int] = set()
    with cancel_on_interrupt() as cancel, terminal.progress("Replay", console) as bar:
        from counterfoil_core.values import events
        from counterfoil_core.values.workers import Followed

        for event in session.audit(request, cancel, capsule=capsule):
            match event:
                case events.AuditStarted():
                    bar.start(event.planned_steps)
                    if request.resume and event.kept is None and event.planned_steps:
                        restoring = False
                        console.print("Nothing was kept of an audit of this run: it begins from the start.")
                    if event.kept is not None and not request.resume:
                        console.print(
                            f"An earlier audit of this run judged {_judged(event.kept)}. Stop this one with Ctrl-C and "
                            "give --resume to go on from there."
                        )
                    if event.sample is not None and event.sample.nonce:
                        console.print(f"Sample drawn with the nonce {event.sample.nonce}")
                        if event.drawn_before and not request.resume:
                            console.print("It is the sample of an earlier audit that did not come to its end.")
                case events.CheckChanged() if event.check.state is CheckState.RUNNING:
                    bar.update(done, event.check.detail)
                    if isinstance(request.workers, Followed) and event.check.number is CheckNumber.REPLAY:
                        _say(event.check.detail, console)
                case events.OperatorDone():
                    bar.update(done + event.done / event.total)
                case events.StepReplayed():
                    done += 1
                    if not restoring:
                        bar.update(done, event.row.match.value)
                case events.ProgressRestored():
                    restoring, restored = False, done
                    bar.go_on_from(done)
                    console.print(f"Goes on from an earlier audit, which judged {_judged(event.kept)}.")
                case events.WorkersReported():
                    bar.update(max(done, restored + event.steps), _at_work(event))
                    for worker in event.workers:
                        if worker.trouble and worker.number not in lost:
                            lost.add(worker.number)
                            console.print(markup(f"Worker {worker.number} can do no more. {worker.trouble}"))
                case events.AuditFinished():
                    finished = event
    assert finished is not None, "an audit ends in a report"
    return finished


def _say(sentence: str, console: Console) -> None:
    if sentence:
        console.print(markup(sentence), soft_wrap=True)


def _at_work(event: WorkersReported) -> str:
    """Which segments are replayed by whom, in a few words."""
    able = [worker for worker in event.workers if not worker.trouble]
    ready = [worker for worker in able if worker.machine]
    if len(ready) < len(able):
        return f"{len(ready)} of {len(able)} workers are ready"
    return ", ".join(
        f"{worker.number}: segment {worker.segment}, {worker.rate:.2g}/s" for worker in ready if worker.segment
    )


def _judged(kept: Kept) -> str:
    return kept_said(kept)


def _delivered(model: Path, run: Path, report: AuditReport, console: Console) -> tuple[str, Digest] | None:
    """Compare a model with the run that was judged, and return its name and digest; None where the verdict lacks it."""
    from counterfoil.delivery.basis import basis_of
    from counterfoil.delivery.modelinbox import model_and_run

    if report.outcome is not Outcome.VERIFIED:
        console.print("The verdict does not name the model, since the run is not verified.")
        return None
    try:
        with cancel_on_interrupt() as cancel:
            found, digest = model_and_run(model, run, basis_of(report), cancel)
    except CounterfoilError as error:  # the audit may have taken days; its verdict is written all the same
        console.print(f"The verdict does not name the model. {markup(str(error))}")
        return None
    if digest is None:
        console.print(f"The verdict does not name the model. {markup(found.sentence) if found else ''}")
        return None
    name = model.resolve().name
    console.print(f"The model {markup(name)} is the verified run's; its OpenSSF Model Signing digest is {digest}.")
    return name, digest
