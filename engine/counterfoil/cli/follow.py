"""The command that replays a run while its trainer records it."""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.auditrun import AuditFiles, Wanted, judge
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.options import Compute, DataOption, HeadsOption, TrainerKeyOption
from counterfoil.cli.places import READS, READS_FOLDER
from counterfoil.cli.terminal import markup
from counterfoil_core.signing.keys import load_public_key

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.follow import FollowEnded, FollowEvent, FollowRequest


def follow(
    folder: Annotated[
        Path,
        READS_FOLDER,
        typer.Argument(
            help="The folder of the recording, .NAME.recording beside its run NAME; or the name of the run.",
            show_default=False,
        ),
    ],
    order: Annotated[
        Path,
        READS,
        typer.Option("--order", help="The order as you, the client, kept it.", show_default=False),
    ],
    files: AuditFiles,
    compute: Compute,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    heads: HeadsOption = None,
    patience: Annotated[
        float | None,
        typer.Option(
            min=1.0,
            help="Give up when nothing new came to the folder for so many seconds; more than it takes to record a "
            "step, and to make the run.",
            show_default="wait for ever",
        ),
    ] = None,
) -> None:
    """Auditor: replay a run while it is recorded, stop at the first lie, and give the verdict when it is finished.

    Each segment is replayed as soon as it lies in the recorder's folder. When the run is made, it is audited: what was
    replayed by then counts where the run has the same steps, and the verdict is that of an audit. Exit codes as those
    of audit.

    Example: counterfoil follow .run.cfoil.recording --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    from counterfoil.audit.values.follow import FollowRequest
    from counterfoil.training.recordingfolder import recorded_run, recording_folder

    run = recorded_run(folder)
    written, judges = files.written(run), files.judges
    wanted = Wanted(files, judges, files.signer(run, written), written)
    request = FollowRequest(
        recording_folder(run),
        run,
        order,
        device=compute.device,
        threads=compute.threads,
        trainer_key=None if trainer_key is None else load_public_key(trainer_key),
        data=data,
        heads=heads,
        limits=compute.limits,
        patience=patience,
    )
    console = terminal.console(stderr=files.json)
    with tempfile.TemporaryDirectory(prefix="counterfoil-") as scratch:
        part = Path(scratch) / "followed.part"
        ended = _follow(request, part, console)
        if ended.outcome is None:
            raise ExitWith(judge(request.audit(part), wanted))
    from counterfoil.cli import jsonform, reports

    if files.json:
        jsonform.print_json(ended)
    else:
        reports.show_followed(console, ended)
    raise ExitWith(ended.outcome.exit_code)


def _follow(request: FollowRequest, part: Path, console: Console) -> FollowEnded:
    """Follow a recording to its end, and show what happens."""
    from counterfoil.audit.boxed.session import open_session
    from counterfoil.audit.recordingwait import wait_for_recording
    from counterfoil.audit.values.follow import FollowEnded

    ended: FollowEnded | None = None
    with (
        cancel_on_interrupt() as cancel,
        terminal.progress("Follow", console) as bar,
        open_session(request.device) as session,
    ):
        # A box is opened for what lies there when it closes.
        for event in chain(wait_for_recording(request, cancel), session.follow(request, part, cancel)):
            _show(event, bar, console)
            if isinstance(event, FollowEnded):
                ended = event
    assert ended is not None, "following ends in an event that says how"
    return ended


def _show(event: FollowEvent, bar: terminal.StepProgress, console: Console) -> None:
    """Show how far following is."""
    from counterfoil.audit.values import follow
    from counterfoil_core.values import events

    match event:
        case follow.FollowStarted():
            bar.start(event.steps)
            console.print(
                f"Following a recording by the key {event.trainer_key}, which accepted the order at "
                f"{markup(event.accepted_at)}.",
                soft_wrap=True,
            )
        case follow.FollowState():
            bar.update(event.replayed, event.waiting or f"{event.behind} steps behind")
        case events.OperatorDone():
            bar.update(event.step - 1 + event.done / event.total)
        case follow.StepFollowed():
            ours, theirs = f"{event.replay_loss:.4f}", f"{event.trainer_loss:.4f}"
            bar.update(event.step, f"loss {ours}, the trainer's {theirs}")
        case follow.RecordingWentBack():
            console.print(f"The recorder went back to step {event.step}: steps after it are recorded again.")
        case follow.FollowEnded(outcome=None):
            console.print(f"Followed to the end: {event.matching} steps match. The run is audited now.")
