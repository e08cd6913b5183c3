"""``counterfoil rules``: whether a run keeps rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.jsonform import print_json
from counterfoil.cli.options import JsonOption
from counterfoil.cli.places import READS, READS_VERDICT
from counterfoil.cli.reader import Reader
from counterfoil.cli.signedfile import SignedStatement
from counterfoil.cli.terminal import markup
from counterfoil_core.signing.keys import load_public_key

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.runrules import GivenVerdict, RuleResult
    from counterfoil.signing.kinds import RuleFields
    from counterfoil_core.base.digest import Digest
    from counterfoil_core.signing.subject import Subject

RulesArgument = Annotated[
    Path, READS, typer.Argument(metavar="RULES", help="The rules, a .toml file.", show_default=False)
]
RunArgument = Annotated[Path, READS, typer.Argument(metavar="RUN", help="The run, a .cfoil file.", show_default=False)]
VerdictOption = Annotated[
    list[Path] | None,
    READS_VERDICT,
    typer.Option("--verdict", help="A verdict on the run. Can be given several times.", show_default=False),
]
AuditorKeyOption = Annotated[
    list[Path] | None,
    READS,
    typer.Option(
        help="Public key of an auditor, to check verdicts with. Can be given several times.", show_default=False
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
    reader: Reader,
    verdict: VerdictOption = None,
    auditor_key: AuditorKeyOption = None,
    trainer_key: TrainerKeyOption = None,
    *,
    statement: SignedStatement,
    json: JsonOption = False,
) -> None:
    """Anyone: check whether a run keeps rules: on compute, data, settings, precision, performance, verdicts.

    Says by what each rule is bound. Exit code 0: all held; 1: one broken; 2: one cannot be told.

    Example: counterfoil rules rules.toml run.cfoil --verdict v.json --auditor-key auditor.pub.pem
    """
    written = ""
    with statement.open("rules", "the statement") as write:
        given = reader.verdicts(verdict, auditor_key)
        digest, about, results = check_run_rules(path, run, given, trainer_key, reader)
        if write is not None:
            from counterfoil.signing.kinds import RulesStatement

            written = write(RulesStatement(digest, results_of(results), about))
    if json:
        print_json({"rules": digest, "run_root": about.run_root, "results": results})
    else:
        show_results(terminal.console(), results)
    if written:
        terminal.console(stderr=json).print(written, soft_wrap=True)
    end_with(results)


def check_run_rules(
    rules: Path, run: Path, verdicts: list[GivenVerdict], trainer: Path | None, reader: Reader
) -> tuple[Digest, Subject, tuple[RuleResult, ...]]:
    """Check rules on a run; returns the digest of their file, the run, and what came out."""
    from counterfoil.audit.runrules import read_rules, subject_of
    from counterfoil.audit.values.runrules import check_rules

    asked, digest = read_rules(rules)
    reader.check_run(run)
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
        out.print(f"{_STYLES[each.outcome.value]}  {markup(each.rule)}: {markup(each.said)}", soft_wrap=True)


def end_with(results: tuple[RuleResult, ...]) -> None:
    """End with the exit code of what came out."""
    from counterfoil.audit.values.runrules import RuleOutcome, outcome_of

    code = {RuleOutcome.HELD: 0, RuleOutcome.BROKEN: 1, RuleOutcome.CANNOT_BE_TOLD: 2}[outcome_of(results)]
    if code:
        raise ExitWith(code)
