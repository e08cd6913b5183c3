"""The trainer publishes tree heads while training, and delivers a run with another history."""

from __future__ import annotations

import pytest

from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.base.digest import Digest
from counterfoil_core.values.outcome import CheckNumber, CheckState, Outcome
from support.heads import heads_of, record_with_heads, write_heads
from support.jobs import audited, digits_order, record_run


@pytest.fixture
def published(tmp_path, digits_job, trainer_key):
    return record_with_heads(digits_job.order, tmp_path, trainer_key)


def refused(run, order, heads) -> str:
    result = audited(run, order, heads=heads)
    assert result.report.outcome is Outcome.REFUSED
    assert result.check(CheckNumber.COMMITMENTS).state is CheckState.FAILED
    return result.report.reason


def test_control_the_published_heads_agree(published, digits_job):
    run, heads = published
    assert audited(run, digits_job.order, heads=heads).report.outcome is Outcome.VERIFIED


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("step", "first_head"), [(1, 3), (4, 5), (6, 7)])
def test_a_poisoned_training_is_replaced_by_an_honest_run(tmp_path, digits_job, trainer_key, step, first_head):
    """What was trained and published was poisoned; the run that is delivered for audit is not."""
    _, heads = record_with_heads(digits_job.order, tmp_path, trainer_key, tamper=LabelFlip(step))
    honest = record_run(digits_job.order, tmp_path / "honest.cfoil", trainer_key)
    reason = refused(honest, digits_job.order, heads)
    assert f"tree head over {first_head} leaves" in reason
    assert f"signed two histories up to step {first_head - 1}." in reason
    # Without the heads nobody could tell: the delivered run is honest.
    assert audited(honest, digits_job.order).report.outcome is Outcome.VERIFIED


def test_one_head_with_another_root(published, digits_job, trainer_key):
    run, heads = published
    first, *others = heads_of(heads, trainer_key.public)
    forged = write_heads(heads.with_name("forged.jsonl"), [first], trainer_key, root=Digest.of(b"another"))
    forged.write_bytes(forged.read_bytes() + write_heads(heads, others, trainer_key).read_bytes())
    assert "signed two histories up to step 2" in refused(run, digits_job.order, forged)


def test_the_head_of_a_longer_history(published, digits_job, trainer_key):
    run, heads = published
    write_heads(heads, heads_of(heads, trainer_key.public)[-1:], trainer_key, size=8)
    assert "cut off" in refused(run, digits_job.order, heads)


def test_the_head_of_another_order(tmp_path, published, digits_job, trainer_key):
    other = tmp_path / "other.cfoil"
    digits_order(seed=12).write(other)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    _, heads = record_with_heads(other, folder, trainer_key)
    assert "another order" in refused(published[0], digits_job.order, heads)


def test_the_head_of_another_key(tmp_path, published, digits_job):
    run, heads = published
    generate_key(tmp_path / "other.pem", None)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    _, heads = record_with_heads(digits_job.order, folder, load_private_key(tmp_path / "other.pem", None))
    assert "Line 1 of heads.jsonl is not a tree head of this trainer" in refused(run, digits_job.order, heads)


@pytest.mark.parametrize("place", [5, 300, -20])
def test_one_flipped_byte(published, digits_job, place):
    run, heads = published
    data = bytearray(heads.read_bytes())
    data[place] ^= 4
    heads.write_bytes(bytes(data))
    refused(run, digits_job.order, heads)
