"""Files that are sealed for judges: who can open one, what is left behind, and that the format is age's own."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from counterfoil.sealed import unseal
from counterfoil.sealed.agefile import MOST_HEADER_BYTES, can_seal, is_sealed
from counterfoil.sealed.recipients import MOST_RECIPIENTS, read_recipients, recipients_path
from counterfoil.sealed.seal import check_recipients, seal_file
from counterfoil.sealed.unseal import make_sealing_key, open_sealed, private_folder
from counterfoil.signer.client import Passphrase
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, CounterfoilError, FileWriteError, GivenFileError, KeyFileError

pyrage = pytest.importorskip("pyrage", reason="the extra sealing is not installed")
PLAIN = b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 1000
"""More than one piece of 64 KiB."""
NO_PASSPHRASE = Passphrase.given(None)
posix = pytest.mark.skipif(os.name != "posix", reason="permissions and locks of POSIX")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is opened lies where the test looks."""
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    make_sealing_key(tmp_path / "judge.key", NO_PASSPHRASE)
    return tmp_path / "judge.key"


@pytest.fixture
def sealed(tmp_path: Path, judge: Path) -> Path:
    (tmp_path / "c.cfoil").write_bytes(PLAIN)
    seal_file(tmp_path / "c.cfoil", tmp_path / "c.cfoil.age", read_recipients([recipients_path(judge)]))
    return tmp_path / "c.cfoil.age"


def test_a_judge_opens_what_was_sealed_and_nothing_is_left(sealed: Path, judge: Path, tmp_path: Path) -> None:
    assert is_sealed(sealed)
    assert not is_sealed(tmp_path / "c.cfoil")
    assert PLAIN[:64] not in sealed.read_bytes()
    assert PLAIN[-64:] not in sealed.read_bytes()
    with open_sealed(sealed, judge, NO_PASSPHRASE) as path:
        assert path.name == "c.cfoil"
        assert path.read_bytes() == PLAIN
        assert path.is_relative_to(tmp_path / "runtime")
    assert not path.exists()
    assert not any((tmp_path / "runtime").iterdir())


@posix
def test_nobody_else_can_read_what_was_opened_or_the_key(sealed: Path, judge: Path) -> None:
    with open_sealed(sealed, judge, NO_PASSPHRASE) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(judge.stat().st_mode) == 0o600
    assert stat.S_IMODE(recipients_path(judge).stat().st_mode) == 0o644


def test_the_library_alone_opens_it(sealed: Path, judge: Path) -> None:
    secret = [line for line in judge.read_text().splitlines() if not line.startswith("#")]
    identity = pyrage.x25519.Identity.from_str(secret[0])
    assert pyrage.decrypt(sealed.read_bytes(), [identity]) == PLAIN
    assert str(identity.to_public()) == recipients_path(judge).read_text().strip()


@pytest.mark.skipif(shutil.which("age") is None, reason="the program age is not installed")
def test_the_program_age_opens_it_and_seals_for_the_same_key(sealed: Path, judge: Path, tmp_path: Path) -> None:
    found = subprocess.run(["age", "--decrypt", "-i", judge, sealed], capture_output=True, check=True).stdout
    assert found == PLAIN
    theirs = tmp_path / "theirs.age"
    subprocess.run(["age", "-R", recipients_path(judge), "-o", theirs, tmp_path / "c.cfoil"], check=True)
    with open_sealed(theirs, judge, NO_PASSPHRASE) as path:
        assert path.read_bytes() == PLAIN


@pytest.mark.skipif(shutil.which("age-keygen") is None, reason="the program age-keygen is not installed")
def test_a_key_of_age_keygen_is_one_of_ours(tmp_path: Path) -> None:
    key, source = tmp_path / "theirs.key", tmp_path / "c"
    source.write_bytes(PLAIN)
    subprocess.run(["age-keygen", "-o", key], check=True, capture_output=True)
    public = subprocess.run(["age-keygen", "-y", key], check=True, capture_output=True).stdout
    recipients_path(key).write_bytes(b"# of a judge\n\n" + public)
    seal_file(source, tmp_path / "c.age", read_recipients([recipients_path(key)]))
    with open_sealed(tmp_path / "c.age", key, NO_PASSPHRASE) as path:
        assert path.read_bytes() == PLAIN


