from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import main
from benchmarks.pages import duration, size
from benchmarks.paper import runs
from benchmarks.paper.experiments import EXPERIMENTS
from benchmarks.paper.measurement import Measurement, measure
from benchmarks.paper.page import BITS_PER_VALUE, page
from benchmarks.paper.runs import Found, affordable_batch

from counterfoil_core.base.errors import CounterfoilError

MEASURED = Measurement(
    experiment="resnet50",
    batch=2,
    parameters=10,
    operators=5,
    values=1000,
    entries=3,
    log_bytes=10,
    eager32=0.5,
    unrounded=1.0,
    recorded=1.2,
    replayed=1.1,
    perturbed=2.0,
    digested=0.01,
    corrections=0,
    contradictions=0,
    omissions=0,
    identical=True,
    state_bytes=10**6,
    peak_bytes=10**9,
)


def test_logistic_regression_is_measured_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.paper.measurement.LONG_SECONDS", 0.0)
    found = measure("logistic", 64, threads=1)
    assert found.batch == 64
    assert found.parameters == 1025
    assert found.state_bytes == 4 * 1025
    assert found.identical
    assert (found.contradictions, found.omissions) == (0, 0)
    assert 0 < found.log_bytes < found.values * BITS_PER_VALUE / 8
    assert min(found.eager32, found.unrounded, found.recorded, found.replayed, found.perturbed, found.digested) > 0
    assert Measurement.from_json(found.to_json()) == found


def test_the_batch_fits_the_time() -> None:
    experiment = EXPERIMENTS["resnet50"]
    assert MEASURED.seconds == pytest.approx(5.8)
    assert affordable_batch(experiment, MEASURED, MEASURED, 1e9) == 64
    assert affordable_batch(experiment, MEASURED, MEASURED, 16 / 2 * 5.8 + 1) == 16
    assert affordable_batch(experiment, MEASURED, MEASURED, 1.0) == 2
    # 5.8 s for 2 rows and 5.9 s for 4: most of it does not depend on the batch.
    flat = replace(MEASURED, batch=4, recorded=1.3)
    assert affordable_batch(experiment, MEASURED, flat, 9.0) == 64
    assert affordable_batch(experiment, MEASURED, flat, 8.0) == 32
    assert affordable_batch(experiment, MEASURED, flat, 1.0) == 4


def test_a_batch_that_needs_too_much_memory_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(_name: str, batch: int, *_rest: object) -> Measurement:
        asked.append(batch)
        if batch > 16:
            raise runs._OutOfMemoryError("too much")
        return replace(MEASURED, batch=batch)

    monkeypatch.setattr(runs, "_measure_alone", measured)
    (found,) = runs.run_experiments(["resnet50"], seconds=1e9, say=lambda _line: None)
    assert asked == [2, 4, 64, 32, 16]
    assert (found.small.batch, found.large.batch) == (2, 16)


def test_a_process_is_held_to_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_free_memory", lambda: 5 * 10**8)
    with pytest.raises(runs._OutOfMemoryError, match="Measuring GPT-2"):
        runs.run_experiments(["gpt2"], say=lambda _line: None)


def test_what_is_extrapolated_lies_on_the_line() -> None:
    large = replace(MEASURED, batch=4, values=1800, log_bytes=16)
    found = Found("resnet50", MEASURED, large)
    assert found.extrapolated
    assert found.at_full_batch(lambda m: m.values) == 200 + 400 * 64
    whole = replace(MEASURED, batch=64, values=77)
    assert Found("resnet50", MEASURED, whole).at_full_batch(lambda m: m.values) == 77
    assert not Found("resnet50", MEASURED, whole).extrapolated
    assert Found("resnet50", MEASURED, MEASURED).at_full_batch(lambda m: m.values) == 32 * 1000


def test_the_page_says_what_was_measured_and_what_was_not() -> None:
    found = [Found(name, MEASURED, replace(MEASURED, batch=EXPERIMENTS[name].batch)) for name in EXPERIMENTS]
    text = page(found, "cpu", made_up_images=True, seconds=120)
    assert "{" not in text
    assert all(one.experiment.title in text for one in found)
    assert "short of 1/500" in text
    assert "extrapolated |" not in text
    less = page([Found("resnet50", MEASURED, MEASURED)], "cpu", made_up_images=False, seconds=120)
    assert "2 of 64" in less
    assert "extrapolated" in less
    assert "Kaizen)" not in less, "what was not run is not compared"
    disagreeing = Found("resnet50", MEASURED, replace(MEASURED, identical=False))
    assert "| NO |" in page([disagreeing], "cpu", made_up_images=True, seconds=120)


def test_words_for_numbers() -> None:
    assert [size(n) for n in (117, 2052, 999_400, 195_000_000, 1.5e12)] == [
        "117 bytes", "2.05 KB", "999 KB", "195 MB", "1,500 GB",
    ]  # fmt: skip
    assert [duration(s) for s in (0.0123, 2.5, 1320, float("nan"))] == ["12.3 ms", "2.5 s", "22 min", "-"]


def test_a_failing_child_ends_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CounterfoilError, match=r"Measuring ResNet-50 on CIFAR-10 with 2 rows failed: .*"):
        runs.run_experiments(["resnet50"], images=tmp_path / "none", say=lambda _line: None)


def test_the_command_writes_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = runs._measure_alone

    def smallest_only(name: str, batch: int, *rest: Any) -> Measurement:
        """One real process; the larger batches are made up."""
        return measured(name, batch, *rest) if batch == 64 else replace(MEASURED, batch=batch)

    # The process measures each form as often as it must, and not for a second.
    python = tmp_path / "python"
    code = "import sys; from benchmarks.paper import measurement as m; m.LONG_SECONDS = 0.0; m.child(sys.argv[1])"
    python.write_text(f"""#!/bin/sh\nfor each; do last=$each; done
test "$1 $2 $3 $4" = "-m benchmarks paper --child" || exit 9
exec {shlex.quote(sys.executable)} -c '{code}' "$last"
""")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(runs, "_measure_alone", smallest_only)
    out = tmp_path / "page.md"
    assert main(["paper", "logistic", "--out", str(out), "--seconds", "1000", "--threads", "1"]) == 0
    assert "Logistic regression" in out.read_text()
    assert "benchmarks paper --seconds 1000" in out.read_text()
    assert "Wrote" in capsys.readouterr().out
    assert main(["paper", "--out", str(tmp_path / "none" / "page.md")]) == 4
