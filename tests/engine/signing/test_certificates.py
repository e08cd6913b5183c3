"""The X.509 chain beside a verdict: whose name counts, and what is refused."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier
from securesystemslib.dsse import Envelope

from counterfoil.cli import main
from counterfoil.signing.certificates import (
    certified_name,
    check_own_chain,
    claimed_name,
    leaf_key,
    read_certificates,
)
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base import canonical
from counterfoil_core.base.errors import CounterfoilError, DataError, SignatureError
from counterfoil_core.signing.envelope import (
    MAX_CERTIFICATE_BYTES,
    MAX_CERTIFICATES,
    attach_certificates,
    certificates_in,
    claimed_key_ids,
    open_statement,
    payload_of,
    sign_statement,
)
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from support.certificates import (
    AFTER,
    AUTHORITY,
    BEFORE,
    DURING,
    NO_AUTHORITY,
    Firm,
    certify,
    usage,
    weakly_certified,
)
from support.reports import verified_report

AUDITOR, OTHER = (key_from_seed(bytes([number] * 32)) for number in (1, 2))
PUBLIC = AUDITOR.public
WHEN = datetime(2026, 3, 1, tzinfo=UTC)
FIRM = Firm()


def p256() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def refused(words: str, chain: list[bytes], roots: list[bytes], key: PublicKey = PUBLIC, at: datetime = DURING) -> None:
    with pytest.raises(SignatureError, match=words):
        certified_name(chain, roots, key, at)


@pytest.mark.parametrize(
    "keys", [(None, None), (p256(), None), (None, p256()), (rsa.generate_private_key(65537, 2048), p256())]
)
@pytest.mark.parametrize("curve", [False, True], ids=["Ed25519", "P-256"])
def test_a_root_that_is_given_answers_for_the_name(keys: Any, curve: bool) -> None:
    key = PublicKey.of(p256().public_key()) if curve else PUBLIC
    firm = Firm(*keys)
    names = x509.SubjectAlternativeName([x509.RFC822Name("ada@example.org"), x509.DNSName("audit.example.org")])
    chain = firm.chain(key.pem, (names, False), (usage(signs=True), True), (NO_AUTHORITY, True))
    found = certified_name(chain, [firm.root], key, DURING)
    assert (found.subject, found.root, found.is_certified) == ("CN=Ada Auditor", "CN=Root", True)
    assert found.names == ("email:ada@example.org", "DNS:audit.example.org")
    assert found.said == "CN=Ada Auditor; email:ada@example.org; DNS:audit.example.org"
    assert found.valid_at == "2030-01-01T00:00:00Z"
    # The root may lie at the chain's end, or be the authority in its middle, or stand among others.
    assert certified_name([*chain, firm.root], [FIRM.root, firm.root], key, DURING) == found
    assert certified_name(chain, [firm.middle], key, DURING).root == "CN=Middle"
    assert leaf_key(chain).pem == key.pem
    claimed = claimed_name(chain, key)
    assert (claimed.subject, claimed.root, claimed.is_certified) == ("CN=Ada Auditor", "", False)
    assert check_own_chain(chain, key, DURING) == claimed


def test_another_key_and_another_root_are_refused() -> None:
    chain = FIRM.chain(PUBLIC.pem)
    certified_name(chain, [FIRM.root], PUBLIC, DURING)
    refused("about another key", chain, [FIRM.root], OTHER.public)
    refused("about another key", FIRM.chain(OTHER.public.pem), [FIRM.root])
    with pytest.raises(SignatureError, match="about another key"):
        claimed_name(chain, OTHER.public)
    with pytest.raises(SignatureError, match="about another key"):
        check_own_chain(chain, OTHER.public, DURING)
    # Another root of the same name did not issue it; nor does a chain bring its own root.
    refused("No root", chain, [Firm().root])
    refused("No root", [*chain, FIRM.root], [Firm().root])
    refused("No root", chain[:1], [FIRM.root])
    refused("itself given as a root", chain, chain[:1])
    alone = certify("Ada Auditor", PUBLIC.pem, "Ada Auditor", FIRM.root_key)
    refused("No root", [alone], [FIRM.root])


def test_a_chain_in_another_order_or_of_another_authority_is_refused() -> None:
    leaf, middle = FIRM.chain(PUBLIC.pem)
    refused("about another key", [middle, leaf], [FIRM.root])
    other = Firm(FIRM.root_key)  # the same root and the same names; another key in the middle
    refused("not issued by", [leaf, other.middle], [FIRM.root])
    refused("not issued by", [leaf, other.middle, middle], [FIRM.root])
    with pytest.raises(SignatureError, match="not issued by"):
        check_own_chain([leaf, other.middle], PUBLIC, DURING)
    flipped = bytearray(x509.load_pem_x509_certificate(leaf).public_bytes(Encoding.DER))
    flipped[-1] ^= 1
    changed = x509.load_der_x509_certificate(bytes(flipped)).public_bytes(Encoding.PEM)
    refused("not issued by", [changed, middle], [FIRM.root])


def test_every_certificate_must_be_valid_at_the_time() -> None:
    chain = FIRM.chain(PUBLIC.pem)
    for moment in (BEFORE, AFTER):
        refused("is valid from", chain, [FIRM.root], at=moment)
    soon = DURING + timedelta(days=1)
    short = [FIRM.leaf(PUBLIC.pem, end=soon), FIRM.middle]
    certified_name(short, [FIRM.root], PUBLIC, DURING)
    refused("Certificate 1 of the chain is valid from", short, [FIRM.root], at=soon + timedelta(seconds=1))
    middle = certify("Middle", FIRM.middle_key.public_key(), "Root", FIRM.root_key, (AUTHORITY, True), end=soon)
    refused("Certificate 2 of", [chain[0], middle], [FIRM.root], at=soon + timedelta(days=1))
    root = certify("Root", FIRM.root_key.public_key(), "Root", FIRM.root_key, (AUTHORITY, True), end=soon)
    refused("Certificate 3 of", chain, [root], at=soon + timedelta(days=1))
    with pytest.raises(SignatureError, match="is valid from"):
        check_own_chain(chain, PUBLIC, AFTER)


UNKNOWN = x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\x00")
CONSTRAINED = x509.NameConstraints([x509.DNSName("example.org")], None)
SERVERS = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])


@pytest.mark.parametrize(
    ("below", "words"),
    [
        ([(NO_AUTHORITY, True)], "no authority's"),
        ([], "no authority's"),
        ([(AUTHORITY, True), (usage(signs=True), True)], "may not issue"),
        ([(AUTHORITY, True), (UNKNOWN, True)], "not known here"),
        ([(AUTHORITY, True), (CONSTRAINED, True)], "not known here"),
        ([(AUTHORITY, True), (CONSTRAINED, False)], "not known here"),
        ([(AUTHORITY, True), (SERVERS, False)], "purpose"),
    ],
)
def test_who_may_stand_between(below: list[tuple[x509.ExtensionType, bool]], words: str) -> None:
    firm = Firm(below=below)
    refused(words, firm.chain(PUBLIC.pem), [firm.root])
    good = Firm(below=[(AUTHORITY, True), (usage(issues=True), True), (UNKNOWN, False)])
    certified_name(good.chain(PUBLIC.pem), [good.root], PUBLIC, DURING)


def test_no_more_may_stand_below_an_authority_than_it_says() -> None:
    for length, fits in ((0, False), (1, True)):
        limited = x509.BasicConstraints(ca=True, path_length=length)
        root = certify("Root", FIRM.root_key.public_key(), "Root", FIRM.root_key, (limited, True))
        chain = FIRM.chain(PUBLIC.pem)
        if fits:
            certified_name(chain, [root], PUBLIC, DURING)
        else:
            refused("so many", chain, [root])


@pytest.mark.parametrize(
    ("extension", "words"),
    [
        ((AUTHORITY, True), "authority's"),
        ((usage(issues=True), True), "may not sign"),
        ((SERVERS, False), "purpose"),
        ((UNKNOWN, True), "not known here"),
    ],
)
def test_what_a_leaf_may_be(extension: tuple[x509.ExtensionType, bool], words: str) -> None:
    refused(words, FIRM.chain(PUBLIC.pem, extension), [FIRM.root])
    code = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CODE_SIGNING])
    certified_name(FIRM.chain(PUBLIC.pem, (code, True), (UNKNOWN, False)), [FIRM.root], PUBLIC, DURING)


def test_weak_signatures_and_keys_do_not_count() -> None:
    refused("No root", *weakly_certified(PUBLIC.pem))
    small = Firm(rsa.generate_private_key(65537, 1024))
    refused("No root", small.chain(PUBLIC.pem), [small.root])


def test_a_leaf_with_a_key_of_another_kind_signs_nothing() -> None:
    chain = FIRM.chain(rsa.generate_private_key(65537, 2048).public_key())
    with pytest.raises(SignatureError, match="neither an Ed25519"):
        leaf_key(chain)


@pytest.mark.parametrize("junk", [b"", b"junk", FIRM.root + b"\n", b" " + FIRM.root, FIRM.root * 2, FIRM.root[:-40]])
def test_garbage_is_refused(junk: bytes) -> None:
    for chain in ([junk], [junk, FIRM.root], [FIRM.leaf(PUBLIC.pem), junk]):
        refused("malformed", chain, [FIRM.root])
    with pytest.raises(SignatureError, match="malformed"):
        claimed_name([junk], PUBLIC)
    with pytest.raises(SignatureError, match="malformed"):
        leaf_key([junk])


def test_files_of_certificates_are_bounded() -> None:
    assert read_certificates(b"# a comment\n" + FIRM.root + FIRM.middle) == (FIRM.root, FIRM.middle)
    for wrong in (b"", b"junk", FIRM.root[:-60], FIRM.root * (MAX_CERTIFICATES + 1)):
        with pytest.raises(DataError):
            read_certificates(wrong)
    huge = FIRM.leaf(PUBLIC.pem, (x509.SubjectAlternativeName([x509.DNSName("a" * 60 + ".org")] * 400), False))
    assert len(huge) > MAX_CERTIFICATE_BYTES
    with pytest.raises(DataError, match="allowed"):
        read_certificates(huge)


def verdict() -> bytes:
    return sign_verdict(verified_report(), AUDITOR, WHEN)


def test_a_chain_lies_beside_the_signature_and_changes_nothing_else() -> None:
    plain = verdict()
    assert attach_certificates(plain, []) == plain
    assert certificates_in(plain) == ()
    chain = FIRM.chain(PUBLIC.pem)
    whole = attach_certificates(plain, chain)
    assert certificates_in(whole) == tuple(chain)
    assert certificates_in(attach_certificates(plain, chain[:1])) == tuple(chain[:1])
    assert whole == canonical.encode(canonical.parse(whole))
    assert payload_of(whole) == payload_of(plain)
    assert claimed_key_ids(whole) == claimed_key_ids(plain)
    assert verify_signed(whole, PUBLIC) == verify_signed(plain, PUBLIC)
    with pytest.raises(SignatureError):
        verify_signed(whole, OTHER.public)
    # The library of others ignores what it does not know.
    theirs = Envelope.from_dict(json.loads(whole))
    assert theirs.verify([PUBLIC.wrapped], 1)
    # Only a verdict may carry one.
    statement = sign_statement(json.loads(payload_of(plain)), AUDITOR)
    with pytest.raises(SignatureError, match="malformed"):
        open_statement(attach_certificates(statement, chain), PUBLIC)


LEAF = base64.b64encode(FIRM.leaf(PUBLIC.pem)).decode()


@pytest.mark.parametrize(
    "beside",
    [
        {"certificate": 1},
        {"certificate": "no base64"},
        {"certificate": LEAF + "\n"},
        {"certificate": "A" * (MAX_CERTIFICATE_BYTES * 2)},
        {"certificate": LEAF, "intermediates": []},
        {"certificate": LEAF, "intermediates": LEAF},
        {"certificate": LEAF, "intermediates": [1]},
        {"certificate": LEAF, "intermediates": [LEAF] * MAX_CERTIFICATES},
        {"intermediates": [LEAF]},
        {"certificate": LEAF, "timestamps": []},
    ],
)
def test_what_lies_beside_a_signature_otherwise_is_refused(beside: dict[str, Any]) -> None:
    value = json.loads(verdict())
    value["signatures"][0] |= {"certificate": LEAF, "intermediates": [LEAF] * (MAX_CERTIFICATES - 1)}
    verify_signed(json.dumps(value).encode(), PUBLIC)
    value = json.loads(verdict())
    value["signatures"][0] |= beside
    for reader in (certificates_in, payload_of, lambda data: verify_signed(data, PUBLIC)):
        with pytest.raises(SignatureError, match="malformed"):
            reader(json.dumps(value).encode())


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an auditor's key, its chain, a root, another root, and what is to be signed."""
    monkeypatch.chdir(tmp_path)
    for name in ("auditor", "other"):
        assert main(["keygen", f"{name}.pem", "--no-passphrase"]) == 0
    for name in ("auditor", "other"):
        chain = FIRM.chain((tmp_path / f"{name}.pub.pem").read_text())
        (tmp_path / f"{name}-chain.pem").write_bytes(b"".join(chain))
    (tmp_path / "root.pem").write_bytes(FIRM.root)
    (tmp_path / "strange.pem").write_bytes(Firm().root)
    (tmp_path / "v.unsigned").write_bytes(payload_of(verdict()))
    return tmp_path


