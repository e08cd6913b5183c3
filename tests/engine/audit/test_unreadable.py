"""A file that is no bundle is refused, and the signed verdict says which file that was; no file refuses nobody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from counterfoil import AuditFinished, AuditRequest, Outcome, run_audit, sign_verdict, verify_verdict
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError, SignatureError
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import check_bundle_file


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


@pytest.mark.parametrize(("name", "said"), [("none.cfoil", "There is no file"), (".", "is a folder")])
def test_where_there_is_no_file_nothing_is_concluded(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(GivenFileError, match=said) as caught:
        list(run_audit(AuditRequest(tmp_path / name)))
    assert caught.value.role == "file"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.cfoil"
    os.mkfifo(pipe)
    with pytest.raises(GivenFileError, match="is a pipe"):
        list(run_audit(AuditRequest(pipe)))
