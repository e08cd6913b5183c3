"""The commands that replay a run and give a verdict, or a part of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.judging import Wanted, check_targets, judge
from counterfoil.cli.keys import open_verdict_key
from counterfoil.cli.options import (
    AllowLargeOption,
    BadFractionOption,
    BeaconOption,
    CapsuleOption,
    CertificateOption,
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
    RunPlace,
    SealForOption,
    SegmentsOption,
    ThreadsOption,
    TrainerKeyOption,
    UnsignedOption,
    VerdictOption,
)
from counterfoil.cli.places import READS, READS_FOLDER, WRITES
from counterfoil.cli.revoked import RevocationsKeyOption, RevocationsOption, read_revocations
from counterfoil.cli.sealing import judges_of
from counterfoil.cli.terminal import shown
from counterfoil_core.remote.address import Address, place_of
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.values.outcome import Outcome

if TYPE_CHECKING:
    from counterfoil_core.values.request import AuditRequest
    from counterfoil_core.values.workers import Workers


SubjectModelOption = Annotated[
    Path | None,
    READS_FOLDER,
    typer.Option(
        help="The folder of the delivered model. Where the run is VERIFIED and its weights are the run's final "
        "state, the verdict names its OpenSSF Model Signing digest; needs --verdict.",
        show_default=False,
    ),
]
FactsOption = Annotated[
    bool,
    typer.Option(
        "--facts",
        help="Let the verdict say what the run shows of itself, too: operations, rows, parameters, duration. See "
        "docs/facts.md.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Let so many processes replay segments side by side; --device takes several devices then, with "
        "commas, and --threads is for each.",
        show_default="none, or one for each of several devices",
    ),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let workers on a Ray cluster replay segments: auto, or its address. They find the run under the same "
        r"path. Needs counterfoil\[cluster].",
        show_default=False,
    ),
]
SharesOption = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBERS",
        help="Judge only these shares (from 0, with commas), each by itself, of the first step of every chosen "
        "segment: quick, finds a lie in them, and verifies nothing.",
        show_default="whole steps",
    ),
]
MOST_DIGITS = 4
"""Digits of the number of a share."""
PartialOption = Annotated[
    Path | None,
    WRITES,
    typer.Option(
        help="Give no verdict: write what came out of --segments into this file, for 'counterfoil merge'.",
        show_default=False,
    ),
]


def audit(
    run: RunPlace,
    order: ClientOrderOption = None,
    verdict: VerdictOption = None,
    key: OptionalKeyOption = None,
    certificate: CertificateOption = None,
    unsigned: UnsignedOption = None,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    client_key: ClientKeyOption = None,
    heads: HeadsOption = None,
    csv: CsvOption = None,
    capsule: CapsuleOption = None,
    seal_for: SealForOption = None,
    segments: SegmentsOption = None,
    confidence: ConfidenceOption = None,
    bad_fraction: BadFractionOption = 0.01,
    nonce: NonceOption = None,
    beacon: BeaconOption = None,
    subject_model: SubjectModelOption = None,
    facts: FactsOption = False,
    resume: ResumeOption = False,
    progress: ProgressOption = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    recheck: RecheckOption = 1,
    partial: PartialOption = None,
    shares: SharesOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    revocations: RevocationsOption = None,
    revocations_key: RevocationsKeyOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Auditor: replay a run step by step, compare every step with what the trainer signed, and give a verdict.

    Exit code 0 VERIFIED, 1 DISPUTED, 2 INCONCLUSIVE, 3 REFUSED, 4 ERROR; 5 whatever was found where --key is the
    trainer's own key: that is no audit. With --revocations it is 3 before anything is replayed where a key was revoked
    on whose signature the verdict would rest. Ctrl-C stops the replay: INCONCLUSIVE; what
    was judged by then is kept, and --resume goes on from there.

    Example: counterfoil audit run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    # Whatever could fail is tried before the replay, which may take hours.
    place = place_of(run)
    written = check_targets(place, (csv, capsule, partial, unsigned), verdict, unsigned, force=force, resume=resume)
    if subject_model is not None and verdict is None and unsigned is None:
        raise typer.BadParameter("--subject-model belongs to --verdict or --unsigned: the verdict names the model.")
    if facts:
        _check_facts(verdict, unsigned, partial)
    judges = judges_of(seal_for, capsule)
    listed = read_revocations(revocations, revocations_key)
    devices = tuple(device.split(","))
    crew = _workers(workers, ray, devices)
    if partial is not None:
        if listed is not None:
            raise typer.BadParameter("--partial gives no verdict: give --revocations to 'counterfoil merge'.")
        _check_partial(crew, (verdict, unsigned, csv, capsule), resume)
    if isinstance(place, Address) and (crew is not None or partial is not None or subject_model is not None):
        raise typer.BadParameter(
            "--workers, --ray, --partial and --subject-model need the run as a file: download it, and give its path."
        )
    signing_key = open_verdict_key(
        verdict, key, place, written.may_replace(verdict, force=force, going_on=resume), certificate
    )
    request = _request(
        (segments, confidence, bad_fraction, nonce, beacon),
        (trainer_key, client_key),
        progress,
        allow_large=allow_large,
        run=place,
        order=order,
        device=devices[0],
        threads=threads,
        data=data,
        heads=heads,
        resume=resume,
        workers=crew,
        recheck=recheck,
        shares=_shares(shares),
        facts=facts,
    )
    if partial is not None:
        raise ExitWith(_replay_part(request, partial).exit_code)
    wanted = Wanted(json, csv, capsule, judges, verdict, signing_key, subject_model, unsigned, listed)
    raise ExitWith(judge(request, wanted, written))


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
    certificate: CertificateOption = None,
    unsigned: UnsignedOption = None,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    client_key: ClientKeyOption = None,
    heads: HeadsOption = None,
    csv: CsvOption = None,
    capsule: CapsuleOption = None,
    seal_for: SealForOption = None,
    segments: SegmentsOption = None,
    confidence: ConfidenceOption = None,
    bad_fraction: BadFractionOption = 0.01,
    nonce: NonceOption = None,
    beacon: BeaconOption = None,
    facts: FactsOption = False,
    recheck: RecheckOption = 1,
    resume: ResumeOption = False,
    progress: ProgressOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    allow_large: AllowLargeOption = False,
    revocations: RevocationsOption = None,
    revocations_key: RevocationsKeyOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Auditor: give a verdict on a run that was replayed in parts on your own machines.

    The makers of the parts are trusted where they say that a segment came out right: --recheck N replays N segments,
    drawn at random, here too. A segment of which they say anything else, on which they disagree, or that is in no part,
    is replayed here, so that a part accuses nobody. Exit codes as those of audit.

    Example: counterfoil merge *.part --run run.cfoil --order job.cfoil --verdict verdict.json --key auditor.pem
    """
    written = check_targets(run, (csv, capsule, unsigned), verdict, unsigned, force=force, resume=resume)
    if facts:
        _check_facts(verdict, unsigned)
    judges = judges_of(seal_for, capsule)
    listed = read_revocations(revocations, revocations_key)
    signing_key = open_verdict_key(
        verdict, key, run, written.may_replace(verdict, force=force, going_on=resume), certificate
    )
    from counterfoil_core.values.workers import PartFiles

    request = _request(
        (segments, confidence, bad_fraction, nonce, beacon),
        (trainer_key, client_key),
        progress,
        allow_large=allow_large,
        run=run,
        order=order,
        device=device,
        threads=threads,
        data=data,
        heads=heads,
        resume=resume,
        workers=PartFiles(tuple(parts)),
        recheck=recheck,
        facts=facts,
    )
    out = terminal.console(stderr=True)
    out.print(
        f"{len(parts)} part{'s' * (len(parts) > 1)}: the machines that made them are trusted to have replayed what "
        f"they say. Replayed here too: {recheck} of their segments."
    )
    wanted = Wanted(json, csv, capsule, judges, verdict, signing_key, unsigned=unsigned, listed=listed)
    raise ExitWith(judge(request, wanted, written))


