"""Reports, summaries and plans as the command line prints them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import DOUBLE
from rich.console import Console
from rich.table import Table

from counterfoil.audit.values.accountprose import account_of, consequence_of, rows_named
from counterfoil.audit.values.figures import figures, joined_time, recorded_log_said
from counterfoil.audit.values.follow import FollowEnded
from counterfoil.audit.values.summary import BundleSummary, OrderSummary
from counterfoil.base.oneline import one_line
from counterfoil_core.base.precision import HEADROOM_BITS
from counterfoil_core.statement.judgement import Adjudication, Verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome, AdjudicationReport
from counterfoil_core.values.dispute import COMBINE, Dispute, Finding, Right
from counterfoil_core.values.outcome import Check, CheckState, Outcome
from counterfoil_core.values.report import AuditReport, Steering
from counterfoil_core.values.runfacts import RunFacts
from counterfoil_core.values.sampling import probability_text
from counterfoil_core.values.trust import Level, Trust
from counterfoil_core.values.workers import ReplayedAt, ReplayedBy

if TYPE_CHECKING:
    from counterfoil.audit.values.plan import Plan
    from counterfoil.signing.comparedsteps import ComparedLine
    from counterfoil.signing.kinds import Afterwards
    from counterfoil.training.calibration import Calibration
    from counterfoil_core.program.limits import Estimate
    from counterfoil_core.values.panel import PanelReport, Parting

from counterfoil.cli import terminal
from counterfoil.cli.terminal import markup
from counterfoil_core.remote.ranges import Fetched

SHOWN_TENSORS = 10
MAX_QUOTED_LINES = 200
QUOTED_CHARACTERS = 2000
"""Of a line in a text of somebody else's."""

OUTCOME_STYLES = {
    Outcome.VERIFIED: "bold green",
    Outcome.DISPUTED: "bold red",
    Outcome.INCONCLUSIVE: "bold yellow",
    Outcome.REFUSED: "bold magenta",
    Outcome.ERROR: "bold red",
}
_ADJUDICATION_STYLES = ("bold green", "bold red", "bold yellow", "bold magenta", "bold red")
"""By exit code."""
_SHOWN_TURNS = 20
"""Turns of a pattern that are shown."""
_PANEL_STYLES = ("bold green", "bold red", "bold yellow", "bold magenta")
"""By exit code."""
TRUST_STYLES = {Level.WHOLE: "bold green", Level.OPEN: "bold yellow", Level.NONE: "bold red"}
_STATE_STYLES = {
    CheckState.PASSED: "green",
    CheckState.FAILED: "red",
    CheckState.WARNING: "yellow",
    CheckState.SKIPPED: "dim",
    CheckState.PENDING: "dim",
    CheckState.RUNNING: "dim",
}


def show_outcome(out: Console, outcome: Outcome, headline: str, reason: str, trust: Trust) -> None:
    """Show the conclusion in a few words, why, and what it rests on: green only where nothing of that is open.

    Args:
        out: Where it is shown.
        outcome: The conclusion.
        headline: The conclusion in a few words.
        reason: Why.
        trust: What it rests on.
    """
    style = OUTCOME_STYLES[outcome]
    if outcome is Outcome.VERIFIED:
        style = TRUST_STYLES[trust.level]
    out.print(f"[{style}]{markup(headline)}[/]  {markup(reason)}")
    show_trust(out, trust)


def show_trust(out: Console, trust: Trust) -> None:
    """Show what a conclusion rests on: whose order, whose key, which machine."""
    parts = (f"{line.title}: [{TRUST_STYLES[line.level]}]{line.words}[/]" for line in trust.lines)
    out.print("Rests on  " + "; ".join(parts))
    if trust.reason:
        out.print(f"[{TRUST_STYLES[trust.level]}]{markup(trust.reason)}[/]")


def show_checks(out: Console, checks: Sequence[Check]) -> None:
    """Show the numbered checks, one a line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column(no_wrap=True)
    table.add_column()
    for check in checks:
        style = _STATE_STYLES[check.state]
        detail = f" [dim]{markup(check.detail)}[/]" if check.detail else ""
        table.add_row(str(int(check.number)), f"[{style}]{check.state.value}[/]", f"{check.number.title}.{detail}")
    out.print(table)


def show_facts(out: Console, facts: Mapping[str, str], amber: Collection[str] = ()) -> None:
    """Show names and values in two columns; the values of the names in ``amber`` are pointed out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(markup(name), f"[yellow]{markup(value)}[/]" if name in amber else markup(value))
    out.print(table)


