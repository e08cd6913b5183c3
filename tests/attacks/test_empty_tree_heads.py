"""What is given as the published tree heads says nothing about the run, so that check 6 must not pass by it."""

from __future__ import annotations

import pytest

from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.signing.claims import TreeHead
from counterfoil_core.signing.statements import sign_said
from counterfoil_core.values.outcome import CheckNumber
from support.expectations import refused, verified
from support.heads import heads_of, record_with_heads, write_heads
from support.jobs import audited


@pytest.fixture
def published(tmp_path, digits_job, trainer_key):
    return record_with_heads(digits_job.order, tmp_path, trainer_key)


def test_control_the_published_heads_agree(published, digits_job):
    run, heads = published
    verified(run, digits_job.order, heads=heads)


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n\n", b" \r\n"], ids=["nothing", "a line", "lines", "blanks"])
def test_a_file_without_a_head(published, digits_job, data):
    run, heads = published
    heads.write_bytes(data)
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, "holds no tree head", heads=heads)


def test_heads_of_the_initial_state_only(published, digits_job, trainer_key):
    """Whoever is to commit to a history, and signs its first leaf alone, which the order gives anyway."""
    run, heads = published
    with BundleReader.open(run) as reader:
        root = run_tree(reader.step_records()[:1]).root
        head = TreeHead(reader.manifest.digest, 1, root, signed_at="2026-01-31T12:00:00Z")
    line = sign_said(head, trainer_key) + b"\n"
    heads.write_bytes(line)
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, "No tree head covers a step", heads=heads)
    first = heads.with_name("more.jsonl")
    write_heads(first, heads_of(published[1], trainer_key.public), trainer_key)


def test_the_same_head_twice_counts_once(published, digits_job, trainer_key):
    run, heads = published
    write_heads(heads, heads_of(heads, trainer_key.public)[1:2] * 3, trainer_key)
    result = audited(run, digits_job.order, heads=heads)
    assert (
        "One tree head that the trainer signed agrees with it, from step 4 on"
        in result.check(CheckNumber.COMMITMENTS).detail
    )


def test_two_heads_of_one_size_that_differ(published, digits_job, trainer_key):
    run, heads = published
    first, second, _ = heads_of(heads, trainer_key.public)
    other = write_heads(heads.with_name("other.jsonl"), [second], trainer_key, size=first.size)
    heads.write_bytes(heads.read_bytes() + other.read_bytes())
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, "signed two histories up to step 2", heads=heads)


def test_a_head_beyond_the_run(published, digits_job, trainer_key):
    run, heads = published
    last = heads_of(heads, trainer_key.public)[-1]
    write_heads(heads, [last], trainer_key, size=last.size + 1)
    refused(run, digits_job.order, CheckNumber.COMMITMENTS, "it was cut off", heads=heads)
