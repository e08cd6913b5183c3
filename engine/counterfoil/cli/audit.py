"""The commands that replay a run and give a verdict, or a part of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.auditrun import AuditFiles, Wanted, judge
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.options import BadFractionOption, Compute, DataOption, HeadsOption, Parties, RunPlace
from counterfoil.cli.places import KEEPS_PROGRESS, READS, READS_FOLDER, WRITES
from counterfoil.cli.reader import Reader
from counterfoil.cli.terminal import markup
from counterfoil_core.remote.address import Address, place_of
from counterfoil_core.values.outcome import Outcome

if TYPE_CHECKING:
    from counterfoil_core.values.request import AuditRequest
    from counterfoil_core.values.sampling import SegmentRequest
    from counterfoil_core.values.workers import Workers

MOST_DIGITS = 4
"""Digits of the number of a share."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Which segments are replayed."""

    segments: Annotated[
        str | None,
        typer.Option(
            help="Which segments to replay, from one checkpoint to the next: all, a number of them drawn at random "
            "(5), or a list (3,7-9; a single one as 7-7). 'counterfoil plan' shows what each costs.",
            show_default="all",
        ),
    ] = None
    confidence: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Draw as many segments at random as it takes to catch a run with --bad-fraction of bad ones with this "
            "probability, for instance 0.99.",
            show_default=False,
        ),
    ] = None
    bad_fraction: BadFractionOption = 0.01
    nonce: Annotated[
        str | None,
        typer.Option(
            help="The randomness of the sample, 64 hexadecimal digits, to draw one again. It must not be known to the "
            "trainer before the run is signed, and the verdict says that it was given.",
            show_default="a fresh one",
        ),
    ] = None
    beacon: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="Draw the sample by a round of the public beacon drand (chain quicknet), a JSON file as it is "
            "published: anybody can check that nobody chose it. The round must be later than the run's signature. "
            "Needs the extra 'beacon' of Counterfoil.",
            show_default=False,
        ),
    ] = None

    def request(self) -> SegmentRequest:
        """Return what is asked for; raises DataError."""
        from counterfoil.audit.outside import read_beacon
        from counterfoil_core.values.sampling import SegmentRequest

        public = None if self.beacon is None else read_beacon(self.beacon)
        return SegmentRequest.parse(self.segments, self.confidence, self.bad_fraction, self.nonce, public)


@dataclass(frozen=True, kw_only=True)
class Auditing:
    """What every audit of a run is asked: of the whole run or of its parts, by whoever replays it."""

    parties: Parties
    data: DataOption = None
    heads: HeadsOption = None
    sampling: Sampling
    facts: Annotated[
        bool,
        typer.Option(
            "--facts",
            help="Let the verdict say what the run shows of itself, too: operations, rows, parameters, duration. See "
            "docs/facts.md.",
        ),
    ] = False
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on where an audit of this file with the same options was stopped or killed, or begin if there is "
            "none; it ends with the same verdict as one that was not, and replaces what that one wrote.",
        ),
    ] = False
    progress: Annotated[
        Path | None,
        KEEPS_PROGRESS,
        typer.Option(
            help="Keep the progress of the audit in this file while it runs, and look for it there.",
            show_default="a file of its own in your state folder",
        ),
    ] = None
    recheck: Annotated[
        int,
        typer.Option(
            min=0,
            help="How many of the segments that others replayed, drawn at random, are replayed here too.",
        ),
    ] = 1
    reader: Reader
    files: AuditFiles

    def wanted(self, run: Path | Address, *others: Path | None, model: Path | None = None) -> Wanted:
        """Try whatever could fail before the replay, which may take hours.

        Args:
            run: The run.
            others: Files that are written beside those of every audit.
            model: The folder of the delivered model.
        """
        written = self.files.written(run, *others, resume=self.resume)
        if self.facts and not self.files.says:
            raise typer.BadParameter(
                "--facts belongs to --verdict or --unsigned: the verdict says them. 'counterfoil facts' shows them "
                "alone."
            )
        judges, store = self.files.judges, self.reader.store
        signer = self.files.signer(run, written, resume=self.resume)
        return Wanted(self.files, judges, signer, written, model, store)

    def request(self, run: Path | Address, compute: Compute, **asked: Any) -> AuditRequest:
        """Return the request.

        Args:
            run: The run.
            compute: Where it is replayed.
            **asked: Other fields of the request.
        """
        from counterfoil.audit import progressfile
        from counterfoil_core.values.request import AuditRequest

        fields = {
            "order": self.parties.order,
            "trainer_key": self.parties.trainer,
            "client_key": self.parties.client,
            "data": self.data,
            "heads": self.heads,
            "segments": self.sampling.request(),
            "facts": self.facts,
            "resume": self.resume,
            "progress": self.progress if self.progress is not None else progressfile.state_folder(),
            "recheck": self.recheck,
            "device": compute.device,
            "threads": compute.threads,
            "limits": compute.limits,
        }
        return AuditRequest(run, begin=True, retain=True, **{**fields, **asked})