def _operator(dispute: Dispute) -> str:
    operator = dispute.operator
    if dispute.inputs:
        return f"none: {rows_named(dispute.inputs)}"
    if dispute.part == COMBINE:
        return "none: the shares are added in integers"
    if operator is None and dispute.replay_leaf is None:
        return "none: the step could not be replayed"
    if operator is None:
        return "none: all fingerprints agree"
    inputs = ", ".join(_shape(shape) for shape in operator.input_shapes)
    return (
        f"{operator.where}, number {operator.number} of {operator.total}; output {_shape(operator.shape)} from "
        f"{inputs or 'no tensor'}"
    )


def _confirmed(dispute: Dispute) -> str:
    if dispute.right is Right.UNREADABLE:
        return "needs no replay"
    if dispute.replay_leaf is None and dispute.confirmed:
        return "yes, it comes to no result"
    return "yes, by a second replay with every reduction in another order" if dispute.confirmed else "no"


def _shape(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "scalar"


def show_dispute(out: Console, dispute: Dispute) -> None:
    """Show the first step that differs, and what differs in it."""
    show_facts(
        out,
        {
            "disputed step": str(dispute.step),
            **({"part of the step": dispute.part} if dispute.part else {}),
            **({"signed by the party": dispute.signer} if dispute.signer else {}),
            "what differs": ", ".join(dispute.parts),
            "trainer's leaf": dispute.trainer_leaf.hex,
            "replay's leaf": "none: the step could not be replayed"
            if dispute.replay_leaf is None
            else dispute.replay_leaf.hex,
            "trainer's loss": repr(dispute.trainer_loss),
            "replay's loss": repr(dispute.replay_loss),
            "first operator": _operator(dispute),
        }
        | ({"found by": f"{len(dispute.path)} comparisons in the Merkle tree"} if dispute.path else {})
        | {
            "confirmed": _confirmed(dispute),
        },
    )
    if dispute.finding is not None:
        show_finding(out, dispute.finding)
    if not dispute.tensors:
        return
    table = Table(title=f"Differing tensors after step {dispute.compared_at}", title_justify="left", box=None)
    table.add_column("tensor")
    for heading in ("elements", "largest difference", "ulps"):
        table.add_column(heading, justify="right")
    table.add_column("at")
    for tensor in dispute.tensors[:SHOWN_TENSORS]:
        index = ", ".join(map(str, tensor.index))
        count = f"{tensor.differing} of {math.prod(tensor.shape)}"
        table.add_row(markup(tensor.name), count, f"{tensor.max_abs:.3g}", str(tensor.max_ulps), f"\\[{index}]")
    out.print(table)
    if len(dispute.tensors) > SHOWN_TENSORS:
        out.print(f"... and {len(dispute.tensors) - SHOWN_TENSORS} more tensors")


def show_finding(out: Console, finding: Finding) -> None:
    """Show what is proven about the disputed step."""
    out.print(f"Finding: {markup(finding.sentence)}")
    if not finding.elements:
        return
    unit = "the last place" if finding.defined else "the error bound"
    title = f"{finding.recomputed} of {finding.total} elements recomputed; in units of {unit}:"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("at")
    for heading in ("exact", "replay", "trainer", "error", *(() if finding.defined else ("to midpoint",))):
        table.add_column(heading, justify="right")
    for element in finding.elements:
        index = ", ".join(map(str, element.index))
        trainer = "not known" if element.trainer is None else f"{element.trainer:.9g}"
        table.add_row(
            f"\\[{index}]",
            markup(element.exact),
            f"{element.replay:.9g}",
            trainer,
            f"{element.error:.2g}",
            *(() if finding.defined else (f"{element.midpoint:.3g}",)),
        )
    out.print(table)


def show_steering(out: Console, steering: Steering) -> None:
    """Show how far the trainer could have steered the run through its log, where it had entries at all."""
    rows = [row for row in steering.rows if row.entries]
    if not rows:
        return
    table = Table(title="What the rounding log left to the trainer", title_justify="left", box=None)
    table.add_column("operator")
    for heading in ("values", "log entries", "corrections", "steered"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            markup(row.kind),
            f"{row.values:,}",
            f"{row.entries:,}",
            f"{row.corrections:,}",
            f"{row.steered:,} of {row.steerable:,}",
        )
    out.print(table)
    out.print(
        f"A log entry can move its value by one quantum, at most 2^{1 - steering.significand_bits} of its tensor's "
        "scale. Steered: directions that differ from this machine's own where honest hardware has no choice."
    )


def show_places(out: Console, replayed_at: Sequence[ReplayedAt]) -> None:
    """Show who replayed segments where, if not the audit at one place."""
    for at in replayed_at:
        listed = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in at.segments)
        how = ", as a part file says" if at.by is ReplayedBy.PART else ""
        out.print(markup(f"Segments replayed at {at.place.machine} ({at.place.device}){how}: {listed}"))


