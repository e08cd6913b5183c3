"""An auditor signs a verdict whose outcome does not follow from what it says was found."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from counterfoil.cli import main
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from counterfoil_core.values.outcome import Outcome
from support.capsules import adjudicated, crafted, save
from support.jobs import audited, digits_order
from support.malicious import Trainer, record_malicious

Predicate = dict[str, Any]
Change = Callable[[Predicate], Any]


def statement_of(envelope: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(base64.b64decode(json.loads(envelope)["payload"]))
    return value


@pytest.fixture(scope="module")
def verified_statement(digits_job, trainer_key):
    return statement_of(sign_verdict(audited(digits_job.run, digits_job.order).report, trainer_key))


@pytest.fixture(scope="module")
def sample_statement(digits_job, trainer_key):
    from counterfoil_core.values.sampling import SegmentRequest

    report = audited(digits_job.run, segments=SegmentRequest(numbers=(2,))).report
    return statement_of(sign_verdict(report, trainer_key))


@pytest.fixture(scope="module")
def disputed_statement(cheat_job, trainer_key):
    return statement_of(sign_verdict(audited(cheat_job.run, cheat_job.order).report, trainer_key))


def check(predicate: Predicate, number: int, state: str) -> None:
    predicate["checks"][number - 1]["state"] = state


def count(predicate: Predicate, name: str, value: int) -> None:
    predicate["counts"][name] = str(value)


def coverage(predicate: Predicate, **fields: Any) -> None:
    predicate["coverage"].update(fields)


def operators(predicate: Predicate, **fields: str) -> None:
    predicate["steering"]["operators"][0].update(fields)


def both(*changes: Change) -> Change:
    def change(predicate: Predicate) -> None:
        for each in changes:
            each(predicate)

    return change


VERIFIED: dict[str, Change] = {
    "a contradiction": lambda p: count(p, "contradictions", 1),
    "an omission": lambda p: count(p, "omissions", 1),
    "a contradiction, and check 9 failed": both(
        lambda p: count(p, "contradictions", 1), lambda p: check(p, 9, "failed")
    ),
    "a step that differs": lambda p: coverage(p, mismatchedSteps=[[3, 3]]),
    "a step that differs, and check 8 failed": both(
        lambda p: coverage(p, mismatchedSteps=[[3, 3]]), lambda p: check(p, 8, "failed")
    ),
    "fewer steps replayed": lambda p: coverage(p, stepsReplayed=5),
    "fewer steps replayed, and check 10 warns": both(
        lambda p: coverage(p, stepsReplayed=5), lambda p: check(p, 10, "warning")
    ),
    "fewer steps planned": lambda p: coverage(p, stepsPlanned=5, stepsReplayed=5),
    "no steps": lambda p: coverage(p, stepsOrdered=0, stepsPlanned=0, stepsReplayed=0),
    "no sample": lambda p: coverage(p, sample=None),
    "directions that look chosen": lambda p: p["steering"].update(suspects=["all mm"]),
    "chosen directions, and check 9 failed": both(
        lambda p: p["steering"].update(suspects=["all mm"]), lambda p: check(p, 9, "failed")
    ),
    "no account of the log": lambda p: p.update(steering=None),
    "an account of fewer values": lambda p: operators(p, values=str(int(p["steering"]["operators"][0]["values"]) - 1)),
    "fewer values": lambda p: count(p, "roundedValues", int(p["counts"]["roundedValues"]) - 1),
    "more values": lambda p: count(p, "roundedValues", int(p["counts"]["roundedValues"]) + 1),
    "no order": lambda p: p["policy"].update(orderDigest=None),
    "no signer": lambda p: p.update(inputAttestations=[]),
    "the order from the bundle": lambda p: p["policy"].update(orderSource="bundle"),
    "check 2 without a warning": both(
        lambda p: p["policy"].update(orderSource="bundle"), lambda p: check(p, 2, "passed")
    ),
    "check 2 with a warning": lambda p: check(p, 2, "warning"),
    "refused": both(lambda p: p.update(result="DISPUTED")),
    **{f"check {n} {state}": lambda p, n=n, state=state: check(p, n, state)
       for n in range(1, 11) for state in ("failed", "skipped", "pending", "running")},
    **{f"check {n} warns": lambda p, n=n: check(p, n, "warning") for n in (1, 3, 4, 5, 6, 7, 8, 9, 10)},
}  # fmt: skip

SAMPLE: dict[str, Change] = {
    "whole": lambda p: coverage(p, stepsOrdered=2),
    "check 10 passed": lambda p: check(p, 10, "passed"),
    "more segments than steps": lambda p: p["coverage"]["sample"].update(segments=6, chosen=[[2, 4]]),
    "a step too many": lambda p: coverage(p, stepsPlanned=5, stepsReplayed=5),
    "as many as ordered": lambda p: coverage(p, stepsPlanned=6, stepsReplayed=6),
}

DISPUTED: dict[str, Change] = {
    "no dispute": lambda p: p.update(dispute=None),
    "not confirmed": lambda p: p["dispute"].update(confirmed=False),
    "a finding for the trainer": lambda p: p["dispute"]["finding"].update(right="trainer"),
    "a finding of the margin": lambda p: p["dispute"]["finding"].update(right="margin"),
    "called verified": lambda p: p.update(result="VERIFIED"),
    "called inconclusive": lambda p: p.update(result="INCONCLUSIVE"),
    "called an error": lambda p: p.update(result="ERROR"),
    "called refused": lambda p: p.update(result="REFUSED"),
    "refused, not confirmed": both(
        lambda p: p.update(result="REFUSED"), lambda p: p["dispute"].update(confirmed=False)
    ),
    "no step differs": lambda p: coverage(p, mismatchedSteps=[]),
    "no step differs, and check 8 passed": both(
        lambda p: coverage(p, mismatchedSteps=[]), lambda p: check(p, 8, "passed")
    ),
    "another step differs": lambda p: coverage(p, mismatchedSteps=[[4, 4]]),
    "more steps differ than were replayed": lambda p: coverage(p, mismatchedSteps=[[1, 6]]),
    "nothing was replayed": lambda p: coverage(p, stepsReplayed=0),
    "step 0": lambda p: p["dispute"].update(step=0),
    "no order": lambda p: p["policy"].update(orderDigest=None),
    "no signer": lambda p: p.update(inputAttestations=[]),
    "tensors that were not compared": lambda p: p["dispute"].update(comparedAt=None),
    "comparisons that begin elsewhere": lambda p: p["dispute"]["comparisons"].pop(0),
    "another root": lambda p: p["dispute"]["comparisons"][0].update(trainer="00" * 32),
    **{f"check {n} failed": lambda p, n=n: check(p, n, "failed") for n in (1, 2, 3, 4, 5, 7)},
    **{f"check 8 {state}": lambda p, state=state: check(p, 8, state) for state in ("passed", "warning", "skipped")},
    "check 10 passed": lambda p: check(p, 10, "passed"),
    "a check under another title": lambda p: p["checks"][4].update(title="The notary's signature holds"),
    "no comparisons": lambda p: p["dispute"].update(comparisons=[]),
    "one row of them": lambda p: p["dispute"].update(comparisons=rows(p)[:1]),
    "without the last row": lambda p: rows(p).pop(),
    "the last row twice": lambda p: rows(p).append(rows(p)[-1]),
    "a last row of another step": lambda p: rows(p)[-1].update(firstLeaf=2, lastLeaf=2),
    "a last row with another leaf of the trainer's": lambda p: rows(p)[-1].update(trainer="00" * 32),
    "a last row with another leaf of the replay's": lambda p: rows(p)[-1].update(replay="00" * 32),
    "a wrong hash in the middle": lambda p: rows(p)[len(rows(p)) // 2].update(replay="00" * 32),
    "a top pair that is equal": lambda p: rows(p)[0].update(replay=rows(p)[0]["trainer"]),
    "pairs that are all equal": lambda p: [row.update(replay=row["trainer"]) for row in rows(p)],
    "another root of the replay's": lambda p: rows(p)[0].update(replay="00" * 32),
    "another leaf of the replay's": lambda p: p["dispute"].update(replayLeaf="00" * 32),
    "rows in another order": lambda p: rows(p).reverse(),
    "nothing that differs first": lambda p: p["dispute"].update(inputs=[], operator=None),
    "nothing that differs first, and no tensors": lambda p: p["dispute"].update(
        inputs=[], operator=None, tensors=[], comparedAt=None
    ),
    "fingerprints that agree": lambda p: p["dispute"].update(parts=["state", "loss"]),
    "no part that differs": lambda p: p["dispute"].update(parts=[]),
    "a part of its own": lambda p: p["dispute"].update(parts=["state", "loss", "fingerprints", "mood"]),
    "parts in another order": lambda p: p["dispute"]["parts"].reverse(),
    "a loss that does not differ": lambda p: p["dispute"].update(replayLoss=p["dispute"]["trainerLoss"]),
    "a loss that differs unsaid": lambda p: p["dispute"].update(parts=["state", "fingerprints"]),
    "confirmed without a finding": lambda p: p["dispute"].update(finding=None),
    "the same rows twice": lambda p: p["dispute"].update(inputs=p["dispute"]["inputs"] * 2),
    "a tensor twice": lambda p: p["dispute"]["tensors"].append(p["dispute"]["tensors"][-1]),
    "tensors in another order": lambda p: p["dispute"]["tensors"].reverse(),
    "a tensor with nothing that differs": lambda p: p["dispute"]["tensors"][0].update(differing="0"),
    "an element outside of its tensor": lambda p: p["dispute"]["tensors"][0]["index"].append(0),
    "a value that is the same on both sides": lambda p: p["dispute"]["tensors"][0].update(
        replay=p["dispute"]["tensors"][0]["trainer"]
    ),
    "a smaller norm than difference": lambda p: p["dispute"]["tensors"][0].update(l2=number(1e-30)),
    "tensors that differ, and no state": lambda p: p["dispute"].update(
        parts=["loss", "fingerprints"], comparedAt=p["dispute"]["step"]
    ),
    "recomputed elements that are none": lambda p: p["dispute"]["finding"].update(total="8"),
    "a margin of nothing": lambda p: p["dispute"]["finding"].update(margin=number(0.5)),
}


def rows(predicate: Predicate) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = predicate["dispute"]["comparisons"]
    return found


def number(value: float) -> dict[str, str]:
    return {"hex": value.hex(), "decimal": repr(value)}


def element(predicate: Predicate, **fields: Any) -> None:
    """Change the first element that was recomputed."""
    predicate["dispute"]["finding"]["elements"][0].update(fields)


def value_of(predicate: Predicate, name: str) -> Any:
    return predicate["dispute"]["finding"]["elements"][0][name]


def known(predicate: Predicate, **fields: Any) -> None:
    """Show one element, of which the trainer's value is known."""
    finding = predicate["dispute"]["finding"]
    finding.update(elements=finding["elements"][:1], recomputed="1")
    element(predicate, **({"trainer": number(12345.0)} | fields))


