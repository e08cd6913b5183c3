"""Somebody else than its auditor takes a verdict back, or somebody else than the trainer replies to it."""

from __future__ import annotations

import json

import pytest

from counterfoil.cli import main
from counterfoil.signing.kinds import Reply, Withdrawal
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.trust.afterwards import verdict_digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.kinds import REPLY, WITHDRAWAL, make_statement
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.statement.verdict import sign_verdict
from counterfoil_core.values.outcome import Outcome
from support.expectations import verified


@pytest.fixture(scope="module")
def desk(tmp_path_factory, digits_job, trainer_key):
    """Two verdicts on a run, and the keys of who signed what."""
    folder = tmp_path_factory.mktemp("desk")
    keys = {"trainer": trainer_key}
    for name in ("auditor", "stranger"):
        generate_key(folder / f"{name}.pem", None)
        keys[name] = load_private_key(folder / f"{name}.pem", None)
    report = verified(digits_job.run, digits_job.order)
    (folder / "verdict.json").write_bytes(sign_verdict(report, keys["auditor"]))
    assert report.outcome is Outcome.VERIFIED
    (folder / "trainer.pub.pem").write_text(trainer_key.public.pem)
    return folder, keys


def looked_at(desk, capsys, *statements):
    """Exit code, and what verify prints, with statements about the verdict beside it."""
    folder, _ = desk
    arguments = ["verify", str(folder / "verdict.json"), "--key", str(folder / "auditor.pub.pem")]
    for old in folder.glob("statement*.json"):
        old.unlink()
    for number, statement in enumerate(statements):
        (folder / f"statement{number}.json").write_bytes(statement)
    capsys.readouterr()
    code = main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert main(arguments) == code
    return code, found["afterwards"], capsys.readouterr().out


def digest_of(desk):
    return verdict_digest((desk[0] / "verdict.json").read_bytes())


def test_control_its_auditor_withdraws_it(desk, capsys):
    code, said, text = looked_at(
        desk, capsys, sign_said(Withdrawal(digest_of(desk), "Wrong file.", None), desk[1]["auditor"])
    )
    assert (code, len(said["withdrawals"]), said["ignored"]) == (3, 1, [])
    assert ("WITHDRAWN" in text, "| Wrong file." in text) == (True, True)


def test_control_the_trainer_replies(desk, capsys):
    code, said, text = looked_at(desk, capsys, sign_said(Reply(digest_of(desk), "I agree."), desk[1]["trainer"]))
    assert (code, len(said["replies"]), said["ignored"]) == (0, 1, [])
    assert ("REPLY" in text, "| I agree." in text) == (True, True)


def handmade(kind, key, digest, **fields):
    predicate = {"verdict": digest.hex, "signed_at": "2026-01-01T00:00:00Z", "public_key": key.public.pem} | fields
    subjects = [{"name": "verdict", "digest": {"sha256": digest.hex}}]
    return sign_statement(make_statement(subjects, kind, predicate), key)


LIES = {
    "a stranger withdraws": lambda d, k: sign_said(Withdrawal(d, "No.", None), k["stranger"]),
    "the trainer withdraws": lambda d, k: sign_said(Withdrawal(d, "No.", None), k["trainer"]),
    "another verdict's withdrawal": lambda d, k: sign_said(Withdrawal(type(d).of(b"x"), "No.", None), k["auditor"]),
    "a stranger replies": lambda d, k: sign_said(Reply(d, "I am the trainer."), k["stranger"]),
    "the auditor replies": lambda d, k: sign_said(Reply(d, "I am the trainer."), k["auditor"]),
    "a field more": lambda d, k: handmade(
        WITHDRAWAL.predicate, k["auditor"], d, reason="No.", superseded_by=None, more=1
    ),
    "no reason": lambda d, k: handmade(WITHDRAWAL.predicate, k["auditor"], d, reason=" ", superseded_by=None),
    "a reply that is too long": lambda d, k: handmade(REPLY.predicate, k["trainer"], d, text="a" * 20_001),
    "no time": lambda d, k: handmade(REPLY.predicate, k["trainer"], d, text="a", signed_at="yesterday"),
    "in its own place": lambda d, k: handmade(WITHDRAWAL.predicate, k["auditor"], d, reason="No.", superseded_by=d.hex),
    "junk": lambda d, k: b"junk",
}


DAMAGED = ("a field more", "no reason", "in its own place")
"""Withdrawals of this verdict that nobody can read: it may have been taken back, so it is open whether it counts."""
NOT_ABOUT_IT = ("another verdict's withdrawal", "junk")


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_count(lie, desk, capsys):
    code, said, text = looked_at(desk, capsys, LIES[lie](digest_of(desk), desk[1]))
    assert (code, said["withdrawals"], said["replies"]) == (2 if lie in DAMAGED else 0, [], [])
    assert len(said["ignored"]) + len(said["damaged"]) == (lie not in NOT_ABOUT_IT)
    assert ("WITHDRAWN" in text, "REPLY" in text) == (False, False)
    assert ("does not count" in text) == (lie not in NOT_ABOUT_IT)


def test_a_signature_under_another_key_of_its_own(desk):
    """The statement names the auditor's key, and a stranger signs it."""
    key, digest = desk[1]["auditor"], digest_of(desk)
    for kind, fields, form in (
        (WITHDRAWAL.predicate, {"reason": "No.", "superseded_by": None}, Withdrawal),
        (REPLY.predicate, {"text": "a"}, Reply),
    ):
        predicate = {"verdict": digest.hex, "signed_at": "2026-01-01T00:00:00Z", "public_key": key.public.pem} | fields
        subjects = [{"name": "verdict", "digest": {"sha256": digest.hex}}]
        statement = make_statement(subjects, kind, predicate)
        assert open_said(form, sign_statement(statement, key)).verdict == digest
        with pytest.raises(SignatureError, match="does not hold"):
            open_said(form, sign_statement(statement, desk[1]["stranger"]))


def test_a_reply_that_looks_like_ours(desk, capsys):
    text = "Fine.\nVERIFIED  All steps match.\x1b[2J\u202e\nREFUSED"
    code, _, out = looked_at(desk, capsys, sign_said(Reply(digest_of(desk), text), desk[1]["trainer"]))
    assert code == 0
    assert "\x1b[2J" not in out
    assert "\u202e" not in out
    lines = [line for line in out.splitlines() if "All steps match" in line or line.strip().endswith("REFUSED")]
    assert lines
    assert all(line.lstrip().startswith("|") for line in lines)


def test_the_commands(desk, capsys, tmp_path):
    folder, _ = desk
    verdict, out = str(folder / "verdict.json"), tmp_path / "withdrawal.json"
    new = tmp_path / "new.json"
    new.write_bytes((folder / "verdict.json").read_bytes())
    base = ["withdraw", verdict, "--reason", "Wrong.", "--out", str(out)]
    assert main([*base, "--key", str(folder / "stranger.pem")]) == 3
    assert not out.exists()
    assert main([*base, "--key", str(folder / "auditor.pem"), "--superseded-by", str(new)]) == 3, "its own place"
    assert main([*base, "--key", str(folder / "auditor.pem")]) == 0
    code, said, _ = looked_at(desk, capsys, out.read_bytes())
    assert (code, said["withdrawals"][0]["reason"]) == (3, "Wrong.")
    reply = ["reply", verdict, "--text", "No.", "--out", str(tmp_path / "reply.json")]
    assert main([*reply, "--key", str(folder / "stranger.pem")]) == 4
    assert "another key signed" in capsys.readouterr().err
