"""Disputes about one part of a step that shares make, handed on as capsules."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

import counterfoil
from counterfoil.signing.privatekeys import key_from_seed
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CommitmentError, SignatureError
from counterfoil_core.bundle.capsule import CapsuleContents
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.bundle.shares import SharesRoot
from counterfoil_core.bundle.stepparts import AddedTensor, StepPart, UpdateInputs
from counterfoil_core.bundle.stepshares import combined_root, exponents_digest
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.hearing import segments
from counterfoil_core.judge.partjudgement import judge_sum
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.statement.verdict import (
    check_capsule_file,
    part_name,
    sign_adjudication,
    sign_verdict,
    verify_signed,
    verify_verdict,
)
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.dispute import COMBINE, UPDATE, Dispute, Right
from counterfoil_core.values.events import AuditFinished
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.sampling import SegmentRequest
from support.bundles import opened_for_change
from support.capsules import adjudicated, crafted_part, evidence_of, read, refused, save
from support.forgery import checkpoint, forge_checkpoint
from support.jobs import Audited, Job, audited, logged_as, record_job, record_run, sign_again
from support.shared import (
    LIE,
    SHARES,
    other_draws,
    other_exponents,
    other_gradient,
    other_rows,
    other_sum,
    shared_order,
)

EXACT = counterfoil.ExactPrecision(20)
TENSOR = "gradient:4.weight"
LIES: dict[str, tuple[Any, Callable[[], Any], int, str]] = {
    "rows": (other_rows(2), nullcontext, LIE, "share 2"),
    "draws": (other_draws, nullcontext, LIE, "share 1"),
    "gradient": (other_gradient, nullcontext, LIE, UPDATE),
    "sum": (None, other_sum, LIE, COMBINE),
    "exponents": (None, other_exponents, 1, COMBINE),
}


PROFILED = {"float64-24": None, "exact-20": EXACT}


@pytest.fixture(scope="module")
def made(trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Job]:
    """Make a job under a profile, once."""
    return cache(
        lambda name: record_job(tmp_path_factory.mktemp(name), shared_order(precision=PROFILED[name]), trainer_key)
    )


@pytest.fixture(scope="module")
def lied(
    made: Callable[[str], Job], trainer_key: SigningKey, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[Audited, CapsuleContents]]:
    """Audit a run whose trainer lies, once."""

    def lie(name: str, profile: str = "float64-24") -> tuple[Audited, CapsuleContents]:
        tamper, around, _, _ = LIES[name]
        path, job = tmp_path_factory.mktemp(name) / "run.cfoil", made(profile)
        with around():
            run = record_run(job.order, path, trainer_key, tamper=tamper)
        found = audited(run, job.order)
        assert isinstance(found.events[-1], AuditFinished)
        assert found.events[-1].evidence is not None
        return found, found.events[-1].evidence

    return cache(lie)


@pytest.fixture(params=PROFILED)
def job(request: Any, made: Callable[[str], Job]) -> Job:
    return made(request.param)


@pytest.fixture
def evidence(lied: Callable[[str], tuple[Audited, CapsuleContents]]) -> Callable[[str], CapsuleContents]:
    return lambda name: lied(name)[1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", LIES)
def test_a_capsule_names_the_part_before_it_is_judged(
    name: str, evidence: Callable[[str], CapsuleContents], tmp_path: Path
) -> None:
    path = tmp_path / "dispute.cfoil"
    counterfoil.write_capsule(evidence(name), path)
    subject = counterfoil.capsule_subject(path)
    assert (subject.step, subject.part) == LIES[name][2:]


def part_of(contents: CapsuleContents) -> StepPart:
    assert contents.shared is not None
    return contents.shared


def with_part(contents: CapsuleContents, **changes: Any) -> CapsuleContents:
    return replace(contents, shared=replace(part_of(contents), **changes))


def groups_of(path: Path) -> set[str]:
    found: set[str] = set()
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.add(name) if isinstance(item, h5py.Dataset) else None)
    return {
        "/".join(name.split("/")[:3]) if name.startswith("capsule/data") else "/".join(name.split("/")[:2])
        for name in found
    }


# Who is right.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("profile", PROFILED)
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_becomes_a_capsule_that_anybody_can_confirm(
    made: Any, lied: Any, lie: str, profile: str, tmp_path: Path, trainer_key: SigningKey
) -> None:
    _, _, step, part = LIES[lie]
    found, contents = lied(lie, profile)
    report = adjudicated(save(contents, tmp_path / "dispute.cfoil"), order=made(profile).order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    audit, ruling = found.report.dispute, report.dispute
    assert (report.agreed_step, report.step, ruling.part) == (step - 1, step, part)
    assert ruling.right is Right.REPLAY
    assert ruling.parts == (("state", "loss", "fingerprints") if part == UPDATE else ("shares",))
    assert part_name(part_of(contents)) == part
    statement = verify_signed(sign_adjudication(report, trainer_key), trainer_key.public)
    assert statement.predicate["dispute"]["part"] == part
    for same in ("step", "trainer_leaf", "inclusion_proof", "trainer_loss", "confirmed", "operator", "inputs", "part"):
        assert getattr(audit, same) == getattr(ruling, same), same
    # A capsule of a sum holds one tensor, and the exponents of all are wrong.
    assert (audit.finding == ruling.finding) == (lie != "exponents")
    assert (TENSOR in audit.finding.sentence) == (lie == "sum")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("about", "step"), [(0, 1), (3, LIE), (UPDATE, 1), (UPDATE, LIE), (TENSOR, LIE), ("loss", 1)])
def test_a_part_that_is_right_is_rejected(job: Job, about: Any, step: int, tmp_path: Path) -> None:
    contents = crafted_part(job.run, step, about)
    report = adjudicated(save(contents, tmp_path / "crafted.cfoil"), order=job.order)
    assert report.outcome is AdjudicationOutcome.REJECTED, report.reason
    assert (report.step, report.dispute, report.steps_replayed) == (step, None, 1)
    assert f"the disputed part ({part_name(part_of(contents))}) is right" in report.reason


def test_the_parts_beside_a_lie_are_right(made: Any, tmp_path: Path, trainer_key: SigningKey) -> None:
    order = made("float64-24").order
    run = record_run(order, tmp_path / "run.cfoil", trainer_key, tamper=other_rows(2))
    envelope = sign_verdict(audited(run, order).report, trainer_key)
    verdict = verify_verdict(envelope, trainer_key.public)
    for share in range(SHARES):
        path = save(crafted_part(run, LIE, share), tmp_path / "crafted.cfoil")
        report = adjudicated(path)
        assert (report.outcome is AdjudicationOutcome.CONFIRMED) == (share == 2), report.reason
        # Nor is one about them what goes with the verdict: its trainer would be shown to be right there.
        with nullcontext() if share == 2 else pytest.raises(SignatureError, match="about something else"):
            check_capsule_file(verdict, path)


def test_in_a_sample_it_starts_from_the_trainers_checkpoint(
    made: Any, evidence: Callable[[str], CapsuleContents], tmp_path: Path, trainer_key: SigningKey
) -> None:
    job = made("float64-24")
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key, tamper=other_rows(2))
    sampled = evidence_of(run, job.order, segments=SegmentRequest(numbers=(2,)))
    paths = [save(contents, tmp_path / f"{n}.cfoil") for n, contents in enumerate((sampled, evidence("rows")))]
    assert read(paths[0]).leaves == read(paths[1]).leaves
    assert paths[0].stat().st_size == paths[1].stat().st_size


# What is in it.

ALWAYS = {"order/manifest", "run/acceptance", "run/claim", "capsule/leaves", "capsule/shares"}
REPLAYED = {"order/program", "order/update", "capsule/state", "capsule/log", "capsule/log_ends", "capsule/fingerprints"}
INSIDE = {
    "rows": {*ALWAYS, *REPLAYED, "capsule/schedule", "capsule/scalars", "capsule/data/x", "capsule/data/y"},
    "gradient": {*ALWAYS, *REPLAYED, "capsule/scalars", "capsule/combined", "capsule/buffers"},
    "sum": {*ALWAYS, "capsule/sums", "capsule/tensor"},
}


@pytest.mark.parametrize("lie", INSIDE)
def test_a_capsule_holds_the_part_and_nothing_else(
    evidence: Callable[[str], CapsuleContents], lie: str, tmp_path: Path
) -> None:
    assert groups_of(save(evidence(lie), tmp_path / "dispute.cfoil")) == INSIDE[lie]


def test_of_the_data_it_holds_the_rows_of_the_share_alone(trainer_key: SigningKey, tmp_path: Path) -> None:
    """Rows of 16 KiB: each is a chunk of its own."""
    x = np.random.default_rng(0).standard_normal((48, 4096)).astype(np.float32)
    draft = counterfoil.order_custom(
        counterfoil.CustomJob(
            "Long rows",
            torch.nn.Linear(4096, 1),
            lambda model, batch: model(batch["x"]).square().mean(),
            counterfoil.Sgd(),
            {"x": x},
            2,
            12,
            0.01,
            shares=SHARES,
        )
    )
    job = record_job(tmp_path, draft, trainer_key)
    contents = crafted_part(job.run, 2, 1)
    assert len(contents.part.data["x"]) == 12 // SHARES
    assert not crafted_part(job.run, 2, UPDATE).part.data


@pytest.mark.parametrize("lie", ["rows", "gradient", "sum"])
def test_writing_and_reading_gives_the_same_file(
    evidence: Callable[[str], CapsuleContents], lie: str, tmp_path: Path
) -> None:
    first = save(evidence(lie), tmp_path / "a.cfoil")
    again = save(read(first), tmp_path / "b.cfoil")
    assert first.read_bytes() == again.read_bytes()


# Forged.

Forgery = Callable[[CapsuleContents], CapsuleContents]


def other_records(contents: CapsuleContents) -> CapsuleContents:
    records = part_of(contents).records
    return with_part(contents, records=(*records[:-1], replace(records[-1], loss=9.0)))


def fewer_records(contents: CapsuleContents) -> CapsuleContents:
    return with_part(contents, records=part_of(contents).records[:-1])


def about(change: Callable[[Any], Any]) -> Forgery:
    return lambda contents: with_part(contents, about=change(part_of(contents).about))


def bent(array: Any) -> Any:
    changed = array.copy()
    changed.reshape(-1).view(np.uint8)[0] ^= 1
    return changed


def bent_tensor(field: str) -> Forgery:
    def change(given: UpdateInputs) -> UpdateInputs:
        tensors = dict(getattr(given, field))
        name = sorted(tensors)[0]
        return replace(given, **{field: tensors | {name: bent(tensors[name])}})

    return about(change)


def without(field: str) -> Forgery:
    def change(given: UpdateInputs) -> UpdateInputs:
        tensors = dict(getattr(given, field))
        del tensors[sorted(tensors)[0]]
        return replace(given, **{field: tensors})

    return about(change)


def of_sum(**changes: Callable[[AddedTensor], Any]) -> Forgery:
    return about(lambda added: replace(added, **{name: change(added) for name, change in changes.items()}))


FORGED: dict[str, tuple[str, Forgery, str]] = {
    "another record": ("rows", other_records, "records of the shares in the capsule are not those of step 3"),
    "another record for a sum": ("sum", other_records, "records of the shares in the capsule are not those"),
    "a record is lacking": ("rows", fewer_records, "does not hold the records of the 4 shares"),
    "no such share": ("rows", about(lambda _: SHARES), "share"),
    "another share": ("rows", about(lambda _: 0), "log of step 3 is not the one"),
    "another log": ("rows", lambda c: replace(c, logs=(b"other",)), "log of step 3 is not the one"),
    "other fingerprints": ("rows", lambda c: replace(c, fingerprints=(bent(c.fingerprints[0]),)), "fingerprints"),
    "other sums": ("gradient", bent_tensor("combined"), "combination of the shares in the capsule is not the one"),
    "a sum is lacking": ("gradient", without("combined"), "does not hold what the shares of its step give"),
    "other buffers": ("gradient", bent_tensor("buffers"), "share 0 changed are not those that were signed"),
    "a buffer is lacking": ("gradient", without("buffers"), "what share 0 changes"),
    "the log of a share for the update": ("gradient", lambda c: replace(c, logs=(b"other",)), "log of step 3"),
    "another tensor": ("sum", of_sum(given=lambda a: bent(a.given)), f"tensor '{TENSOR}' of share 0 is not the one"),
    "a tensor of another share": ("sum", of_sum(given=lambda a: a.given[[0, 1, 3, 3]]), "of share 2 is not the one"),
    "another name": ("sum", of_sum(name=lambda _: "loss"), "tensor 'loss' of share 0"),
    "other exponents": ("sum", of_sum(exponents=lambda a: a.exponents + 1), "exponents or the sums"),
    "other digests of sums": ("sum", of_sum(combined=lambda a: bent(a.combined)), "exponents or the sums"),
    "other digests of shares": ("sum", of_sum(shares=lambda a: bent(a.shares)), "digests of what the shares give"),
    "fewer shares": ("sum", of_sum(given=lambda a: a.given[:3]), "what 4 shares give of one tensor"),
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FORGED)
def test_what_was_not_signed_is_refused(evidence: Callable[[str], CapsuleContents], name: str, tmp_path: Path) -> None:
    lie, forge, sentence = FORGED[name]
    refused(save(forge(evidence(lie)), tmp_path / "forged.cfoil"), sentence)


def test_where_the_tensors_of_a_sum_do_not_fit_in_memory_the_dispute_stands(
    made: Any, tmp_path: Path, trainer_key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise MemoryError

    job = made("exact-20")
    with other_sum():
        run = record_run(job.order, tmp_path / "run.cfoil", trainer_key)
    monkeypatch.setattr(segments, "added_tensor", no_room)
    finished = audited(run, job.order).events[-1]
    assert isinstance(finished, AuditFinished)
    assert (finished.report.outcome, finished.evidence) == (Outcome.DISPUTED, None)
    assert finished.report.dispute is not None
    assert finished.report.dispute.part == COMBINE


def test_where_shares_lie_side_by_side_an_update_starts_from_what_each_of_them_gave(
    tmp_path: Path, trainer_key: SigningKey
) -> None:
    job = record_job(tmp_path, shared_order(aggregate="median"), trainer_key, tamper=other_gradient)
    contents = evidence_of(job.run, job.order)
    path = tmp_path / "dispute.cfoil"
    report = adjudicated(save(contents, path), order=job.order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert (report.step, report.dispute and report.dispute.part) == (LIE, UPDATE)
    assert adjudicated(save(crafted_part(job.run, 1, UPDATE), path)).outcome is AdjudicationOutcome.REJECTED
    refused(save(bent_tensor("combined")(contents), path), "combination of the shares in the capsule is not the one")


@pytest.mark.parametrize(
    ("lie", "lacking"),
    [
        ("rows", "capsule/shares"),
        ("rows", "order/update"),
        ("rows", "capsule/schedule"),
        ("gradient", "capsule/buffers"),
        ("gradient", "capsule/state"),
        ("gradient", "capsule/combined"),
        ("sum", "capsule/sums/exponents"),
        ("sum", "capsule/sums"),
        ("sum", "capsule/tensor"),
    ],
)
def test_a_capsule_that_lacks_something_is_refused(
    evidence: Callable[[str], CapsuleContents], lie: str, lacking: str, tmp_path: Path
) -> None:
    path = save(evidence(lie), tmp_path / "forged.cfoil")
    with opened_for_change(path) as file:
        del file[lacking]
    refused(path, "")


@pytest.mark.parametrize(
    ("lie", "added"), [("sum", "capsule/state/x"), ("gradient", "capsule/data/x/root"), ("rows", "capsule/buffers/x")]
)
def test_what_belongs_to_another_part_is_refused(
    evidence: Callable[[str], CapsuleContents], lie: str, added: str, tmp_path: Path
) -> None:
    path = save(evidence(lie), tmp_path / "forged.cfoil")
    with opened_for_change(path) as file:
        file.create_dataset(added, data=np.zeros(32, np.uint8))
    refused(path, "which its format and its order do not know")


# What no program runs for.


ORDER = Digest.of(b"order")


def summed(given: list[list[float]], wrong: bool = False) -> tuple[StepRecord, AddedTensor, int]:
    """One tensor of two shares and its record; the signed sum is that of ones."""
    array = np.array(given, np.float32)
    digest = tensor_digest("a", np.ones(array.shape[1:], np.float32)).value
    added = AddedTensor(
        "a", array, np.array([2], np.int32), np.frombuffer(digest, np.uint8)[None], np.zeros((2, 1, 32), np.uint8)
    )
    root = tensor_digest("b", array)
    shares = SharesRoot(root, exponents_digest(added.exponents), combined_root(added.combined))
    return StepRecord(1, root, root, root, 0.5, shares), added, 0


def test_sums_are_judged_by_exponents_and_by_what_comes_out() -> None:
    right = judge_sum(ORDER, *summed([[2.0, 3.0], [-1.0, -2.0]]))
    assert (right.look, right.right) == (None, True)
    other = judge_sum(ORDER, *summed([[2.0, 3.0], [-1.0, -1.0]])).look
    assert other is not None
    assert other.accuses
    assert "not the sum" in str(other.finding and other.finding.sentence)
    exponents = judge_sum(ORDER, *summed([[2.0, 4.0], [-1.0, -3.0]])).look
    assert exponents is not None
    assert exponents.accuses
    assert "exponents" in str(exponents.finding and exponents.finding.sentence)


def test_a_sum_beyond_the_range_has_no_result() -> None:
    judged = judge_sum(ORDER, *summed([[3e38, 1.0], [3e38, 1.0]]))
    assert judged.step is None
    assert judged.look is not None
    assert judged.look.finding is not None
    assert judged.look.finding.right is Right.NO_RESULT


def test_what_is_no_number_is_for_a_capsule_of_a_share() -> None:
    with pytest.raises(CommitmentError, match="infinite or not a number"):
        judge_sum(ORDER, *summed([[np.inf, 1.0], [1.0, 1.0]]))


# Logs and states that end everything.


def test_a_log_of_a_share_that_nobody_can_read(tmp_path: Path, trainer_key: SigningKey) -> None:
    with logged_as(b"no log"):
        job = record_job(tmp_path, shared_order(), trainer_key)
    evidence = evidence_of(job.run, job.order)
    assert not evidence.part.data, "no row is needed to see it"
    report = adjudicated(save(evidence, tmp_path / "dispute.cfoil"), order=job.order)
    assert report.outcome is AdjudicationOutcome.CONFIRMED, report.reason
    assert report.dispute is not None
    assert (report.dispute.part, report.dispute.right) == ("share 0", Right.UNREADABLE)


def test_a_log_of_an_update_that_nobody_can_read(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = shared_order()
    assert draft.updates is not None
    with logged_as(b"no log", len(draft.updates.only.sites)):
        job = record_job(tmp_path, draft, trainer_key)
    for found in both_say(job.run, job.order, tmp_path):
        assert (found.step, found.part, found.right) == (1, UPDATE, Right.UNREADABLE)


PARTIES = [key_from_seed(bytes([number]) * 32) for number in range(1, SHARES + 1)]


@pytest.fixture(scope="module")
def signed_job(tmp_path_factory: pytest.TempPathFactory, trainer_key: SigningKey) -> Job:
    """An order with a party for each share."""
    draft = shared_order(signers=tuple(key.public for key in PARTIES))
    return record_job(tmp_path_factory.mktemp("signed"), draft, trainer_key, share_keys=dict(enumerate(PARTIES)))


def both_say(run: Path, order: Path, tmp_path: Path) -> tuple[Dispute, Dispute]:
    """What the verdict says and what the capsule of the same audit does."""
    report = audited(run, order).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    ruling = adjudicated(save(evidence_of(run, order), tmp_path / "both.cfcapsule"), order=order)
    assert ruling.outcome is AdjudicationOutcome.CONFIRMED, ruling.reason
    assert report.dispute is not None
    assert ruling.dispute is not None
    return report.dispute, ruling.dispute


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("unreadable", "named"), [(SHARES, 2), (3, 2), (2, 2), (1, 1)], ids=["update", "share 3", "share 2", "share 1"]
)
def test_a_log_that_nobody_can_read_hides_no_lie_of_an_earlier_share(
    signed_job: Job, unreadable: int, named: int, tmp_path: Path, trainer_key: SigningKey
) -> None:
    """Share 2 lies, and the log of another part, or its own, cannot be read: the first of them is named by both."""
    run, log = tmp_path / "run.cfoil", (LIE - 1) * (SHARES + 1) + unreadable
    with logged_as(b"no log", only=log):
        keys = dict(enumerate(PARTIES))
        record_run(signed_job.order, run, trainer_key, share_keys=keys, tamper=other_rows(2))
    right = Right.REPLAY if named != unreadable else Right.UNREADABLE
    for found in both_say(run, signed_job.order, tmp_path):
        assert (found.step, found.part, found.right) == (LIE, f"share {named}", right)
        assert found.signer == PARTIES[named].public.key_id
    verdict = verify_verdict(sign_verdict(audited(run, signed_job.order).report, trainer_key), trainer_key.public)
    assert verdict.predicate["dispute"]["part"] == f"share {named}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("lie", "named"), [(other_sum, "combine"), (other_exponents, "combine"), (nullcontext, UPDATE)]
)
def test_so_it_is_of_their_combination(job: Job, lie: Any, named: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    run, step = tmp_path / "run.cfoil", 1 if lie is other_exponents else LIE
    with lie(), logged_as(b"no log", only=(step - 1) * (SHARES + 1) + SHARES):
        record_run(job.order, run, trainer_key)
    for found in both_say(run, job.order, tmp_path):
        assert (found.step, found.part, found.signer) == (step, named, "")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("edit", [3e38, np.inf])
def test_a_stored_state_from_which_no_share_comes_to_a_result(
    job: Job, edit: float, tmp_path: Path, trainer_key: SigningKey
) -> None:
    run = record_run(job.order, tmp_path / "run.cfoil", trainer_key)
    state = checkpoint(run, 2)
    forge_checkpoint(run, 2, state | {"4.weight": np.full_like(state["4.weight"], edit)})
    sign_again(run, trainer_key)
    segments = SegmentRequest(numbers=(2,))
    report = audited(run, job.order, segments=segments).report
    assert report.outcome is Outcome.DISPUTED, report.reason
    capsule = save(evidence_of(run, job.order, segments=segments), tmp_path / "dispute.cfoil")
    ruling = adjudicated(capsule, order=job.order)
    assert ruling.outcome is AdjudicationOutcome.CONFIRMED, ruling.reason
    assert ruling.dispute is not None
    assert report.dispute is not None
    assert (ruling.dispute.step, ruling.dispute.right) == (3, Right.NO_RESULT)
    assert ruling.dispute.part == report.dispute.part == ("share 0" if np.isfinite(edit) else "")
