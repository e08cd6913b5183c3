"""A comparison with a script is claimed that nobody made: for another order, for more steps, by the trainer itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from msgspec import structs

from counterfoil.audit.overview import inspect, inspect_stages
from counterfoil.cli import main
from counterfoil.signing.comparedsteps import comparison_path
from counterfoil.signing.comparison import comparison_beside, write_comparison
from counterfoil.signing.kinds import Cause, Comparison, Revocation, RevocationList
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.training.order import sign_order_file
from counterfoil_core.base.digest import Digest
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.values.outcome import Outcome
from support.jobs import Job, audited
from support.trusted import trust_list

STEPS = 6
CLIENT, STRANGER = (key_from_seed(bytes([number]) * 32) for number in (1, 2))


def claimed(run: Path, compared: tuple[tuple[int, int], ...] = ((1, STEPS),)) -> Comparison:
    """All that a forger needs is the order's digest, which is no secret."""
    with BundleReader.open(run) as reader:
        digest = reader.manifest.digest
    return Comparison(digest, Digest.of(b"a script"), (), {}, "2.11.0", compared, STEPS)


@pytest.fixture
def run(digits_job: Job, tmp_path: Path) -> Path:
    return Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))


@pytest.fixture
def order(digits_job: Job, tmp_path: Path) -> Path:
    return Path(shutil.copy(digits_job.order, tmp_path / "job.cfoil"))


def said(path: Path, order: Path | None = None, **known: object) -> tuple[str, bool]:
    line = inspect(path, order, quick=True).compared(**known)  # type: ignore[arg-type]
    assert line is not None
    return line.said, line.less


def test_the_clients_counts_and_a_trainers_never(run: Path, order: Path, trainer_key: SigningKey) -> None:
    sign_order_file(order, order, CLIENT)
    write_comparison(order, claimed(run), CLIENT)
    by_orderer = "signed with the key that signed the order"
    assert by_orderer in said(order)[0], "the control"
    assert by_orderer in said(run, order)[0]
    write_comparison(order, claimed(run), trainer_key, force=True)
    trainer = trainer_key.public.key_id
    for known in ({}, {"auditors": (trainer,)}, {"client_known": True}):
        words, less = said(run, order, **known)
        assert "by the trainer, whose signature does not count" in words
        assert less


def test_a_trainer_who_signs_the_order_too_gains_nothing(run: Path, order: Path, trainer_key: SigningKey) -> None:
    sign_order_file(order, order, trainer_key)
    write_comparison(order, claimed(run), trainer_key)
    words, less = said(run, order, client_known=True)
    assert "by the trainer" in words
    assert less


def test_a_strangers_is_the_files_word(run: Path) -> None:
    write_comparison(run, claimed(run), STRANGER)
    assert "the file's word" in said(run)[0]
    assert "a trusted auditor" in said(run, auditors=(STRANGER.public.key_id,))[0], "the control"
    write_comparison(run, claimed(run), force=True)
    assert "the file's word: nobody has signed it" in said(run, auditors=(STRANGER.public.key_id,))[0]


def test_that_of_another_order_is_named_and_not_shown(run: Path) -> None:
    other = structs.replace(claimed(run), order=Digest.of(b"another order"))
    write_comparison(run, other, CLIENT)
    words, less = said(run, client_known=True)
    assert "another order" in words
    assert "all 6 steps" not in words
    assert less


def test_one_that_speaks_of_fewer_steps_than_the_order_has_does_not_say_all(run: Path) -> None:
    write_comparison(run, claimed(run, ((1, 3),)))
    words, less = said(run)
    assert "in steps 1 to 3 of 6" in words
    assert less
    write_comparison(run, structs.replace(claimed(run, ((1, 3),)), steps=3), force=True)
    words, less = said(run)
    assert "speaks of 3 steps, and the order has 6" in words
    assert less


def test_a_flipped_bit_ends_it(run: Path) -> None:
    path = write_comparison(run, claimed(run), CLIENT)
    whole = path.read_bytes()
    with BundleReader.open(run) as reader:
        digest = reader.manifest.digest
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 7]) + whole[place + 1 :])
        found = comparison_beside(run, digest, STEPS)
        assert found is not None
        assert found.said is None, place
    words, less = said(run, auditors=(CLIENT.public.key_id,))
    assert "cannot be used" in words
    assert less


def test_a_signature_that_was_taken_off_still_names_its_key(run: Path) -> None:
    path = write_comparison(run, claimed(run), CLIENT)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"signatures": []}))
    assert "names a key, and has no signature of it" in said(run)[0]


def test_nothing_is_concluded_from_it(run: Path, order: Path) -> None:
    """Order and run stay what they are, and so does what an audit concludes."""
    before = order.read_bytes(), run.read_bytes(), audited(run, order).report
    write_comparison(order, claimed(run))
    comparison_path(run).write_text("junk")
    after = order.read_bytes(), run.read_bytes(), audited(run, order).report
    assert before[:2] == after[:2]
    assert after[2].outcome is before[2].outcome is Outcome.VERIFIED
    assert (after[2].checks, after[2].reason) == (before[2].checks, before[2].reason)
    first, *_, last = inspect_stages(run)
    assert first.comparison == last.comparison
    assert first.checks[0] == last.checks[0]


def test_a_revoked_auditors_no_longer_counts(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_comparison(run, claimed(run), STRANGER)
    gone = Revocation(STRANGER.public.key_id, "2026-01-01T00:00:00Z", Cause.COMPROMISED, "stolen")
    (tmp_path / "revoked.json").write_bytes(sign_said(RevocationList.of_keys([gone], 1), CLIENT))
    for name, key in (("auditor", STRANGER), ("list", CLIENT)):
        (tmp_path / f"{name}.pub.pem").write_text(key.public.pem)
    listed = trust_list(tmp_path / "trust", tmp_path / "revoked.json", tmp_path / "list.pub.pem")
    words = []
    for options in ([], listed):
        assert main(["inspect", str(run), "--auditor-key", str(tmp_path / "auditor.pub.pem"), *options]) == 0
        words.append(" ".join(capsys.readouterr().out.split()))
    assert "signed by a trusted auditor" in words[0]
    assert "the file's word: it is signed with the key" in words[1]
    assert "which was revoked" in words[1]


def test_the_command_shows_it(run: Path, order: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_comparison(order, claimed(run), CLIENT)
    assert main(["inspect", str(run), "--order", str(order), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["comparison"]["said"]["compared"] == [[1, 6]]
    assert shown["comparison"]["key_id"] == CLIENT.public.key_id
    assert shown["compared"]["said"].startswith("Compared with the script in all 6 steps (the file's word")
    path.write_text("junk")
    assert main(["inspect", str(run), "--order", str(order)]) == 0, "nothing is concluded from it"
    words = " ".join(capsys.readouterr().out.split())
    assert "Nothing shows that it was compared with the script: job.comparison.json cannot be used." in words
