"""``counterfoil plan --fleet``, without a run: as tables, as JSON, and what it says of wrong calls."""

from __future__ import annotations

import json

import pytest

from counterfoil.audit.values.fleet import FleetRequest, plan_fleet
from counterfoil.audit.values.rates import WAYS
from counterfoil.base.cards import GPUS
from counterfoil.cli import main
from counterfoil.cli.fleet import amount


def test_the_tables_name_sizes_profiles_assumptions_and_what_stands_in_the_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["plan", "--fleet", "--gpu", "rtx 4090", "--parameters", "1,8", "--devices", "8"]) == 0
    said = capsys.readouterr().out
    for expected in ("8 x RTX 4090", "Recording", "Storing", "Auditing", "1 B", "8 B", *WAYS):
        assert expected in said
    fleet = plan_fleet(GPUS["RTX 4090"], FleetRequest(parameters=(1e9, 8e9), devices=8))
    for line in (*fleet.notes, *fleet.assumptions):
        assert str(line) in said
    for row in fleet.rows:
        assert f"{row.record_device_hours:,.0f}" in said


def test_json_has_every_number_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--fleet", "--json", "--parameters", "70", "--tokens", "2e12", "--bad-fraction", "0.05"]) == 0
    found = json.loads(capsys.readouterr().out)
    fleet = plan_fleet(GPUS["H100"], FleetRequest(parameters=(70e9,), tokens=2e12, bad_fraction=0.05))
    assert found["steps"] == fleet.steps
    assert [row["record_hours"] for row in found["rows"]] == [row.record_hours for row in fleet.rows]
    assert found["assumptions"] == [str(line) for line in fleet.assumptions]
    assert found["request"]["bad_fraction"] == 0.05


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan"], "Name a RUN"),
        (["plan", "--gpu", "H100"], "--gpu belong to a plan with --fleet"),
        (["plan", "--fleet", "--gpu", "H9000"], "A100, H100"),
        (["plan", "--fleet", "--parameters", "big"], "such as 1,8,70"),
        (["plan", "--fleet", "--slurm"], "no batch script"),
        (["plan", "--fleet", "--devices", "0"], "more than 0"),
        (["plan", "--fleet", "--confidence", "1.5"], "between 0 and 1"),
    ],
)
def test_a_wrong_call_says_what_to_give(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(arguments) != 0
    assert said in " ".join(capsys.readouterr().err.split())


def test_amounts_are_short() -> None:
    assert [amount(n) for n in (0, 999, 1000, 28.6e12, 1.4e19)] == ["0 B", "999 B", "1 KB", "28.6 TB", "14 EB"]
