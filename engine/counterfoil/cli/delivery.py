"""The command that compares delivered weights with a verified run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.audit.values.delivery import DeliveryOutcome, DeliveryProgress, DeliveryReport
from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.exits import SELF_SIGNED, ExitWith
from counterfoil.cli.options import AverageOption, JsonOption, RunArgument
from counterfoil.cli.places import READS, READS_FOLDER, READS_VERDICT
from counterfoil.cli.reader import Reader
from counterfoil.cli.terminal import markup
from counterfoil_core.signing.keys import load_public_key

SHOWN = 20
"""So many tensors of a kind are named."""
_STYLES = ("bold green", "bold red", "bold yellow", "bold magenta", "bold red")
"""By exit code."""


def verify_weights(
    weights: Annotated[
        Path,
        READS_FOLDER,
        typer.Argument(
            help="What was delivered: a folder of safetensors files, or one; or an evaluation (.cfoil), whose weights "
            "are meant.",
            show_default=False,
        ),
    ],
    run: RunArgument,
    verdict: Annotated[
        Path | None,
        READS_VERDICT,
        typer.Option(help="The auditor's verdict on the run, a .json file.", show_default=False),
    ] = None,
    key: Annotated[
        Path | None, READS, typer.Option(help="The auditor's public key, a .pub.pem file.", show_default=False)
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            help="What the names of the run's tensors begin with and those of the files do not: 'model.', where the "
            "client's module holds the model that was saved.",
            show_default=False,
        ),
    ] = "",
    average: AverageOption = False,
    unused: Annotated[
        list[str] | None,
        typer.Option(
            help="The name of a file of weights in another format, in the folder, that nobody loads; nothing is said "
            "of it. Can be given several times.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
    *,
    reader: Reader,
) -> None:
    """Client: compare delivered weights, tensor by tensor, with the final state of a verified run.

    Equal bit for bit, or after a cast to bfloat16 or float16, or with LoRA weights merged. Exit code 0 DELIVERED:
    they are the final state of a run that is VERIFIED by this key; 1 DIFFERENT; 2 INCONCLUSIVE: they are, but there
    is no verdict, or no key to check it with; 3 REFUSED, 4 ERROR; 5 whatever was found where the verdict is signed
    with the trainer's own key: that is no audit.

    Example: counterfoil verify-weights model/ run.cfoil --verdict verdict.json --key auditor.pub.pem
    """
    if key is not None and verdict is None:
        raise typer.BadParameter("--key belongs to --verdict: it is the key that signed it.")
    basis, self_signed = None, False
    if verdict is not None:
        from counterfoil.delivery.basis import basis_of
        from counterfoil.trust.verdictfile import auditors_of, read_judgement

        keys = auditors_of(reader.store) if key is None else (load_public_key(key),)
        if keys:
            judged = read_judgement(verdict, reader.store, keys)
            self_signed = judged.validity.self_signed
            if not self_signed:  # that has a result and an exit code of its own
                judged.check()
            basis = basis_of(judged.said)
    with cancel_on_interrupt() as cancel, terminal.progress("Weights", terminal.console(stderr=True), "%") as bar:
        with cancel.at_once():
            from counterfoil.delivery import verification

        bar.start(100)
        for event in verification.verify_weights(
            weights, run, basis, prefix=prefix, average=average, unused=unused or (), cancel=cancel
        ):
            match event:
                case DeliveryProgress():
                    bar.update(100 * event.done / max(1, event.total))
                case DeliveryReport():
                    report = event
    from counterfoil.cli import jsonform, reports

    if json:
        jsonform.print_json(report, self_signed=self_signed)
    else:
        show_delivery(report, signed=basis is not None, given=verdict is not None)
    if self_signed:
        reports.show_self_signed(terminal.console(stderr=True))
        raise ExitWith(SELF_SIGNED)
    raise ExitWith(report.outcome.exit_code)


def show_delivery(report: DeliveryReport, *, signed: bool, given: bool) -> None:
    """Show what a comparison of weights found.

    Args:
        report: What was found.
        signed: Whether the auditor's public key was given, with which the verdict was checked.
        given: Whether a verdict was given at all.
    """
    from counterfoil.cli.reports import TRUST_STYLES, show_facts, show_trust

    out = terminal.console()
    style = _STYLES[report.outcome.exit_code]
    if report.outcome is DeliveryOutcome.DELIVERED and report.trust is not None:
        style = TRUST_STYLES[report.trust.level]
    out.print(f"[{style}]{report.outcome.value}[/]  {markup(report.sentence)}", soft_wrap=True)
    if report.trust is not None:
        show_trust(out, report.trust)
    if given and not signed:
        out.print("The verdict was not looked at: give the auditor's public key with --key.", soft_wrap=True)
    for warning in report.warnings:
        out.print(f"[yellow]{markup(warning)}[/]", soft_wrap=True)
    facts = {
        "run root": report.run_root.hex,
        "order": report.order_digest.hex,
        "verdict": f"{report.headline}, signed with the key {report.key_id}" if signed else "",
        "scored model root": report.scored.hex if report.scored else "",
        "weights": f"{report.tensors} tensors, {report.elements:,} elements; files: {len(report.files)}",
        "equal": ", ".join(f"{relation}: {count}" for relation, count in report.relations.items()),
        "second names": ", ".join(report.tied),
        "merged": ""
        if report.largest_merge is None
        else "at most {:.3g} from the exact merge; {:.3g} is allowed".format(*report.largest_merge),
    }
    show_facts(out, {name: text for name, text in facts.items() if text})
    for one in report.differing[:SHOWN]:
        place = f" at {list(one.index)}" if one.index else ""
        values = f"{one.delivered!r} in place of {one.run!r}{place}"
        text = one.note or f"{one.differing:,} of {one.elements:,} differ, by up to {one.largest:.3g}: {values}"
        out.print(f"  differs  {markup(one.name)}: {markup(text)}", soft_wrap=True)
    for what, names in (("missing", report.missing), ("surplus", report.surplus)):
        for name in names[:SHOWN]:
            out.print(f"  {what}  {markup(name)}", soft_wrap=True)
    rest = sum(max(0, len(names) - SHOWN) for names in (report.differing, report.missing, report.surplus))
    if rest:
        out.print(f"  and {rest} more; --json names them.")
    if report.others:
        named = ", ".join(report.others[:SHOWN]) + (", ..." if len(report.others) > SHOWN else "")
        out.print(f"Not looked at: {markup(named)}.", soft_wrap=True)
