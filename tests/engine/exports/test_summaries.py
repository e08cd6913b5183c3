"""A verdict in the words of others: what PASSED means, what is refused, and how it is signed."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from counterfoil.cli import main
from counterfoil.exports.modelcard import model_card
from counterfoil.exports.summary import (
    CLIENT_ORDER,
    REPLAYED,
    SAMPLE,
    TRAINER_KEY,
    WEIGHTS,
    svr_statement,
    vsa_statement,
)
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.statement.verdict import preview_verdict, verify_verdict
from counterfoil_core.values.outcome import CheckState, Outcome
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.sampling import NonceSource, Sample, Selection, draw_segments, ranges
from support.reports import checks, disputed_report, trees, verified_report

TIME = datetime(2026, 1, 31, 12, tzinfo=UTC)
MODEL = ("model", Digest.of(b"model"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("auditor")
    generate_key(folder / "auditor.pem", None)
    return folder


def _verdict(folder: Path, report: AuditReport, model=None) -> Path:
    path = folder / f"{report.outcome.value}.json"
    path.write_bytes(load_private_key(folder / "auditor.pem", None).sign(preview_verdict(report, TIME, model)))
    return path


def _inconclusive() -> AuditReport:
    return replace(
        verified_report(),
        outcome=Outcome.INCONCLUSIVE,
        reason="Stopped.",
        steps_replayed=50,
        checks=checks(COVERAGE=CheckState.FAILED),
    )


def _read(folder: Path, report: AuditReport, model=None):
    path = _verdict(folder, report, model)
    return verify_verdict(path.read_bytes(), load_public_key(folder / "auditor.pub.pem"))


def test_what_passes_and_what_is_neither(folder):
    verdict = _read(folder, verified_report(), MODEL)
    assert verdict.model == MODEL
    digest = Digest.of(b"verdict")
    vsa = vsa_statement(verdict, "v.json", digest)
    assert vsa["predicate"]["verificationResult"] == "PASSED"
    assert vsa["predicate"]["verifiedLevels"] == [REPLAYED, CLIENT_ORDER, WEIGHTS]
    assert vsa["predicate"]["inputAttestations"][0]["digest"] == {"sha256": digest.hex}
    assert vsa["subject"][2] == {"name": "model", "digest": {"sha256": MODEL[1].hex}}
    assert svr_statement(verdict)["predicate"]["properties"] == [REPLAYED, CLIENT_ORDER, WEIGHTS]
    disputed = _read(folder, disputed_report())
    found = vsa_statement(disputed, "v.json", digest)["predicate"]
    assert (found["verificationResult"], found["verifiedLevels"]) == ("FAILED", ["FAILED"])
    with pytest.raises(DataError, match="only names what holds"):
        svr_statement(disputed)
    open_ended = _read(folder, _inconclusive())
    for made in (svr_statement, lambda said: vsa_statement(said, "v.json", digest)):
        with pytest.raises(DataError, match="INCONCLUSIVE"):
            made(open_ended)
    assert SAMPLE != REPLAYED


def _sampled(selection: Selection, spans=((2, 2),), source=NonceSource.DRAWN) -> AuditReport:
    """A report of one segment of twelve, of five steps each."""
    nonce = "ab" * 32 if selection is Selection.RANDOM else ""
    if nonce:
        spans = tuple(ranges(draw_segments(12, 1, nonce, trees()[0].root)))
    return replace(
        verified_report(),
        sample=Sample(12, spans, selection, nonce, 1 if nonce else 0, source if nonce else None),
        steps_planned=5,
        steps_replayed=5,
        checks=checks(COVERAGE=CheckState.WARNING),
    )


def test_one_segment_that_the_auditor_listed_is_no_summary(folder):
    listed = _read(folder, _sampled(Selection.LISTED))
    for made in (svr_statement, lambda said: vsa_statement(said, "v.json", Digest.of(b"verdict"))):
        with pytest.raises(DataError, match="about 1 of 12 segments, which the auditor listed"):
            made(listed)


def test_a_nonce_that_somebody_may_have_known_is_no_summary(folder):
    given = _read(folder, _sampled(Selection.RANDOM, source=NonceSource.GIVEN))
    for made in (svr_statement, lambda said: vsa_statement(said, "v.json", Digest.of(b"verdict"))):
        with pytest.raises(DataError, match="depends on who knew it"):
            made(given)


def test_a_random_sample_says_how_large_it_was(folder):
    drawn = _read(folder, _sampled(Selection.RANDOM))
    levels = [SAMPLE, "COUNTERFOIL_SAMPLE_OF_1_IN_12_SEGMENTS", CLIENT_ORDER]
    assert svr_statement(drawn)["predicate"]["properties"] == levels
    assert vsa_statement(drawn, "v.json", Digest.of(b"verdict"))["predicate"]["verifiedLevels"] == levels


def test_whether_the_trainers_key_was_given(folder):
    report = verified_report()
    assert TRAINER_KEY not in svr_statement(_read(folder, report))["predicate"]["properties"]
    given = _read(folder, replace(report, given_key=report.trainer_key))
    assert svr_statement(given)["predicate"]["properties"] == [REPLAYED, TRAINER_KEY, CLIENT_ORDER]
    assert "which the run itself names" in model_card(_read(folder, report), "k", "v")
    assert "which the auditor was given" in model_card(given, "k", "v")
    assert "| Client | the order is unsigned; accepted by the trainer |" in model_card(given, "k", "v")


def test_no_model_beside_segments_that_do_not_lead_to_it(folder):
    with pytest.raises(SignatureError, match="nobody replayed the segment that ends in it"):
        _read(folder, _sampled(Selection.LISTED), MODEL)
    assert _read(folder, _sampled(Selection.LISTED, ((12, 12),)), MODEL).model == MODEL


def test_a_model_card_says_no_more_than_the_verdict(folder):
    whole = model_card(_read(folder, verified_report()), "k", "v")
    assert whole.startswith("## Verified training\n")
    assert "the whole training was executed again" in whole
    drawn = model_card(_read(folder, _sampled(Selection.RANDOM)), "k", "v")
    assert drawn.startswith("## Training verified in part\n")
    assert "**VERIFIED for 1 of 12 segments**: only these were executed again" in drawn
    assert re.search(r"would have passed with probability .*\d", drawn)
    assert "bit for bit |" not in drawn
    listed = model_card(_read(folder, _sampled(Selection.LISTED)), "k", "v")
    assert "nothing follows for the others" in listed
    long = "Every one of the steps matched. " * 20 + "The probability is 0\\.25"
    assert r"The probability is 0" in model_card(_read(folder, replace(verified_report(), reason=long)), "k", "v")
    disputed = model_card(_read(folder, disputed_report()), "k", "v")
    assert disputed.startswith("## Disputed training\n")
    assert "VERIFIED" not in disputed
    assert model_card(_read(folder, _inconclusive()), "k", "v").startswith("## Training that was not verified\n")


def _bundle(folder: Path, kind: str, *more: str) -> dict:
    out = folder / f"{kind}.sigstore.json"
    verdict = _verdict(folder, verified_report(), MODEL)
    command = ["export", kind, str(verdict), "--key", str(folder / "auditor.pem"), "--out", str(out), "--force"]
    assert main([*command, *more]) == 0
    return json.loads(out.read_text())


def _pae(payload: bytes) -> bytes:
    return b"DSSEv1 28 application/vnd.in-toto+json %d " % len(payload) + payload


def test_a_sigstore_bundle_by_the_command(folder, capsys):
    bundle = _bundle(folder, "vsa")
    envelope = bundle["dsseEnvelope"]
    payload = base64.b64decode(envelope["payload"])
    key = load_pem_public_key((folder / "auditor.pub.pem").read_bytes())
    key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), _pae(payload))
    assert json.loads(payload)["predicateType"] == "https://slsa.dev/verification_summary/v1"
    # What is not VERIFIED leaves no file behind.
    for report in (_inconclusive(), disputed_report()):
        out = folder / "none.json"
        verdict = _verdict(folder, report)
        command = ["export", "svr", str(verdict), "--key", str(folder / "auditor.pem"), "--out", str(out)]
        assert main(command) == 4
        assert not out.exists()
    generate_key(folder / "stranger.pem", None)
    verdict = _verdict(folder, verified_report())
    command = ["export", "svr", str(verdict), "--key", str(folder / "stranger.pem"), "--out", str(out)]
    assert main(command) == 3
    assert "does not hold" in capsys.readouterr().err
    assert main([*command, "--verdict-key", str(folder / "auditor.pub.pem")]) == 0


def test_a_section_for_a_model_card(folder):
    report = replace(verified_report(), title="| **evil** <script> [x](http://y)")
    text = model_card(_read(folder, report, MODEL), "auditor.pub.pem", "v.json")
    assert "**VERIFIED**" in text
    assert MODEL[1].hex in text
    assert "<script>" not in text
    assert r"\| \*\*evil\*\*" in text


@pytest.mark.slow
def test_the_formats_own_tools_read_it(folder):
    bundles = pytest.importorskip("sigstore_models.bundle.v1")
    vsa_pb2 = pytest.importorskip("in_toto_attestation.predicates.vsa.v1.vsa_pb2")
    statement = pytest.importorskip("in_toto_attestation.v1.statement")
    json_format = pytest.importorskip("google.protobuf.json_format")
    for kind in ("svr", "vsa"):
        found = bundles.Bundle.from_json(json.dumps(_bundle(folder, kind)))
        said = json.loads(found.dsse_envelope.payload)
        from in_toto_attestation.v1 import statement_pb2

        parsed = json_format.ParseDict(said, statement_pb2.Statement())
        statement.Statement.copy_from_pb(parsed).validate()
        if kind == "vsa":
            # Its form of protobuf is of a draft: it has one level, where slsa.dev has a list, and no version.
            levels = said["predicate"].pop("verifiedLevels")
            assert levels == [REPLAYED, CLIENT_ORDER, WEIGHTS]
            summary = json_format.ParseDict(
                said["predicate"], vsa_pb2.VerificationSummary(), ignore_unknown_fields=True
            )
            assert summary.verification_result == "PASSED"


class _Authority:
    """A time-stamping server of openssl's on this machine."""

    def __init__(self, folder: Path) -> None:
        config = folder / "tsa.cnf"
        config.write_text(
            "[req]\ndistinguished_name=dn\n[dn]\n[ext]\nextendedKeyUsage=critical,timeStamping\n"
            "keyUsage=critical,digitalSignature\nbasicConstraints=CA:FALSE\n"
            "[ca]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
            "[tsa]\ndefault_tsa=t\n[t]\nserial=" + str(folder / "serial") + "\ncrypto_device=builtin\n"
            "signer_digest=sha256\ndefault_policy=1.2.3.4.1\ndigests=sha256,sha512\naccuracy=secs:1\n"
            "ordering=no\ntsa_name=no\ness_cert_id_chain=no\ness_cert_id_alg=sha256\n"
        )
        (folder / "serial").write_text("01\n")

        def openssl(*arguments: str) -> None:
            subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

        ca = ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Authority", "-extensions", "ca"]
        openssl("req", "-x509", "-config", "tsa.cnf", "-newkey", "rsa:2048", "-nodes", "-days", "30", *ca)
        openssl(
            "req", "-config", "tsa.cnf", "-newkey", "rsa:2048", "-nodes", "-keyout", "tsa.key", "-out", "tsa.csr",
            "-subj", "/CN=Stamps",
        )  # fmt: skip
        signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30", "-extensions", "ext"]
        openssl("x509", "-req", "-in", "tsa.csr", *signed, "-extfile", "tsa.cnf", "-out", "tsa.pem")
        self.folder, self.certificate = folder, folder / "ca.pem"
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                (folder / "query").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
                openssl(
                    "ts", "-reply", "-config", "tsa.cnf", "-section", "t", "-queryfile", "query", "-inkey", "tsa.key",
                    "-signer", "tsa.pem", "-chain", "tsa.pem", "-out", "answer",
                )  # fmt: skip
                data = authority.answer((folder / "answer").read_bytes())
                self.send_response(200)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_arguments) -> None:
                pass

        self.answer = lambda data: data
        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.mark.slow
