"""One of every kind of statement, signed with keys that everybody knows at a moment that never changes.

A file holds the payload, indented, the SHA-256 of its exact bytes, and the signature: Ed25519 draws nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs
from tests.frozen.store import Texts, as_text

from counterfoil.audit.values.runrules import RuleOutcome, RuleResult
from counterfoil.cli.rules import results_of
from counterfoil.delivery.location import RowUse
from counterfoil.delivery.rowuse import rows_statement
from counterfoil.delivery.snapshots import sign_line
from counterfoil.exports.summary import svr_statement, vsa_statement
from counterfoil.signing.comparedsteps import comparison_path
from counterfoil.signing.comparison import write_comparison
from counterfoil.signing.kinds import (
    AnswerStatement,
    Cause,
    Comparison,
    DataNote,
    Ending,
    Line,
    LineKind,
    ReleaseList,
    Reply,
    Revocation,
    RevocationList,
    RulesStatement,
    Sampling,
    Snapshot,
    Withdrawal,
)
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.shares import ShareRecord
from counterfoil_core.signing import kinds
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder, TreeHead
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.parties import Sum, share_statement
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.signing.subject import Subject
from counterfoil_core.statement.factfields import FactsStatement, fields_of
from counterfoil_core.statement.judgement import Verdict
from counterfoil_core.statement.verdict import preview_adjudication, preview_verdict, sign_verdict, verify_verdict
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import CheckState, Outcome
from counterfoil_core.values.report import AuditReport
from support import reports

TRAINER, AUDITOR, CLIENT, OTHER = (key_from_seed(bytes([number] * 32)) for number in (1, 2, 3, 4))
WHEN = datetime(2026, 1, 31, 12, 30, 5, tzinfo=UTC)
TIME = "2026-01-31T12:30:05Z"


def of(name: str) -> Digest:
    """A digest that a name stands for."""
    return Digest.of(name.encode())


def payload(data: bytes) -> dict[str, object]:
    """The bytes that are signed, indented; they are canonical JSON."""
    statement = json.loads(data)
    assert canonical.encode(statement) == data
    return {"statement": statement, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def envelope(data: bytes) -> dict[str, object]:
    """An envelope, with its payload in clear."""
    fields = json.loads(data)
    return {**payload(base64.b64decode(fields.pop("payload"))), "envelope": fields, "envelope_bytes": len(data)}


def comparison(*, signed: bool) -> bytes:
    """The comparison of an order with a script."""
    made = Comparison(
        of("order"), of("script"), ("--lr", "0.1"), {"data/train.csv": of("rows"), "../it's a.txt": of("text")},
        "2.13.0", ((1, 400), (512, 512)), 5000,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        order = Path(folder, "job.cfoil")
        write_comparison(order, made, CLIENT if signed else None, when=WHEN)
        return comparison_path(order).read_bytes()


def verdict_reports() -> dict[str, AuditReport]:
    """Reports of every outcome, and of what a verdict may say besides."""
    honest, disputed = reports.verified_report(), reports.disputed_report()
    failed, skipped = CheckState.FAILED, CheckState.SKIPPED
    nothing = {"steps_replayed": 0, "steps_planned": 0, "sample": None, "steering": None, "without_bound": ()}
    return {
        "verified": honest,
        "verified-exact": reports.exact_report(),
        "verified-facts": replace(honest, facts=reports.run_facts()),
        "disputed": disputed,
        "refused": replace(
            honest, outcome=Outcome.REFUSED, reason="The schedule is another one.",
            checks=reports.checks(ORDER_CONTENTS=failed, REPLAY=skipped, LOG=skipped, COVERAGE=skipped), **nothing,
        ),
        "inconclusive": replace(
            honest, outcome=Outcome.INCONCLUSIVE, reason="Stopped; nothing was concluded.", steps_replayed=12,
            checks=reports.checks(REPLAY=skipped, COVERAGE=CheckState.WARNING),
        ),
    }  # fmt: skip


def verdict() -> Verdict:
    """A verdict that holds."""
    return verify_verdict(sign_verdict(reports.verified_report(), AUDITOR, WHEN), AUDITOR.public)


def claim(steps_ordered: int | None) -> bytes:
    """The claim of a run."""
    environment = {"device": "cpu", "torch": "2.13.0"}
    return sign_said(RunClaim(of("order"), of("run"), 60, environment, steps_ordered, signed_at=TIME), TRAINER)


RUN = Subject(of("order"), of("run"), TRAINER.public.key_id)
"""The run that statements are about."""


def row_use() -> bytes:
    """What a run did with two rows."""
    use = RowUse("images", of("data"), RUN, "uint8", (2, 3), of("row"), 0, (3, 17), (1, 1, 9), (12,))
    return sign_said(
        rows_statement([use, replace(use, row=of("other row"), number=1, places=(), steps=(), filled=())]), CLIENT, WHEN
    )


def answers() -> dict[str, bytes]:
    """What a model answered to a question: the most probable tokens, and some that were drawn."""
    told = AnswerStatement(
        of("model"), of("program"), of("tokenizer"), None, "exact-20-rows", of("question"), (5, 3, 8), 3, (0, 2), None,
        of("client").hex, None, (7, 2), (of("first row"), of("second row")),
    )  # fmt: skip
    drawn = {"sampling": Sampling("0.8", 40, "0.95"), "provider_nonce": of("provider").hex, "verdict": of("verdict")}
    return {
        "answer": sign_said(told, OTHER, WHEN),
        "answer-drawn": sign_said(structs.replace(told, **drawn), OTHER, WHEN),
    }


def snapshots() -> dict[str, bytes]:
    """A line of a witness's log of each kind."""
    lines = {
        LineKind.BEGUN: {"before": Digest(bytes(32)), "nonce": of("nonce")},
        LineKind.ENDED: {"ending": Ending.RUN, "run": RUN},
        LineKind.SNAPSHOT: {"snapshot": Snapshot(of("state"), of("layout"), "head.weight", 3, of("chunk"))},
    }
    stopped = Line(LineKind.ENDED, 4, of("line"), TIME, 600, ending=Ending.STOPPED)
    return {"snapshot-stopped": sign_line(stopped, OTHER)} | {
        f"snapshot-{kind.name.lower()}": sign_line(
            structs.replace(Line(kind, number, of("line"), TIME, 600), **lines.get(kind, {})), OTHER
        )
        for number, kind in enumerate(LineKind)
    }