def show_report(out: Console, report: AuditReport, trust: Trust) -> None:
    """Show what an audit found, and what that rests on.

    Args:
        out: Where it is shown.
        report: What was found.
        trust: What the conclusion rests on.
    """
    show_checks(out, report.checks)
    if report.fetched is not None:
        show_facts(out, {"fetched": f"{fetched_text(report.fetched)}, from {one_line(report.fetched.place)}"})
    if report.steering is not None:
        show_steering(out, report.steering)
    if report.dispute is not None:
        show_dispute(out, report.dispute)
    show_places(out, report.replayed_at)
    if report.steps_replayed:
        times = joined_time(terminal.duration(report.seconds), report)
        show_facts(out, {**{name.lower(): said for name, said in figures(report)}, "time of the replay": times})
    if report.facts is not None:
        show_run_facts(out, report.facts)
    show_outcome(out, report.outcome, report.headline, report.reason, trust)
    if report.dispute is not None:
        tell = consequence_of if report.dispute.accuses else account_of  # an accusation begins with what differs
        out.print(markup(tell(report.dispute, earlier=report.earlier_mismatches)))


def show_followed(out: Console, ended: FollowEnded) -> None:
    """Show how following a recording ended that has come to no run."""
    assert ended.outcome is not None, "of a run its audit's report is shown"
    if ended.dispute is not None:
        show_dispute(out, ended.dispute)
    style = OUTCOME_STYLES[ended.outcome]
    out.print(f"[{style}]{ended.outcome.value}[/]  {markup(ended.reason)}", soft_wrap=True)


def show_adjudication(out: Console, report: AdjudicationReport, trust: Trust) -> None:
    """Show what the replay of a dispute capsule found, and what that rests on.

    Args:
        out: Where it is shown.
        report: What was found.
        trust: What the conclusion rests on.
    """
    show_checks(out, report.checks)
    if report.dispute is not None:
        show_dispute(out, report.dispute)
    _show_adjudication_outcome(out, report.outcome, report.reason)
    show_trust(out, trust)


def _show_adjudication_outcome(out: Console, outcome: AdjudicationOutcome, reason: str) -> None:
    out.print(f"[{_ADJUDICATION_STYLES[outcome.exit_code]}]{outcome.value}[/]  {markup(reason)}")


def _rounded(order: OrderSummary) -> str:
    return "rounded" if order.exact_bits is None else "products, sums, quotients and functions"


def _turns(order: OrderSummary) -> str:
    listed = ", ".join(order.pattern[:_SHOWN_TURNS])
    more = f", ...; {order.pattern_steps:,} turns in all" * (order.pattern_steps > _SHOWN_TURNS)
    count = sum(" " not in name for name, _ in order.programs)  # those of updates have the others' names and a word
    return f"of {count} programs: {listed}{more}"


