from __future__ import annotations

import base64
import copy
import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, SignatureError
from counterfoil_core.signing.envelope import claimed_key_ids, sign_statement
from counterfoil_core.signing.keys import SigningKey, load_public_key
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.statement.verdict import (
    check_bundle_file,
    preview_verdict,
    sign_verdict,
    verdict_statement,
    verify_verdict,
)
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.jobs import Job
from support.reports import STEP, checks, disputed_report, trees, verified_report

DOCUMENT = Path(__file__).parents[3] / "docs" / "check-a-verdict.md"


@pytest.fixture(scope="module")
def key_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "auditor.pem"
    generate_key(path, None)
    return path


@pytest.fixture(scope="module")
def key(key_path: Path) -> SigningKey:
    return load_private_key(key_path, None)


def statement(report: Any) -> dict[str, Any]:
    return copy.deepcopy(statement_of(verdict_statement(report, datetime(2026, 1, 31, 12, tzinfo=UTC))))


def test_a_verdict_says_what_the_report_said(key: SigningKey) -> None:
    report = verified_report()
    verdict = verify_verdict(sign_verdict(report, key), key.public)
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.reason == report.reason
    assert verdict.bundle_name == report.bundle_name
    assert verdict.bundle_digest == report.bundle_digest
    assert verdict.run_root == report.run_root
    assert verdict.order_digest == report.order_digest
    assert verdict.order_source == "client"
    assert verdict.checks == report.checks
    assert (verdict.steps_ordered, verdict.steps_replayed) == (60, 60)
    assert verdict.disputed_step is None
    assert verdict.key_id == key.public.key_id
    assert verdict.predicate["counts"]["roundedValues"] == str(2**60)
    assert verdict.predicate["seconds"] == {"hex": (0.1).hex(), "decimal": "0.1"}


def test_a_dispute_names_the_step_and_its_tensors(key: SigningKey) -> None:
    verdict = verify_verdict(sign_verdict(disputed_report(), key), key.public)
    assert verdict.outcome is Outcome.DISPUTED
    assert verdict.disputed_step == STEP
    assert verdict.predicate["coverage"]["mismatchedSteps"] == [[37, 40], [45, 45]]
    tensor = verdict.predicate["dispute"]["tensors"][0]
    assert tensor["name"] == "conv1.weight"
    assert tensor["maxUlps"] == str(2**40)
    assert tensor["replay"] == {"hex": "-inf", "decimal": "-inf"}


@pytest.mark.parametrize("outcome", [Outcome.INCONCLUSIVE, Outcome.REFUSED, Outcome.ERROR])
def test_outcomes_without_a_conclusion(key: SigningKey, outcome: Outcome) -> None:
    report = replace(
        verified_report(),
        outcome=outcome,
        checks=checks(**{number.name: CheckState.SKIPPED for number in CheckNumber}),
        steering=None,
        order_digest=None,
        order_source="bundle",
        run_order=None,
        run_root=None,
        trainer_key="",
        steps_ordered=0,
        steps_recorded=0,
        steps_planned=0,
        sample=None,
        steps_replayed=0,
    )
    verdict = verify_verdict(sign_verdict(report, key), key.public)
    assert verdict.outcome is outcome
    assert verdict.run_root is None
    assert verdict.order_digest is None


def test_no_verdict_on_a_file_that_could_not_be_read(key: SigningKey) -> None:
    with pytest.raises(SignatureError, match="could not be read"):
        sign_verdict(replace(verified_report(), bundle_digest=None), key)


def test_the_preview_is_byte_for_byte_what_is_signed(key: SigningKey) -> None:
    report, time = disputed_report(), datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
    payload = base64.b64decode(json.loads(sign_verdict(report, key, time))["payload"])
    assert payload == preview_verdict(report, time)
    assert payload != preview_verdict(report, time.replace(second=1))
    with pytest.raises(SignatureError, match="no verdict to sign"):
        preview_verdict(replace(report, bundle_digest=None), time)


def test_an_envelope_names_its_keys_without_being_verified(key: SigningKey) -> None:
    envelope = sign_verdict(verified_report(), key)
    assert claimed_key_ids(envelope) == (key.public.key_id,)
    assert claimed_key_ids(envelope.replace(b'"payload":"', b'"payload":"AAAA')) == (key.public.key_id,)
    with pytest.raises(SignatureError):
        claimed_key_ids(b"junk")