def test_another_key_does_not_open_it(sealed: Path, tmp_path: Path) -> None:
    make_sealing_key(tmp_path / "other.key", NO_PASSPHRASE)
    with (
        pytest.raises(KeyFileError, match=r"c\.cfoil\.age was not sealed for the key in other.key"),
        open_sealed(sealed, tmp_path / "other.key", NO_PASSPHRASE),
    ):
        pytest.fail("it was opened")
    assert not any((tmp_path / "runtime").iterdir())


def test_each_of_several_judges_opens_it_and_is_not_named(tmp_path: Path) -> None:
    keys = [tmp_path / f"judge{number}.key" for number in range(3)]
    names = [make_sealing_key(key, NO_PASSPHRASE) for key in keys]
    (tmp_path / "c").write_bytes(PLAIN)
    seal_file(tmp_path / "c", tmp_path / "c.age", read_recipients([recipients_path(key) for key in keys[:2]] * 2))
    assert not any(name.encode() in (tmp_path / "c.age").read_bytes() for name in names)
    for key in keys[:2]:
        with open_sealed(tmp_path / "c.age", key, NO_PASSPHRASE) as path:
            assert path.read_bytes() == PLAIN
    with pytest.raises(KeyFileError), open_sealed(tmp_path / "c.age", keys[2], NO_PASSPHRASE):
        pytest.fail("it was opened")


@pytest.mark.parametrize("place", [30, 100, -1, -70_000, 70_000])
def test_one_flipped_bit_is_refused(sealed: Path, judge: Path, place: int, tmp_path: Path) -> None:
    data = bytearray(sealed.read_bytes())
    data[place] ^= 1
    sealed.write_bytes(data)
    with (
        pytest.raises((GivenFileError, KeyFileError), match=r"damaged|was not sealed for"),
        open_sealed(sealed, judge, NO_PASSPHRASE),
    ):
        pytest.fail("it was opened")
    assert not any((tmp_path / "runtime").iterdir())


@pytest.mark.parametrize("length", [0, 10, 100, 65_700, -1, -70_000])
def test_what_is_cut_off_is_refused(sealed: Path, judge: Path, length: int) -> None:
    sealed.write_bytes(sealed.read_bytes()[:length])
    with pytest.raises((GivenFileError, KeyFileError)), open_sealed(sealed, judge, NO_PASSPHRASE):
        pytest.fail("it was opened")