def show_summary(out: Console, summary: BundleSummary, compared: ComparedLine | None) -> None:
    """Show what is in a bundle.

    Args:
        out: Where it is shown.
        summary: What is in it.
        compared: How far the order was compared with the script that it came from; None where it came from none.
    """
    order, run = summary.order, summary.run
    facts = {
        **({} if summary.fetched is None else {"fetched": fetched_text(summary.fetched)}),
        "order": f"{one_line(order.title)} ({one_line(order.recipe)})",
        "order digest": order.digest.hex,
        "client": _client(order.client_key, summary.given_client_key)
        + (f", {one_line(order.signed_at)} by its own clock" if order.signed_at else ""),
        **({} if compared is None else {"script": compared.said}),
        "training": f"{order.steps} steps of {order.batch_size} rows, seed {order.seed}",
        **({"shares": _shares(order)} if order.shares else {}),
        **({"stopping": f"the run {order.may_stop_early}"} if order.may_stop_early else {}),
        "optimizer": one_line(order.optimizer),
        "model": f"{order.parameters:,} trainable values in {order.state_tensors} state tensors",
        "program": f"{order.operators} operators, {order.rounded_operators} of them {_rounded(order)}"
        + f", {order.repeated_operators} of these again in the backward pass" * (order.repeated_operators > 0),
        **({"turns": _turns(order)} if order.pattern else {}),
        **({} if order.estimate is None else {"a step takes": estimate_text(order.estimate)}),
        "precision": order.precision,
    }
    if order.exact_bits is not None:
        facts["margins"] = "none: every result is defined"
    elif order.without_bound is not None:
        kinds = order.without_bound
        facts["margins"] = f"without a proven bound: {', '.join(kinds)}" if kinds else "proven for every operator"
    for array in order.data:
        outside = f", in the data file {array.file}" if array.file else ""
        facts[f"data {array.name}"] = f"{array.dtype} {list(array.shape)}{outside}"
    for file in order.sources:
        if file.revision is not None:
            facts[f"{file.part} revision"] = one_line(file.revision)
        facts[f"{file.part} {one_line(file.file)}"] = f"SHA-256 {file.digest.hex}"
    if run is None:
        facts["run"] = "none yet"
    else:
        recorded = run.recorded
        loss = recorded.trainer_loss
        facts |= {
            **({"run": f"{run.steps} of {order.steps} ordered steps"} if run.steps < order.steps else {}),
            "run root": run.run_root.hex if run.run_root else "not signed for",
            "signed by": run.trainer_key or "nobody",
            "signed at": run.signed_at,
            "accepted": _accepted(run.accepted_at),
            "machine": ", ".join(
                f"{name} {one_line(value)}" for name, value in run.environment if name in ("device", "torch")
            ),
            "loss": f"{loss[0]:.4f} at step 1, {loss[-1]:.4f} at step {run.steps}",
            "rounding log": recorded_log_said(recorded),
        }
    show_facts(out, facts, ("script",) if compared is not None and compared.less else ())
    show_checks(out, summary.checks)
    out.print(markup(summary.sentence))


def _shares(order: OrderSummary) -> str:
    """Say how a step is divided, and what memory it takes to put it together."""
    rows = order.batch_size // order.shares
    said = f"{order.shares} of {rows} rows, {'added exactly' if order.shares_added else 'handed on side by side'}"
    if order.combining is None:
        return said
    sides = (order.combining.recording, order.combining.replay)
    recording, replay = (f"{side / 2**20:,.3g} MiB" for side in sides)
    return f"{said}; beside a share {recording} to record all in one process, {replay} to replay"


def estimate_text(estimate: Estimate) -> str:
    """Say what a step takes: memory, and computing in units of 10^9."""
    return f"about {estimate.bytes / 2**20:,.0f} MiB of memory, {estimate.flops / 1e9:,.3g} billion operations"


def show_calibration(out: Console, calibration: Calibration) -> None:
    """Show what a calibration measured."""
    table = Table(box=None)
    table.add_column("operator")
    for heading in ("sites", "largest difference", "margin", "headroom", "logged"):
        table.add_column(heading, justify="right")
    for kind in calibration.kinds:
        largest = f"2^(E{math.log2(kind.largest):.1f})" if kind.largest else "none"
        headroom = f"{kind.headroom:.1f} bits" if kind.largest else ""
        margin = f"2^(E-{kind.margin_bits})"
        table.add_row(markup(kind.kind), str(kind.sites), largest, margin, headroom, f"{kind.share_logged:.4%}")
    out.print(table)
    out.print(f"MeasuredStep over {calibration.steps} steps. Precision: {calibration.precision.describe()}.")
    if min((kind.headroom for kind in calibration.kinds), default=math.inf) < HEADROOM_BITS:
        out.print(f"Where the headroom is below {HEADROOM_BITS} bits, the profile's grid leaves no room for more.")


def show_panel(out: Console, report: PanelReport) -> None:
    """Show which providers agree, where the others part from them, and what the replay says."""
    table = Table(box=None)
    for heading in ("run", "group", "finding", "signed by"):
        table.add_column(heading)
    group_of = {member: number for number, group in enumerate(report.groups, start=1) for member in group}
    for number, member in enumerate(report.members):
        group = str(group_of.get(number, "-"))
        table.add_row(markup(member.name), group, member.standing.value, markup(member.trainer_key[:12]) or "-")
    out.print(table)
    for parting in report.partings:
        out.print(markup(_parting(report, parting)))
    style = _PANEL_STYLES[report.outcome.exit_code]
    out.print(f"[{style}]{report.outcome.value}[/]  {markup(report.reason)}")


