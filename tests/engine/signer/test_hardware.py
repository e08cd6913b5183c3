"""Keys in hardware, with SoftHSM in its place: what they sign holds for OpenSSL too, and what is wrong is said."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterfoil.base.joberrors import SignerError
from counterfoil.cli import main
from counterfoil.signer.client import Passphrase, start_signer
from counterfoil.signing.hardware import parse_uri
from counterfoil.signing.partykeys import public_keys
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import KeyFileError, SignatureError
from counterfoil_core.signing.keys import PublicKey, load_public_key
from counterfoil_core.signing.publickeys import is_ed25519, key_id_of, pem_of
from counterfoil_core.statement.verdict import preview_verdict, verify_verdict
from support.reports import verified_report

pytestmark = pytest.mark.own_process

MODULE = Path("/usr/lib/softhsm/libsofthsm2.so")
PIN = "1234"
WHEN = datetime(2026, 3, 1, tzinfo=UTC)
with_hardware = pytest.mark.skipif(
    importlib.util.find_spec("pkcs11") is None
    or not MODULE.exists()
    or shutil.which("softhsm2-util") is None
    or shutil.which("pkcs11-tool") is None,
    reason="needs python-pkcs11, softhsm2 and opensc",
)


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The settings of a token 'audit' with an Ed25519 key 'edwards', 01, and one on P-256, 'nist', 02."""
    folder = tmp_path_factory.mktemp("token")
    (folder / "tokens").mkdir()
    settings = folder / "softhsm2.conf"
    settings.write_text(f"directories.tokendir = {folder / 'tokens'}\nobjectstore.backend = file\n")
    environment = {**os.environ, "SOFTHSM2_CONF": str(settings)}

    def run(*command: str) -> None:
        subprocess.run(command, env=environment, check=True, capture_output=True)

    run("softhsm2-util", "--init-token", "--free", "--label", "audit", "--pin", PIN, "--so-pin", "56789")
    tool = ("pkcs11-tool", "--module", str(MODULE), "--token-label", "audit", "--login", "--pin", PIN, "--keypairgen")
    run(*tool, "--key-type", "EC:edwards25519", "--id", "01", "--label", "edwards")
    run(*tool, "--key-type", "EC:prime256v1", "--id", "02", "--label", "nist")
    run(*tool, "--key-type", "EC:secp384r1", "--id", "03", "--label", "longer")
    return settings


