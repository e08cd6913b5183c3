"""Progress that is not this audit's: torn, forged, or kept of another file, order, version or device."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
import stat
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from counterfoil.audit import progressfile
from counterfoil.audit.progressfile import MARK, capsule_of, encode, load
from counterfoil.base import seal
from counterfoil.base.seal import SEAL_BYTES
from counterfoil_core.arithmetic import machine
from counterfoil_core.base.errors import ProgressError
from counterfoil_core.hearing.keptaudit import KeptAudit
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import SegmentRequest
from support.expectations import run_root, verified
from support.jobs import Job, sign_again
from support.resuming import ended, progress_of, refused, request_of, stopped_after, whole


@pytest.fixture(autouse=True)
def at_every_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is written wherever a segment ends."""
    monkeypatch.setattr(progressfile, "LEAST_SECONDS", -1e9)


def test_progress_of_another_audit_is_not_used(digits_job, cheat_job, tmp_path, monkeypatch):
    place = tmp_path / "kept"
    place.mkdir()
    path = progress_of(digits_job, place)
    before = path.read_bytes()
    refused(request_of(cheat_job, place, resume=True), "No progress of an audit of this run was kept")
    refused(request_of(cheat_job, path, resume=True), "the file", "the run", "What differs")
    refused(
        request_of(digits_job, place, resume=True, segments=SegmentRequest(count=2)), "the segments", "What differs"
    )
    refused(request_of(digits_job, place, resume=True, continue_after_dispute=False), "after a dispute", "What differs")
    refused(request_of(digits_job, None, resume=True), "No file or folder for the progress")
    for name, words in (("torch", "version of torch"), ("counterfoil", "version of Counterfoil"), ("device", "device")):
        with monkeypatch.context() as patch:
            environment = machine.environment

            def other(device, name=name, environment=environment):
                return tuple(sorted({**dict(environment(device)), name: "another"}.items()))

            patch.setattr(machine, "environment", other)
            refused(request_of(digits_job, place, resume=True), words, "What differs")
    assert path.read_bytes() == before
    # Control: with other threads, another name and another place of the file it is the same audit.
    moved = Job(digits_job.order, Path(shutil.copy(digits_job.run, tmp_path / "moved.cfoil")))
    assert ended(whole(request_of(moved, place, resume=True, threads=2))).report.outcome is Outcome.VERIFIED


def test_a_file_of_the_same_run_with_other_bytes_is_another_file(digits_job, tmp_path, trainer_key):
    """Signed once more: the run root and all that would be judged are the same, the SHA-256 is not."""
    place = tmp_path / "kept"
    place.mkdir()
    progress_of(digits_job, place)
    other = Path(shutil.copy(digits_job.run, tmp_path / "run.cfoil"))
    sign_again(other, trainer_key, signed_at="2026-01-31T12:00:00Z")
    assert run_root(other) == run_root(digits_job.run)
    refused(request_of(Job(digits_job.order, other), place, resume=True), "What differs: the file.")
    verified(other, digits_job.order)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("damage", ["torn", "flipped", "emptied", "another version"])
