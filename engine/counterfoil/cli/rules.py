"""``counterfoil rules``: whether a run keeps rules, and whether a signed statement on that is so."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import terminal
from counterfoil.cli.commands import group_of_commands
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
from counterfoil_core.values.outcome import Outcome

if TYPE_CHECKING:
    from counterfoil.audit.values.runrules import GivenVerdict, RuleResult
    from counterfoil.signing.revocations import RevocationList
    from counterfoil_core.base.digest import Digest

rules_app = group_of_commands(
    help="Anyone: check whether a run keeps rules: on compute, data, settings, precision, performance, verdicts.",
    no_args_is_help=True,
)

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


@rules_app.command()
def check(
    rules: RulesArgument,
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
    """Check every rule, and say by what each is bound. Exit code 0: all held; 1: one broken; 2: one cannot be told.

    Example: counterfoil rules check rules.toml run.cfoil --verdict v.json --auditor-key auditor.pub.pem
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
        given = _verdicts(verdict, auditor_key, statements, revocations.read())
        digest, root, results = _checked(rules, run, given, trainer_key)
        if signer is not None and out is not None:
            from counterfoil.audit.statement.ruled import sign_results

            write_whole(out, sign_results(digest, root, results, signer), what="the statement")
    if json:
        print_json({"rules": digest, "run_root": root, "results": results})
    else:
        _show(results)
    if signer is not None:
        terminal.console(stderr=json).print(
            f"Wrote {shown(str(out))}, signed with the key {signer.public.key_id}.", soft_wrap=True
        )
    _end(results)


@rules_app.command()
def verify(
    statement: Annotated[Path, READS, typer.Argument(metavar="STATEMENT", help="The signed statement, a .json file.")],
    rules: RulesArgument,
    run: RunArgument,
    signer_key: Annotated[
        Path,
        READS,
        typer.Option("--key", help="The public key of whoever signed it, a .pub.pem file.", show_default=False),
    ],
    revocations: Revocations,
    verdict: VerdictOption = None,
    auditor_key: AuditorKeyOption = None,
    statements: StatementsOption = None,
    trainer_key: TrainerKeyOption = None,
) -> None:
    """Check who signed a statement on rules, and every rule again. Exit code 3 (REFUSED) if anything is not as signed.

    Example: counterfoil rules verify checked.json rules.toml run.cfoil --key inspector.pub.pem
    """
    from counterfoil.audit.statement.ruled import MAX_BYTES, open_results, results_of

    signed = open_results(read_input(statement, "a statement", DataError, most=MAX_BYTES), load_public_key(signer_key))
    given = _verdicts(verdict, auditor_key, statements, revocations.read())
    digest, root, results = _checked(rules, run, given, trainer_key)
    out = terminal.console()
    out.print(f"Signed {signed.signed_at}, with the key {signed.key_id}", soft_wrap=True)
    wrong = [
        what
        for what, same in (
            ("it is about other rules", signed.rules == digest),
            ("it is about another run", signed.run_root == root),
            ("a rule comes out otherwise", signed.results == results_of(results)),
        )
        if not same
    ]
    if wrong:
        out.print(f"[bold red]NOT SO[/]  {'; '.join(wrong)}.")
        raise ExitWith(Outcome.REFUSED.exit_code)
    _show(results)
    out.print("The signature holds, and every rule comes out as it was signed.")
    _end(results)


def _verdicts(
    verdicts: list[Path] | None,
    auditors: list[Path] | None,
    statements: list[Path] | None,
    revoked: RevocationList | None,
) -> list[GivenVerdict]:
    """Read verdicts, and what was said of them afterwards, each with the key that signed it."""
    from counterfoil.audit.runrules import given_verdict
    from counterfoil_core.signing.predicates import MAX_BYTES

    keys = [load_public_key(path) for path in auditors or ()]
    later = [(path.name, read_input(path, "a statement", DataError, most=MAX_BYTES)) for path in statements or ()]
    return [
        given_verdict(read_input(path, "a verdict", DataError, most=MAX_VERDICT_BYTES), keys, later, revoked)
        for path in verdicts or ()
    ]


def _checked(
    rules: Path, run: Path, verdicts: list[GivenVerdict], trainer: Path | None
) -> tuple[Digest, Digest, tuple[RuleResult, ...]]:
    from counterfoil.audit.runrules import read_rules, subject_of
    from counterfoil.audit.values.runrules import check_rules

    asked, digest = read_rules(rules)
    with (
        cancel_on_interrupt() as cancel,
        terminal.progress("Checking", terminal.console(stderr=True)) as bar,
    ):
        key = None if trainer is None else load_public_key(trainer)
        subject = subject_of(run, verdicts, trainer_key=key, cancel=cancel, progress=terminal.shows(bar))
    return digest, subject.facts.run_root, check_rules(asked, subject)


def _show(results: tuple[RuleResult, ...]) -> None:
    out = terminal.console()
    for each in results:
        out.print(f"{_STYLES[each.outcome.value]}  {shown(each.rule)}: {shown(each.said)}", soft_wrap=True)


def _end(results: tuple[RuleResult, ...]) -> None:
    from counterfoil.audit.values.runrules import RuleOutcome, outcome_of

    code = {RuleOutcome.HELD: 0, RuleOutcome.BROKEN: 1, RuleOutcome.CANNOT_BE_TOLD: 2}[outcome_of(results)]
    if code:
        raise ExitWith(code)
