"""A file that is no bundle is refused, and the signed verdict says which file that was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from counterfoil import AuditFinished, AuditRequest, Outcome, run_audit, sign_verdict, verify_verdict
from counterfoil.audit.statement.verdict import check_bundle_file
from counterfoil.commit.digest import Digest
from counterfoil.errors import SignatureError
from counterfoil.signing import SigningKey


def test_the_verdict_names_the_refused_file(tmp_path: Path, trainer_key: SigningKey) -> None:
    path = tmp_path / "junk.cfoil"
    path.write_bytes(b"junk")
    *_, last = run_audit(AuditRequest(path))
    assert isinstance(last, AuditFinished)
    assert last.report.outcome is Outcome.REFUSED
    assert last.report.bundle_digest == Digest.of(b"junk")
    verdict = verify_verdict(sign_verdict(last.report, trainer_key), trainer_key.public)
    check_bundle_file(verdict, path)
    path.write_bytes(b"other")
    with pytest.raises(SignatureError, match="another file"):
        check_bundle_file(verdict, path)


def test_no_file_has_no_digest(tmp_path: Path) -> None:
    *_, last = run_audit(AuditRequest(tmp_path / "none.cfoil"))
    assert isinstance(last, AuditFinished)
    assert (last.report.outcome, last.report.bundle_digest) == (Outcome.REFUSED, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.cfoil"
    os.mkfifo(pipe)
    *_, last = run_audit(AuditRequest(pipe))
    assert isinstance(last, AuditFinished)
    assert (last.report.outcome, last.report.bundle_digest) == (Outcome.REFUSED, None)
