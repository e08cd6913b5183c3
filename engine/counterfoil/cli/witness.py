"""``counterfoil witness``: snapshots of a live training, signed by another party, and the steps that they are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.commands import group_of_commands
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.keys import open_key
from counterfoil.cli.options import JsonOption, KeyOption, TrainerKeyOption
from counterfoil.cli.places import READS, READS_RECORDING, READS_VERDICT, WRITES
from counterfoil.cli.reader import Reader, refuse_invalid
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.values.outcome import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.delivery.snapshots import WitnessLog
    from counterfoil.delivery.witnesscheck import Placement
    from counterfoil.signing.kinds import Line

STRANGE = 1
"""Exit code where a snapshot belongs to none of the runs: an answer, as DISPUTED is one."""
_STYLES = {"FOUND": "[green]FOUND[/]", "NONE": "[bold red]NONE[/]", "CANNOT_BE_TOLD": "[yellow]CANNOT BE TOLD[/]"}
_LISTED = 6
_ENDINGS = {
    "": "it has no end; lines may have been cut off, or the witness was killed.",
    "run": "the recording became another run than those that were given.",
    "time": "the witness's time was over before the run was made.",
    "stopped": "the witness was stopped before the run was made.",
    "failed": "the witness failed before the run was made.",
}

witness_app = group_of_commands(
    help="Third party: sign at random times what state a training has, and find each snapshot in a run later.",
    no_args_is_help=True,
)


@witness_app.command("watch")
def watch(
    run: Annotated[
        Path,
        READS_RECORDING,
        typer.Argument(
            metavar="RUN", help="The run that is recorded, or the folder of its recording.", show_default=False
        ),
    ],
    order: Annotated[
        Path, READS, typer.Option(help="The order, which says how a state is laid out.", show_default=False)
    ],
    log: Annotated[Path, WRITES, typer.Option(help="Write the log here; a new file.", show_default=False)],
    key: KeyOption,
    every: Annotated[
        int, typer.Option(help="Seconds between two snapshots on average.", metavar="SECONDS", min=1)
    ] = 600,
    for_: Annotated[
        float | None,
        typer.Option("--for", help="Seconds after which it ends; unless given, when the recording does.", min=0.0),
    ] = None,
) -> None:
    """Third party: watch a recording, and sign at random times the hashes of its newest state.

    Run it on the trainer's machine or on one that sees its disk, with a key that the trainer has not. It reads the
    newest checkpoint in the folder that the recorder keeps beside the run. Ctrl-C ends the log, and signs that it was
    stopped.

    Example: counterfoil witness watch run.cfoil --order job.cfoil --log witness.jsonl --key witness.pem
    """
    check_writable(log, False)
    console = terminal.console()
    with open_key(key, "witness") as signer:
        from counterfoil.delivery.witness import Witness, watch_recording
        from counterfoil.signing.kinds import LineKind

        def told(line: Line) -> None:
            seen = line.snapshot
            if line.kind is LineKind.ABSENT:
                console.print(f"{line.at}  no whole state lay there")
            if seen is not None:
                console.print(
                    f"{line.at}  state {seen.state_root.short}..., shard {markup(seen.tensor)}/{seen.chunk}",
                    soft_wrap=True,
                )

        with cancel_on_interrupt() as cancel, Witness(log, signer, every, told=told) as witness:
            console.print(f"Watching; a snapshot every {every:,} seconds on average. Ctrl-C ends it.", soft_wrap=True)
            watch_recording(run, order, witness, cancel, math.inf if for_ is None else for_)
        console.print(f"Wrote {markup(str(log))}, signed with the key {signer.public.key_id}.", soft_wrap=True)


@witness_app.command("check")
def check(
    log: Annotated[Path, READS, typer.Argument(metavar="LOG", help="The log of a witness.", show_default=False)],
    runs: Annotated[
        list[Path], READS, typer.Argument(metavar="RUN...", help="Runs, .cfoil files.", show_default=False)
    ],
    key: Annotated[
        Path, READS, typer.Option(help="The public key of the witness, a .pub.pem file.", show_default=False)
    ],
    reader: Reader,
    trainer_key: TrainerKeyOption = None,
    verdict: Annotated[
        list[Path] | None,
        READS_VERDICT,
        typer.Option(
            help="A verdict on one of the runs: each in which a snapshot is found must have one then. Can be given "
            "several times.",
            show_default=False,
        ),
    ] = None,
    auditor_key: Annotated[
        list[Path] | None,
        READS,
        typer.Option(
            help="Public key of an auditor, to check verdicts with. Can be given several times.", show_default=False
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Anyone: check the log of a witness, find the step of every snapshot, and name those that belong to no run.

    Nothing is replayed. A snapshot of the whole state is found wherever a run digests the step; a shard alone only in
    states that a run stores, and only if it is not the same in all. Exit code 0 if each snapshot was found, 1 if one
    belongs to none of the runs, 2 if of one it cannot be told, if there is none, if the witness did not look until its
    recording had become one of the runs, or if --verdict leaves a run without; 3 (REFUSED) if it is not what the
    witness signed.

    Example: counterfoil witness check witness.jsonl run-a.cfoil run-b.cfoil --key witness.pub.pem
    """
    from counterfoil.delivery.snapshots import MOST_LOG_BYTES, open_log
    from counterfoil.delivery.witnesscheck import Belongs, place_snapshots
    from counterfoil.trust.validity import validity

    given = reader.verdicts(verdict, auditor_key)
    opened = open_log(read_input(log, "the log of a witness", DataError, most=MOST_LOG_BYTES), load_public_key(key))
    refuse_invalid(validity(reader.store, (opened.key_id, opened.lines[-1].at)), "The log of the witness")
    with cancel_on_interrupt() as cancel:
        for run in runs:
            reader.check_run(run)
        found = place_snapshots(opened, runs, cancel, None if trainer_key is None else load_public_key(trainer_key))
    verified = {one.about for one in given if one.verifies}
    used = {seen.run for each in found.snapshots for seen in each.steps}
    unverified = sorted(run for run in used if verdict and found.runs[run] not in verified)
    if json:
        ending = opened.ending
        print_json(opened, snapshots=found.snapshots, ending=ending, complete=found.complete, unverified=unverified)
    else:
        _show(terminal.console(), opened, found, unverified)
    told = {each.belongs for each in found.snapshots}
    if Belongs.NONE in told:
        raise ExitWith(STRANGE)
    # Without its end the log may lack the very line that belongs to no run, and no snapshot shows nothing.
    if Belongs.UNKNOWN in told or not found.snapshots or not found.complete or unverified:
        raise ExitWith(Outcome.INCONCLUSIVE.exit_code)


