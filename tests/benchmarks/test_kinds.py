"""One run of each kind of benchmark at the smallest size; and pages hold what their stored results give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.__main__ import COMMANDS, main
from benchmarks.against import AGAINST
from benchmarks.cross_hardware import COLLECTED, rows_of
from benchmarks.cross_pages import measured_sections
from benchmarks.growth import GROWTH
from benchmarks.measure import ROOT, Benchmark, Sections, Store
from benchmarks.pages import between

from benchmarks import fleet, growth, paper, steps
from counterfoil.audit.values.fleet import FleetRequest, plan_fleet

DOCS = ROOT / "docs"
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param("steps digits --rounds 1 --no-memory", 0, "| digits-cnn, width 16, batch 32 | 193 |", marks=slow),
        pytest.param("exact-training digits --rounds 1", 0, "| digits-cnn, width 16, batch 32 |", marks=slow),
        pytest.param("exact-products --rounds 1", 0, "| 512 x 768 x 768 |", marks=slow),
        pytest.param("profile digits", 0, "time / least time", marks=slow),
        pytest.param("soak --steps 400", None, "| audit |", marks=slow),
        pytest.param("workers --segments 2 --width 32 --processes 2", 0, "| 2 processes |", marks=slow),
        pytest.param("recording", 0, "| digits, 16 channels |", marks=slow),
        pytest.param("starts --steps 2 --rounds 1", 0, "| `counterfoil --help` |", marks=slow),
        pytest.param("sandbox --times 1 --steps 2 --width 32", 0, "| audit, its steps |", marks=slow),
        pytest.param("window --steps 8", None, "| export |", marks=slow),
        pytest.param(
            "accuracy --seeds 2 --digits-steps 2 --gpt-steps 0 --fashion-steps 0 --arithmetics exact-20", 0, "exact-20",
            marks=slow,
        ),
        ("aggregation --seeds 1 --steps 1", 0, "| krum, momentum |"),
        pytest.param("scale --small --worlds 1 --shares 1 2", 0, "400 Gbit/s a device", marks=slow),
        ("fleet", 0, "| OPEN-1B | published | by this model |"),
        pytest.param("paper logistic --seconds 1", 0, "| Logistic regression, 262,144 x 1,024 |", marks=slow),
        pytest.param("whole rehearsal", 0, "| VERIFIED | 6 of 6 |", marks=slow),
        pytest.param("gpu crossing --device cpu --minutes 20", None, "golden run", marks=slow),
        pytest.param("exact-replays --jobs logistic", 0, "| logistic |", marks=slow),
        pytest.param(
            "false-accusations --steps 2 --jobs logistic --machines reversed", 0,
            "4 of 4 replays: VERIFIED, with no contradiction and no omission.", marks=slow,
        ),
    ],
)  # fmt: skip
def test_it_measures_and_says_what_it_found(
    arguments: str, code: int | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *rest = arguments.split()
    ended = main([name, *rest, "--out", str(tmp_path / "results")])
    shown = capsys.readouterr().out
    assert said in shown
    assert code is None or ended == code, shown
    assert Store(tmp_path / "results").results() or name == "fleet"


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0
        assert f"python -m benchmarks {name}" in capsys.readouterr().out
    assert main([]) == 0
    assert main(["fly"]) == 2


def shown(benchmark: Benchmark) -> Sections:
    options = benchmark.parsed("", [])
    options.out = ROOT / benchmark.out
    return benchmark.sections(benchmark.store(options).results(), options)


@pytest.mark.parametrize("benchmark", [GROWTH, AGAINST, fleet.FLEET])
def test_a_page_holds_what_its_results_give(benchmark: Benchmark) -> None:
    for (page, part), text in shown(benchmark).items():
        assert between((DOCS / page).read_text(encoding="utf-8"), part) == text.strip(), (page, part)


def test_the_page_of_machines_holds_what_their_results_give() -> None:
    for (page, part), text in measured_sections(rows_of(COLLECTED)).items():
        assert between((DOCS / page).read_text(encoding="utf-8"), part) == text.strip(), part


def test_pictures_are_drawn(tmp_path: Path) -> None:
    for benchmark in (GROWTH, AGAINST, fleet.FLEET):
        picture, options = tmp_path / f"{benchmark.out.replace('/', '-')}.png", benchmark.parsed("", [])
        options.out = ROOT / benchmark.out
        assert benchmark.picture is not None
        benchmark.picture(benchmark.store(options).results(), picture)
        assert picture.stat().st_size > 5_000


# What single benchmarks judge.


def test_ratios_that_got_worse_are_named() -> None:
    assert steps.regressions("w", {"a": 1.0, "b": 2.0}, {"a": 1.1, "b": 2.4}, 0.15) == [
        "w: b is 2.40, stored 2.00, +20%"
    ]
    with pytest.raises(ValueError, match="not measured: b"):
        steps.regressions("w", {"b": 1.0}, {"a": 1.0}, 0.15)
    with pytest.raises(ValueError, match="w: a is nan"):
        steps.regressions("w", {"a": 1.0}, {"a": float("nan")}, 0.15)
    assert set(steps.read_stored(1)) == set(steps.WORKLOADS)


def test_what_is_flat_is_told_from_what_is_not() -> None:
    import numpy as np

    at = np.arange(100.0, 10_001.0, 100.0)
    share = at / at[-1]
    flat = np.stack([at, np.full_like(at, 1e-3), np.full_like(at, 2.0**27), np.full_like(at, 5)], axis=1)
    assert growth.flatness(flat).faults == []
    for column, drift, said in (
        (1, 1e-3 * share, "times as long"),
        (2, 4096 * at, "4096 bytes"),
        (3, 2 * share, "more files"),
    ):
        worse = flat.copy()
        worse[:, column] += drift
        (fault,) = growth.flatness(worse).faults
        assert said in fault


def test_a_batch_fits_the_time_and_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = {"batch": 2, "seconds": 5.8, "recorded": 1.2, "unrounded": 1.0}
    experiment, more = paper.EXPERIMENTS["resnet50"], {**measured, "batch": 4, "seconds": 5.9}
    assert paper.affordable_batch(experiment, measured, measured, 1e9) == 64
    assert paper.affordable_batch(experiment, measured, measured, 16 / 2 * 5.8 + 1) == 16
    # 5.8 s for 2 rows and 5.9 s for 4: most of it does not depend on the batch.
    assert paper.affordable_batch(experiment, measured, more, 8.0) == 32
    assert paper.on_line(measured, more, 8, "seconds") == pytest.approx(6.1)
    asked = []

    def alone(_name: str, batch: int, _options: object) -> dict[str, object]:
        asked.append(batch)
        if batch > 16:
            raise paper._OutOfMemoryError("too much")
        return {**measured, "batch": batch}

    monkeypatch.setattr(paper, "measure_alone", alone)
    found = paper.run_experiment(paper.PAPER.parsed("paper", ["--seconds", "1e9"]), "resnet50")
    assert asked == [2, 4, 64, 32, 16]
    assert (found["small"]["batch"], found["large"]["batch"]) == (2, 16)


@slow
def test_a_process_is_held_to_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "free_memory", lambda: 5 * 10**8)
    with pytest.raises(paper._OutOfMemoryError, match="Measuring GPT-2"):
        paper.measure_alone("gpt2", 1, paper.PAPER.parsed("paper", []))


def test_every_assumption_of_the_plan_is_on_the_page_and_the_sums_give_what_open_1b_published() -> None:
    page = (DOCS / "scale.md").read_text(encoding="utf-8")
    for line in plan_fleet(fleet.GPU, FleetRequest()).assumptions:
        assert str(line) in page
    assert fleet.open_1b_steps() == pytest.approx(80_957, abs=1)
    seconds = fleet.open_seconds(fleet.OPEN_8B_PARAMETERS, fleet.OPEN_MAIN_BATCH, fleet.OPEN_1B_GPUS)
    assert seconds == pytest.approx(94, rel=0.01)
    assert json.dumps(fleet.checks())
