"""Commands that compute an order: measure its margins, and carry it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import monitor, terminal
from counterfoil.cli.exits import ExitWith, outcome_of
from counterfoil.cli.keys import open_key
from counterfoil.cli.options import Compute, DataOption, ForceOption, JsonOption, KeyOption, NewFile, numbered_files
from counterfoil.cli.places import OPENS_NUMBERED_KEY, READS, RECORDS, WRITES, WRITES_LOG
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil.distributed.launch import launch
from counterfoil.signer.environment import drop_passphrase
from counterfoil_core.base.errors import CancelledError, CounterfoilError

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.training.recordingevents import RecordEvent
    from counterfoil_core.signing.keys import SigningKey


def calibrate(
    order: Annotated[Path, READS, typer.Argument(help="An order, a .cfoil file.", show_default=False)],
    compute: Compute,
    out: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            "--out", "-o", help="Write the order with the measured margins to this file.", show_default="only measure"
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps to measure, from the first.")] = 3,
    data: DataOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Client: measure how far other hardware would differ on an order, and set its margins by that.

    Each operator is computed again in other orders of summation. The margin of an operator kind becomes the largest
    difference, with 6 bits of headroom.

    Example: counterfoil calibrate job.cfoil --out calibrated.cfoil
    """
    if out is not None:
        check_writable(out, force)
    console = terminal.console(stderr=json)
    with cancel_on_interrupt() as cancel, terminal.progress("Calibrating", console) as bar:
        from counterfoil.training import calibration

        monitor.get_kernels()
        events = calibration.calibrate(
            order,
            out,
            steps=steps,
            data=data,
            device=compute.device,
            threads=compute.threads,
            cancel=cancel,
            limits=compute.limits,
        )
        for event in events:
            match event:
                case calibration.CalibrationStarted():
                    bar.start(event.steps)
                case calibration.CalibrationProgress():
                    bar.update(event.done)
                case calibration.Calibration():
                    found = event
    from counterfoil.cli import jsonform, reports

    if json:
        jsonform.print_json(found)
    else:
        reports.show_calibration(console, found)
    if found.order is not None:
        console.print(f"Order digest {found.order.hex}")
        console.print(f"Wrote {markup(str(out))}. Keep it, and give the trainer a copy.")


@dataclass(frozen=True, kw_only=True)
class RunFile(NewFile):
    """A run, which is recorded in a folder beside it."""

    out: Annotated[Path, RECORDS, typer.Option("--out", "-o", help="The file to write.", show_default=False)]


_CONTRADICTS = (
    "[bold yellow]WARNING[/]  Tree heads of the recording that is discarded were published. On another machine the new "
    "one will contradict them."
)


def train(
    order: Annotated[Path, READS, typer.Argument(help="The client's order, a .cfoil file.", show_default=False)],
    file: RunFile,
    key: KeyOption,
    compute: Compute,
    data: DataOption = None,
    share_key: Annotated[
        list[Path] | None,
        OPENS_NUMBERED_KEY,
        typer.Option(
            metavar="NUMBER=FILE",
            help="The private key of the party that answers for a share, such as 2=party.pem, where the order names "
            "one; once for each such share.",
            show_default=False,
        ),
    ] = None,
    heads: Annotated[
        Path | None,
        WRITES_LOG,
        typer.Option(
            help="Append signed tree heads to this file (.jsonl) while training goes on; publish its lines, and nobody "
            "can say that history was rewritten.",
            show_default=False,
        ),
    ] = None,
    heads_every: Annotated[int, typer.Option(min=1, help="Sign a tree head after so many steps.")] = 10,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the recording that was stopped, if there is one; else begin from the start."
        ),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Discard the recording that was stopped, if there is one.")
    ] = False,
    initial_in_order: Annotated[
        bool,
        typer.Option(
            "--initial-in-order",
            help="Leave the initial weights out of the run, which names them by their digest. Whoever audits such a "
            "run needs the order file.",
        ),
    ] = False,
) -> None:
    """Trainer: carry out an order, record every step, and sign the run.

    Finished steps lie in a folder beside the run (.NAME.recording) until it is complete. Ctrl-C, a full disk or a power
    loss leave them there, and --resume goes on with them.

    Started by torchrun, the processes record an order with shares together: torchrun --standalone
    --local-addr 127.0.0.1 --nproc-per-node 4 -m counterfoil train ...

    Example: counterfoil train job.cfoil --out run.cfoil --key trainer.pem
    """
    if resume and fresh:
        raise typer.BadParameter("--resume goes on with what --fresh discards; give one or the other.")
    if not writes_the_run():
        files = numbered_files(share_key, "--share-key")
        _assist(order, file.out, files, compute, data)
        return
    from counterfoil.training.recordingfolder import has_published

    out, force = file.out, file.force
    written = monitor.continuation(out)
    if not written.has(out) and _is_complete(order, out, resume=resume):
        return
    published = has_published(out)
    check_writable(out, written.may_replace(out, force=force, going_on=resume))
    if heads is not None:
        # The heads that a recording published are added to when it goes on.
        check_writable(heads, force or (resume and published))
    share_files = numbered_files(share_key, "--share-key")
    signing_key = open_key(key, "train")
    console = terminal.console()
    if fresh and published:
        console.print(_CONTRADICTS, soft_wrap=True)
    noting = written.noted_if_failing(out)
    with (
        signing_key,
        _party_keys(share_files) as share_keys,
        noting,
        cancel_on_interrupt() as cancel,
        terminal.progress("Training", console) as bar,
    ):
        from counterfoil.training.recorder import record
        from counterfoil.training.recordingevents import RecordFinished

        monitor.get_kernels()
        events = record(
            order,
            out,
            signing_key,
            data=data,
            device=compute.device,
            threads=compute.threads,
            cancel=cancel,
            share_keys=share_keys,
            heads=heads,
            heads_every=heads_every,
            resume=resume,
            fresh=fresh,
            limits=compute.limits,
            initial_in_order=initial_in_order,
            connect=monitor.connect(),
        )
        for event in events:
            if isinstance(event, RecordFinished):
                finished = event
            else:
                _show(event, bar, console)
    written.forget()
    if finished.steps < finished.steps_ordered:
        console.print(
            f"The order's rule ended the run: it has {finished.steps} of {finished.steps_ordered} ordered steps."
        )
    console.print(f"Run root {finished.run_root.hex}")
    console.print(f"Wrote {markup(str(out))}, signed with the key {signing_key.public.key_id}.")