def envelopes() -> dict[str, bytes]:
    """What is signed, by the name of its file."""
    order = sign_said(SignedOrder(of("order")), CLIENT, WHEN)
    client = open_said(SignedOrder, order, order=of("order"))
    share = ShareRecord(2, of("gradients"), of("buffers"), of("log"), of("fingerprints"), 0.625, 4.0)
    head = TreeHead(of("order"), 11, of("history"), signed_at=TIME)
    results = [
        RuleResult("compute.operations", RuleOutcome.HELD, say("It is {0}.", 5)),
        RuleResult("data.must", RuleOutcome.BROKEN, say("It is not there.")),
        RuleResult("verdict.auditors", RuleOutcome.CANNOT_BE_TOLD, say("Nobody says so.")),
    ]
    revoked = [
        Revocation(OTHER.public.key_id, "2026-01-01T00:00:00Z", Cause.COMPROMISED, "A lost disk."),
        Revocation(CLIENT.public.key_id, TIME, Cause.RETIRED, "A new key."),
    ]
    return {
        "order": order,
        "acceptance": sign_said(Acceptance.of(of("order"), client), TRAINER, WHEN),
        "acceptance-unsigned-order": sign_said(Acceptance.of(of("order"), None), TRAINER, WHEN),
        "run": claim(None),
        "run-short": claim(100),
        "tree-head": sign_said(head, TRAINER),
        "share": TRAINER.sign(share_statement(of("order"), 7, of("state"), share)),
        "addition": TRAINER.sign(
            canonical.encode(
                kinds.statement_of(
                    Sum(of("order"), 7, of("state"), of("shares"), of("exponents"), of("seen")).addition(1, b"hashes")
                )
            )
        ),
        "data-note": sign_said(DataNote(of("data"), "Sampled from a model.", of("weights")), OTHER, WHEN),
        "data-note-without-weights": sign_said(DataNote(of("data"), "Measured.", None), OTHER, WHEN),
        "withdrawal": sign_said(Withdrawal(of("verdict"), "A wrong order.", of("other verdict")), AUDITOR, WHEN),
        "withdrawal-for-good": sign_said(Withdrawal(of("verdict"), "A wrong order.", None), AUDITOR, WHEN),
        "reply": sign_said(Reply(of("verdict"), "We trained as ordered."), TRAINER, WHEN),
        "facts": sign_said(FactsStatement(fields_of(reports.run_facts())), OTHER, WHEN),
        "facts-energy": sign_said(
            FactsStatement(fields_of(replace(reports.run_facts(), energy_kwh="12.5"))), OTHER, WHEN
        ),
        "revocations": sign_said(RevocationList.of_keys(revoked, 2), AUDITOR, WHEN),
        "row-use": row_use(),
        **answers(),
        "rules": sign_said(RulesStatement(of("rules"), results_of(results), RUN), OTHER, WHEN),
        "release": sign_said(ReleaseList("1.0", "ab" * 20, {"b.deb": of("deb"), "a.tar.gz": of("sdist")}), OTHER),
        "comparison": comparison(signed=True),
        "comparison-unsigned": comparison(signed=False),
        "svr": sign_statement(svr_statement(verdict()), AUDITOR),
        "vsa": sign_statement(vsa_statement(verdict(), "verdict.json", of("verdict file")), AUDITOR),
        **snapshots(),
        **{f"verdict-{name}": sign_verdict(report, AUDITOR, WHEN) for name, report in verdict_reports().items()},
    }


def make() -> Texts:
    """Every statement, and the list of predicate types."""
    adjudications = {
        f"adjudication-{outcome.name.lower()}": preview_adjudication(reports.adjudication_report(outcome), WHEN)
        for outcome in AdjudicationOutcome
    }
    model = preview_verdict(reports.verified_report(), WHEN, ("model", of("model")))
    texts = {f"statements/{name}.json": as_text(envelope(data)) for name, data in envelopes().items()}
    texts |= {f"statements/{name}.json": as_text(payload(data)) for name, data in adjudications.items()}
    texts["statements/verdict-model.json"] = as_text(payload(model))
    types = {
        f"{name}_PREDICATE": value.predicate for name, value in vars(kinds).items() if isinstance(value, kinds.Kind)
    }
    types |= {"SHORT_RUN_PREDICATE": kinds.RUN.short, "SVR_PREDICATE": kinds.SVR, "VSA_PREDICATE": kinds.VSA}
    types |= {"PAYLOAD_TYPE": kinds.PAYLOAD_TYPE, "STATEMENT_TYPE": kinds.STATEMENT_TYPE}
    texts["statements/types.json"] = as_text(types)
    return texts


KINDS = {predicate for kind in kinds.KINDS for predicate in kind.predicates} | {kinds.SVR, kinds.VSA}
"""Every predicate type; a test demands a statement of each."""
