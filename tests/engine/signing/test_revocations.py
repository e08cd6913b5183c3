"""Lists of revoked keys: who signs them, what they say of a key, and what a verdict is worth afterwards."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from counterfoil.cli import main
from counterfoil.signing.kinds import Cause, Revocation, RevocationList
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import REVOCATIONS
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.statement.verdict import sign_verdict
from support.reports import verified_report

LIST, AUDITOR, OTHER = (key_from_seed(bytes([number] * 32)) for number in (1, 2, 3))
WHEN = datetime(2026, 3, 1, tzinfo=UTC)


def revoked(key: SigningKey = AUDITOR, since: str = "2026-02-01T00:00:00Z", cause: Cause = Cause.RETIRED) -> Revocation:
    return Revocation(key.public.key_id, since, cause, "why")


def test_what_was_signed_is_read() -> None:
    told = sorted([revoked(), revoked(OTHER, cause=Cause.COMPROMISED)], key=lambda each: each.key_id)
    found = open_said(RevocationList, sign_said(RevocationList.of_keys(reversed(told), 7), LIST, WHEN), LIST.public)
    assert (found.number, found.issued_at, found.key_id) == (7, "2026-03-01T00:00:00Z", LIST.public.key_id)
    assert list(found.revocations) == told
    assert found.of(AUDITOR.public.key_id) == revoked()
    assert found.of(LIST.public.key_id) is None


def test_of_a_retired_key_what_was_signed_before_counts_and_of_a_compromised_one_nothing() -> None:
    retired = revoked()
    assert [retired.covers(f"2026-0{month}-01T00:00:00Z") for month in (1, 2, 3)] == [False, True, True]
    assert revoked(cause=Cause.COMPROMISED).covers("2026-01-01T00:00:00Z")


def test_the_later_word_on_a_key_counts() -> None:
    stolen = revoked(cause=Cause.COMPROMISED)
    assert open_said(
        RevocationList, sign_said(RevocationList.of_keys([revoked(), stolen], 1), LIST), LIST.public
    ).revocations == (stolen,)


def test_another_signer_and_a_flipped_byte_are_refused() -> None:
    envelope = sign_said(RevocationList.of_keys([revoked()], 1), LIST)
    with pytest.raises(SignatureError):
        open_said(RevocationList, envelope, OTHER.public)
    told = json.loads(envelope)
    payload = base64.b64decode(told["payload"])
    told["payload"] = base64.b64encode(payload.replace(b'"retired"', b'"retirec"')).decode()
    with pytest.raises(SignatureError):
        open_said(RevocationList, json.dumps(told).encode(), LIST.public)
    with pytest.raises(SignatureError, match="longer than"):
        open_said(RevocationList, b" " * (REVOCATIONS.most + 1), LIST.public)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(revoked(), key_id="ab"),
        replace(revoked(), key_id="G" * 64),
        replace(revoked(), since="yesterday"),
        replace(revoked(), reason="x" * 1001),
        revoked(LIST),
    ],
    ids=["short", "no hex", "no time", "long", "its own signer"],
)
def test_what_no_list_may_say_is_not_signed(wrong: Revocation) -> None:
    sign_said(RevocationList.of_keys([revoked()], 1), LIST)
    with pytest.raises(SignatureError):
        sign_said(RevocationList.of_keys([wrong], 1), LIST)
    with pytest.raises(SignatureError):
        sign_said(RevocationList.of_keys([], 1), LIST)
    with pytest.raises(SignatureError):
        sign_said(RevocationList.of_keys([revoked()], 0), LIST)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("list", "auditor", "old"):
        assert main(["keygen", f"{name}.pem", "--no-passphrase"]) == 0
    return tmp_path


def verdict_by(folder: Path, name: str, when: datetime) -> None:
    from counterfoil.signing.privatekeys import load_private_key

    (folder / "verdict.json").write_bytes(sign_verdict(verified_report(), load_private_key(f"{name}.pem", None), when))


def test_the_commands_revoke_go_on_and_refuse(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict_by(folder, "auditor", WHEN)
    verify = ["verify", "verdict.json", "--key", "auditor.pub.pem"]
    take = ["trust", "take", "--trust", "trust", "--key", "list.pub.pem"]
    trusting = [*verify, "--trust", "trust"]
    revoke = ["revoke", "--key", "list.pem"]
    since = "2026-02-01T00:00:00Z"
    assert main([*revoke, "old.pub.pem", "--reason", "replaced", "--out", "one.json"]) == 0
    assert main(verify) == 0
    assert main(trusting) == 2, "there is no such folder"
    assert main([*take, "one.json"]) == 0
    assert main(trusting) == 0, "control: another key was revoked"
    two = [*revoke, "auditor.pub.pem", "--since", since, "--reason", "lost", "--list", "one.json", "--out", "two.json"]
    assert main(two) == 0
    assert "number 2" in capsys.readouterr().out
    assert main([*take, "two.json"]) == 0
    assert main([*take, "one.json"]) == 4, "an older list"
    assert main(trusting) == 3
    assert "This verdict no longer counts." in capsys.readouterr().out
    assert main([*trusting, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["revoked"]["reason"] == "lost"
    verdict_by(folder, "auditor", datetime(2026, 1, 1, tzinfo=UTC))
    assert main(trusting) == 0
    assert "signed before, as its auditor says" in capsys.readouterr().out
    assert main([*two[:-1], "three.json", "--compromised"]) == 0
    assert main(["trust", "take", "--trust", "trust", "three.json"]) == 0, "of the same signer: no key is needed"
    assert main(trusting) == 3
    retired = [*revoke, "auditor.pub.pem", "--since", "2099-01-01T00:00:00Z", "--reason", "as planned"]
    assert main([*retired, "--list", "three.json", "--out", "retired.json"]) == 0
    assert main([*take, "retired.json"]) == 0
    assert main(trusting) == 3, "a compromised key stays compromised, whatever a later list says"
    # A list of somebody else's, a list without a key, and a time that is none.
    assert main(["trust", "take", "--trust", "other", "two.json", "--key", "old.pub.pem"]) == 3
    assert main(["trust", "take", "--trust", "other", "two.json"]) == 4
    assert main([*revoke, "old.pub.pem", "--reason", "x", "--since", "now", "--out", "four.json"]) == 4
    assert (
        main(["revoke", "auditor.pub.pem", "--key", "old.pem", "--reason", "x", "--list", "two.json", "--out", "f"])
        == 3
    )


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_alone_finds_that_the_signature_holds(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_bytes(sign_said(RevocationList.of_keys([revoked()], 1), LIST))
    lines = """
        sed -n 's/.*"payload":"\\([^"]*\\)".*/\\1/p' list.json | openssl base64 -d -A > payload.json
        sed -n 's/.*"sig":"\\([^"]*\\)".*/\\1/p' list.json | openssl base64 -d -A > signature.bin
        printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c < payload.json)" > signed.bin
        cat payload.json >> signed.bin
        openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin
    """
    said = []
    for key in (LIST, OTHER):
        (tmp_path / "key.pem").write_text(key.public.pem)
        done = subprocess.run(["sh", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=False)
        said.append("Signature Verified Successfully" in done.stdout)
    assert said == [True, False]
