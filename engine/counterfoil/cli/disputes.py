"""Commands that settle a dispute: of a capsule's one step, of two runs, of several."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import monitor, terminal
from counterfoil.cli.elsewhere import provide_whole_file
from counterfoil.cli.exits import SELF_SIGNED, ExitWith
from counterfoil.cli.keys import open_verdict_key, sign_verdict
from counterfoil.cli.options import (
    CertificateOption,
    ClientOrderOption,
    Compute,
    DataOption,
    ForceOption,
    JsonOption,
    OptionalKeyOption,
    Parties,
)
from counterfoil.cli.places import READS, WRITES_SIGNED
from counterfoil.cli.reader import (
    Reader,
    Revoked,
    check_same_signers,
    refuse_revoked,
    refuse_revoked_auditor,
    revoked_signers,
    show_revoked_signers,
)
from counterfoil.cli.seal import open_capsule, with_judged_name
from counterfoil_core.remote.address import place_of

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.trust.store import TrustStore


def adjudicate(
    capsule: Annotated[
        str,
        READS,
        typer.Argument(
            metavar="CAPSULE",
            help="The dispute capsule, a .cfoil file, or its address: https, http or s3.",
            show_default=False,
        ),
    ],
    parties: Parties,
    compute: Compute,
    reader: Reader,
    identity: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="Your private sealing key, which opens a capsule that was sealed for you (.age).", show_default=False
        ),
    ] = None,
    verdict: Annotated[
        Path | None,
        WRITES_SIGNED,
        typer.Option(help="Write the signed adjudication to this file; needs --key.", show_default=False),
    ] = None,
    key: OptionalKeyOption = None,
    certificate: CertificateOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Anyone: replay the one step of a dispute capsule, and say whether the trainer or the auditor is right.

    Exit code 0 REJECTED (the trainer is right), 1 CONFIRMED (the step is not what was ordered), 2 INCONCLUSIVE,
    3 REFUSED, 4 ERROR; 5 whatever was found where --key is the trainer's own key. It is 3 before
    anything is replayed where a key was revoked on whose signature the conclusion would rest.

    A capsule that was sealed for you (.age) is opened with --identity, in memory or a folder of yours that is removed
    afterwards. Where --key is given too, a passphrase from a script is that of --key.

    Example: counterfoil adjudicate dispute.cfoil --order job.cfoil
    """
    place = place_of(capsule)
    store = reader.store
    opens = None
    if identity is not None:
        from counterfoil.signer.client import Passphrase, ask_passphrase

        # What a script gives is the signing key's, where there is one; a terminal is asked for each.
        opens = ask_passphrase() if key is None else Passphrase.asked() if sys.stdin.isatty() else Passphrase.none()
    signing_key = open_verdict_key(
        verdict, key, place if identity is None else with_judged_name(place), force, certificate
    )
    console = terminal.console(stderr=json)
    if signing_key is not None:
        refuse_revoked_auditor(store, signing_key.public.key_id)
    from counterfoil.audit.boxed import tasks
    from counterfoil.audit.boxed.session import open_session
    from counterfoil_core.values import events
    from counterfoil_core.values.events import AdjudicationFinished, AdjudicationStarted
    from counterfoil_core.values.outcome import CheckState

    with (
        provide_whole_file(place) as given,
        open_capsule(given, identity, opens) as path,
        _none_revoked(store, path, parties.order, console) as revoked,
        cancel_on_interrupt() as cancel,
        terminal.progress("Replay", console) as bar,
        open_session(compute.device) as session,
    ):
        first = 1
        for event in session.do(
            tasks.adjudicate,
            cancel,
            path,
            parties.order,
            trainer_key=trainer.pem if (trainer := parties.trainer) else "",
            client_key=client.pem if (client := parties.client) else "",
            device=compute.device,
            threads=compute.threads,
            limits=compute.limits,
        ):
            match event:
                case events.CheckChanged() if event.check.state is CheckState.RUNNING:
                    bar.update(0, event.check.detail)
                case AdjudicationStarted():
                    first = event.first
                    bar.start(event.last - first + 1)
                case events.OperatorDone():
                    bar.update(event.step - first + event.done / event.total)
                case AdjudicationFinished():
                    report = event.report
    check_same_signers(revoked, report)
    from counterfoil.cli import jsonform, reports
    from counterfoil_core.values.trust import TrainerTrust

    trust = report.trust_signed_by("" if signing_key is None else signing_key.public.key_id)
    if json:
        more = {} if revoked is None else {"revoked": revoked}
        jsonform.print_json(report, trust, self_signed=trust.trainer is TrainerTrust.AUDITOR, **more)
    else:
        reports.show_adjudication(console, report, trust)
    if verdict is not None and signing_key is not None:
        if report.capsule_digest is None:
            console.print("Nothing was signed: the file could not be read, or changed meanwhile.")
        else:
            from counterfoil_core.statement.verdict import preview_adjudication

            sign_verdict(preview_adjudication(report, datetime.now(UTC)), signing_key, verdict, console)
    if trust.trainer is TrainerTrust.AUDITOR:
        reports.show_self_signed(terminal.console(stderr=True))
        raise ExitWith(SELF_SIGNED)
    raise ExitWith(report.outcome.exit_code)


