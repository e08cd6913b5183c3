"""The sections on versions of torch, from results that are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.cross_hardware import literature, versions
from benchmarks.cross_hardware.campaign import JOBS, Campaign
from benchmarks.cross_hardware.results import Machine, Ordered, Part, Recorded, Replayed, Trained, collect, collected
from benchmarks.honest_jobs import ORDERS
from benchmarks.literature_jobs import LITERATURE

NAMES = (literature.NATIVE, *literature.FEWER)
JOB, PROFILES = "sparse network", ("float64-24", "exact-20")


def order_of(profile: str) -> str:
    return ("ab" if profile == "exact-20" else "cd") * 32


@pytest.fixture
def parts() -> list[Part]:
    """One job under two profiles, recorded by three machines and replayed by each, as it should be."""
    made: list[Part] = [Ordered(JOB, profile, order_of(profile)) for profile in PROFILES]
    made += [Ordered(JOB, profile, order_of(profile), machine=NAMES[1]) for profile in PROFILES]
    for name in NAMES:
        made.append(Machine(name, "made up", "cpu", "none", {"exact-20": "passed"}, [], {"cpu_capability": "AVX9"}))
        made.append(Trained(JOB, order_of("float64-24"), name, name, 0.1))
        for profile in PROFILES:
            made.append(Recorded(JOB, profile, order_of(profile), name, False, 3, "11" * 32, "22" * 32, 5, 50, 0.1))
            made += [
                Replayed(JOB, profile, order_of(profile), name, other, False, "11" * 32, "VERIFIED", 3, 0, 2, 0, 0, 0.1)
                for other in NAMES
                if other != name
            ]
    return made


def changed(parts: Sequence[Part], kind: type, **changes: object) -> list[Part]:
    """The parts, with the last one of a kind changed."""
    last = max(number for number, part in enumerate(parts) if isinstance(part, kind))
    return [replace(part, **changes) if number == last else part for number, part in enumerate(parts)]


def test_what_is_as_it_should_be_is_counted(parts: list[Part]) -> None:
    assert versions.unexpected(parts) == []
    text = versions.section(parts)
    assert f"| {NAMES[0]} | - | 1 of 1 (2); 1 of 1 (2) | 1 of 1 (2); 1 of 1 (2) |" in text
    assert f"| {JOB} | 1 / 1 of 3 | 1 / 1 of 3 | 3 of 3 |" in text
    assert f"| {NAMES[1]} | 2 of 2 | none |" in text
    assert "12 of 12 audits of honest runs: VERIFIED" in text
    assert "Nothing was unexpected." in text
    assert "differs between versions with the same instructions: AVX9: 1 of 1" in text
    assert "{" not in text
    assert f"| {JOB} | 2 of 2 (4) | 2 of 2 (4) | 2 of 2 (4) | 2 of 2 (4) | 12 of 12 (24) | 3 |" in literature.section(
        parts
    )


def test_an_honest_run_that_is_accused_is_said(parts: list[Part]) -> None:
    strange = changed(parts, Replayed, outcome="DISPUTED", mismatched=1)
    (line,) = versions.unexpected(strange)
    assert f"{JOB}, exact-20" in line
    text = versions.section(strange)
    assert "11 of 12 audits of honest runs" in text
    assert "Unexpected:" in text
    assert "| 11 of 12 (24) |" in literature.section(strange)


def test_exact_runs_that_differ_are_said(parts: list[Part]) -> None:
    strange = changed(parts, Recorded, run_root="33" * 32)
    assert versions.unexpected(strange) == [f"{JOB}, exact-20: the run roots differ between versions"]
    assert f"| {JOB} | 1 / 1 of 3 | 2 / 1 of 3 | 3 of 3 |" in versions.section(strange)


def test_an_order_that_is_captured_otherwise_is_named(parts: list[Part]) -> None:
    text = versions.section(changed(parts, Ordered, order="ef" * 32))
    assert f"| {NAMES[1]} | 1 of 2 | {JOB} |" in text


def test_what_other_machines_capture_is_collected_beside_their_results(parts: list[Part], tmp_path: Path) -> None:
    campaign, jobs = Campaign(tmp_path / "campaign"), ("logistic",)
    (ours,) = campaign.order_all(jobs, ("float64-24",), 2)
    (theirs,) = campaign.capture_all("elsewhere", jobs, ("float64-24",), 2)
    assert (theirs.machine, theirs.order) == ("elsewhere", ours.order)
    assert not list(campaign.capture_all("elsewhere", jobs, ("float64-24",), 2)), "what is done is not done again"
    names = {path.name for path in collect(campaign.folder / "results", tmp_path / "results")}
    assert names == {"orders.json", "elsewhere.json"}
    assert set(collected(tmp_path / "results")) == {ours, theirs}


def test_the_campaign_has_the_recipes_and_the_literature() -> None:
    assert list(JOBS) == [*ORDERS, *LITERATURE]
    assert versions.section([]) == ""
