"""Lists of revoked keys in the commands that open a run or a capsule: what such a key signed does not count."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from counterfoil import TrustStore
from counterfoil.audit.signers import signers_of_capsule, signers_of_run
from counterfoil.audit.values.signers import Signers
from counterfoil.cli import main
from counterfoil.cli.reader import Revoked, check_same_signers, revoked_signers
from counterfoil.signing.kinds import Cause, Revocation, RevocationList
from counterfoil.signing.privatekeys import key_from_seed, load_private_key
from counterfoil.training.recipes import digits
from counterfoil.training.recorder import record
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.errors import FileChangedError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import open_said, sign_said
from support.jobs import captured_once, replaced
from support.reports import verified_report
from support.trusted import store_of, trust_list

EARLY, LATE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
LIST, TRAINER, CLIENT, OTHER = (key_from_seed(bytes([number] * 32)) for number in (1, 2, 3, 4))
SIGNED = Signers(TRAINER.public.key_id, "2026-03-01T00:00:00Z", CLIENT.public.key_id, "2026-02-01T00:00:00Z")


def listed(*revocations: Revocation) -> TrustStore:
    said = open_said(RevocationList, sign_said(RevocationList.of_keys(revocations, 1), LIST), LIST.public)
    return store_of(lists=[said])


def revoked(key: SigningKey, since: str, cause: Cause = Cause.RETIRED) -> Revocation:
    return Revocation(key.public.key_id, since, cause, "why")


@pytest.mark.parametrize(
    ("revocations", "own_order", "gone"),
    [
        ([revoked(OTHER, EARLY)], False, ()),
        ([revoked(TRAINER, EARLY)], False, ("trainer",)),
        ([revoked(TRAINER, LATE)], False, ()),
        ([revoked(TRAINER, LATE, Cause.COMPROMISED)], True, ("trainer",)),
        ([revoked(CLIENT, EARLY)], False, ("client",)),
        ([revoked(CLIENT, EARLY)], True, ()),
        ([revoked(CLIENT, "2026-02-15T00:00:00Z"), revoked(TRAINER, "2026-02-15T00:00:00Z")], False, ("trainer",)),
    ],
    ids=["another key", "trainer", "signed before", "compromised", "client", "client, own order", "between the two"],
)
def test_whose_signature_no_longer_counts(
    revocations: Iterable[Revocation], own_order: bool, gone: tuple[str, ...]
) -> None:
    assert revoked_signers(listed(*revocations), SIGNED, own_order=own_order).gone == gone


def test_a_file_that_nobody_signed_is_looked_up_without_a_key() -> None:
    assert revoked_signers(listed(revoked(TRAINER, EARLY)), Signers(), own_order=False).gone == ()


def test_a_file_that_is_exchanged_after_its_keys_were_looked_up_is_noticed() -> None:
    report = verified_report()
    check_same_signers(None, report)
    check_same_signers(Revoked(None, None, Signers(report.trainer_key, EARLY, report.client_key, EARLY), ()), report)
    with pytest.raises(FileChangedError):
        check_same_signers(Revoked(None, None, SIGNED, ()), report)


SMALL = ("--steps", "3", "--width", "4", "--batch-size", "8", "--checkpoint-every", "1")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed order, its tampered run and its dispute capsule, keys, and lists that revoke one key each."""
    folder = tmp_path_factory.mktemp("job")
    for name in ("client", "trainer", "auditor", "list", "other"):
        assert main(["keygen", str(folder / f"{name}.pem"), "--no-passphrase"]) == 0
    order, client = str(folder / "job.cfoil"), str(folder / "client.pem")
    with replaced(digits, "capture_step", captured_once("digits, revoked", {})):
        assert main(["order", "digits-cnn", "--out", order, "--key", client, *SMALL]) == 0
        trainer = load_private_key(folder / "trainer.pem", None)
        for _ in record(folder / "job.cfoil", folder / "run.cfoil", trainer, tamper=LabelFlip(step=2)):
            pass
    assert main(["audit", str(folder / "run.cfoil"), "--capsule", str(folder / "c.cfoil")]) == 1
    for name in ("client", "trainer", "auditor", "other"):
        revoke = ["revoke", str(folder / f"{name}.pub.pem"), "--reason", "stolen", "--key", str(folder / "list.pem")]
        assert main([*revoke, "--compromised", "--out", str(folder / f"{name}.json")]) == 0
        assert main([*revoke, "--since", LATE, "--out", str(folder / f"{name}.late.json")]) == 0
    return folder


def by(job: Path, listed: str) -> list[str]:
    return trust_list(job / f"trust-{listed}", job / listed, job / "list.pub.pem")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, " ".join((captured.out + captured.err).split())