@contextmanager
def _none_revoked(store: TrustStore, capsule: Path, order: Path | None, console: Console) -> Iterator[Revoked | None]:
    """Ask lists of revoked keys who signed a capsule's run and order, before anything is replayed; None without one.

    Raises:
        RefusedError: A key on whose signature the conclusion would rest was revoked.
    """
    found = None
    if store.lists:
        from counterfoil.audit.boxed.session import signers_in_box

        with cancel_on_interrupt() as cancel:
            signers = signers_in_box(capsule, cancel, is_capsule=True)
        found = revoked_signers(store, signers, own_order=order is not None)
        show_revoked_signers(console, store, found)
        refuse_revoked(found)
    yield found


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """How runs of one order are compared."""

    order: ClientOrderOption = None
    data: DataOption = None
    compute: Compute
    json: JsonOption = False


def referee(
    first: Annotated[Path, READS, typer.Argument(help="One provider's run, a .cfoil file.", show_default=False)],
    second: Annotated[
        Path, READS, typer.Argument(help="Another provider's run of the same order.", show_default=False)
    ],
    asked: Comparing,
) -> None:
    """Client: two providers ran one order and differ; find the step by binary search, replay it, and say who is wrong.

    Exit code 0 AGREED, 1 EXPOSED, 2 UNDECIDED, 3 REFUSED, 4 ERROR. The step in which they part is replayed, and the
    steps after it only if honest rounding explains it.

    Example: counterfoil referee a.cfoil b.cfoil --order job.cfoil
    """
    _compare([first, second], asked)


def panel(
    runs: Annotated[list[Path], READS, typer.Argument(help="Runs of the same order, two or more.", show_default=False)],
    asked: Comparing,
) -> None:
    """Client: compare the runs of several providers; one honest one among them exposes the others.

    Every run that differs from the largest group that agrees is compared with it, and replayed from where they part
    until a step decides: the replay decides, not the majority. Exit codes as for 'counterfoil referee'.

    Example: counterfoil panel a.cfoil b.cfoil c.cfoil --order job.cfoil
    """
    _compare(runs, asked)


def _compare(runs: Sequence[Path], asked: Comparing) -> None:
    compute = asked.compute
    console = terminal.console(stderr=asked.json)
    from counterfoil_core.values import panel

    with cancel_on_interrupt() as cancel, terminal.progress("Replay", console) as bar:
        with cancel.at_once():
            from counterfoil_core.panel.panel import run_panel

            monitor.get_kernels()
        done = expected = 0
        for event in run_panel(
            tuple(runs),
            order=asked.order,
            data=asked.data,
            device=compute.device,
            threads=compute.threads,
            cancel=cancel,
            limits=compute.limits,
        ):
            match event:
                case panel.PanelCompared():
                    expected = event.steps
                    bar.start(expected)
                case panel.StepJudged():
                    done += 1
                    if done >= expected:  # the step in which two runs part has not decided
                        bar.start(done + 1)
                    bar.update(done, f"step {event.step}")
                case panel.PanelRuled():
                    done += 1
                    bar.update(done, f"step {event.parting.ruled_step}")
                case panel.PanelFinished():
                    report = event.report
    from counterfoil.cli import jsonform, reports

    if asked.json:
        jsonform.print_json(report)
    else:
        reports.show_panel(console, report)
    raise ExitWith(report.outcome.exit_code)