def test_damaged_progress_is_not_used(digits_job, tmp_path, damage):
    path = progress_of(digits_job, tmp_path / "progress")
    data = path.read_bytes()
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    path.write_bytes(
        {
            "torn": data[: len(data) // 2],
            "flipped": bytes(flipped),
            "emptied": b"",
            "another version": data.replace(MARK, MARK[:-2] + b"0\n"),
        }[damage]
    )
    refused(request_of(digits_job, path, resume=True), "damaged")
    # Nor does it stand in the way of an audit that starts anew.
    events = whole(request_of(digits_job, path))
    assert ended(events).report.outcome is Outcome.VERIFIED
    assert not path.exists()


def test_forged_progress_is_not_used(cheat_job, digits_job, tmp_path):
    """Not even a sound seal helps: it says that all was judged, of another file, or of too few steps."""
    honest = load(progress_of(digits_job, tmp_path / "honest", 5))
    path = progress_of(cheat_job, tmp_path / "progress", 2)
    found = load(path)
    assert found is not None
    assert honest is not None
    path.write_bytes(encode(honest))
    refused(request_of(cheat_job, path, resume=True), "the file", "What differs")
    later = {name: column[len(column) // 4 :] for name, column in honest.steps.items()}
    for forged in (
        [found.basis, 3, found.steps],
        [found.basis, 2, later],
        [found.basis, 4, honest.steps],
        [found.basis, 1, honest.steps],
    ):
        basis, segments, steps = forged
        path.write_bytes(encode(KeptAudit(**{**fields_of(found), "basis": basis, "segments": segments,
                                                     "steps": steps})))  # fmt: skip
        events = whole(request_of(cheat_job, path, resume=True))
        assert ended(events).report.outcome is Outcome.ERROR
        assert "does not fit the run" in ended(events).report.reason


def test_lists_in_lists_are_refused_however_deep(digits_job, tmp_path):
    path = progress_of(digits_job, tmp_path / "progress")
    body = path.read_bytes()[len(MARK) + SEAL_BYTES :]
    field, digest = b"\xa4file", b"\xc4\x20"
    before, _, behind = body.partition(field + digest)
    assert behind, "a digest of 32 bytes"
    deep = before + field + b"\x91" * 5000 + b"\x90" + behind[32:]
    path.write_bytes(MARK + seal.seal(MARK + deep) + deep)
    refused(request_of(digits_job, path, resume=True), "written by another version")


def all_right(path: Path, job: Job) -> bytes:
    """Progress of an audit of ``job`` that says that everything came out right; its basis fits in every respect."""
    found = load(path)
    assert found is not None
    steps = dict(found.steps)
    rows = len(steps["match"])
    for name in ("corrections", "contradictions", "omissions", "steered"):
        steps[name] = bytes(8 * rows)
    forged = {**fields_of(found), "steps": steps | {"match": b"\1" * rows, "leaf": b"\2" * rows, "own_leaves": b""},
              "dispute": None, "capsule": None, "divergences": (), "omissions": ()}  # fmt: skip
    return encode(KeptAudit(**forged))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["digest", "another key", "none", "of other words"])
def test_progress_that_fits_and_was_made_by_somebody_else(kind, cheat_job, tmp_path):
    path = progress_of(cheat_job, tmp_path / "progress", 5)
    body = all_right(path, cheat_job)[len(MARK) + SEAL_BYTES :]
    path.write_bytes(
        MARK
        + {
            "digest": hashlib.sha256(body).digest(),
            "another key": hmac.digest(bytes(32), MARK + body, "sha256"),
            "none": bytes(32),
            "of other words": seal.seal(body),
        }[kind]
        + body
    )
    refused(request_of(cheat_job, path, resume=True), "not used", "was not kept by this user")
    # Control: this is what a seal of this user's would do, and why the key is for nobody else to read.
    path.write_bytes(MARK + seal.seal(MARK + body) + body)
    assert ended(whole(request_of(cheat_job, path, resume=True))).report.outcome is Outcome.VERIFIED


@pytest.mark.sampled(2)
@pytest.mark.skipif(os.name != "posix", reason="files have no owner and no mode there")
@pytest.mark.parametrize("spoiled", ["gone", "readable", "another's", "a link", "a folder", "short"])
def test_progress_is_not_used_without_the_key(spoiled, digits_job, tmp_path, monkeypatch):
    home = tmp_path / "state"
    monkeypatch.setattr(seal, "state_home", lambda: home)
    path = progress_of(digits_job, tmp_path / "progress")
    key = seal.key_path()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32
    if spoiled == "readable":
        key.chmod(0o644)
    elif spoiled == "another's":
        uid = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    elif spoiled == "short":
        key.write_bytes(b"short")
    else:
        key.rename(tmp_path / "key")
        if spoiled == "a link":
            key.symlink_to(tmp_path / "key")
        elif spoiled == "a folder":
            key.mkdir()
    refused(request_of(digits_job, path, resume=True), "secret key", "cannot be used", "not used")
    # An audit that starts anew ends as ever; where there is no key it makes one.
    stopped = ended(stopped_after(request_of(digits_job, path), 3))
    if spoiled == "gone":
        assert stopped.kept is not None
        assert key.stat().st_size == 32
    else:
        assert "could not be kept" in stopped.problem
    assert ended(whole(request_of(digits_job, path))).report.outcome is Outcome.VERIFIED


def fields_of(audit: KeptAudit) -> dict[str, Any]:
    return {name: getattr(audit, name) for name in audit.__struct_fields__}


def test_a_capsule_that_is_not_the_one_that_was_kept(cheat_job, tmp_path):
    path = progress_of(cheat_job, tmp_path / "progress", 5)
    assert capsule_of(path).is_file()
    capsule_of(path).write_bytes(b"another")
    refused(request_of(cheat_job, path, resume=True), "is another one")
    capsule_of(path).unlink()
    refused(request_of(cheat_job, path, resume=True), "cannot be read")


@pytest.mark.parametrize("size", [2**31 + 1, 2**40, 2**31 - 1])
def test_a_sparse_file_is_no_progress_and_takes_no_memory(size, digits_job, tmp_path):
    path = tmp_path / "progress"
    with path.open("wb") as file:
        file.truncate(size)
    tracemalloc.start()
    try:
        with pytest.raises(ProgressError):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    refused(request_of(digits_job, path, resume=True), "progress")


def test_a_pipe_is_not_waited_for(digits_job, tmp_path):
    os.mkfifo(tmp_path / "progress")
    assert load(tmp_path / "progress") is None
