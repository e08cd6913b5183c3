"""A trainer audits its own run and hands out the verdict: an honest run, honest weights, and no audit."""

from __future__ import annotations

import json
import shutil

import pytest

from counterfoil.cli import main
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.statement.verdict import sign_verdict
from counterfoil_core.values.outcome import Outcome
from support.expectations import verified


@pytest.fixture
def desk(tmp_path, digits_job, trainer_key):
    """A run, its verdicts by its trainer and by an auditor, and the keys."""
    shutil.copy(digits_job.run, tmp_path / "run.cfoil")
    (tmp_path / "trainer.pub.pem").write_text(trainer_key.public.pem)
    generate_key(tmp_path / "auditor.pem", None)
    report = verified(tmp_path / "run.cfoil", digits_job.order, trainer_key=trainer_key.public)
    (tmp_path / "self.json").write_bytes(sign_verdict(report, trainer_key))
    (tmp_path / "verdict.json").write_bytes(sign_verdict(report, load_private_key(tmp_path / "auditor.pem", None)))
    return tmp_path


def run(capsys, *arguments):
    code = main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_verify(desk, capsys):
    code, out, err = run(capsys, "verify", desk / "self.json", "--key", desk / "trainer.pub.pem")
    assert (code, Outcome.VERIFIED.value in out, "NO AUDIT" in err) == (5, True, True)
    code, out, _ = run(capsys, "verify", desk / "self.json", "--key", desk / "trainer.pub.pem", "--json")
    assert (code, json.loads(out)["self_signed"]) == (5, True)


def test_control_another_auditor(desk, capsys):
    code, out, err = run(capsys, "verify", desk / "verdict.json", "--key", desk / "auditor.pub.pem", "--json")
    assert (code, json.loads(out)["self_signed"], "NO AUDIT" in err) == (0, False, False)


def test_weights(desk, capsys):
    assert main(["export", str(desk / "run.cfoil"), "--safetensors", str(desk / "weights")]) == 0
    known = "--verdict", desk / "verdict.json", "--key", desk / "auditor.pub.pem"
    code, _, err = run(capsys, "verify-weights", desk / "weights", desk / "run.cfoil", *known)
    assert (code, "NO AUDIT" in err) == (0, False)
    own = "--verdict", desk / "self.json", "--key", desk / "trainer.pub.pem"
    code, _, err = run(capsys, "verify-weights", desk / "weights", desk / "run.cfoil", *own)
    assert (code, "NO AUDIT" in err) == (5, True)


def test_audit(desk, capsys, digits_job, trainer_key, tmp_path):
    """The trainer's private key signs the verdict of its own audit."""
    code = main(["keygen", str(desk / "both.pem"), "--no-passphrase"])
    assert code == 0
    run_path = desk / "own.cfoil"
    assert main(["train", str(digits_job.order), "--out", str(run_path), "--key", str(desk / "both.pem")]) == 0
    chosen = "--order", digits_job.order, "--segments", "1-1"
    signed = "--verdict", desk / "own.json", "--key", desk / "both.pem"
    code, _, err = run(capsys, "audit", run_path, *chosen, *signed)
    assert (code, "NO AUDIT" in err) == (5, True)
    signed = "--verdict", desk / "other.json", "--key", desk / "auditor.pem"
    code, _, err = run(capsys, "audit", run_path, *chosen, *signed)
    assert (code, "NO AUDIT" in err) == (0, False)


def test_it_is_not_handed_on_in_other_words(desk, capsys, trainer_key):
    for kind in ("svr", "vsa"):
        known = "--key", desk / "auditor.pem", "--out", desk / f"{kind}.json"
        own = "--verdict-key", desk / "trainer.pub.pem"
        code, _, err = run(capsys, "export", kind, desk / "self.json", *known, *own)
        assert (code, "is no audit" in err) == (3, True)
        code, _, _ = run(capsys, "export", kind, desk / "verdict.json", *known)
        assert code == 0
    code, _, err = run(capsys, "export", "model-card", desk / "self.json", "--key", desk / "trainer.pub.pem")
    assert (code, "is no audit" in err) == (3, True)
