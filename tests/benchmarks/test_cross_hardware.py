"""The campaign on several machines: what is recorded on one is audited on the other, and what is strange is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.cross_hardware import ANSWERING, CROSS_HARDWARE, JOBS as EVERY, Machine, collect, rows_of
from benchmarks.cross_pages import FEWER, NATIVE, measured_sections, version_sections
from benchmarks.honest_jobs import LITERATURE, ORDERS
from benchmarks.measure import Results, Values

from benchmarks import cross_hardware
from counterfoil_core.base.errors import DeviceError

JOBS, PROFILES = ("digits-cnn", "logistic"), ("float64-24", "exact-20")


def do(folder: Path, action: str, machine: str) -> Results:
    words = ["--jobs", *JOBS, ANSWERING, "--profiles", *PROFILES, "--steps", "2", "--out", str(folder)]
    return CROSS_HARDWARE.in_process([action, "--machine", machine, "--about", "a machine of these tests", *words])


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two names of one machine that worked in turn, one, the other, the one; with no eager training."""
    folder = tmp_path_factory.mktemp("campaign")
    assert not any(one.values.get("refused") for one in do(folder, "order", "one").values())
    for machine in ("one", "other", "one"):
        assert not any(one.sentences for one in do(folder, "work", machine).values())
    return folder


@pytest.fixture
def rows(campaign: Path) -> list[Values]:
    return rows_of(campaign / "results")


def test_every_run_is_audited_on_the_other_machine_and_every_tampered_one_on_both(rows: list[Values]) -> None:
    names = ("recorder", "machine", "job", "profile", "tampered")
    replays = {tuple(row[name] for name in names) for row in rows if row["kind"] == "replayed"}
    across, pairs = [("one", "other"), ("other", "one")], [(a, b) for a in ("one", "other") for b in ("one", "other")]
    honest = {(*pair, job, profile, False) for pair in across for job in JOBS for profile in PROFILES}
    assert replays == honest | {(*pair, "digits-cnn", profile, True) for pair in pairs for profile in PROFILES}
    assert all(row["expected"] for row in rows if row["kind"] == "replayed")


def test_what_is_done_is_not_done_again(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_hardware.Machine, "record", None)
    before = do(campaign, "work", "one")
    assert do(campaign, "work", "one") == before


def sound(rows: Sequence[Values]) -> list[Values]:
    """The results, as if ordinary training differed."""
    other = {"state_root": "00" * 32}
    return [row | other if row["kind"] == "trained" and row["machine"] == "other" else row for row in rows]


def test_answers_are_made_by_each_machine_and_checked_by_the_other(rows: list[Values]) -> None:
    line = "(greedy, drawn): 2 of 2 are the same to the bit. Of 4 checks of the other machine's, 4 are VERIFIED"
    assert line in said(sound(rows))
    for kind, change, sentence in (
        ("checked", {"outcome": "DISPUTED", "said": "Token 3 is another."}, "Token 3 is another."),
        ("checked", {"forged_at": 6}, "with a forged token: DISPUTED at token 6"),
        ("answered", {"digest": "00"}, "the greedy answers of the machines differ"),
    ):
        key = (kind, "other", "greedy")
        changed = [
            row | change if (row["kind"], row.get("machine"), row.get("answer")) == key else row for row in sound(rows)
        ]
        assert sentence in said(changed)
        assert line not in said(changed)


def said(rows: Sequence[Values]) -> str:
    return "\n\n".join(measured_sections(rows).values())


def test_the_page_counts_and_complains_of_nothing_but_equal_controls(rows: list[Values]) -> None:
    """Both names are one machine."""
    assert "no ordinary training differs between one and other" in said(rows)
    text = said(sound(rows))
    assert "8 of 8 audits of honest runs: VERIFIED" in text
    assert "8 of 8 audits of tampered runs: DISPUTED, and the capsule CONFIRMED. Nothing was unexpected." in text
    assert "| digits-cnn | 0 / 0, run root | 0 / 0, run root |" in text
    assert "In 2 of 2 the state differs" in text


EXACT = {"kind": "replayed", "profile": "exact-20", "tampered": False, "job": "logistic", "machine": "other"}
FORGED = {"kind": "replayed", "tampered": True, "machine": "other"}
RECORDED = {"kind": "recorded", "profile": "exact-20", "tampered": False, "job": "logistic", "machine": "other"}


