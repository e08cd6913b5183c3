"""A statement is about one run: the same records under another key are another run, and nothing counts for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from counterfoil import NO_TRUST, open_judgement
from counterfoil.audit.runrules import given_verdict, subject_of
from counterfoil.audit.values.runrules import RuleOutcome, RunRules, check_rules
from counterfoil.cli import main
from counterfoil.delivery.location import locate_rows
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.remote.address import Address
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.subject import Subject
from counterfoil_core.statement.verdict import check_bundle_file, sign_verdict, verify_verdict
from support.jobs import Job, audited, sign_again
from support.servers import serving

AUDITOR, OTHER = key_from_seed(b"\3" * 32), key_from_seed(b"\4" * 32)


@pytest.fixture(scope="module")
def another(digits_job: Job, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same records, signed by somebody else: the run root is the same."""
    run = Path(shutil.copy(digits_job.run, tmp_path_factory.mktemp("another") / "run.cfoil"))
    sign_again(run, OTHER)
    return run


def test_runs_are_told_apart_by_order_records_and_trainer() -> None:
    one = Subject(Digest.of(b"order"), Digest.of(b"run"), "ab" * 32)
    assert one.difference(Subject(Digest.of(b"order"), Digest.of(b"run"), "ab" * 32)) == ""
    for other, sentence in (
        ({"run_root": Digest.of(b"x")}, "its run root is"),
        ({"order": Digest.of(b"x")}, "its steps are the same, and its order is"),
        ({"trainer_key": "cd" * 32}, "its steps are the same, and the key cdcd"),
    ):
        found = structs.replace(one, **other)
        assert found != one
        assert sentence in one.difference(found)


def test_a_verdict_on_one_run_keeps_no_rule_of_the_other(digits_job: Job, another: Path) -> None:
    report = audited(digits_job.run, digits_job.order).report
    verdict = given_verdict(open_judgement(sign_verdict(report, AUDITOR), NO_TRUST, [AUDITOR.public]))
    rules = RunRules(auditors=(AUDITOR.public.key_id,))
    (held,) = check_rules(rules, subject_of(digits_job.run, [verdict]))
    (untold,) = check_rules(rules, subject_of(another, [verdict]))
    assert (held.outcome, untold.outcome) == (RuleOutcome.HELD, RuleOutcome.CANNOT_BE_TOLD)
    assert subject_of(another).facts.run_root == subject_of(digits_job.run).facts.run_root, "the root tells nothing"


def test_a_verdict_on_a_file_elsewhere_is_not_about_the_other_run(digits_job: Job, another: Path) -> None:
    with serving(digits_job.run) as served:
        report = audited(Address(served.url), digits_job.order).report
    verdict = verify_verdict(sign_verdict(report, AUDITOR), AUDITOR.public)
    check_bundle_file(verdict, digits_job.run)
    with pytest.raises(SignatureError, match="its steps are the same, and the key"):
        check_bundle_file(verdict, another)


def test_what_a_run_did_with_a_row_is_said_of_one_run(
    digits_job: Job, another: Path, trainer_key: SigningKey, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BundleReader.open(digits_job.run) as reader:
        np.save(tmp_path / "row.npy", reader.data("images")[0])
    (use, *_) = locate_rows(tmp_path / "row.npy", another)
    assert use.about.trainer_key == OTHER.public.key_id
    (tmp_path / "trainer.pub.pem").write_text(trainer_key.public.pem)
    command = ["locate", str(tmp_path / "row.npy"), str(another), "--row"]
    assert main(command) == 0
    assert main([*command, "--trainer-key", str(tmp_path / "trainer.pub.pem")]) == 3
    assert "REFUSED" in capsys.readouterr().err