def test_the_commands_sign_with_a_chain_and_verify_by_a_root(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sign = ["sign", "v.unsigned", "--key", "auditor.pem"]
    assert main([*sign, "--out", "plain.json"]) == 0
    assert main([*sign, "--certificate", "auditor-chain.pem", "--out", "v.json"]) == 0
    plain, whole = ((desk / name).read_bytes() for name in ("plain.json", "v.json"))
    assert attach_certificates(plain, certificates_in(whole)) == whole != plain
    capsys.readouterr()

    assert main(["verify", "v.json", "--roots", "root.pem"]) == 0
    said = capsys.readouterr().out
    assert "Certified name  CN=Ada Auditor" in said
    assert "by the root CN=Root" in said
    assert main(["verify", "v.json", "--key", "auditor.pub.pem", "--roots", "root.pem", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["root"] == "CN=Root"
    assert main(["verify", "v.json", "--key", "auditor.pub.pem"]) == 0
    said = capsys.readouterr().out
    assert "Claimed name" in said
    assert "Certified" not in said
    assert main(["verify", "plain.json", "--key", "auditor.pub.pem"]) == 0
    assert "Claimed name" not in capsys.readouterr().out
    assert main(["verify", "plain.json", "--key", "auditor.pub.pem", "--json"]) == 0
    assert "certificate" not in json.loads(capsys.readouterr().out)

    for wrong, code, words in (
        (["v.json", "--roots", "strange.pem"], 3, "No root that was given"),
        (["v.json", "--key", "other.pub.pem", "--roots", "root.pem"], 3, "does not hold"),
        (["plain.json", "--roots", "root.pem"], 3, "No certificate lies beside"),
        (["plain.json", "--key", "auditor.pub.pem", "--roots", "root.pem"], 3, "No certificate lies beside"),
        (["v.json", "--roots", "root.pem", "--at", "2041-01-01T00:00:00Z"], 3, "is valid from"),
        (["v.json", "--roots", "root.pem", "--at", "yesterday"], 4, "--at"),
        (["v.json", "--key", "auditor.pub.pem", "--at", "2030-01-01T00:00:00Z"], 4, "--roots"),
        (["v.json", "--roots", "auditor.pub.pem"], 4, "no file of X.509 certificates"),
        (["v.json"], 4, "--roots"),
    ):
        assert main(["verify", *wrong]) == code, wrong
        told = capsys.readouterr()
        assert words in " ".join((told.out + told.err).split()), wrong

    # The chain of somebody else's key, put in the place of the auditor's.
    stolen = read_certificates((desk / "other-chain.pem").read_bytes())
    (desk / "v.json").write_bytes(attach_certificates(plain, stolen))
    assert main(["verify", "v.json", "--roots", "root.pem"]) == 3
    assert main(["verify", "v.json", "--key", "auditor.pub.pem"]) == 3
    assert main(["verify", "v.json", "--key", "auditor.pub.pem", "--roots", "root.pem"]) == 3


def test_no_chain_of_another_key_goes_beside_a_signature(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sign = ["sign", "v.unsigned", "--key", "auditor.pem", "--out", "v.json"]
    for chain, code in (("other-chain.pem", 3), ("auditor.pub.pem", 4), ("none.pem", 4)):
        assert main([*sign, "--certificate", chain]) == code
    assert not (desk / "v.json").exists()
    assert main(["audit", "no.cfoil", "--certificate", "auditor-chain.pem"]) == 4
    assert "--certificate belongs to --key" in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize("wrong", ["", "key", "root", "below"])
def test_openssl_alone_finds_the_same(tmp_path: Path, wrong: str) -> None:
    firm = Firm(below=[(NO_AUTHORITY if wrong == "below" else AUTHORITY, True)])
    chain = firm.chain((OTHER if wrong == "key" else AUDITOR).public.pem)
    root = (FIRM if wrong == "root" else firm).root
    (tmp_path / "verdict.json").write_bytes(attach_certificates(verdict(), chain))
    (tmp_path / "root.pem").write_bytes(root)
    (tmp_path / "auditor.pub.pem").write_text(PUBLIC.pem)
    page = (Path(__file__).parents[3] / "docs" / "keys.md").read_text(encoding="utf-8")
    lines = page.split("<!-- openssl-chain -->")[1].split("```")[1].removeprefix("sh\n")
    found = subprocess.run(["bash", "-euo", "pipefail", "-c", lines], cwd=tmp_path, capture_output=True, text=True)
    try:
        certified_name(certificates_in((tmp_path / "verdict.json").read_bytes()), [root], PUBLIC)
        ours = True
    except CounterfoilError:
        ours = False
    assert (found.returncode == 0, ours) == (not wrong, not wrong), found.stderr + found.stdout