@pytest.fixture
def there(token: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTHSM2_CONF", str(token))


def uri(key: str, module: Path = MODULE, name: str = "audit") -> str:
    return f"pkcs11:token={name};{key}?module-path={module}"


@pytest.mark.sampled(1)
@with_hardware
@pytest.mark.parametrize(("kind", "key"), [("EC:edwards25519", "01"), ("EC:prime256v1", "02")])
def test_a_public_key_that_somebody_exchanged_on_the_token_is_found(
    kind: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pairs, of which the public halves change places: to write them takes no right to sign."""
    (tmp_path / "tokens").mkdir()
    settings = tmp_path / "softhsm2.conf"
    settings.write_text(f"directories.tokendir = {tmp_path / 'tokens'}\nobjectstore.backend = file\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(settings))

    def run(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)

    run("softhsm2-util", "--init-token", "--free", "--label", "audit", "--pin", PIN, "--so-pin", "56789")
    tool = ("pkcs11-tool", "--module", str(MODULE), "--token-label", "audit", "--login", "--pin", PIN)
    for number in (key, "09"):
        run(*tool, "--keypairgen", "--key-type", kind, "--id", number, "--label", f"key-{number}")
    with start_signer(uri(f"id=%{key}"), "audit", Passphrase.given(PIN)) as signer:
        mine = signer.public
    run(*tool, "--delete-object", "--type", "pubkey", "--id", key)
    run(*tool, "--set-id", key, "--type", "pubkey", "--id", "09")
    with pytest.raises(KeyFileError, match="is not that of the private one"):
        start_signer(uri(f"id=%{key}"), "audit", Passphrase.given(PIN))
    assert mine.key_id


def test_a_pin_in_the_name_of_a_key_is_refused_before_anything_is_asked_or_shown() -> None:
    with pytest.raises(KeyFileError) as refused:
        start_signer(f"{uri('object=edwards')}&pin-value=8642", "audit", Passphrase.none())
    assert "A PIN in the name of a key" in str(refused.value)
    assert "8642" not in str(refused.value)


@pytest.mark.sampled(1)
@with_hardware
@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(("key", "edwards"), [("object=edwards", True), ("id=%01", True), ("object=nist", False)])
def test_what_hardware_signs_holds_here_and_for_openssl(key: str, edwards: bool, tmp_path: Path) -> None:
    payload = preview_verdict(verified_report(), WHEN)
    with start_signer(uri(key), "audit", Passphrase.given(PIN)) as signer:
        public, envelope = signer.public, signer.sign(payload)
    assert is_ed25519(public.public) is edwards
    assert verify_verdict(envelope, public).key_id == public.key_id
    assert (public.key_id, public.pem) == (key_id_of(public.public), pem_of(public.public))
    with pytest.raises(SignatureError):
        verify_verdict(envelope, key_from_seed(bytes(32)).public)
    fields = json.loads(envelope)
    signature = base64.b64decode(fields["signatures"][0]["sig"])
    kind = "application/vnd.in-toto+json"
    (tmp_path / "key.pem").write_text(public.pem)
    (tmp_path / "sig").write_bytes(signature)
    command = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        "key.pem",
        "-rawin",
        "-in",
        "text",
        "-sigfile",
        "sig",
    ]
    for text, code in ((payload, 0), (payload[:-1] + b" ", 1)):
        (tmp_path / "text").write_bytes(f"DSSEv1 {len(kind)} {kind} {len(text)} ".encode() + text)
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == code
    flipped = bytearray(signature)
    flipped[-1] ^= 1
    fields["signatures"][0]["sig"] = base64.b64encode(flipped).decode()
    with pytest.raises(SignatureError, match="does not hold"):
        verify_verdict(canonical.encode(fields), public)


@pytest.mark.sampled(1)
@with_hardware
@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("key", ["object=edwards", "object=nist"])
def test_a_verdict_is_signed_by_command(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERFOIL_PASSPHRASE", PIN)
    (tmp_path / "v.unsigned").write_bytes(preview_verdict(verified_report(), WHEN))
    assert main(["public-key", uri(key), "--out", "a.pub.pem"]) == 0
    key_id = load_public_key("a.pub.pem").key_id
    assert key_id in capsys.readouterr().out
    assert main(["sign", "v.unsigned", "--key", uri(key), "--out", "v.json"]) == 0
    assert main(["verify", "v.json", "--key", "a.pub.pem"]) == 0
    assert key_id in capsys.readouterr().out


@with_hardware
@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("named", "pin", "said"),
    [
        (uri("object=edwards"), "9999", "PIN of the token audit is wrong"),
        (uri("object=nobody"), PIN, "there are 0 such keys"),
        (uri("object=longer"), PIN, "neither an Ed25519 key nor an ECDSA key on the curve P-256"),
        (uri("object=edwards", name="another"), PIN, "not just one token called another"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_signed(named: str, pin: str, said: str) -> None:
    with pytest.raises(KeyFileError, match=said) as error:
        start_signer(named, "audit", Passphrase.given(pin))
    assert error.value.remedy


@with_hardware
@pytest.mark.usefixtures("there")
def test_a_module_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(SignerError, match="does not do it"):
        start_signer(uri("object=edwards", tmp_path / "none.so"), "audit", Passphrase.given(PIN))


@with_hardware
@pytest.mark.usefixtures("there")
def test_the_signer_of_hardware_signs_nothing_else_than_what_it_was_started_for() -> None:
    with (
        start_signer(uri("object=nist"), "train", Passphrase.given(PIN)) as signer,
        pytest.raises(SignatureError, match="and nothing else"),
    ):
        signer.sign(preview_verdict(verified_report(), WHEN))


@with_hardware
@pytest.mark.usefixtures("there")
def test_a_party_of_shares_has_an_ed25519_key() -> None:
    with start_signer(uri("object=nist"), "audit", Passphrase.given(PIN)) as signer:
        public: PublicKey = signer.public
    with pytest.raises(KeyFileError, match="a party that answers for shares"):
        public_keys([public])


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("pkcs11:token=a;object=b;pin-value=1?module-path=/m", "A PIN in the name"),
        ("pkcs11:token=a;object=b?module-path=/m&pin-value=1", "A PIN in the name"),
        ("pkcs11:token=a?module-path=/m", "no token, or no key"),
        ("pkcs11:object=a?module-path=/m", "no token, or no key"),
        ("pkcs11:token=a;token=b;object=c?module-path=/m", "stands twice"),
        ("pkcs11:token=a;object=b;slot-id=1?module-path=/m", "slot-id"),
        ("pkcs11:token=a;object=%ff?module-path=/m", "not the name of a key"),
    ],
)
def test_a_name_that_is_none_is_refused(named: str, said: str) -> None:
    with pytest.raises(KeyFileError, match=said):
        parse_uri(named)


def test_a_name_says_where_the_key_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYKCS11LIB", raising=False)
    place = parse_uri("pkcs11:token=My%20card;id=%0a%02;type=private?module-path=/usr/lib/m.so")
    assert (place.token, place.label, place.key_id, place.module) == ("My card", "", b"\n\x02", "/usr/lib/m.so")
    with pytest.raises(KeyFileError, match="which PKCS #11 module"):
        parse_uri("pkcs11:token=a;object=b")
    monkeypatch.setenv("PYKCS11LIB", "/m.so")
    assert parse_uri("pkcs11:token=a;object=b").module == "/m.so"