def test_another_key_does_not_verify(key: SigningKey, tmp_path: Path) -> None:
    other = load_public_key(generate_key(tmp_path / "other.pem", None))
    with pytest.raises(SignatureError, match="does not hold"):
        verify_verdict(sign_verdict(verified_report(), key), other)


def test_every_flipped_byte_of_the_payload_is_noticed(key: SigningKey) -> None:
    envelope = sign_verdict(verified_report(), key)
    start = envelope.index(b'"payload":"') + len(b'"payload":"')
    for position in range(start, start + 200):
        spoiled = bytearray(envelope)
        spoiled[position] = ord("A") if spoiled[position] != ord("A") else ord("B")
        with pytest.raises(SignatureError):
            verify_verdict(bytes(spoiled), key.public)


@given(junk=st.binary(max_size=300))
def test_junk_ends_in_a_signature_error(junk: bytes, key: SigningKey) -> None:
    with pytest.raises(SignatureError):
        verify_verdict(junk, key.public)


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [prefix] if prefix else []
    for key, item in items:
        found += paths(item, (*prefix, key))
    return found


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
def test_signed_nonsense_ends_in_a_signature_error_or_is_a_verdict(data: st.DataObject, key: SigningKey) -> None:
    value = statement(disputed_report())
    path = data.draw(st.sampled_from(paths(value)))
    parent = value
    for step in path[:-1]:
        parent = parent[step]
    if data.draw(st.booleans()):
        del parent[path[-1]]
    else:
        parent[path[-1]] = data.draw(json_values)
    try:
        verdict = verify_verdict(sign_statement(value, key), key.public)
    except SignatureError:
        return
    assert verdict.predicate == value["predicate"]


@pytest.mark.parametrize("field", sorted(statement(verified_report())["predicate"]))
def test_a_missing_field_is_refused(key: SigningKey, field: str) -> None:
    value = statement(verified_report())
    del value["predicate"][field]
    with pytest.raises(SignatureError, match=field):
        verify_verdict(sign_statement(value, key), key.public)


def refused(value: dict[str, Any], key: SigningKey, match: str) -> None:
    with pytest.raises(SignatureError, match=match):
        verify_verdict(sign_statement(value, key), key.public)


def test_an_unknown_field_is_refused(key: SigningKey) -> None:
    value = statement(verified_report())
    value["predicate"]["extra"] = 1
    refused(value, key, "unknown field 'extra'")


def test_another_predicate_type_is_refused(key: SigningKey) -> None:
    value = statement(verified_report())
    value["predicateType"] = "https://slsa.dev/verification_summary/v1"
    refused(value, key, "not the verdict")


@pytest.mark.parametrize(
    "change",
    [
        {"steps_replayed": 59},
        {"mismatched_steps": (37,)},
        {"checks": checks(LOG=CheckState.FAILED)},
        {"checks": checks(SIGNATURE=CheckState.SKIPPED)},
        {"run_root": None},
        {"order_digest": None},
    ],
    ids=str,
)
def test_verified_must_follow_from_the_rest(key: SigningKey, change: dict[str, Any]) -> None:
    refused(statement(replace(verified_report(), **change)), key, "contradicts itself")


def test_verified_with_a_warning_is_no_contradiction(key: SigningKey) -> None:
    report = replace(verified_report(), order_source="bundle", checks=checks(ORDER=CheckState.WARNING))
    assert verify_verdict(sign_verdict(report, key), key.public).order_source == "bundle"


def test_disputed_must_name_a_step(key: SigningKey) -> None:
    refused(statement(replace(disputed_report(), dispute=None)), key, "contradicts itself")


def test_the_disputed_leaf_must_be_in_the_run(key: SigningKey) -> None:
    value = statement(disputed_report())
    value["predicate"]["dispute"]["trainerLeaf"] = Digest.of(b"never committed to").hex
    refused(value, key, "does not prove")
    value = statement(disputed_report())
    value["predicate"]["dispute"]["step"] = STEP + 1
    refused(value, key, "does not prove")
    value = statement(replace(disputed_report(), run_root=trees()[1].root))
    refused(value, key, "does not prove")
    value["predicate"]["dispute"]["comparisons"] = []
    refused(value, key, "does not prove")


def test_a_number_must_be_the_same_in_both_forms(key: SigningKey) -> None:
    value = statement(disputed_report())
    value["predicate"]["dispute"]["tensors"][0]["maxAbs"]["decimal"] = "0.2"
    refused(value, key, "another number")