ELEMENTS: dict[str, Change] = {
    "the same on both sides": lambda p: element(p, trainer=value_of(p, "replay")),
    "the same on both sides, alone": lambda p: known(p, trainer=value_of(p, "replay")),
    "an error beyond the bound": lambda p: element(p, error=number(1.5)),
    "another exact value": lambda p: element(p, exact="12345.0"),
    "another nearest value": lambda p: element(p, exactNearest=number(12345.0)),
    "another value of the replay's": lambda p: element(p, computed=number(12345.0), replay=number(12345.0)),
    "the trainer is right": lambda p: p["dispute"]["finding"].update(right="trainer"),
    "no quantum": lambda p: element(p, quantum=number(0.0)),
    "a midpoint below zero": lambda p: element(p, midpoint=number(-1.0)),
    "an element twice": lambda p: p["dispute"]["finding"]["elements"].append(p["dispute"]["finding"]["elements"][0]),
    "an element of another tensor": lambda p: element(p, index=[0] * 9),
    "more than there are": lambda p: p["dispute"]["finding"].update(total="0"),
    "a bound that is infinite": lambda p: p["dispute"]["finding"].update(bound={"hex": "inf", "decimal": "inf"}),
}


def refused(value: dict[str, Any], change: Change, key: SigningKey, folder: Path | None = None) -> None:
    """Expect the statement to hold, and to be refused after the change, in a folder by the command line too."""
    value = copy.deepcopy(value)
    verify_signed(sign_statement(value, key), key.public)
    change(value["predicate"])
    envelope = sign_statement(value, key)
    with pytest.raises(SignatureError):
        verify_signed(envelope, key.public)
    if folder is None:
        return
    path, public = folder / "verdict.json", folder / "auditor.pub.pem"
    path.write_bytes(envelope)
    public.write_text(key.public.pem)
    assert main(["verify", str(path), "--key", str(public)]) == Outcome.REFUSED.exit_code