def _parting(report: PanelReport, parting: Parting) -> str:
    def names(members: Sequence[int]) -> str:
        *before, last = (report.members[member].name for member in members)
        return f"{', '.join(before)} and {last}" if before else last

    sentences = [
        f"Group {names(parting.first)} and group {names(parting.second)} part at step {parting.step} of "
        f"{report.steps}, found by {len(parting.path)} comparisons in the Merkle tree."
    ]
    if 0 < parting.ruled_step < parting.step:
        sentences.append(f"Already step {parting.ruled_step}, in which they agree, is not what was ordered.")
    if parting.ruled_step > parting.step:
        sentences.append(f"That step decides nothing; they were replayed up to step {parting.ruled_step}.")
    for ruling in parting.rulings:
        name = f"{report.members[ruling.provider].name}, step {ruling.step}"
        if ruling.right:
            taken = f", with {ruling.corrections} rounding decisions taken from its log" if ruling.corrections else ""
            sentences.append(f"{name}: the replay gives the leaf that it signed{taken}.")
        elif not ruling.confirmed:
            why = f" {ruling.finding.sentence}" if ruling.finding is not None else ""
            sentences.append(f"{name}: this machine cannot tell.{why}")
        else:
            where = f", first in {ruling.part}" if ruling.part else ""
            where += f", first at {ruling.operator.where}" if ruling.operator else ""
            sentences.append(f"{name}: the replay gives another leaf (in {', '.join(ruling.parts)}){where}.")
            if ruling.finding is not None:
                sentences.append(ruling.finding.sentence)
    return " ".join(sentences)


def show_plan(out: Console, plan: Plan) -> None:
    """Show what each way to audit a run would cost."""
    show_facts(
        out,
        {
            "run": f"{plan.steps} steps in {plan.segments} segments",
            "must not pass": f"{plan.bad} or more bad segments (a share of {plan.bad_fraction:.3g}, rounded up)",
            "a step takes": estimate_text(plan.estimate),
            "one step here": f"{plan.step_seconds:.3g} s on {plan.device}, over {plan.measured_steps} steps",
        },
    )
    table = Table(box=None)
    table.add_column("confidence", justify="right")
    for heading in ("segments", "steps", "time", "passes unseen"):
        table.add_column(heading, justify="right")
    table.add_column("audit with")
    for row in plan.rows:
        whole = row.confidence == 1.0
        table.add_row(
            "whole run" if whole else f"{row.confidence:.1%}",
            str(row.segments),
            str(row.steps),
            terminal.duration(row.seconds),
            probability_text(row.passing),
            "--segments all" if whole else f"--confidence {row.confidence:g} --bad-fraction {plan.bad_fraction:g}",
        )
    out.print(table)
    if plan.advice:
        out.print(f"[bold yellow]NOTE[/]  {markup(plan.advice)}", soft_wrap=True)


def show_verdict(out: Console, verdict: Verdict | Adjudication) -> None:
    """Show what a checked verdict says, and what that rests on."""
    source = {
        "client": "the client's own order",
        "signature": "signed with the client's key, which the auditor gave",
        "bundle": "taken from the run itself, not compared with an order of the client's",
    }
    order = verdict.order_digest.hex if verdict.order_digest else "not read"
    other = verdict.run_order is not None and verdict.run_order != verdict.order_digest
    trainer = {"given": "the auditor gave this key", "bundle": "named by the run itself, compared with nothing"}
    model = verdict.model if isinstance(verdict, Verdict) else None
    named = {} if model is None else {"model": f"{model[0]}, OpenSSF Model Signing digest {model[1].hex}"}
    show_facts(
        out,
        {
            "file": _file(verdict),
            "run root": verdict.run_root.hex if verdict.run_root else "not read",
            "order": f"{order} ({source[verdict.order_source]})",
            **({"run's order": str(verdict.run_order)} if other else {}),
            "client": _client(verdict.client_key, verdict.given_client_key),
            "trainer": f"{verdict.trainer_key or 'no signature'} ({trainer[verdict.trainer_key_source]})",
            "steps": _steps(verdict),
            **named,
            "signed by": verdict.key_id,
            "signed at": verdict.signed_at,
        },
    )
    show_checks(out, verdict.checks)
    if isinstance(verdict, Adjudication):
        _show_adjudication_outcome(out, verdict.outcome, verdict.reason)
        show_trust(out, verdict.trust)
        return
    if verdict.steering is not None:
        show_steering(out, verdict.steering)
    show_places(out, verdict.replayed_at)
    if verdict.run_facts is not None:
        show_run_facts(out, verdict.run_facts)
    show_outcome(out, verdict.outcome, verdict.headline, verdict.reason, verdict.trust)


