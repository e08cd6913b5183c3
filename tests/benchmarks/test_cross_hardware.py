"""The campaign on several machines: what is recorded on one is audited on the other, and what is strange is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.cross_hardware import work as work_module
from benchmarks.cross_hardware.campaign import Campaign, Training
from benchmarks.cross_hardware.page import render, unexpected
from benchmarks.cross_hardware.results import (
    Machine,
    Ordered,
    Part,
    Recorded,
    Replayed,
    Trained,
    collect,
    collected,
    parts_of,
)
from benchmarks.cross_hardware.work import Worker

from counterfoil_core.base.errors import DeviceError

JOBS, PROFILES = ("digits-cnn", "logistic"), ("float64-24", "exact-20")


def do(campaign: Campaign, machine: str) -> list[str]:
    worker = Worker(campaign, machine, "the machine of these tests, under another name")
    assert not worker.selftest().failed
    return list(worker.work(campaign.ordered(JOBS, PROFILES)))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Two names of one machine that worked in turn, one, the other, the one; with no eager training."""
    made = Campaign(tmp_path_factory.mktemp("campaign"))
    assert all(not ordered.refused for ordered in made.order_all(JOBS, PROFILES, steps=2))
    for machine in ("one", "other", "one"):
        assert do(made, machine)
    return made


@pytest.fixture(scope="module")
def parts(campaign: Campaign) -> Sequence[Part]:
    return list(parts_of(campaign.folder / "results"))


def test_every_run_is_audited_on_the_other_machine_and_every_tampered_one_on_both(parts: Sequence[Part]) -> None:
    replays = {(r.recorder, r.machine, r.job, r.profile, r.tampered) for r in parts if isinstance(r, Replayed)}
    across, pairs = [("one", "other"), ("other", "one")], [(a, b) for a in ("one", "other") for b in ("one", "other")]
    honest = {(*pair, job, profile, False) for pair in across for job in JOBS for profile in PROFILES}
    assert replays == honest | {(*pair, "digits-cnn", profile, True) for pair in pairs for profile in PROFILES}
    assert all(r.as_expected for r in parts if isinstance(r, Replayed))


def test_what_is_done_is_not_done_again(campaign: Campaign) -> None:
    assert do(campaign, "one") == []
    assert not list(campaign.order_all(JOBS, PROFILES, steps=2))


def test_what_was_stopped_goes_on(campaign: Campaign) -> None:
    task = Training("logistic", "exact-20")
    campaign.part("one", "replayed", "other", task.name).unlink()
    (line,) = do(campaign, "one")
    assert line.startswith("logistic.exact-20 of other: VERIFIED")


def test_a_machine_that_does_not_differ_in_ordinary_training_is_no_second_machine(parts: Sequence[Part]) -> None:
    """The only thing to complain of here, where both names are one machine."""
    (line,) = unexpected(parts)
    assert line.startswith("no ordinary training differs between one and other")


@pytest.fixture
def sound(parts: Sequence[Part]) -> list[Part]:
    """The results, as if ordinary training differed."""
    return [replace(p, state_root="00" * 32) if isinstance(p, Trained) and p.machine == "other" else p for p in parts]


def test_nothing_else_is_unexpected(sound: list[Part]) -> None:
    assert unexpected(sound) == []
    text = render(sound)
    assert "4 of 4 audits of honest runs" not in text
    assert "8 of 8 audits of honest runs: VERIFIED" in text
    assert "8 of 8 audits of tampered runs: DISPUTED" in text
    assert "Nothing was unexpected." in text
    assert "| digits-cnn | 0 / 0, run root | 0 / 0, run root |" in text
    assert "In 2 of 2 the state differs" in text
    assert "{" not in text


def _changed(parts: list[Part], kind: type, chosen: dict[str, object], **changes: object) -> list[Part]:
    """The results with changes of those of a kind that have the chosen values; one at least."""
    found = [
        isinstance(part, kind) and all(getattr(part, name) == value for name, value in chosen.items()) for part in parts
    ]
    assert any(found)
    return [replace(part, **changes) if is_it else part for part, is_it in zip(parts, found, strict=True)]