def audit(
    run: RunPlace,
    asked: Auditing,
    compute: Compute,
    subject_model: Annotated[
        Path | None,
        READS_FOLDER,
        typer.Option(
            help="The folder of the delivered model. Where the run is VERIFIED and its weights are the run's final "
            "state, the verdict names its OpenSSF Model Signing digest; needs --verdict.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Let so many processes replay segments side by side; --device takes several devices then, with "
            "commas, and --threads is for each.",
            show_default="none, or one for each of several devices",
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Let workers on a Ray cluster replay segments: auto, or its address. They find the run under the same "
            r"path. Needs counterfoil\[cluster].",
            show_default=False,
        ),
    ] = None,
    partial: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            help="Give no verdict: write what came out of --segments into this file, for 'counterfoil merge'.",
            show_default=False,
        ),
    ] = None,
    shares: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Judge only these shares (from 0, with commas), each by itself, of the first step of every chosen "
            "segment: quick, finds a lie in them, and verifies nothing.",
            show_default="whole steps",
        ),
    ] = None,
) -> None:
    """Auditor: replay a run step by step, compare every step with what the trainer signed, and give a verdict.

    Exit code 0 VERIFIED, 1 DISPUTED, 2 INCONCLUSIVE, 3 REFUSED, 4 ERROR; 5 whatever was found where --key is the
    trainer's own key: that is no audit. It is 3 before anything is replayed where a key was revoked
    on whose signature the verdict would rest. Ctrl-C stops the replay: INCONCLUSIVE; what
    was judged by then is kept, and --resume goes on from there.

    Example: counterfoil audit run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    place = place_of(run)
    if subject_model is not None and not asked.files.says:
        raise typer.BadParameter("--subject-model belongs to --verdict or --unsigned: the verdict names the model.")
    devices = tuple(compute.device.split(","))
    crew = _workers(workers, ray, devices)
    if partial is not None:
        _check_partial(crew, asked)
    if isinstance(place, Address) and (crew is not None or partial is not None or subject_model is not None):
        raise typer.BadParameter(
            "--workers, --ray, --partial and --subject-model need the run as a file: download it, and give its path."
        )
    wanted = asked.wanted(place, partial, model=subject_model)
    request = asked.request(place, compute, device=devices[0], workers=crew, shares=_shares(shares))
    raise ExitWith(_replay_part(request, partial).exit_code if partial is not None else judge(request, wanted))


def merge(
    parts: Annotated[
        list[Path],
        READS,
        typer.Argument(help="The parts, from 'counterfoil audit --partial'.", show_default=False),
    ],
    run: Annotated[Path, READS, typer.Option("--run", help="The trainer's run, a .cfoil file.", show_default=False)],
    asked: Auditing,
    compute: Compute,
) -> None:
    """Auditor: give a verdict on a run that was replayed in parts on your own machines.

    The makers of the parts are trusted where they say that a segment came out right: --recheck N replays N segments,
    drawn at random, here too. A segment of which they say anything else, on which they disagree, or that is in no part,
    is replayed here, so that a part accuses nobody. Exit codes as those of audit.

    Example: counterfoil merge *.part --run run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    from counterfoil_core.values.workers import PartFiles

    wanted = asked.wanted(run)
    request = asked.request(run, compute, workers=PartFiles(tuple(parts)))
    out = terminal.console(stderr=True)
    out.print(
        f"{len(parts)} part{'s' * (len(parts) > 1)}: the machines that made them are trusted to have replayed what "
        f"they say. Replayed here too: {asked.recheck} of their segments."
    )
    raise ExitWith(judge(request, wanted))


def _shares(text: str | None) -> tuple[int, ...]:
    """Read --shares."""
    listed = [] if text is None else text.split(",")
    if not all(number.strip().isdecimal() and len(number) <= MOST_DIGITS for number in listed):
        raise typer.BadParameter("--shares takes numbers of shares, from 0, with commas: --shares 2,5.")
    return tuple(int(number) for number in listed)


def _workers(count: int | None, ray: str | None, devices: tuple[str, ...]) -> Workers | None:
    """Return who replays segments; None for nobody but the audit itself."""
    from counterfoil_core.values.workers import LocalWorkers, RayWorkers

    if ray is not None:
        if len(devices) > 1:
            raise typer.BadParameter("With --ray there is one --device, which every worker has: cpu or cuda:0.")
        return RayWorkers(ray, count)
    if count is None and len(devices) == 1:
        return None
    return LocalWorkers(count or len(devices), devices)


def _check_partial(crew: Workers | None, asked: Auditing) -> None:
    """Refuse what belongs to a verdict, which a part has none of; raises typer.BadParameter."""
    files = asked.files
    if crew is not None:
        raise typer.BadParameter("--partial is one worker's: start the command once for each device.")
    if asked.resume or files.says or files.csv is not None or files.capsule is not None:
        raise typer.BadParameter("--partial gives no verdict, no table and no capsule: 'counterfoil merge' does.")


def _replay_part(request: AuditRequest, path: Path) -> Outcome:
    """Replay segments for another audit, and say what came out."""
    console = terminal.console()
    from counterfoil.audit.boxed.session import open_session

    with (
        cancel_on_interrupt() as cancel,
        terminal.progress("Replay", console) as bar,
        open_session(request.device) as session,
    ):
        replaying = session.part(request, path, cancel)
        while True:
            try:
                event = next(replaying)
            except StopIteration as end:
                segments = end.value.segments
                break
            if event.done == 0:
                bar.start(event.total)
            bar.update(event.done, "replayed")
    troubled = [result for result in segments if result.trouble]
    count = len(segments)
    console.print(
        f"Wrote {markup(str(path))}: a part of an audit, {count} segment{'s' * (count != 1)}. It is no verdict: "
        "'counterfoil merge' makes one of all parts."
    )
    for result in troubled:
        console.print(markup(f"Segment {result.number}: {result.trouble} Whoever merges the parts replays it."))
    return Outcome.INCONCLUSIVE if troubled or cancel.cancelled else Outcome.VERIFIED
