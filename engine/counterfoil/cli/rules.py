"""``counterfoil rules``: whether a run keeps rules."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.keys import open_key
from counterfoil.cli.options import MAX_VERDICT_BYTES, ForceOption, JsonOption
from counterfoil.cli.places import READS, WRITES
from counterfoil.cli.revoked import Revocations
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import shown
from counterfoil.signer.environment import drop_passphrase
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.signing.kinds import WITHDRAWAL

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.runrules import GivenVerdict, RuleResult
    from counterfoil.signing.kinds import RevocationList, RuleFields
    from counterfoil_core.base.digest import Digest
    from counterfoil_core.signing.subject import Subject

RulesArgument = Annotated[
    Path, READS, typer.Argument(metavar="RULES", help="The rules, a .toml file.", show_default=False)
]
RunArgument = Annotated[Path, READS, typer.Argument(metavar="RUN", help="The run, a .cfoil file.", show_default=False)]
VerdictOption = Annotated[
    list[Path] | None,
    READS,
    typer.Option("--verdict", help="A verdict on the run. Can be given several times.", show_default=False),
]
AuditorKeyOption = Annotated[
    list[Path] | None,
    READS,
    typer.Option(
        help="Public key of an auditor, to check verdicts with. Can be given several times.", show_default=False
    ),
]
StatementsOption = Annotated[
    list[Path] | None,
    READS,
    typer.Option(
        help="What was said of verdicts afterwards: one that its auditor withdrew does not count. Can be given several "
        "times.",
        show_default=False,
    ),
]
TrainerKeyOption = Annotated[
    Path | None,
    READS,
    typer.Option(help="The trainer's public key; unless given, that which the run names.", show_default=False),
]
_STYLES = {"HELD": "[green]HELD[/]", "BROKEN": "[bold red]BROKEN[/]", "CANNOT_BE_TOLD": "[yellow]CANNOT BE TOLD[/]"}


def rules(
    path: RulesArgument,
    run: RunArgument,
    revocations: Revocations,
    verdict: VerdictOption = None,
    auditor_key: AuditorKeyOption = None,
    statements: StatementsOption = None,
    trainer_key: TrainerKeyOption = None,
    out: Annotated[Path | None, WRITES, typer.Option(help="Write a signed statement here.", show_default=False)] = None,
    key: Annotated[
        Path | None, READS, typer.Option(help="Your private key, a .pem file; belongs to --out.", show_default=False)
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Anyone: check whether a run keeps rules: on compute, data, settings, precision, performance, verdicts.

    Says by what each rule is bound. Exit code 0: all held; 1: one broken; 2: one cannot be told.

    Example: counterfoil rules rules.toml run.cfoil --verdict v.json --auditor-key auditor.pub.pem
    """
    if (out is None) != (key is None):
        raise typer.BadParameter("--out and --key belong together: what is written is signed.")
    with ExitStack() as stack:
        signer = None
        if out is not None and key is not None:
            check_writable(out, force)
            signer = stack.enter_context(open_key(key, "rules"))
        else:
            drop_passphrase()
        given = given_verdicts(verdict, auditor_key, statements, revocations.read())
        digest, about, results = checked_rules(path, run, given, trainer_key)
        if signer is not None and out is not None:
            from counterfoil.signing.kinds import RulesStatement
            from counterfoil_core.signing.statements import sign_said

            said = RulesStatement(digest, results_of(results), about)
            write_whole(out, sign_said(said, signer), what="the statement")
    if json:
        print_json({"rules": digest, "run_root": about.run_root, "results": results})
    else:
        show_results(terminal.console(), results)
    if signer is not None:
        terminal.console(stderr=json).print(
            f"Wrote {shown(str(out))}, signed with the key {signer.public.key_id}.", soft_wrap=True
        )
    end_with(results)


def given_verdicts(
    verdicts: list[Path] | None,
    auditors: list[Path] | None,
    statements: list[Path] | None,
    revoked: RevocationList | None,
) -> list[GivenVerdict]:
    """Read verdicts, and what was said of them afterwards, each with the key that signed it."""
    from counterfoil.audit.runrules import given_verdict

    keys = [load_public_key(path) for path in auditors or ()]
    later = [(path.name, read_input(path, "a statement", DataError, most=WITHDRAWAL.most)) for path in statements or ()]
    return [
        given_verdict(read_input(path, "a verdict", DataError, most=MAX_VERDICT_BYTES), keys, later, revoked)
        for path in verdicts or ()
    ]


def checked_rules(
    rules: Path, run: Path, verdicts: list[GivenVerdict], trainer: Path | None
) -> tuple[Digest, Subject, tuple[RuleResult, ...]]:
    """Check rules on a run; returns the digest of their file, the run, and what came out."""
    from counterfoil.audit.runrules import read_rules, subject_of
    from counterfoil.audit.values.runrules import check_rules

    asked, digest = read_rules(rules)
    with (
        cancel_on_interrupt() as cancel,
        terminal.progress("Checking", terminal.console(stderr=True)) as bar,
    ):
        key = None if trainer is None else load_public_key(trainer)
        shows, names = terminal.shows(bar), asked.must_not
        subject = subject_of(run, verdicts, names=names, trainer_key=key, cancel=cancel, progress=shows)
    return digest, subject.facts.about, check_rules(asked, subject)


def results_of(results: Sequence[RuleResult]) -> tuple[RuleFields, ...]:
    """Return results as they are signed."""
    from counterfoil.signing.kinds import RuleFields

    return tuple(RuleFields(each.rule, each.outcome.value, str(each.said)) for each in results)


def show_results(out: Console, results: tuple[RuleResult, ...]) -> None:
    """Show what came out of each rule."""
    for each in results:
        out.print(f"{_STYLES[each.outcome.value]}  {shown(each.rule)}: {shown(each.said)}", soft_wrap=True)


def end_with(results: tuple[RuleResult, ...]) -> None:
    """End with the exit code of what came out."""
    from counterfoil.audit.values.runrules import RuleOutcome, outcome_of

    code = {RuleOutcome.HELD: 0, RuleOutcome.BROKEN: 1, RuleOutcome.CANNOT_BE_TOLD: 2}[outcome_of(results)]
    if code:
        raise ExitWith(code)
