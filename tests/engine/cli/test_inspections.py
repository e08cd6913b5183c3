"""``counterfoil plan --inspections``: as tables, as JSON, as a picture, and what it says of wrong calls."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Tree
from pathlib import Path

import pytest

from counterfoil.audit.values.inspections import PAPER_RUNS, InspectionRequest, plan_inspections
from counterfoil.cli import main
from counterfoil.exports.inspectionplot import inspection_plot

SVG = "{http://www.w3.org/2000/svg}"


def test_the_tables_have_the_papers_numbers_and_what_they_rest_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    assert main(["plan", "--inspections", "--samples", "1000"]) == 0
    said = capsys.readouterr().out
    plan = plan_inspections(InspectionRequest(samples=1000))
    for expected in (*PAPER_RUNS, "2,433,726", "k = 100", "0.8733", "Probability that 1,000 a year catch the run"):
        assert expected in said
    for line in plan.assumptions:
        assert str(line) in said


def test_json_has_every_number_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["plan", "--inspections", "--json", "--operations", "1e25,2e25", "--chips", "1e6", "--gpu", "h100"]
    assert main([*command, "--run-days", "100", "--period", "10", "--snapshots", "0.3", "--confidence", "0.95"]) == 0
    found = json.loads(capsys.readouterr().out)
    plan = plan_inspections(InspectionRequest((1e25, 2e25), (10**6,), 989e12, 100.0, 10.0, 0.3, 0.95))
    assert [row["cells"][0]["a_year"] for row in found["rows"]] == [row.cells[0].a_year for row in plan.rows]
    assert found["logged"] == plan.logged
    assert found["request"]["rate"] == 989e12


def test_the_picture_is_of_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "plan.svg"
    assert main(["plan", "--inspections", "--plot", str(place)]) == 0
    assert place.read_text() == inspection_plot(plan_inspections())
    drawn = Tree.fromstring(place.read_text())
    texts = [item.text for item in drawn.iter(f"{SVG}text")]
    assert set(PAPER_RUNS) | {"b = 0.2"} <= set(texts)
    lines = list(drawn.iter(f"{SVG}polyline"))
    assert len(lines) == len(PAPER_RUNS) + 4
    for line in lines:
        for pair in line.attrib["points"].split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= float(drawn.attrib["width"])
            assert 0 <= y <= float(drawn.attrib["height"])
    assert main(["plan", "--inspections", "--plot", str(place)]) == 4
    assert "exists already" in capsys.readouterr().err
    assert main(["plan", "--inspections", "--plot", str(place), "--force", "--chips", "1e5"]) == 0
    assert place.read_text() != inspection_plot(plan_inspections())


def test_a_picture_where_no_run_fits() -> None:
    assert "no run of these fits" in inspection_plot(plan_inspections(InspectionRequest((1e30,), (1,))))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "--operations", "1e24"], "--operations belong to a plan with --inspections"),
        (["plan", "--inspections", "--tokens", "1e9"], "--tokens belong to a plan with --fleet"),
        (["plan", "--inspections", "--fleet"], "takes no RUN"),
        (["plan", "--inspections", "--gpu", "H100", "--chip-rate", "1e15"], "not both"),
        (["plan", "--inspections", "--gpu", "H9000"], "A100, H100"),
        (["plan", "--inspections", "--operations", "big"], "--operations takes numbers"),
        (["plan", "--inspections", "--chips", "0.5"], "whole numbers"),
        (["plan", "--inspections", "--chips", "0"], "more than 0"),
        (["plan", "--inspections", "--confidence", "1.5"], "between 0 and 1"),
        (["plan", "--inspections", "--period", "366"], "Inspections come more seldom"),
    ],
)
def test_a_wrong_call_says_what_to_give(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(arguments) != 0
    assert said in " ".join(capsys.readouterr().err.split())