def test_the_signers_of_a_run_are_those_of_its_capsule(job: Path) -> None:
    found = signers_of_run(job / "run.cfoil")
    assert signers_of_capsule(job / "c.cfoil") == found
    keys = [load_private_key(job / f"{name}.pem", None).public.key_id for name in ("trainer", "client")]
    assert [found.trainer_key, found.client_key] == keys
    assert found.trainer_at
    assert found.client_at
    order = signers_of_run(job / "job.cfoil")
    assert (order.trainer_key, order.client_key) == ("", found.client_key)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("command", "otherwise"),
    [("inspect run.cfoil", 0), ("audit run.cfoil", 1), ("adjudicate c.cfoil", 1)],
    ids=["inspect", "audit", "adjudicate"],
)
def test_a_command_refuses_what_a_revoked_key_signed(
    job: Path, capsys: pytest.CaptureFixture[str], command: str, otherwise: int
) -> None:
    name, file = command.split()
    asked = [name, str(job / file), "--client-key", str(job / "client.pub.pem")]
    assert run(capsys, *asked)[0] == otherwise, "control: without a list"
    code, said = run(capsys, *asked, *by(job, "other.json"))
    assert (code, "List 1 of revoked keys" in said, "was revoked" in said) == (otherwise, True, False)
    for who in ("trainer", "client"):
        code, said = run(capsys, *asked, *by(job, f"{who}.json"))
        assert (code, f"The {who}'s key was revoked" in said) == (3, True)
        assert f"What the {who} signed here no longer counts." in said
        # Retired later on: what was signed before counts, by the word of who signed it.
        code, said = run(capsys, *asked, *by(job, f"{who}.late.json"))
        assert (code, f"signed before, as the {who} says" in said) == (otherwise, True)
    # The client's own order file counts by itself, whoever has the client's key.
    own = [name, str(job / file), "--order", str(job / "job.cfoil")]
    code, said = run(capsys, *own, *by(job, "client.json"))
    assert (code, "The client's key was revoked" in said) == (otherwise, True)


@pytest.mark.parametrize("command", ["inspect run.cfoil", "audit run.cfoil", "adjudicate c.cfoil"])
def test_a_list_that_does_not_hold_ends_the_command(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    name, file = command.split()
    asked = [name, str(job / file)]
    options = trust_list(tmp_path / "trust", job / "other.json", job / "list.pub.pem")
    (kept,) = (tmp_path / "trust" / "revoked").iterdir()
    other = RevocationList.of_keys([Revocation("ab" * 32, EARLY, Cause.RETIRED, "x")], 9)
    kept.write_bytes(sign_said(other, load_private_key(job / "other.pem", None)))
    assert run(capsys, *asked, *options)[0] == 2, "a list by another key"
    envelope = json.loads((job / "trainer.json").read_bytes())
    payload = base64.b64decode(envelope["payload"]).replace(b'"stolen"', b'"stOlen"')
    kept.write_text(json.dumps(envelope | {"payload": base64.b64encode(payload).decode()}))
    assert run(capsys, *asked, *options)[0] == 2, "a list that was changed"
    kept.unlink()
    assert run(capsys, *asked, *options)[0] == 2, "a list that is gone"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", ["audit run.cfoil", "adjudicate c.cfoil"])
def test_an_auditor_whose_key_was_revoked_signs_nothing(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    name, file = command.split()
    verdict = tmp_path / "v.json"
    asked = [name, str(job / file), "--verdict", str(verdict), "--key", str(job / "auditor.pem")]
    code, said = run(capsys, *asked, *by(job, "auditor.json"))
    assert (code, "is to sign the verdict" in said, verdict.exists()) == (3, True, False)
    assert run(capsys, *asked, *by(job, "trainer.json"))[0] == 3
    assert not verdict.exists()
    # A key that is retired from a later day on still signs today.
    assert run(capsys, *asked, *by(job, "auditor.late.json"))[0] == 1
    assert verdict.exists()


def test_json_names_the_keys_and_why(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["inspect", str(job / "run.cfoil"), "--json", *by(job, "trainer.json")]) == 3
    found = json.loads(capsys.readouterr().out)["revoked"]
    assert (found["trainer"]["reason"], found["client"], found["gone"]) == ("stolen", None, ["trainer"])
    assert main(["audit", str(job / "run.cfoil"), "--json", *by(job, "other.json")]) == 1
    assert json.loads(capsys.readouterr().out)["revoked"]["gone"] == []


def test_a_part_is_no_verdict_and_whoever_merges_asks_the_lists(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = ["audit", str(job / "run.cfoil"), "--partial", str(tmp_path / "a.part")]
    assert main(part) == 2
    merge = ["merge", str(tmp_path / "a.part"), "--run", str(job / "run.cfoil")]
    assert run(capsys, *merge, *by(job, "trainer.json"))[0] == 3
    assert run(capsys, *merge, *by(job, "other.json"))[0] == 1