EXACT = {"profile": "exact-20", "tampered": False, "job": "logistic"}


@pytest.mark.parametrize(
    ("kind", "chosen", "changes", "said"),
    [
        (Replayed, EXACT | {"machine": "other"}, {"outcome": "DISPUTED", "mismatched": 1}, "DISPUTED, 1 steps differ"),
        (Replayed, EXACT | {"machine": "other"}, {"omissions": 2}, "2 omissions"),
        (Replayed, {"tampered": True, "machine": "other"}, {"outcome": "VERIFIED", "capsule": ""}, "tampered"),
        (Replayed, {"tampered": True, "machine": "other"}, {"adjudicated": "REJECTED"}, "capsule REJECTED"),
        (Replayed, {"tampered": True, "machine": "other"}, {"capsule": "ab" * 32}, "2 different capsules"),
    ],
)
def test_what_is_strange_is_said(
    sound: list[Part], kind: type, chosen: dict[str, object], changes: dict[str, object], said: str
) -> None:
    strange = _changed(sound, kind, chosen, **changes)
    assert any(said in line for line in unexpected(strange))
    assert "Unexpected:" in render(strange)


def test_exact_runs_must_be_equal_and_rounded_ones_need_not(sound: list[Part]) -> None:
    for profile, expected in (("exact-20", 1), ("float64-24", 0)):
        chosen = {"profile": profile, "tampered": False, "job": "logistic", "machine": "other"}
        other = _changed(sound, Recorded, chosen, run_root="cd" * 32, state_root="ef" * 32)
        chosen = {"profile": profile, "tampered": False, "job": "logistic", "recorder": "other"}
        other = _changed(other, Replayed, chosen, run_root="cd" * 32)
        assert len(unexpected(other)) == expected
        assert "0 / 0, nothing" in render(other)


def test_results_of_changed_orders_count_no_more(sound: list[Part]) -> None:
    chosen = {"job": "logistic", "profile": "exact-20"}
    text = render(_changed(sound, Ordered, chosen, order="12" * 32))
    assert "| logistic | 0 / 0, run root | - |" in text
    assert "6 of 6 audits of honest runs" in text


def test_refused_orders_are_listed(sound: list[Part]) -> None:
    text = render([*sound, Ordered("logistic", "exact-13", "", "There is no\nsuch | thing.")])
    assert "| logistic | exact-13 | There is no such / thing. |" in text


def test_results_of_other_machines_stay(sound: list[Part], campaign: Campaign, tmp_path: Path) -> None:
    first = collect(campaign.folder / "results", tmp_path)
    assert sorted(path.name for path in first) == [
        "one to one.json", "one to other.json", "one.json", "orders.json", "other to one.json", "other to other.json",
        "other.json",
    ]  # fmt: skip
    everything = set(map(repr, collected(tmp_path)))
    smaller = tmp_path / "folder" / "one"
    smaller.mkdir(parents=True)
    (smaller / "machine.json").write_bytes((campaign.folder / "results/one/machine.json").read_bytes())
    collect(smaller, tmp_path)
    assert set(map(repr, collected(tmp_path))) == everything


def test_a_machine_that_fails_its_test_is_named(
    sound: list[Part], campaign: Campaign, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(machine: object, precision: object) -> str:
        raise DeviceError("Half of every product is missing.")

    monkeypatch.setattr(work_module, "run_selftest", fails)
    broken = Worker(Campaign(tmp_path), "broken", "a machine that computes wrongly").selftest()
    assert isinstance(broken, Machine)
    assert broken.failed == ["float64-24", "float64-18", "float32-bfloat16", "exact-20", "exact-13"]
    assert "**failed** under float64-24, float64-18, float32-bfloat16, exact-20, exact-13: Half" in render(
        [broken, *sound]
    )
