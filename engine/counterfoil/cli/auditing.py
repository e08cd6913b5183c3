"""The commands that replay a run and give a verdict, or a part of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.audit.values.outcome import Outcome
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.exits import Done
from counterfoil.cli.judging import Wanted, judge
from counterfoil.cli.keys import open_verdict_key
from counterfoil.cli.options import (
    AllowLargeOption,
    BadFractionOption,
    BeaconOption,
    CapsuleOption,
    ClientKeyOption,
    ClientOrderOption,
    ConfidenceOption,
    CsvOption,
    DataOption,
    DeviceOption,
    ForceOption,
    HeadsOption,
    JsonOption,
    NonceOption,
    OptionalKeyOption,
    ProgressOption,
    RecheckOption,
    ResumeOption,
    RunArgument,
    SegmentsOption,
    ThreadsOption,
    TrainerKeyOption,
    UnsignedOption,
    VerdictOption,
)
from counterfoil.cli.places import READS, READS_FOLDER, WRITES
from counterfoil.cli.targets import check_target
from counterfoil.cli.terminal import shown
from counterfoil.cli.written import Written
from counterfoil.signing.keys import load_public_key

if TYPE_CHECKING:
    from counterfoil.audit.values.request import AuditRequest
    from counterfoil.audit.values.workers import Workers


def audit(
    run: RunArgument,
    order: ClientOrderOption = None,
    verdict: VerdictOption = None,
    key: OptionalKeyOption = None,
    unsigned: UnsignedOption = None,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    client_key: ClientKeyOption = None,
    heads: HeadsOption = None,
    csv: CsvOption = None,
    capsule: CapsuleOption = None,
    segments: SegmentsOption = None,
    confidence: ConfidenceOption = None,
    bad_fraction: BadFractionOption = 0.01,
    nonce: NonceOption = None,
    beacon: BeaconOption = None,
    subject_model: Annotated[
        Path | None,
        READS_FOLDER,
        typer.Option(
            help="The folder of the delivered model. Where the run is VERIFIED and its weights are the run's final "
            "state, the verdict names its OpenSSF Model Signing digest; needs --verdict.",
            show_default=False,
        ),
    ] = None,
    resume: ResumeOption = False,
    progress: ProgressOption = None,
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
    recheck: RecheckOption = 1,
    partial: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            help="Give no verdict: write what came out of --segments into this file, for 'counterfoil merge'.",
            show_default=False,
        ),
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Auditor: replay a run step by step, compare every step with what the trainer signed, and give a verdict.

    Exit code 0 VERIFIED, 1 DISPUTED, 2 INCONCLUSIVE, 3 REFUSED, 4 ERROR; 5 whatever was found where --key is the
    trainer's own key: that is no audit. Ctrl-C stops the replay: INCONCLUSIVE; what
    was judged by then is kept, and --resume goes on from there.

    Example: counterfoil audit run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    # Whatever could fail is tried before the replay, which may take hours.
    written = Written(run)
    for target in (csv, capsule, partial, unsigned):
        if target is not None:
            check_target(target, force or (resume and written.has(target)))
    _check_unsigned(unsigned, verdict)
    if subject_model is not None and verdict is None and unsigned is None:
        raise typer.BadParameter("--subject-model belongs to --verdict or --unsigned: the verdict names the model.")
    devices = tuple(device.split(","))
    crew = _workers(workers, ray, devices)
    if partial is not None:
        _check_partial(crew, (verdict, unsigned, csv, capsule), resume)
    own = resume and verdict is not None and written.has(verdict)
    signing_key = open_verdict_key(verdict, key, run, force or own)
    public = load_public_key(trainer_key) if trainer_key else None
    from counterfoil.audit import kept
    from counterfoil.audit.beacons import read_beacon
    from counterfoil.audit.values.request import AuditRequest
    from counterfoil.audit.values.sampling import SegmentRequest
    from counterfoil.program.limits import limits_for

    drawn = None if beacon is None else read_beacon(beacon)
    chosen = SegmentRequest.parse(segments, confidence, bad_fraction, nonce, drawn)
    request = AuditRequest(
        run=run,
        order=order,
        device=devices[0],
        threads=threads,
        trainer_key=public,
        client_key=load_public_key(client_key) if client_key else None,
        data=data,
        segments=chosen,
        heads=heads,
        limits=limits_for(allow_large),
        progress=progress if progress is not None else kept.state_folder(),
        resume=resume,
        begin=True,
        retain=True,
        workers=crew,
        recheck=recheck,
    )
    if partial is not None:
        raise Done(_replay_part(request, partial).exit_code)
    raise Done(judge(request, Wanted(json, csv, capsule, verdict, signing_key, subject_model, unsigned), written))


def merge(
    parts: Annotated[
        list[Path],
        READS,
        typer.Argument(help="The parts, from 'counterfoil audit --partial'.", show_default=False),
    ],
    run: Annotated[Path, READS, typer.Option("--run", help="The trainer's run, a .cfoil file.", show_default=False)],
    order: ClientOrderOption = None,
    verdict: VerdictOption = None,
    key: OptionalKeyOption = None,
    unsigned: UnsignedOption = None,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    client_key: ClientKeyOption = None,
    heads: HeadsOption = None,
    csv: CsvOption = None,
    capsule: CapsuleOption = None,
    segments: SegmentsOption = None,
    confidence: ConfidenceOption = None,
    bad_fraction: BadFractionOption = 0.01,
    nonce: NonceOption = None,
    beacon: BeaconOption = None,
    recheck: RecheckOption = 1,
    resume: ResumeOption = False,
    progress: ProgressOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Auditor: give a verdict on a run that was replayed in parts on your own machines.

    The makers of the parts are trusted where they say that a segment came out right: --recheck N replays N segments,
    drawn at random, here too. A segment of which they say anything else, on which they disagree, or that is in no part,
    is replayed here, so that a part accuses nobody. Exit codes as those of audit.

    Example: counterfoil merge *.part --run run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    written = Written(run)
    for target in (csv, capsule, unsigned):
        if target is not None:
            check_target(target, force or (resume and written.has(target)))
    _check_unsigned(unsigned, verdict)
    own = resume and verdict is not None and written.has(verdict)
    signing_key = open_verdict_key(verdict, key, run, force or own)
    public = load_public_key(trainer_key) if trainer_key else None
    from counterfoil.audit import kept
    from counterfoil.audit.beacons import read_beacon
    from counterfoil.audit.values.request import AuditRequest
    from counterfoil.audit.values.sampling import SegmentRequest
    from counterfoil.audit.values.workers import PartFiles
    from counterfoil.program.limits import limits_for

    request = AuditRequest(
        run=run,
        order=order,
        device=device,
        threads=threads,
        trainer_key=public,
        client_key=load_public_key(client_key) if client_key else None,
        data=data,
        segments=SegmentRequest.parse(
            segments, confidence, bad_fraction, nonce, None if beacon is None else read_beacon(beacon)
        ),
        heads=heads,
        limits=limits_for(allow_large),
        progress=progress if progress is not None else kept.state_folder(),
        resume=resume,
        begin=True,
        retain=True,
        workers=PartFiles(tuple(parts)),
        recheck=recheck,
    )
    out = terminal.console(stderr=True)
    out.print(
        f"{len(parts)} part{'s' * (len(parts) > 1)}: the machines that made them are trusted to have replayed what "
        f"they say. Replayed here too: {recheck} of their segments."
    )
    raise Done(judge(request, Wanted(json, csv, capsule, verdict, signing_key, unsigned=unsigned), written))


def _workers(count: int | None, ray: str | None, devices: tuple[str, ...]) -> Workers | None:
    """Return who replays segments; None for nobody but the audit itself."""
    from counterfoil.audit.values.workers import LocalWorkers, RayWorkers

    if ray is not None:
        if len(devices) > 1:
            raise typer.BadParameter("With --ray there is one --device, which every worker has: cpu or cuda:0.")
        return RayWorkers(ray, count)
    if count is None and len(devices) == 1:
        return None
    return LocalWorkers(count or len(devices), devices)


def _check_unsigned(unsigned: Path | None, verdict: Path | None) -> None:
    if unsigned is not None and verdict is not None:
        raise typer.BadParameter("--unsigned is for a key on another machine: leave out --verdict and --key.")


def _check_partial(crew: Workers | None, targets: tuple[Path | None, ...], resume: bool) -> None:
    if crew is not None:
        raise typer.BadParameter("--partial is one worker's: start the command once for each device.")
    if resume or any(target is not None for target in targets):
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
                segments = end.value
                break
            if event.done == 0:
                bar.start(event.total)
            bar.update(event.done, "replayed")
    troubled = [result for result in segments if result.trouble]
    count = len(segments)
    console.print(
        f"Wrote {shown(str(path))}: a part of an audit, {count} segment{'s' * (count != 1)}. It is no verdict: "
        "'counterfoil merge' makes one of all parts."
    )
    for result in troubled:
        console.print(shown(f"Segment {result.number}: {result.trouble} Whoever merges the parts replays it."))
    return Outcome.INCONCLUSIVE if troubled or cancel.cancelled else Outcome.VERIFIED