def test_a_header_without_an_end_is_not_given_to_the_library(judge: Path, tmp_path: Path) -> None:
    long = b"age-encryption.org/v1\n" + b"-> X25519 abc\nabc\n" * (MOST_HEADER_BYTES // 10)
    (tmp_path / "long.age").write_bytes(long + b"--- x\n")
    with (
        pytest.raises(GivenFileError, match="not a sealed file, or its header is damaged"),
        open_sealed(tmp_path / "long.age", judge, NO_PASSPHRASE),
    ):
        pytest.fail("it was opened")


def test_a_passphrase_protects_the_key_as_age_does(tmp_path: Path) -> None:
    key = tmp_path / "judge.key"
    recipient = make_sealing_key(key, Passphrase.given("old shoes"))
    assert b"AGE-SECRET-KEY" not in key.read_bytes()
    assert recipient in pyrage.passphrase.decrypt(key.read_bytes(), "old shoes").decode()
    (tmp_path / "c").write_bytes(PLAIN)
    seal_file(tmp_path / "c", tmp_path / "c.age", [recipient])
    with open_sealed(tmp_path / "c.age", key, Passphrase.given("old shoes")) as path:
        assert path.read_bytes() == PLAIN
    for wrong, sentence in ((Passphrase.given("new shoes"), "is wrong"), (NO_PASSPHRASE, "needs its passphrase")):
        with pytest.raises(KeyFileError, match=sentence), open_sealed(tmp_path / "c.age", key, wrong):
            pytest.fail("it was opened")


def test_a_key_is_never_overwritten(judge: Path, tmp_path: Path) -> None:
    before = judge.read_bytes()
    with pytest.raises(KeyFileError, match="never overwritten"):
        make_sealing_key(judge, NO_PASSPHRASE)
    (tmp_path / "x.pub").write_text("mine")
    with pytest.raises(KeyFileError, match="never overwritten"):
        make_sealing_key(tmp_path / "x.key", NO_PASSPHRASE)
    assert judge.read_bytes() == before
    assert not (tmp_path / "x.key").exists()
    with pytest.raises(FileWriteError):
        make_sealing_key(tmp_path / "none" / "x.key", NO_PASSPHRASE)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no public sealing key"),
        ("# age1\n", "is no public sealing key"),
        ("ssh-ed25519 AAAA\n", "is no public sealing key"),
        ("age1" + "q" * 57 + "\n", "is no public sealing key"),
        ("age1" + "b" * 58 + "\n", "is no public sealing key"),
        ("AGE-SECRET-KEY-1" + "Q" * 58, "is a private sealing key"),
        ("\xff", "is no public sealing key"),
    ],
)
def test_what_is_no_public_key_is_said(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "j.pub").write_bytes(text.encode("latin-1"))
    with pytest.raises(KeyFileError, match=sentence):
        read_recipients([tmp_path / "j.pub"])


def test_a_public_key_with_a_wrong_letter_is_found(judge: Path) -> None:
    text = recipients_path(judge).read_text().strip()
    wrong = text[:-1] + ("q" if text[-1] != "q" else "p")
    recipients_path(judge).write_text(wrong)
    with pytest.raises(KeyFileError, match="checksum"):
        check_recipients(read_recipients([recipients_path(judge)]))


def test_too_many_judges_are_refused(judge: Path, tmp_path: Path) -> None:
    one = recipients_path(judge).read_text().strip()
    letters = "023456789acdefghjklmnpqrstuvwxyz"
    many = [f"{one[:-2]}{a}{b}" for a in letters for b in letters][: MOST_RECIPIENTS + 1]
    (tmp_path / "many.pub").write_text("\n".join(many))
    with pytest.raises(KeyFileError, match="at most"):
        read_recipients([tmp_path / "many.pub"])


def test_sealing_is_stopped_and_leaves_nothing(sealed: Path, judge: Path, tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        seal_file(tmp_path / "c.cfoil", tmp_path / "new.age", read_recipients([recipients_path(judge)]), cancel=cancel)
    assert not (tmp_path / "new.age").exists()
    assert not list(tmp_path.glob(".new*"))


@posix
def test_what_a_killed_process_left_behind_is_removed(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    old, new, other = (runtime / f"counterfoil-opened-{name}" for name in ("old", "new", "used"))
    for folder in (old, new, other):
        (folder / "held").mkdir(parents=True)
        (folder / "in-use").touch()
        (folder / "held" / "rows").write_bytes(PLAIN)
    long_ago = time.time() - 2 * unseal._LEFT_SECONDS
    for folder in (old, other):
        os.utime(folder, (long_ago, long_ago))
    with (other / "in-use").open("r+") as used:
        assert unseal.lock(used.fileno())
        with private_folder():
            pass
    assert not old.exists()
    assert new.exists(), "it may be one that is not locked yet"
    assert other.exists(), "somebody uses it"


def test_without_the_library_it_is_said_what_to_install(
    sealed: Path, judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert can_seal()
    monkeypatch.setitem(__import__("sys").modules, "pyrage", None)
    with (
        pytest.raises(CounterfoilError, match=r"pip install 'counterfoil\[sealing\]'"),
        open_sealed(sealed, judge, NO_PASSPHRASE),
    ):
        pytest.fail("it was opened")