@pytest.mark.parametrize("change", VERIFIED.values(), ids=VERIFIED)
def test_verified(verified_statement, trainer_key, tmp_path, change):
    refused(verified_statement, change, trainer_key, tmp_path)


@pytest.mark.parametrize("change", SAMPLE.values(), ids=SAMPLE)
def test_verified_for_a_sample(sample_statement, trainer_key, tmp_path, change):
    refused(sample_statement, change, trainer_key, tmp_path)


@pytest.mark.parametrize("change", DISPUTED.values(), ids=DISPUTED)
def test_disputed(disputed_statement, trainer_key, change):
    refused(disputed_statement, change, trainer_key)


@dataclass
class Doubled(Trainer):
    """Doubles the result of one operator: all its elements differ, and no fingerprint tells to what."""

    def operator(self, operation, args, kwargs):
        result = super().operator(operation, args, kwargs)
        return 2 * result if self.acting and operation.node.entry.kind == "mm" else result


@pytest.fixture(scope="module", params=["rounded", "exact"])
def element_statement(request, tmp_path_factory, trainer_key):
    """A verdict whose finding shows elements, under a profile with a bound and under an exact one."""
    draft = digits_order() if request.param == "rounded" else digits_order(precision=ExactPrecision(20))
    folder = tmp_path_factory.mktemp("doubled")
    draft.write(folder / "job.cfoil")
    run = record_malicious(folder / "job.cfoil", folder / "run.cfoil", trainer_key, Doubled(3))
    report = audited(run, folder / "job.cfoil").report
    assert report.dispute is not None
    assert report.dispute.finding is not None
    assert report.dispute.finding.elements
    return statement_of(sign_verdict(report, trainer_key))