def test_the_payload_is_canonical(key: SigningKey) -> None:
    value = statement(disputed_report())
    assert canonical.decode(canonical.encode(value)) == value


def test_a_verdict_knows_its_file(key: SigningKey, digits_job: Job, tmp_path: Path) -> None:
    bundle = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    report = replace(verified_report(), bundle_digest=Digest.of_file(bundle))
    verdict = verify_verdict(sign_verdict(report, key), key.public)
    check_bundle_file(verdict, bundle)
    named = replace(report, parties=("ab" * 32,))
    with pytest.raises(SignatureError, match="other parties than the order has"):
        check_bundle_file(verify_verdict(sign_verdict(named, key), key.public), bundle)
    bundle.write_bytes(b"bundle")
    with pytest.raises(SignatureError, match="another file"):
        check_bundle_file(verdict, bundle)
    with pytest.raises(GivenFileError, match="cannot be read"):
        check_bundle_file(verdict, tmp_path / "none.cfoil")


def shell_lines() -> str:
    blocks = re.findall(r"^```sh\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return "set -e\n" + "".join(blocks)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_documented_openssl_lines_check_a_verdict(key: SigningKey, key_path: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "run.cfoil"
    bundle.write_bytes(b"bundle")
    shutil.copy(key_path.with_name("auditor.pub.pem"), tmp_path)
    envelope = sign_verdict(disputed_report(), key)
    (tmp_path / "verdict.json").write_bytes(envelope)

    def check() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", "-c", shell_lines()], cwd=tmp_path, capture_output=True, text=True, check=False)

    done = check()
    assert done.returncode == 0, done.stderr
    assert "Signature Verified Successfully" in done.stdout
    assert Digest.of(b"bundle").hex in done.stdout
    # Control: one other character in the signed payload, and the same lines refuse it.
    (tmp_path / "verdict.json").write_bytes(envelope.replace(b'"payload":"ey', b'"payload":"eX'))
    assert check().returncode != 0


# The steering account.


def steered(**fields: Any) -> Any:
    report = verified_report()
    assert report.steering is not None
    return replace(
        report,
        outcome=Outcome.INCONCLUSIVE,
        checks=checks(LOG=CheckState.FAILED if fields.get("suspects") else CheckState.PASSED),
        steering=replace(report.steering, **fields),
    )


def test_the_steering_account_is_read_as_it_was_written(key: SigningKey) -> None:
    report = verified_report()
    assert verify_verdict(sign_verdict(report, key), key.public).steering == report.steering
    suspected = steered(suspects=("aten.mm.default (backward of head)",))
    assert verify_verdict(sign_verdict(suspected, key), key.public).steering == suspected.steering


def test_verified_with_suspects_contradicts_itself(key: SigningKey) -> None:
    report = replace(steered(suspects=("all mm",)), outcome=Outcome.VERIFIED)
    with pytest.raises(SignatureError, match="contradicts itself"):
        verify_verdict(sign_verdict(report, key), key.public)


def test_verified_without_an_account_contradicts_itself(key: SigningKey) -> None:
    with pytest.raises(SignatureError, match="contradicts itself"):
        verify_verdict(sign_verdict(replace(verified_report(), steering=None), key), key.public)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"values": "11999"}, "larger than the whole"),
        ({"steerable": "12001"}, "larger than the whole"),
        ({"steered": "11"}, "larger than the whole"),
        ({"corrections": "9"}, "do not add up"),
        ({"entries": "12001"}, "do not add up"),
        ({"entries": "0012000"}, "not a whole number"),
        ({"entries": 12000}, "entries"),
        ({"kind": "tanh"}, "not in order"),
        ({"kind": "sum"}, "not in order"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_an_account_that_contradicts_itself_is_refused(key: SigningKey, change: dict[str, Any], sentence: str) -> None:
    changed = statement(verified_report())
    changed["predicate"]["steering"]["operators"][0] |= change
    with pytest.raises(SignatureError, match=sentence):
        verify_verdict(sign_statement(changed, key), key.public)


def test_more_suspects_than_operators_are_refused(key: SigningKey) -> None:
    with pytest.raises(SignatureError, match="too many suspects"):
        verify_verdict(sign_verdict(steered(suspects=("x",) * 11), key), key.public)


def test_the_page_lists_the_ten_checks() -> None:
    page = (Path(__file__).parents[3] / "docs" / "verdict.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d+) \| ([^|]+) \| ", page, re.MULTILINE))
    assert {int(number): title for number, title in rows.items()} == {check: check.title for check in CheckNumber}