def test_a_time_stamp_of_a_server(folder, tmp_path, capsys):
    client = pytest.importorskip("rfc3161_client")
    authority = _Authority(tmp_path)
    try:
        given = ["--timestamp", authority.url, "--timestamp-ca", str(authority.certificate)]
        bundle = _bundle(folder, "svr", *given)
        (stamp,) = bundle["verificationMaterial"]["timestampVerificationData"]["rfc3161Timestamps"]
        answer = base64.b64decode(stamp["signedTimestamp"])
        (tmp_path / "first").write_bytes(answer)
        (tmp_path / "signature").write_bytes(base64.b64decode(bundle["dsseEnvelope"]["signatures"][0]["sig"]))
        assert client.decode_timestamp_response(answer).status == 0
        check = ["openssl", "ts", "-verify", "-in", "first", "-data", "signature", "-CAfile", "ca.pem"]
        done = subprocess.run(
            [*check, "-untrusted", "tsa.pem"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "Verification: OK" in done.stdout + done.stderr, done.stderr
        # The stamp of another signature is not taken.
        authority.answer = lambda _data: answer
        verdict = _verdict(folder, verified_report())
        command = ["export", "svr", str(verdict), "--key", str(folder / "auditor.pem"), "--out", str(tmp_path / "o")]
        assert main([*command, *given]) == 4
        assert "no time stamp of this signature" in capsys.readouterr().err
        assert not (tmp_path / "o").exists()
    finally:
        authority.server.shutdown()
        authority.server.server_close()
