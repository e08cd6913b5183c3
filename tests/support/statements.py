"""Whatever a test audits or adjudicates: its verdict keeps every rule that a reader judges it by."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import read_said
from counterfoil_core.statement.judgement import Adjudication, Verdict
from counterfoil_core.statement.model import AdjudicationStatement, VerdictStatement
from counterfoil_core.statement.rules import judge
from counterfoil_core.statement.write import adjudication_statement, verdict_statement
from counterfoil_core.values.adjudication import AdjudicationReport
from counterfoil_core.values.events import IMITATION
from counterfoil_core.values.report import AuditReport

_TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)


def keeps_every_rule(report: AuditReport | AdjudicationReport) -> None:
    """Raise SignatureError where the verdict on a report would be refused by whoever reads it.

    A report on a file that could not be read has no verdict; one on imitated hardware is looked at as if it were none.
    """
    if isinstance(report, AdjudicationReport):
        if report.capsule_digest is not None:
            judge(
                Adjudication(read_said(AdjudicationStatement, statement_of(adjudication_statement(report, _TIME))), "")
            )
    elif report.bundle_digest is not None:
        here = tuple(pair for pair in report.environment if pair[0] != IMITATION)
        statement = statement_of(verdict_statement(replace(report, environment=here), _TIME))
        judge(Verdict(read_said(VerdictStatement, statement), ""))
