"""Tree heads published while training: written as it goes, and found consistent with the run."""

from __future__ import annotations

import json

import pytest

from counterfoil.audit.overview import inspect
from counterfoil.training.recorder import record
from counterfoil.training.recordingevents import StepRecorded
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CancelledError, FileWriteError, GivenFileError, SignatureError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.parties.treeheads import read_tree_heads
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.envelope import open_statement
from counterfoil_core.signing.kinds import TREE_HEAD
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.values.events import StepReplayed
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.heads import heads_of, record_with_heads, write_heads
from support.jobs import audited


@pytest.fixture
def published(tmp_path, digits_job, trainer_key):
    return record_with_heads(digits_job.order, tmp_path, trainer_key)


def test_every_head_is_the_root_over_the_steps_so_far(published, trainer_key):
    run, heads = published
    with BundleReader.open(run) as reader:
        records = reader.step_records()
        claim = open_said(RunClaim, reader.claim())
    found = heads_of(heads, trainer_key.public)
    assert [head.size for head in found] == [3, 5, 7]
    for head in found:
        assert head.root == run_tree(records[: head.size]).root
        assert head.order == claim.order
    assert found[-1].root == claim.run_root


def test_heads_change_nothing_about_the_run(published, digits_job):
    with BundleReader.open(published[0]) as one, BundleReader.open(digits_job.run) as two:
        assert open_said(RunClaim, one.claim()).run_root == open_said(RunClaim, two.claim()).run_root


@pytest.mark.parametrize(("every", "sizes"), [(1, [2, 3, 4, 5, 6, 7]), (4, [5, 7]), (100, [7])])
def test_the_last_step_always_has_a_head(tmp_path, digits_job, trainer_key, every, sizes):
    _, heads = record_with_heads(digits_job.order, tmp_path, trainer_key, heads_every=every)
    assert [head.size for head in heads_of(heads, trainer_key.public)] == sizes


def test_a_line_is_a_signed_statement_that_can_be_published_by_itself(published, trainer_key):
    line = published[1].read_bytes().splitlines()[0]
    assert set(json.loads(line)) == {"payload", "payloadType", "signatures"}
    assert open_statement(line, trainer_key.public)["predicateType"] == TREE_HEAD.predicate


def test_what_was_published_stays_when_training_is_stopped(tmp_path, digits_job, trainer_key):
    token, heads = CancelToken(), tmp_path / "heads.jsonl"
    recording = record(
        digits_job.order, tmp_path / "run.cfoil", trainer_key, threads=1, cancel=token, heads=heads, heads_every=2
    )

    def until_cancelled() -> None:
        for event in recording:
            if isinstance(event, StepRecorded) and event.step == 3:
                token.cancel()

    with pytest.raises(CancelledError):
        until_cancelled()
    assert not (tmp_path / "run.cfoil").exists()
    assert [head.size for head in heads_of(heads, trainer_key.public)] == [3]


def test_an_audit_says_since_when_history_stands(published, digits_job):
    run, heads = published
    result = audited(run, digits_job.order, heads=heads)
    assert result.report.outcome is Outcome.VERIFIED
    detail = result.check(CheckNumber.COMMITMENTS).detail
    assert "3 tree heads that the trainer signed agree with it, from step 2 on. They bind the trainer since" in detail
    assert "tree head" not in audited(run, digits_job.order).check(CheckNumber.COMMITMENTS).detail
    checks = inspect(run, heads=heads).checks
    assert checks[CheckNumber.COMMITMENTS - 1].detail.startswith(detail)


def test_some_heads_are_as_good_as_all(published, digits_job, trainer_key):
    """Whoever kept only one of the published heads can still check it; which ones are missing nobody can tell."""
    run, heads = published
    found = heads_of(heads, trainer_key.public)
    write_heads(heads, found[1:2], trainer_key)
    detail = audited(run, heads=heads).check(CheckNumber.COMMITMENTS).detail
    assert "One tree head that the trainer signed agrees with it, from step 4 on" in detail


# Files that are none.


@pytest.mark.parametrize(
    "line", [b"", b"junk", b"{}", b"[" * 5000, b"x" * (TREE_HEAD.most + 1)], ids=["empty", "junk", "{}", "deep", "long"]
)
def test_a_line_that_is_no_head_is_named(published, trainer_key, line):
    heads = published[1]
    heads.write_bytes(heads.read_bytes() + line + b"\n")
    with pytest.raises(SignatureError, match=r"Line 4 of heads\.jsonl"):
        read_tree_heads(heads, trainer_key.public)


def test_another_signed_statement_is_no_head(published, trainer_key):
    run, heads = published
    with BundleReader.open(run) as reader:
        claim = open_said(RunClaim, reader.claim())
    heads.write_bytes(sign_said(claim, trainer_key) + b"\n")
    with pytest.raises(SignatureError, match="not a tree head"):
        read_tree_heads(heads, trainer_key.public)


def test_files_that_cannot_be_read_or_written(tmp_path, digits_job, trainer_key, published):
    none = tmp_path / "none.jsonl"
    with pytest.raises(GivenFileError, match="There is no file"):
        read_tree_heads(none, trainer_key.public)
    for named, said in ((none, "There is no file"), (tmp_path, "is a folder, where the tree heads")):
        with pytest.raises(GivenFileError, match=said) as caught:
            audited(published[0], heads=named)
        assert caught.value.role == "heads", "nothing is concluded of the run"
    none.write_text("\n")
    result = audited(published[0], heads=none)
    assert result.report.outcome is Outcome.REFUSED
    assert result.check(CheckNumber.COMMITMENTS).state is CheckState.FAILED
    assert not result.of(StepReplayed)
    with pytest.raises(FileWriteError, match="tree heads"):
        list(record(digits_job.order, tmp_path / "r.cfoil", trainer_key, heads=tmp_path / "none" / "heads.jsonl"))
    assert not (tmp_path / "r.cfoil").exists()
