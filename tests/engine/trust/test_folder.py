"""The folder of whom a reader trusts: one at a time writes it, and what is damaged or another's ends the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil.base.joberrors import TrustError
from counterfoil.cli.app import main
from counterfoil.signing.kinds import Cause, Reply, Revocation, RevocationList, Withdrawal
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil.trust.folder import KEYS, LATER, REVOKED, TrustFolder, read_store
from counterfoil.trust.keyfile import KnownKey, Role, named_keys
from counterfoil.trust.store import NO_TRUST
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError, DataError, SignatureError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.statements import sign_said

LIST, OTHER, AUDITOR = (key_from_seed(bytes([number] * 32)) for number in (1, 2, 3))
DAY, EARLY, LATE = "2026-11-22", "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
VERDICT = Digest.of(b"a verdict")


def listed(number: int, *keys: str, cause: Cause = Cause.COMPROMISED, by: SigningKey = LIST) -> bytes:
    return sign_said(RevocationList.of_keys([Revocation(key, EARLY, cause, "lost") for key in keys], number), by)


def known(public: str, name: str, role: Role = Role.AUDITOR) -> KnownKey:
    return KnownKey(public, role, name, "", DAY)


@pytest.fixture
def folder(tmp_path: Path) -> TrustFolder:
    """One that holds a key, a list and a withdrawal."""
    found = TrustFolder(tmp_path / "trust")
    found.change(lambda held: named_keys(held, known(AUDITOR.public.public, "Ada")))
    found.take_list(listed(2, "ab" * 32), LIST.public.public)
    found.take_later(sign_said(Withdrawal(VERDICT, "Wrong.", None), AUDITOR))
    return found


def test_what_is_kept_is_read_again(folder: TrustFolder) -> None:
    store = folder.store()
    assert store.name_of(AUDITOR.public.key_id) == "Ada"
    assert store.auditors == (AUDITOR.public.public,)
    assert store.covers("ab" * 32, LATE)
    assert not store.covers("cd" * 32, LATE)
    assert len(store.later) == 1
    before = store.digest
    folder.take_later(sign_said(Reply(VERDICT, "No."), OTHER))
    assert folder.store().digest not in (before, None)
    assert TrustFolder(folder.path.parent / "none").store() == NO_TRUST


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_only_its_user_can_read_and_write_it(folder: TrustFolder) -> None:
    for path in folder.path.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    for path in (folder.path / KEYS, folder.path, *(folder.path / REVOKED).iterdir()):
        mode = path.stat().st_mode
        path.chmod(mode | 0o020)
        with pytest.raises(TrustError, match="somebody else"):
            folder.store()
        path.chmod(mode)
    folder.store()


@pytest.mark.parametrize("place", [KEYS, REVOKED, LATER])
def test_what_is_damaged_is_no_empty_trust(folder: TrustFolder, place: str) -> None:
    path = folder.path / place
    path = path if path.is_file() else next(path.iterdir())
    content = path.read_bytes()
    for damaged in (content[:-20], content.replace(b"a", b"b"), b"", b"{}"):
        path.write_bytes(damaged)
        with pytest.raises(TrustError):
            folder.store()
    path.write_bytes(content)
    folder.store()


def test_an_older_list_and_one_that_is_gone_are_refused(folder: TrustFolder) -> None:
    with pytest.raises(DataError, match="list 2 is known"):
        folder.take_list(listed(1, "cd" * 32), LIST.public.public)
    with pytest.raises(SignatureError):
        folder.take_list(listed(3, "cd" * 32, by=OTHER), LIST.public.public)
    (path,) = (folder.path / REVOKED).iterdir()
    newest = path.read_bytes()
    path.write_bytes(listed(1, "cd" * 32))
    with pytest.raises(TrustError, match="list 2 was taken in"):
        folder.store()
    path.unlink()
    with pytest.raises(TrustError, match="gone"):
        folder.store()
    path.write_bytes(newest)
    folder.take_list(listed(3, "cd" * 32), LIST.public.public)
    assert folder.store().covers("cd" * 32, LATE)


def test_of_two_lists_that_one_counts_which_leaves_less(folder: TrustFolder) -> None:
    folder.take_list(listed(7, "ab" * 32, "cd" * 32, cause=Cause.RETIRED, by=OTHER), OTHER.public.public)
    store = folder.store()
    assert store.covers("ab" * 32, "2019-01-01T00:00:00Z"), "compromised by one list, retired by the other"
    assert not store.covers("cd" * 32, "2019-01-01T00:00:00Z")
    assert store.covers("cd" * 32, ""), "nothing says when"
    folder.drop_list(LIST.public.key_id)
    assert not folder.store().covers("ab" * 32, "2019-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("key", "match"),
    [
        (known(OTHER.public.public, "Ada"), "name of another key"),
        (known(OTHER.public.public, "a\nb"), "printable"),
        (known(OTHER.public.public, "x" * 81), "printable"),
        (known(OTHER.public.public, ""), "has a name"),
        (known(AUDITOR.public.public, "Ada", Role.CLIENT), "another kind"),
    ],
    ids=["taken", "unseen", "long", "none", "role"],
)
def test_a_key_that_cannot_be_taken_in_changes_nothing(folder: TrustFolder, key: KnownKey, match: str) -> None:
    before = (folder.path / KEYS).read_bytes()
    with pytest.raises(CounterfoilError, match=match):
        folder.change(lambda held: named_keys(held, key))
    assert (folder.path / KEYS).read_bytes() == before


def test_nothing_is_lost_where_many_write_at_once(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from counterfoil.trust.folder import TrustFolder\n"
        "from counterfoil.trust.keyfile import KnownKey, Role, named_keys\n"
        "for number in range(5):\n"
        "    public = f'{int(sys.argv[2]) * 5 + number:064x}'\n"
        "    key = KnownKey(public, Role.TRAINER, '', '', '2026-11-22')\n"
        "    TrustFolder(Path(sys.argv[1])).change(lambda held: named_keys(held, key))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "t"), str(each)]) for each in range(4)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert len(TrustFolder(tmp_path / "t").keys().keys) == 20


def test_a_stop_between_list_and_note_leaves_the_newer_list(
    folder: TrustFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    plain = folder._write

    def stops(path: Path, data: bytes, what: str) -> None:
        if path.name == KEYS:
            raise KeyboardInterrupt
        written.append(path)
        plain(path, data, what)

    monkeypatch.setattr(folder, "_write", stops)
    with pytest.raises(KeyboardInterrupt):
        folder.take_list(listed(3, "cd" * 32), LIST.public.public)
    assert len(written) == 1
    assert TrustFolder(folder.path).store().covers("cd" * 32, LATE)


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("auditor", "list"):
        assert main(["keygen", f"{name}.pem", "--no-passphrase"]) == 0
    assert read_store(None) == NO_TRUST
    assert main(["trust", "show"]) == 0
    assert "Nothing is known yet" in capsys.readouterr().out
    assert main(["trust", "add", "auditor.pub.pem", "--role", "auditor", "--name", "Ada"]) == 0
    assert main(["trust", "add", "auditor.pub.pem", "--role", "friend", "--name", "Ada"]) == 4
    assert main(["trust", "add", "list.pub.pem", "--role", "client", "--name", "Ada"]) == 4, "the name is taken"
    assert main(["revoke", "auditor.pub.pem", "--reason", "lost", "--key", "list.pem", "--out", "one.json"]) == 0
    assert main(["trust", "take", "one.json"]) == 4, "whose list it is must be said once"
    assert main(["trust", "take", "one.json", "--key", "list.pub.pem"]) == 0
    capsys.readouterr()
    assert main(["trust", "show"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Ada REVOKED" in said
    assert main(["trust", "show", "--trust", "none", "--json"]) == 0
    assert main(["trust", "add", "auditor.pub.pem", "--role", "auditor", "--name", "A", "--trust", "none"]) == 4
    for key in ("auditor.pub.pem", "list.pub.pem"):
        assert main(["trust", "remove", key]) == 0
        assert main(["trust", "remove", key]) == 4, "it is gone"
    assert read_store(None) == NO_TRUST
    assert main(["trust", "show", "--trust", "gone"]) == 2, "no folder is not an empty one"


def test_a_change_that_changes_nothing_writes_nothing(folder: TrustFolder) -> None:
    stamp = (folder.path / KEYS).stat().st_mtime_ns
    folder.change(lambda held: held)
    assert (folder.path / KEYS).stat().st_mtime_ns == stamp