def show_run_facts(out: Console, said: RunFacts) -> None:
    """Show in short what the auditor counted of the run."""
    out.print("Facts of the run, counted by the auditor:")
    show_facts(
        out,
        {
            "operations": f"{said.total_operations:,} ({said.total_operations:.3g})",
            "parameters": f"{said.parameters:,}",
            **{f"rows of {use.name}": f"{use.rows_read:,} read, {use.epochs:.3f} epochs" for use in said.data},
            **({"tokens": f"{said.tokens:,}"} if said.tokens else {}),
            **({} if said.seconds is None else {"duration, the trainer says": terminal.duration(said.seconds)}),
        },
    )


def fetched_text(fetched: Fetched) -> str:
    """How much of a file that lies elsewhere was fetched, in a few words."""
    part = fetched.bytes / fetched.size if fetched.size else 1.0
    return f"{fetched.bytes:,} of {fetched.size:,} bytes ({part:.1%}) in {fetched.requests} pieces"


def _file(verdict: Verdict | Adjudication) -> str:
    fetched = verdict.fetched if isinstance(verdict, Verdict) else None
    if fetched is not None:
        return f"{one_line(fetched.place)}; not hashed: {fetched_text(fetched)} were fetched"
    return f"{verdict.bundle_name}, SHA-256 {verdict.bundle_digest}"


def _client(key: str, given: str) -> str:
    """Whose signature an order has, in words."""
    if not key:
        return "the order is unsigned" + (f", and should be signed with the key {given}" if given else "")
    if not given:
        return f"{key} (signed the order; named by the files themselves, compared with nothing)"
    return f"{key} (signed the order; the client's key that was given)" if key == given else f"{key} (not {given})"


def _accepted(moment: str) -> str:
    return f"the order, {one_line(moment)} by the trainer's clock" if moment else "no acceptance of the order holds"


def show_self_signed(out: Console) -> None:
    """Say that a verdict is no audit, in lines that nobody overlooks."""
    table = Table(box=DOUBLE, show_header=False, border_style="bold red", style="bold red")
    table.add_column()
    table.add_row(
        "SELF-SIGNED: THIS IS NO AUDIT. The key that signed the verdict is the key that signed the run. A trainer who "
        "judges its own run can write whatever it likes. Rely on nothing that it says."
    )
    out.print(table)


def show_afterwards(out: Console, said: Afterwards) -> None:
    """Show what was said of a verdict after it was signed; the words of strangers stay theirs."""
    for one in said.withdrawals:
        out.print(
            f"[bold magenta]WITHDRAWN[/]  by its auditor, {one.signed_at} by the auditor's clock. The auditor's reason:"
        )
        show_quoted(out, one.reason)
        if one.superseded_by is not None:
            out.print(f"The auditor puts another verdict in its place: SHA-256 of its payload {one.superseded_by}.")
    for reply in said.replies:
        out.print(f"[bold]REPLY[/]  of the trainer whose key signed the run, {reply.signed_at} by the trainer's clock:")
        show_quoted(out, reply.text)
    for sentence in said.ignored:
        out.print(f"[yellow]{markup(sentence)}[/]", soft_wrap=True)


def show_quoted(out: Console, text: str) -> None:
    """A text of somebody else's: each line behind a mark, so that none looks like ours."""
    for line in text.splitlines()[:MAX_QUOTED_LINES]:
        out.print(f"  [dim]|[/] {markup(one_line(line, QUOTED_CHARACTERS))}", soft_wrap=True)
    if len(text.splitlines()) > MAX_QUOTED_LINES:
        out.print("  [dim]|[/] ... (more in the file)")


def _steps(verdict: Verdict | Adjudication) -> str:
    if isinstance(verdict, Adjudication):
        return (
            f"step {verdict.step} of {verdict.steps_recorded}, replayed from the state after step {verdict.agreed_step}"
            f"{_ended(verdict.steps_recorded, verdict.steps_ordered)}"
        )
    ended = _ended(verdict.steps_recorded, verdict.steps_ordered)
    return f"{verdict.steps_replayed} of {verdict.steps_recorded} judged{ended}"


def _ended(recorded: int, ordered: int) -> str:
    return f"; the run has {recorded} of {ordered} ordered steps" * (recorded < ordered)
