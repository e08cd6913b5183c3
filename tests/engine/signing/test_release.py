"""The signed list of a release: what it holds, who is found to be another, and how the command ends."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from counterfoil import Digest, SignatureError
from counterfoil.cli import main
from counterfoil.signer.gate import Gate, Purpose
from counterfoil.signing.kinds import Cause, ReleaseList, Revocation, RevocationList
from counterfoil.signing.release import compare_release
from counterfoil_core.signing.envelope import open_statement, sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import NOTE, RELEASE, make_statement
from counterfoil_core.signing.statements import open_said, sign_said
from support.bundles import test_key
from support.trusted import trust_list

ROOT = Path(__file__).parents[3]
COMMIT = "ab" * 20
FILES = {"counterfoil-1.0.tar.gz": Digest.of(b"sdist"), "counterfoil_1.0-1_amd64.deb": Digest.of(b"deb")}
LIST = ReleaseList("1.0", COMMIT, FILES)
SUBJECTS = [{"name": name, "digest": {"sha256": FILES[name].hex}} for name in FILES]
PREDICATE = {"version": "1.0", "commit": COMMIT}


def made(folder: Path) -> SigningKey:
    folder.mkdir()
    return test_key(folder)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return made(tmp_path_factory.mktemp("keys") / "builder")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return made(tmp_path_factory.mktemp("keys") / "other")


def test_a_list_comes_back_as_it_was_signed(key: SigningKey) -> None:
    assert open_said(ReleaseList, sign_said(LIST, key), key.public) == LIST


def test_two_builders_sign_the_same_statement_whatever_the_order_of_their_files(
    key: SigningKey, other: SigningKey
) -> None:
    turned = ReleaseList("1.0", COMMIT, dict(reversed(FILES.items())))
    mine, theirs = sign_said(LIST, key), sign_said(turned, other)
    assert open_statement(mine, key.public) == open_statement(theirs, other.public)
    with pytest.raises(SignatureError, match="does not hold"):
        open_said(ReleaseList, mine, other.public)


@pytest.mark.parametrize(
    ("subjects", "predicate", "kind"),
    [
        (SUBJECTS, PREDICATE, NOTE.predicate),
        ([], PREDICATE, RELEASE.predicate),
        (SUBJECTS[::-1], PREDICATE, RELEASE.predicate),
        ([SUBJECTS[0], SUBJECTS[0]], PREDICATE, RELEASE.predicate),
        ([{**SUBJECTS[0], "name": "../x"}], PREDICATE, RELEASE.predicate),
        ([{**SUBJECTS[0], "name": "a/b"}], PREDICATE, RELEASE.predicate),
        ([{**SUBJECTS[0], "name": ""}], PREDICATE, RELEASE.predicate),
        ([{**SUBJECTS[0], "more": 1}], PREDICATE, RELEASE.predicate),
        ([{"name": "x", "digest": {"sha1": "ab"}}], PREDICATE, RELEASE.predicate),
        ([{"name": "x", "digest": {"sha256": "AB" * 32}}], PREDICATE, RELEASE.predicate),
        ([{"name": "x", "digest": "ab"}], PREDICATE, RELEASE.predicate),
        ({"name": "x"}, PREDICATE, RELEASE.predicate),
        (SUBJECTS, {"version": "1.0"}, RELEASE.predicate),
        (SUBJECTS, {**PREDICATE, "more": 1}, RELEASE.predicate),
        (SUBJECTS, {**PREDICATE, "version": "\x1b[31m"}, RELEASE.predicate),
        (SUBJECTS, {**PREDICATE, "commit": "main"}, RELEASE.predicate),
        (SUBJECTS, [], RELEASE.predicate),
    ],
)
def test_whatever_is_no_list_is_refused(subjects: Any, predicate: Any, kind: str, key: SigningKey) -> None:
    statement = make_statement(SUBJECTS, RELEASE.predicate, PREDICATE)
    assert open_said(ReleaseList, sign_statement(statement, key), key.public) == LIST
    envelope = sign_statement({**statement, "subject": subjects, "predicateType": kind, "predicate": predicate}, key)
    with pytest.raises(SignatureError):
        open_said(ReleaseList, envelope, key.public)


@pytest.mark.parametrize("junk", [b"", b"{}", b"\xff", b"[" * 100_000])
def test_junk_is_refused(junk: bytes, key: SigningKey) -> None:
    with pytest.raises(SignatureError):
        open_said(ReleaseList, junk, key.public)


def test_files_are_compared_by_name_and_digest() -> None:
    first, second = FILES
    check = compare_release(LIST, [(first, FILES[first]), ("other", FILES[first])])
    assert (check.same, check.changed, check.unlisted, check.absent) == ((first,), (), ("other",), (second,))
    assert not check.holds
    assert not compare_release(LIST, [(first, FILES[second])]).holds
    assert compare_release(LIST, FILES.items()).holds


def test_the_signer_for_releases_signs_one_list_and_nothing_else(key: SigningKey) -> None:
    gate = Gate(Purpose.RELEASE, key.public)
    from counterfoil_core.base import canonical

    with pytest.raises(SignatureError, match="signs the list of a release, and nothing else"):
        gate.check(canonical.encode(make_statement(SUBJECTS, NOTE.predicate, {})))
    gate.check(canonical.encode(make_statement(SUBJECTS, RELEASE.predicate, PREDICATE)))
    with pytest.raises(SignatureError, match="already signed"):
        gate.check(canonical.encode(make_statement(SUBJECTS, RELEASE.predicate, PREDICATE)))


@pytest.fixture
def folder(tmp_path: Path, key: SigningKey, other: SigningKey) -> Path:
    (tmp_path / "counterfoil-1.0.tar.gz").write_bytes(b"sdist")
    (tmp_path / "counterfoil_1.0-1_amd64.deb").write_bytes(b"deb")
    (tmp_path / "list.json").write_bytes(sign_said(LIST, key))
    (tmp_path / "builder.pub.pem").write_text(key.public.pem)
    (tmp_path / "other.pub.pem").write_text(other.public.pem)
    return tmp_path


def verified(folder: Path, *files: str, key: str = "builder", more: tuple[str, ...] = ()) -> int:
    given = [str(folder / name) for name in files]
    return main(["verify", str(folder / "list.json"), *given, "--key", str(folder / f"{key}.pub.pem"), *more])


def test_the_command_says_what_is_changed_missing_or_not_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = FILES
    assert verified(folder, first, second, more=("--all",)) == 0
    assert "every file is as it was signed" in capsys.readouterr().out
    assert verified(folder, first) == 0
    assert verified(folder, first, more=("--all",)) == 4
    assert f"MISSING  {second}" in capsys.readouterr().out
    assert verified(folder, first, "nowhere.whl") == 4
    assert "MISSING  nowhere.whl" in capsys.readouterr().out
    (folder / "extra.whl").write_bytes(b"sdist")
    assert verified(folder, first, "extra.whl") == 3
    assert "NOT LISTED  extra.whl" in capsys.readouterr().out
    (folder / first).write_bytes(b"sdist and more")
    assert verified(folder, first, second, "nowhere.whl") == 3
    said = capsys.readouterr().out
    assert f"CHANGED  {first}" in said
    assert f"as signed  {second}" in said
    assert "Do not install" in said
    assert verified(folder, second, more=("--json",)) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["holds"], told["version"]) == ([second], True, "1.0")


def test_the_command_refuses_a_list_of_another_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(folder, *FILES, key="other") == 3
    assert "REFUSED" in capsys.readouterr().err


def test_a_list_of_a_stolen_key_does_not_count(
    folder: Path, key: SigningKey, other: SigningKey, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = Revocation(key.public.key_id, "2026-01-01T00:00:00Z", Cause.COMPROMISED, "stolen")
    (folder / "revoked.json").write_bytes(sign_said(RevocationList.of_keys([gone], 1), other))
    trust = trust_list(folder / "trust", folder / "revoked.json", folder / "other.pub.pem")
    for more in ((), ("--json",)):
        assert verified(folder, *FILES, more=(*more, *trust)) == 3
    shown, told = capsys.readouterr().out.split("{", 1)
    assert "no longer counts" in shown
    assert "was revoked" in json.loads("{" + told)["why_not"][0]


# The script


def script(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "packaging" / "release.py"), *words], capture_output=True, text=True, check=False
    )


def test_the_script_signs_a_list_that_the_command_verifies(folder: Path) -> None:
    assert main(["keygen", str(folder / "k.pem"), "--no-passphrase"]) == 0
    files = [str(folder / name) for name in FILES]
    done = script(
        "list", *files, "--version", "1.0", "--commit", COMMIT, "--key", str(folder / "k.pem"), "--out",
        str(folder / "list.json"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert verified(folder, *FILES, key="k", more=("--all",)) == 0


def test_the_bill_of_materials_names_what_is_installed_and_who_needs_it() -> None:
    done = script("sbom")
    assert done.returncode == 0, done.stderr
    assert done.stdout == script("sbom").stdout
    bill = json.loads(done.stdout)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    named = {each["name"]: each for each in bill["components"]}
    assert {"torch", "numba", "h5py", "pyside6-essentials", "shiboken6", "llvmlite"} <= set(named)
    assert "pytest" not in named
    assert named["numpy"]["version"] == distribution("numpy").version
    refs = {each["bom-ref"] for each in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    needs = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert set(needs) == refs
    assert {each for many in needs.values() for each in many} <= refs
    assert any(ref.startswith("pkg:pypi/llvmlite@") for ref in needs[named["numba"]["bom-ref"]])


def test_the_changelog_has_a_section_for_this_version() -> None:
    import counterfoil

    done = script("changelog", counterfoil.__version__)
    assert done.returncode == 0
    assert done.stdout.strip()
    assert "## " not in done.stdout.replace("### ", "")
    assert script("changelog", "77.0").returncode == 1
