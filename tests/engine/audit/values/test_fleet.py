from __future__ import annotations

from math import ceil, log2

import pytest

from counterfoil.audit.values.fleet import (
    DIGEST_BYTES,
    HASH_RATE,
    REPLAYED,
    FleetRequest,
    FleetRow,
    MeasuredStep,
    measured_by,
    plan_fleet,
)
from counterfoil.audit.values.plan import make_plan
from counterfoil.audit.values.rates import WAYS, token_seconds
from counterfoil.audit.values.transformer import Transformer
from counterfoil.base.cards import GPUS
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.sentence import Sentence
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.program.limits import Estimate
from counterfoil_core.values.sampling import sample_size

H100 = GPUS["H100"]
ONE = FleetRequest(parameters=(8e9,))


def row(profile: str = "exact-13", request: FleetRequest = ONE) -> FleetRow:
    return next(found for found in plan_fleet(H100, request).rows if found.profile == profile)


def test_there_is_a_row_for_each_size_and_profile() -> None:
    fleet = plan_fleet(H100)
    sizes = fleet.request.parameters
    assert [(found.parameters, found.profile) for found in fleet.rows] == [(n, way) for n in sizes for way in WAYS]


def test_a_step_is_what_a_device_computes_of_it_and_its_exchange() -> None:
    alone = ONE.batch_tokens * token_seconds(H100, WAYS["exact-13"], Transformer.of(8e9, 4096))
    ring = 2 * 8 * 8e9 * 63 / 64 / 50e9
    assert row().step_seconds == pytest.approx(alone / 64 + ring)
    assert row().record_hours == pytest.approx(238_419 * row().step_seconds / 3600)
    assert row().record_device_hours == pytest.approx(64 * row().record_hours)
    assert not row().hashing


def test_many_devices_wait_for_the_digest_of_the_state_which_is_said() -> None:
    fleet = plan_fleet(H100, FleetRequest(parameters=(8e9,), devices=100_000))
    found = next(each for each in fleet.rows if each.profile == "exact-13")
    assert found.hashing
    assert found.step_seconds == pytest.approx((12 + 4) * 8e9 / HASH_RATE)
    assert any("waits for the digest" in note for note in fleet.notes)
    assert not any("waits for the digest" in note for note in plan_fleet(H100, ONE).notes)  # control


def test_a_whole_audit_takes_what_recording_computed_and_a_sample_its_share() -> None:
    computed = 238_419 * ONE.batch_tokens * token_seconds(H100, WAYS["exact-13"], Transformer.of(8e9, 4096)) / 3600
    found = row()
    assert REPLAYED * computed < found.audit_device_hours < 1.02 * REPLAYED * computed, "and reading the states"
    share = found.sample_steps / 238_419
    assert found.sample_device_hours == pytest.approx(share * found.audit_device_hours, rel=1e-3)


def test_the_sample_is_that_of_an_audit_with_this_confidence() -> None:
    for confidence, every in ((0.9, 100), (0.99, 100), (0.99, 10)):
        request = FleetRequest(parameters=(1e9,), confidence=confidence, checkpoint_every=every)
        fleet = plan_fleet(H100, request)
        assert fleet.rows[1].sample_segments == sample_size(fleet.segments, fleet.bad, confidence)
        assert 1 - fleet.passing >= confidence
    assert row(request=FleetRequest(parameters=(8e9,), checkpoint_every=10)).sample_steps < row().sample_steps / 5


def test_states_logs_records_and_proofs_are_counted() -> None:
    found = row("float64-24")
    assert found.checkpoint_bytes == 2385 * 12 * 8e9
    model = Transformer.of(8e9, 4096)
    values = 238_419 * (ONE.batch_tokens * model.elements(WAYS["float64-24"].counts.rounded) + 3 * 8e9)
    assert found.log_bytes == pytest.approx(0.01 * values / 8)
    assert row("exact-13").log_bytes == row("exact-20").log_bytes == 0
    assert found.leaf_bytes == DIGEST_BYTES * 238_420
    assert found.proof_bytes == 2 * DIGEST_BYTES * ceil(log2(238_420)) * found.sample_segments
    assert found.sample_bytes > found.sample_segments * 12 * 8e9
    assert found.record_bytes > 238_419 * 64 * 8 * 74 * 39, "the fingerprints of all shares"


def test_ordinary_training_is_there_to_compare_with_and_has_nothing_to_audit() -> None:
    found = row("bfloat16")
    assert not found.audited
    assert found.record_hours < row().record_hours
    assert (found.checkpoint_bytes, found.audit_device_hours, found.sample_segments) == (0, 0, 0)


def test_a_state_that_no_device_holds_is_said() -> None:
    assert [found.fits for found in plan_fleet(H100, FleetRequest(parameters=(5e9,))).rows] == [True] * len(WAYS)
    fleet = plan_fleet(H100, FleetRequest(parameters=(5e9, 5.1e9)))
    assert [found.fits for found in fleet.rows] == [True] * len(WAYS) + [False] * len(WAYS)
    assert any(note.startswith("From 5.1 billion parameters on") for note in fleet.notes)


def test_a_card_with_little_float64_is_told_of() -> None:
    assert any("exact-20 or exact-13" in note for note in plan_fleet(GPUS["RTX 4090"], ONE).notes)
    assert not any("exact-20 or exact-13" in note for note in plan_fleet(H100, ONE).notes)


def test_a_measured_step_gives_rows_of_its_own_profile_at_its_own_rate() -> None:
    estimate = Estimate(1, 1, 1, 6 * 10**12, 1)
    plan = make_plan(
        Extent(10, 1, 5), device="cuda:0", bad_fraction=0.01, step_seconds=2.0, load_seconds=0.1, measured_steps=3,
        estimate=estimate, profile="float64-24", log_bits=0.02,
    )  # fmt: skip
    measured = measured_by(plan)
    assert measured == MeasuredStep("cuda:0", "float64-24", 3e12, 0.02)
    fleet = plan_fleet(measured, ONE)
    assert [found.profile for found in fleet.rows] == ["float64-24"]
    assert fleet.rows[0].rate == pytest.approx(3e12)
    assert fleet.rows[0].log_bytes == pytest.approx(2 * row("float64-24").log_bytes)
    assert fleet.rows[0].fits is None
    assert "measured on cuda:0" in fleet.assumptions[0]
    assert not any("publishes" in line for line in fleet.assumptions)
    assert any("publishes" in line for line in plan_fleet(H100, ONE).assumptions)  # control


def test_every_assumption_can_be_translated() -> None:
    for source in (H100, MeasuredStep("cpu", "", 1e9, 0.0)):
        fleet = plan_fleet(source, ONE)
        assert all(isinstance(line, Sentence) for line in (*fleet.assumptions, *fleet.notes))


@pytest.mark.parametrize(
    "wrong",
    [
        {"parameters": ()}, {"parameters": (0.0,)}, {"parameters": (float("nan"),)}, {"tokens": float("inf")},
        {"devices": 0}, {"checkpoint_every": -1}, {"confidence": 1.0}, {"bad_fraction": 0.0}, {"tokens": 1e6},
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_refused_with_what_to_do(wrong: dict[str, object]) -> None:
    with pytest.raises(DataError) as caught:
        FleetRequest(**wrong)  # type: ignore[arg-type]
    assert caught.value.remedy
