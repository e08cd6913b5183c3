"""The command that replays a run and gives a verdict."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from counterfoil import terminal
from counterfoil.audit.values.outcome import CheckState, Outcome
from counterfoil.cli.exits import Done
from counterfoil.cli.interrupt import cancel_on_interrupt
from counterfoil.cli.keys import open_verdict_key, sign_verdict
from counterfoil.cli.options import (
    AllowLargeOption,
    BadFractionOption,
    ClientOrderOption,
    DataOption,
    DeviceOption,
    ForceOption,
    HeadsOption,
    JsonOption,
    OptionalKeyOption,
    RunArgument,
    ThreadsOption,
    TrainerKeyOption,
)
from counterfoil.cli.targets import check_target
from counterfoil.errors import CounterfoilError
from counterfoil.signing import load_public_key
from counterfoil.terminal import shown

if TYPE_CHECKING:
    from counterfoil.audit.values.events import AuditFinished
    from counterfoil.audit.values.report import AuditReport, Kept
    from counterfoil.commit.digest import Digest


def audit(
    run: RunArgument,
    order: ClientOrderOption = None,
    verdict: Annotated[
        Path | None, typer.Option(help="Write the signed verdict to this file; needs --key.", show_default=False)
    ] = None,
    key: OptionalKeyOption = None,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    heads: HeadsOption = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write the table of replayed steps to this file.", show_default=False)
    ] = None,
    capsule: Annotated[
        Path | None,
        typer.Option(
            help="On a confirmed dispute, write a capsule (.cfoil) of the disputed step to this file, for 'counterfoil "
            "adjudicate' on any machine.",
            show_default=False,
        ),
    ] = None,
    segments: Annotated[
        str | None,
        typer.Option(
            help="Which segments to replay, from one checkpoint to the next: all, a number of them drawn at random "
            "(5), or a list (3,7-9; a single one as 7-7). 'counterfoil plan' shows what each costs.",
            show_default="all",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Draw as many segments at random as it takes to catch a run with --bad-fraction of bad ones with this "
            "probability, for instance 0.99.",
            show_default=False,
        ),
    ] = None,
    bad_fraction: BadFractionOption = 0.01,
    nonce: Annotated[
        str | None,
        typer.Option(
            help="The randomness of the sample, 64 hexadecimal digits, to draw one again. It must not be known to the "
            "trainer before the run is signed.",
            show_default="a fresh one",
        ),
    ] = None,
    subject_model: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the delivered model. Where the run is VERIFIED and its weights are the run's final "
            "state, the verdict names its OpenSSF Model Signing digest; needs --verdict.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on where an audit of this file with the same options was stopped or killed; it ends with the same "
            "verdict as one that was not.",
        ),
    ] = False,
    progress: Annotated[
        Path | None,
        typer.Option(
            help="Keep the progress of the audit in this file while it runs, and look for it there.",
            show_default="a file of its own in your state folder",
        ),
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Auditor: replay a run step by step, compare every step with what the trainer signed, and give a verdict.

    Exit code 0 VERIFIED, 1 DISPUTED, 2 INCONCLUSIVE, 3 REFUSED, 4 ERROR. Ctrl-C stops the replay: INCONCLUSIVE; what
    was judged by then is kept, and --resume goes on from there.

    Example: counterfoil audit run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    # Whatever could fail is tried before the replay, which may take hours.
    for target in (csv, capsule):
        if target is not None:
            check_target(target, force)
    if subject_model is not None and verdict is None:
        raise typer.BadParameter("--subject-model belongs to --verdict: the verdict names the model.")
    signing_key = open_verdict_key(verdict, key, run, force)
    public = load_public_key(trainer_key) if trainer_key else None
    from counterfoil.audit.values.sampling import SegmentRequest

    chosen = SegmentRequest.parse(segments, confidence, bad_fraction, nonce)

    console = terminal.console(stderr=json)
    done = 0
    finished: AuditFinished | None = None
    restoring = resume
    with cancel_on_interrupt() as cancel, terminal.progress("Replay", console) as bar:
        with cancel.at_once():
            from counterfoil.audit import kept, replay
            from counterfoil.audit.values import events
            from counterfoil.audit.values.request import AuditRequest
            from counterfoil.program.limits import limits_for

        request = AuditRequest(
            run=run,
            order=order,
            device=device,
            threads=threads,
            trainer_key=public,
            data=data,
            segments=chosen,
            heads=heads,
            limits=limits_for(allow_large),
            progress=progress if progress is not None else kept.state_folder(),
            resume=resume,
        )
        for event in replay.run_audit(request, cancel):
            match event:
                case events.AuditStarted():
                    bar.start(event.planned_steps)
                    if event.kept is not None and not resume:
                        console.print(
                            f"An earlier audit of this run judged {_judged(event.kept)}. Stop this one with Ctrl-C and "
                            "give --resume to go on from there."
                        )
                    if event.sample is not None and event.sample.nonce:
                        console.print(f"Sample drawn with the nonce {event.sample.nonce}")
                case events.CheckChanged() if event.check.state is CheckState.RUNNING:
                    bar.update(0, event.check.detail)
                case events.OperatorDone():
                    bar.update(done + event.done / event.total)
                case events.StepReplayed():
                    done += 1
                    if not restoring:
                        bar.update(done, event.row.match.value)
                case events.ProgressRestored():
                    restoring = False
                    bar.go_on_from(done)
                    console.print(f"Goes on from an earlier audit, which judged {_judged(event.kept)}.")
                case events.AuditFinished():
                    finished = event
    assert finished is not None, "an audit ends in a report"
    report, evidence = finished.report, finished.evidence

    from counterfoil.cli import jsonform, reports

    if json:
        jsonform.print_json(report)
    else:
        reports.show_report(console, report)
    if finished.kept is not None:
        console.print(f"Kept: {_judged(finished.kept)}. The same command with --resume goes on from there.")
    if finished.problem:
        console.print(shown(finished.problem))
    if csv is not None:
        from counterfoil.audit.table import write_steps_csv

        assert finished.steps is not None, "the engine of this process keeps its table"
        write_steps_csv(finished.steps, csv)
        console.print(f"Wrote {shown(str(csv))}.")
    if capsule is not None:
        if evidence is None:
            console.print("No capsule was written: there is no single step that accuses the trainer.")
        else:
            from counterfoil.bundle.capsulewriter import write_capsule

            write_capsule(evidence, capsule)
            console.print(f"Wrote {shown(str(capsule))}. Anybody can check it with 'counterfoil adjudicate'.")
    if verdict is not None and signing_key is not None:
        if report.bundle_digest is None:
            # There is nothing that a verdict could be about; the exit code says the rest.
            console.print("No verdict was written: the file could not be read as a bundle, or changed meanwhile.")
        else:
            from counterfoil.audit.statement.verdict import preview_verdict

            model = None if subject_model is None else _delivered(subject_model, run, report, console)
            sign_verdict(preview_verdict(report, datetime.now(UTC), model), signing_key, verdict, console)
    raise Done(report.outcome.exit_code)


def _judged(kept: Kept) -> str:
    return f"{kept.segments} of {kept.chosen} segments, up to step {kept.step}"


def _delivered(model: Path, run: Path, report: AuditReport, console: Console) -> tuple[str, Digest] | None:
    """Compare a model with the run that was judged, and return its name and digest; None where the verdict lacks it."""
    from counterfoil.audit.values.delivery import DeliveryOutcome, DeliveryReport
    from counterfoil.commit.digest import Digest
    from counterfoil.delivery.basis import basis_of
    from counterfoil.delivery.modeldigest import model_digest
    from counterfoil.delivery.verification import verify_weights

    found: DeliveryReport | None = None
    digest: Digest | None = None
    if report.outcome is not Outcome.VERIFIED:
        console.print("The verdict does not name the model, since the run is not verified.")
        return None
    try:
        with cancel_on_interrupt() as cancel:
            for event in verify_weights(model, run, basis_of(report), cancel=cancel):
                found = event if isinstance(event, DeliveryReport) else found
            if found is None or found.outcome is not DeliveryOutcome.DELIVERED:
                console.print(f"The verdict does not name the model. {shown(found.sentence) if found else ''}")
                return None
            for step in model_digest(model, found, cancel):
                digest = step if isinstance(step, Digest) else digest
    except CounterfoilError as error:  # the audit may have taken days; its verdict is written all the same
        console.print(f"The verdict does not name the model. {shown(str(error))}")
        return None
    assert digest is not None
    name = model.resolve().name
    console.print(f"The model {shown(name)} is the verified run's; its OpenSSF Model Signing digest is {digest}.")
    return name, digest