def _check_facts(verdict: Path | None, unsigned: Path | None, partial: Path | None = None) -> None:
    if partial is not None or (verdict is None and unsigned is None):
        raise typer.BadParameter(
            "--facts belongs to --verdict or --unsigned: the verdict says them. 'counterfoil facts' shows them alone."
        )


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


def _request(
    drawn: tuple[str | None, float | None, float, str | None, Path | None],
    keys: tuple[Path | None, Path | None],
    progress: Path | None,
    *,
    allow_large: bool,
    **asked: Any,
) -> AuditRequest:
    """Return what an audit is asked for.

    Args:
        drawn: Which segments: --segments, --confidence, --bad-fraction, --nonce, --beacon.
        keys: The trainer's and the client's key files.
        progress: Where progress is kept; None for the user's folder.
        allow_large: Whether programs beyond the limits are replayed.
        **asked: The other fields of the request.
    """
    trainer_key, client_key = (None if path is None else load_public_key(path) for path in keys)
    from counterfoil.audit import keeping
    from counterfoil.audit.beaconfile import read_beacon
    from counterfoil_core.program.limits import limits_for
    from counterfoil_core.values.request import AuditRequest
    from counterfoil_core.values.sampling import SegmentRequest

    chosen, confidence, bad_fraction, nonce, beacon = drawn
    public = None if beacon is None else read_beacon(beacon)
    return AuditRequest(
        trainer_key=trainer_key,
        client_key=client_key,
        segments=SegmentRequest.parse(chosen, confidence, bad_fraction, nonce, public),
        limits=limits_for(allow_large),
        progress=progress if progress is not None else keeping.state_folder(),
        begin=True,
        retain=True,
        **asked,
    )


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
                segments = end.value.segments
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