def _show(out: Console, log: WitnessLog, found: Placement, unverified: list[str]) -> None:
    first, last, placed = log.lines[0], log.lines[-1], found.snapshots
    out.print(f"Signed with the key {log.key_id}, from {first.at} to {last.at}", soft_wrap=True)
    out.print(f"{len(placed):,} snapshots, one every {first.mean_seconds:,} seconds on average")
    if log.absent:
        out.print(f"{log.absent:,} times no whole state lay there when the moment had come")
    if log.set_back:
        out.print(f"[yellow]NOTE[/]  The witness's clock was set back {log.set_back:,} times.")
    if not found.complete:
        name = "" if log.ending is None else log.ending.value
        out.print(f"[yellow]NOTE[/]  The log is not complete: {_ENDINGS[name]}", soft_wrap=True)
    for run in unverified:
        out.print(f"[yellow]NOTE[/]  No verdict that was given verifies {markup(run)}.", soft_wrap=True)
    for each in placed:
        steps = [f"step {seen.step:,} of {markup(seen.run)} (by {seen.by.value})" for seen in each.steps[:_LISTED]]
        more = ", ..." if len(each.steps) > _LISTED else ""
        back = "  [yellow]earlier than a snapshot before it[/]" if each.backwards else ""
        out.print(
            f"  {each.number:>6} {each.at}  {_STYLES[each.belongs.value]}  {', '.join(steps)}{more}{back}",
            soft_wrap=True,
        )
    counts = {name: sum(each.belongs.value == name for each in placed) for name in _STYLES}
    out.print(f"{counts['FOUND']:,} found, {counts['NONE']:,} of no run, {counts['CANNOT_BE_TOLD']:,} cannot be told.")