@pytest.mark.parametrize(
    ("chosen", "changes", "line"),
    [
        (EXACT, {"outcome": "DISPUTED", "mismatched": 1, "expected": False}, "DISPUTED, 1 steps differ"),
        (FORGED, {"adjudicated": "REJECTED", "expected": False}, "capsule REJECTED"),
        (FORGED, {"capsule": "ab" * 32}, "2 different capsules"),
        (RECORDED, {"state_root": "ef" * 32, "run_root": "cd" * 32}, "the run roots of one and other differ"),
    ],
)
def test_what_is_strange_is_said(
    rows: list[Values], chosen: dict[str, object], changes: dict[str, object], line: str
) -> None:
    strange = [row | changes if chosen.items() <= row.items() else row for row in sound(rows)]
    assert strange != sound(rows)
    assert "Unexpected:" in said(strange)
    assert line in said(strange)


def test_results_of_changed_orders_count_no_more_and_refused_ones_are_listed(rows: list[Values]) -> None:
    changed = {"kind": "ordered", "job": "logistic", "profile": "exact-20"}
    text = said([row | {"order": "12" * 32} if changed.items() <= row.items() else row for row in sound(rows)])
    assert "| logistic | 0 / 0, run root | - |" in text
    assert "6 of 6 audits of honest runs" in text
    refused = {**changed, "profile": "exact-13", "order": "", "refused": "There is no\nsuch | thing.", "machine": ""}
    assert "| logistic | exact-13 | There is no such / thing. |" in said([*rows, refused])


def test_results_of_other_machines_stay(campaign: Path, tmp_path: Path, rows: list[Values]) -> None:
    collect(campaign / "results", tmp_path)
    collect(campaign / "results", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jsonl", "orders.jsonl", "other.jsonl"]
    assert rows_of(tmp_path) == rows
    assert [len(path.read_text().splitlines()) for path in tmp_path.iterdir()] < [20] * 3


def test_a_machine_that_fails_its_test_is_named_and_does_nothing_else(
    campaign: Path, rows: list[Values], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(machine: object, precision: object) -> str:
        raise DeviceError("Half of every product is missing.")

    monkeypatch.setattr(cross_hardware, "run_selftest", fails)
    broken = Machine(tmp_path, "broken", "a machine that computes wrongly").selftest()
    assert broken["failed"] == ["float64-24", "float64-18", "float32-bfloat16", "exact-20", "exact-20-rows", "exact-13"]
    assert f"**failed** under {', '.join(broken['failed'])}: Half" in said([broken, *sound(rows)])
    work = do(campaign, "work", "broken")
    assert {one.outcome for key, one in work.items() if key != "selftest"} == {"left out"}


def test_versions_of_torch_are_machines_too() -> None:
    names, job = (NATIVE, *FEWER), "sparse network"
    orders = {"float64-24": "cd" * 32, "exact-20": "ab" * 32}
    made: list[Values] = []
    for profile, order in orders.items():
        of = {"job": job, "profile": profile, "tampered": False, "order": order}
        made += [{"kind": "ordered", **of, "machine": name, "refused": ""} for name in ("", names[1])]
        for name in names:
            roots = {"run_root": "11" * 32, "state_root": "22" * 32}
            made.append({"kind": "recorded", **of, **roots, "machine": name})
            counts = {"mismatched": 0, "corrections": 2, "contradictions": 0, "omissions": 0}
            ended = {"outcome": "VERIFIED", "expected": True, "capsule": "", "adjudicated": "", **roots, **counts}
            made += [
                {"kind": "replayed", **of, **ended, "recorder": name, "machine": other}
                for other in names
                if other != name
            ]
    for name in names:
        about = {
            "about": "made up",
            "device": "cpu",
            "libraries": "none",
            "selftest": {"exact-20": "passed"},
            "failed": [],
        }
        made.append({"kind": "machine", "machine": name, **about, "environment": {"cpu_capability": "AVX9"}})
        made.append({"kind": "trained", "job": job, "order": orders["float64-24"], "machine": name, "state_root": name})
    text = "\n\n".join(version_sections(made, list(LITERATURE)).values())
    assert f"| {NATIVE} | - | 1 of 1 (2); 1 of 1 (2) | 1 of 1 (2); 1 of 1 (2) |" in text
    assert f"| {job} | 1 / 1 of 3 | 1 / 1 of 3 | 3 of 3 |" in text
    assert f"| {names[1]} | 2 of 2 | none |" in text
    assert "12 of 12 audits of honest runs: VERIFIED" in text
    assert "same instructions: AVX9: 1 of 1" in text
    assert f"| {job} | 2 of 2 (4) | 2 of 2 (4) | 2 of 2 (4) | 2 of 2 (4) | 12 of 12 (24) | 3 |" in text
    last = max(at for at, row in enumerate(made) if row["kind"] == "recorded" and row["profile"] == "exact-20")
    made[last] = {**made[last], "run_root": "33" * 32}
    strange = "\n".join(version_sections(made, []).values())
    assert f"{job}, exact-20: the run roots differ between versions" in strange


def test_the_campaign_has_the_recipes_and_the_literature() -> None:
    assert list(EVERY) == [*ORDERS, *LITERATURE]