@pytest.mark.parametrize("change", ELEMENTS.values(), ids=ELEMENTS)
def test_elements(element_statement, trainer_key, change):
    refused(element_statement, change, trainer_key)


REJECTED: dict[str, Change] = {
    "a contradiction": lambda p: count(p, "contradictions", 1),
    "an omission": lambda p: count(p, "omissions", 2),
    "nothing was replayed": lambda p: p["steps"].update(replayed=0),
    "called confirmed": lambda p: p.update(result="CONFIRMED"),
    "no order": lambda p: p["policy"].update(orderDigest=None),
    "no signer": lambda p: p.update(inputAttestations=[]),
    **{f"check {n} {state}": lambda p, n=n, state=state: check(p, n, state)
       for n in range(1, 11) for state in ("failed", "skipped", "running")},
}  # fmt: skip
CONFIRMED: dict[str, Change] = {
    "called rejected": lambda p: p.update(result="REJECTED"),
    "called inconclusive": lambda p: p.update(result="INCONCLUSIVE"),
    "another step was replayed last": lambda p: p["steps"].update(agreed=1, replayed=1),
    "inconclusive of another step": both(
        lambda p: p.update(result="INCONCLUSIVE"), lambda p: p["steps"].update(agreed=1, replayed=1)
    ),
    **{f"check {n} failed": lambda p, n=n: check(p, n, "failed") for n in range(1, 8)},
    **{f"check 8 {state}": lambda p, state=state: check(p, 8, state) for state in ("passed", "skipped")},
}


def adjudication(report, key: SigningKey) -> dict[str, Any]:
    from counterfoil_core.statement.verdict import sign_adjudication

    return statement_of(sign_adjudication(report, key))


@pytest.fixture(scope="module")
def rejected_statement(digits_job, trainer_key, tmp_path_factory):
    return adjudication(
        adjudicated(save(crafted(digits_job.run, 2), tmp_path_factory.mktemp("a") / "c.cfoil")), trainer_key
    )


@pytest.fixture(scope="module")
def confirmed_statement(capsule, trainer_key):
    return adjudication(adjudicated(capsule), trainer_key)


@pytest.mark.parametrize("change", REJECTED.values(), ids=REJECTED)
def test_rejected(rejected_statement, trainer_key, tmp_path, change):
    refused(rejected_statement, change, trainer_key, tmp_path)


@pytest.mark.parametrize("change", CONFIRMED.values(), ids=CONFIRMED)
def test_confirmed(confirmed_statement, trainer_key, tmp_path, change):
    refused(confirmed_statement, change, trainer_key, tmp_path)