def _is_complete(order: Path, out: Path, *, resume: bool) -> bool:
    """Remove what a training left behind that was ended when its run had its name; whether nothing is left to do."""
    from counterfoil.training.recordingfolder import recording_folder

    folder = recording_folder(out)
    # The monitor makes it, and a training that was ended at its very end may have left it empty.
    holds_some = folder.is_dir() and any(folder.iterdir())
    if not (holds_some or (resume and folder.is_dir())):
        return False
    from counterfoil.training.recording import remove_finished
    from counterfoil_core.bundle.reader import BundleReader

    claim = remove_finished(out)
    if claim is None:
        return False
    console = terminal.console()
    removed = f"Removed {markup(str(folder))}, which a training left behind that was ended at its very end: "
    console.print(f"{removed if holds_some else ''}{markup(str(out))} is complete.", soft_wrap=True)
    # The other ranks wait for this one, and end with it where it fails.
    if not resume or launch() is not None:
        return False
    with BundleReader.open(order) as reader:
        if reader.manifest.digest != claim.order:
            return False
    console.print(f"Run root {claim.run_root.hex}")
    return True


@contextmanager
def _party_keys(files: Mapping[int, Path]) -> Iterator[dict[int, SigningKey]]:
    """Start a process for each key of a party, which may answer for several shares."""
    with ExitStack() as stack:
        opened = {path: stack.enter_context(open_key(path, "shares")) for path in dict.fromkeys(files.values())}
        yield {share: opened[path] for share, path in files.items()}


def writes_the_run() -> bool:
    """Whether this process writes the run: alone, or as rank 0."""
    started = launch()
    return started is None or started.rank == 0


def _assist(order: Path, out: Path, party_files: Mapping[int, Path], compute: Compute, data: Path | None) -> None:
    """Take part as a rank that is not rank 0, which says all that there is to say but how this one ended."""
    started = launch()
    assert started is not None
    if not party_files:
        drop_passphrase()
    from counterfoil.training.recorder import record
    from counterfoil_core.base.generators import finish

    try:
        with _party_keys(party_files) as share_keys, cancel_on_interrupt() as cancel:
            events = record(
                order,
                out,
                None,
                data=data,
                device=compute.device,
                threads=compute.threads,
                cancel=cancel,
                share_keys=share_keys,
                limits=compute.limits,
                connect=monitor.connect(),
            )
            finish(events)
    except CounterfoilError as error:
        if not isinstance(error, CancelledError):
            # With what can be done: where the ranks have not met, no other one says it.
            line = f"Rank {started.rank}: {markup(str(error))}"
            terminal.console(stderr=True).print(line, soft_wrap=True)
        raise ExitWith(outcome_of(error).exit_code) from error


def _show(event: RecordEvent, bar: terminal.StepProgress, console: Console) -> None:
    """Show how far a recording is."""
    from counterfoil.training import recordingevents

    match event:
        case recordingevents.RecordStarted():
            bar.start(event.steps)
            signed = f"signed with the client's key {event.client_key}" if event.client_key else "unsigned"
            console.print(f"Accepted the order, which is {signed}.", soft_wrap=True)
            if event.ranks > 1:
                console.print(f"Recorded by {event.ranks} ranks: {event.shares} shares a step.", soft_wrap=True)
        case recordingevents.DataChecked():
            bar.update(0, f"data file checked: {100 * event.done // max(event.total, 1)} %")
        case recordingevents.RecordingChecked():
            bar.update(0, f"recording checked: {100 * event.done // max(event.total, 1)} %")
        case recordingevents.RecordingResumed():
            console.print(
                f"Going on after step {event.steps}; the steps after {event.state}, whose state is stored, are "
                "computed again first."
                if event.steps > event.state
                else f"Going on after step {event.steps}."
            )
        case recordingevents.StepRestored():
            bar.update(event.step, "computed again")
        case recordingevents.RunAssembled():
            bar.update(event.total, f"run written: {100 * event.done // event.total} %")
        case recordingevents.OperatorRecorded():
            bar.update(event.step - 1 + event.done / event.total)
        case recordingevents.StepRecorded():
            bar.update(event.step, f"loss {event.loss:.4f}")
