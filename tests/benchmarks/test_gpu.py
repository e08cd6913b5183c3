"""What is to be known of a GPU: what its parts judge, its page from made-up figures, and the rehearsal without one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.forms import Forms
from benchmarks.gpu_page import pages
from benchmarks.measure import ROOT, Ended, Result, Results, Store

from benchmarks import answer_agreement, gpu, gpu_agreement, gpu_costs
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.errors import DataError
from support.jobs import digits_order

# Controls.


def test_the_controls_differ_and_a_replay_does_not() -> None:
    order, machine = digits_order(steps=2), open_machine("cpu", 1)
    flipped = gpu_agreement.with_a_bit_flipped(order)
    with ExitStack() as stack:
        trainer, auditor, other = (
            Forms(one, machine, stack.enter_context(machine.kernels())) for one in (order, order, flipped)
        )
        trainer.record()
        found = gpu_agreement.across(trainer, auditor)
        assert found["equal"]
        assert found["entries"] > 0
        assert (found["contradictions"], found["omissions"], found["corrections"]) == (0, 0, 0)
        assert found["without_log_equal"], "on the trainer's own machine nothing hangs on the log"
        assert found["reversed_equal"] is False
        assert not gpu_agreement.across(trainer, other)["equal"], "a flipped bit of the state is seen"
    bits = [
        np.unpackbits(np.frombuffer(b"".join(map(bytes, one.initial.values())), np.uint8)) for one in (order, flipped)
    ]
    assert np.count_nonzero(bits[0] != bits[1]) == 1


GOOD = {"equal": True, "corrections": 3, "contradictions": 0, "omissions": 0, "without_log_equal": False,
        "reversed_equal": False, "entries": 9}  # fmt: skip
LARGER = {"name": "a step", "profile": "exact-20", "values": 5, "recorded_equal": True, "bit_flipped_equal": False,
          "there": GOOD, "back": GOOD}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"there": GOOD | {"equal": False}}, "CPU to device: the replay is not"),
        ({"back": GOOD | {"omissions": 1}}, "device to CPU: the replay is not"),
        ({"there": GOOD | {"reversed_equal": True}}, "a direction reversed gives the same"),
        ({"there": GOOD | {"without_log_equal": True}}, "the log decides nothing"),
        ({"recorded_equal": False}, "record different steps"),
        ({"bit_flipped_equal": True}, "changes nothing"),
    ],
)
def test_what_is_strange_is_said(change: dict[str, object], said: str) -> None:
    assert not gpu_agreement.strange_larger(LARGER)
    (sentence,) = gpu_agreement.strange_larger(LARGER | change)
    assert said in sentence


def test_a_launch_is_ours_a_librarys_or_a_copy() -> None:
    names = ["_round_block", "_leaves", "Memcpy HtoD (Pinned -> Device)", "Memset (Device)",
             "void at::native::elementwise_kernel<4>", "ampere_sgemm_128x64_tn", "_ZN2at6native"]  # fmt: skip
    assert [gpu_costs.kind_of_launch(name) for name in names] == ["ours"] * 2 + ["copies"] * 2 + ["libraries"] * 3


def test_a_kind_of_which_no_test_ran_is_strange() -> None:
    assert gpu_agreement.tested("rules", [("a", "passed"), ("b", "skipped")])["strange"] == []
    found = gpu_agreement.tested("rules", [("a", "skipped"), ("b", "failed")])
    assert found["counts"] == {"skipped": 1, "failed": 1}
    assert found["strange"] == ["test b of rules failed", "no test of rules ran on the device"]


def test_a_shortage_without_a_remedy_is_strange_and_so_is_what_comes_after() -> None:
    said = {"an order": "Take another.", "a recording": "Close other programs."}
    assert gpu_agreement.strange_memory(said, True) == []
    (remedy,) = gpu_agreement.strange_memory({**said, "an audit": ""}, True)
    assert remedy.startswith("an audit that finds no memory")
    assert "computes otherwise" in gpu_agreement.strange_memory(said, False)[0]


def test_an_answer_that_is_not_verified_or_a_forged_one_that_is_not_disputed_at_its_token_is_strange() -> None:
    good = {"outcome": "VERIFIED", "said": "it is.", "forged": "DISPUTED", "forged_at": answer_agreement.FORGED}
    assert answer_agreement.strange_check(good, "") == []
    assert answer_agreement.strange_check({**good, "outcome": "DISPUTED"}, "an answer") == ["an answer: it is."]
    for change in ({"forged": "VERIFIED", "forged_at": 0}, {"forged_at": 6}):
        (said,) = answer_agreement.strange_check({**good, **change}, "an answer")
        assert "forged token" in said


# The plan.


@pytest.fixture
def planned() -> list[gpu.Cell]:
    """The cells, as on a GPU."""
    return gpu.cells(gpu.GPU.parsed("gpu", []))


def test_cells_have_names_of_their_own_and_the_most_valuable_comes_first(planned: list[gpu.Cell]) -> None:
    keys = [cell.key for cell in planned]
    assert len(set(keys)) == len(keys)
    assert list(dict.fromkeys(key.split("/")[0] for key in keys)) == list(gpu.PARTS)


def test_the_budget_is_a_quarter_of_an_hour(planned: list[gpu.Cell]) -> None:
    assert gpu.budget(planned) == pytest.approx(13.8 * 60, rel=0.02), "as the table says"
    assert gpu.budget(planned) <= 15 * 60
    assert gpu.budget(planned, workers=1) > 15 * 60, "control: they have to run side by side"


def test_every_test_of_kernels_runs_on_a_gpu_under_a_kind() -> None:
    paths = [ROOT / path for paths in gpu.TESTS.values() for path in paths]
    assert all(path.exists() for path in paths)
    files = set((ROOT / "tests").rglob("test_*.py")) - {Path(__file__)}
    marked = {file for file in files if "triton_device import" in file.read_text("utf-8")}
    marked |= {file for file in files if "pytest.mark.gpu" in file.read_text("utf-8")}
    assert len(marked) > 8
    assert [file for file in marked if not any(file.is_relative_to(path) for path in paths)] == []
    assert list(gpu.TESTS)[:4] == ["rounding", "rules", "exact", "ahead"]


def test_the_cpu_is_no_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpu", "--device", "cpu", "--out", str(tmp_path)]) == 4
    assert "tests.ptx.rehearsal" in capsys.readouterr().err


# The page.


def made_up() -> Results:
    def form(seconds: float) -> dict[str, object]:
        return {"seconds": seconds, "least": seconds, "rounds": 7, "memory": 3 * 10**9}

    step = {"operators": 7, "values": 1234567, "entries": 5, "log_bytes": 99, "flops": 2 * 10**12, "form": "float64-24"}
    clean = {
        "job": "a job", "trainer": "cpu", "machine": "device", "outcome": "VERIFIED", "steps": 4, "values": 10,
        "entries": 5, "corrections": 1, "contradictions": 0, "omissions": 0, "disputed": 0, "steerable": 4,
        "steered": 0,
    }  # fmt: skip
    rates = {"side": 8192, "operations_per_second": {"float64": 6e13}, "bytes_copied_per_second": 4e12}
    ordered = {"unrounded float64": form(1.0), "float64-24, recorded": form(1.1)}
    values = {
        "environment/machine": {
            "memory": 150 * 10**9,
            "driver": "777",
            "cuda": "13",
            "triton": "3",
            "python": "3.13",
            "environment": {"device": "cuda:0"},
            **rates,
        },
        "steps/net.eager": {"name": "a net", "form": "eager", "forms": {"eager float32": form(0.5)}},
        "steps/net.float64-24": {"name": "a net", **step, "forms": ordered},
        "larger/net.float64-24": LARGER | {"back": GOOD | {"corrections": 4}},
        "accusations/a-job.cpu": {"replays": [clean, clean | {"outcome": "DISPUTED"}]},
        "tests/rounding": {"counts": {"passed": 3}},
        "tests/rules": {"counts": {"passed": 5, "skipped": 1}},
        "answers/greedy": {
            "tokens": 64,
            "equal": True,
            "made": {"cpu": 9.0, "device": 2.5},
            "checks": [
                {
                    "maker": maker,
                    "machine": where,
                    "outcome": "VERIFIED",
                    "seconds": 0.5,
                    "forged": "DISPUTED",
                    "forged_at": 7,
                }
                for maker in ("cpu", "device")
                for where in ("cpu", "device")
            ],
        },
        "memory/exact-20": {
            "form": "exact-20",
            "ended": {"an order": "It needs 47.1 GiB; cuda:0 has 23.5.", "a recording": "Close some.", "an audit": ""},
            "works": True,
        },
        "bandwidth/kernels": {
            "copied": 4e12,
            "side": 4096,
            "elements": 2**27,
            "passes": {"sum": {"bytes": 2**29, "seconds": 2.0**29 / 2e12}},
            "products": {"exact-13": {"form": "tensor cores", "seconds": 2 * 4096.0**3 / 3e14}},
        },
        "launches/digits.exact-20": {
            "name": "digits",
            "form": "exact-20",
            "operators": 100,
            "launches": {
                "recorded": {"ours": 90, "libraries": 30, "copies": 2},
                "replayed": {"ours": 80, "libraries": 30, "copies": 3},
            },
        },
        "compiling/kernels": {
            "kernels": {"_sum": {"variants": 2, "seconds": 3.5, "most": 2.5}},
            "steps": {"exact-20": {"first": 9.0, "second": 0.25}},
        },
    }
    results: Results = {key: Result(key, Ended.DONE, "", 1.0, one, origin="9.9") for key, one in values.items()}
    return {**results, "fine-tuning/example": Result("fine-tuning/example", Ended.LEFT_OUT, "said", 1.0)}


ABOUT = {"title": "NVIDIA GPU 2030", "host": "a host", "rehearsal": "no"}


def test_the_page_is_written_from_results_alone(tmp_path: Path) -> None:
    page, listed = pages(made_up(), ABOUT, [], tmp_path).values()
    assert list(pages(made_up(), ABOUT, [], None)) == [
        ("gpu-results/nvidia-gpu-2030.md", ""),
        ("cross-hardware.md", "gpu"),
    ]
    assert page.startswith("# NVIDIA GPU 2030\n\n*For*: ")
    for line in (
        "NVIDIA GPU 2030 beside a host", "driver 777, CUDA 13", "| device | `cuda:0` |", "| rules | 5 | 1 |",
        "| a step | exact-20 | 5 | yes | yes / yes | 3 of 9 / 4 of 9 | differs / differs | differs /",
        "1 of 2 replays: VERIFIED", "| fine-tuning/example | left out | said |",
        "| float64-24, recorded | 1.1 s | 2.20 | - | 1.10 | 1.82 | 3 GB | 99 bytes, 5 entries |",
        "| exact-20 | It needs 47.1 GiB; cuda:0 has 23.5. | Close some. | **no remedy** | yes |",
        "| sum | 537 MB | 0.268 ms | 2,000 | 50% |", "| exact-13 | tensor cores | 0.458 ms | 300 |",
        "| digits | exact-20 | 100 | 90, 30, 2 | 80, 30, 3 | 1.20 / 1.10 |", "| `_sum` | 2 | 3.5 s | 2.5 s |",
        "exact-20 9 s, then 250 ms", "| 64 tokens, greedy | yes | cpu's on cpu VERIFIED, cpu's on device VERIFIED, ",
        "| DISPUTED at 7, DISPUTED at 7, DISPUTED at 7, DISPUTED at 7 | 2.5 s | 500 ms |",
    ):  # fmt: skip
        assert line in page, line
    assert listed.endswith("- [NVIDIA GPU 2030](gpu-results/nvidia-gpu-2030.md)")
    (tmp_path / "gpu-results").mkdir()
    (tmp_path / "gpu-results" / "another.md").write_text("# Another\n")
    *_, listed = pages(made_up(), ABOUT, [], tmp_path).values()
    assert "- [Another](gpu-results/another.md)\n- [NVIDIA" in listed


def test_results_that_were_brought_home_are_written_where_there_is_no_gpu(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    store.claim(ABOUT)
    for one in made_up().values():
        store.keep(one)
    (tmp_path / "cross-hardware.md").write_text("<!-- gpu: begin -->\n<!-- gpu: end -->\n")
    words = ["gpu", "--out", str(store.folder), "--minutes", "0", "--write", str(tmp_path)]
    assert main(words) == 0
    assert (tmp_path / "gpu-results" / "nvidia-gpu-2030.md").read_text("utf-8").startswith("# NVIDIA GPU 2030\n")
    assert "(gpu-results/nvidia-gpu-2030.md)" in (tmp_path / "cross-hardware.md").read_text("utf-8")


FIGURE = re.compile(r"\d(?:\.\d+)? (?:ms|s|min|GB|MB|KB|GiB|TFLOP)\b|\d%")
"""A time, a rate, a size of memory or a share."""


def test_a_rehearsals_page_has_no_figures_and_is_none_of_the_documentation(tmp_path: Path) -> None:
    about = {**ABOUT, "title": "PTX machine, no GPU", "rehearsal": "yes"}
    (((name, part), page),) = pages(made_up(), about, [], tmp_path).items()
    assert (name, part) == ("gpu-results/rehearsal-ptx-machine-no-gpu.md", "")
    assert page.startswith("# Rehearsal: ")
    assert "**This is no GPU.**" in page
    assert not FIGURE.findall(page)
    assert "| digits | exact-20 | 100 | nan, nan, nan | nan, nan, nan | nan / nan |" in page
    assert "| exact-20 | It needs -; cuda:0 has -. | Close some. |" in page
    assert FIGURE.findall(pages(made_up(), ABOUT, [], None)["gpu-results/nvidia-gpu-2030.md", ""]), "control"
    with pytest.raises(DataError, match="rehearsal"):
        pages(made_up(), about, [], ROOT / "docs")


# The rehearsal.


def rehearsal(folder: Path, *parts: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.ptx.rehearsal", *parts, "--out", str(folder / "results")]
    variables = {**os.environ, "REHEARSED_ON": "90", "OMP_NUM_THREADS": "1"}
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [*words, "--write", str(folder)], cwd=ROOT, env={**variables, "PYTHONPATH": path}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def page_of(folder: Path) -> str:
    (page,) = (folder / "gpu-results").glob("*.md")
    assert page.name.startswith("rehearsal-")
    return page.read_text("utf-8")


def test_a_rehearsal_that_is_killed_goes_on_and_writes_the_page(tmp_path: Path) -> None:
    results, until = tmp_path / "results" / "results.jsonl", time.monotonic() + 300
    begun = rehearsal(tmp_path, "environment", "bandwidth")
    while not results.exists() and time.monotonic() < until and begun.poll() is None:
        time.sleep(0.1)
    begun.send_signal(signal.SIGKILL)
    begun.communicate()
    first = results.read_text("utf-8").splitlines()[0]
    again = rehearsal(tmp_path, "environment", "bandwidth")
    said, _ = again.communicate()
    assert again.returncode == 0, said
    assert "1 of 2 are done already" in said
    rows = results.read_text("utf-8").splitlines()
    assert (rows[0], len(rows)) == (first, 2), "what was done is not done again"
    page = page_of(tmp_path)
    assert "## Kernels" in page
    assert not FIGURE.findall(page)


@pytest.mark.slow
def test_answers_of_cpu_and_device_are_the_same_as_compiled(tmp_path: Path) -> None:
    ended = rehearsal(tmp_path, "answers")
    said, _ = ended.communicate()
    assert ended.returncode == 0, said
    found = Store(tmp_path / "results").results()
    assert set(found) == {f"answers/{name}" for name in answer_agreement.ANSWERS}
    assert all(one.outcome is Ended.DONE and one.values["equal"] and not one.strange for one in found.values())


@pytest.mark.slow
def test_all_parts_are_rehearsed(tmp_path: Path) -> None:
    ended = rehearsal(tmp_path)
    said, _ = ended.communicate()
    assert ended.returncode == 0, said
    found = Store(tmp_path / "results").results()
    assert {key.split("/")[0] for key in found} == set(gpu.PARTS)
    assert {one.outcome for one in found.values()} <= {Ended.DONE, Ended.LEFT_OUT}
    environment = found["environment/machine"].values["environment"]
    assert environment["device"] == "cpu:0", "the imitated one's name"
    counts = [one.values["counts"] for key, one in found.items() if key.startswith("tests/")]
    assert all(each["passed"] for each in counts)
    assert not FIGURE.findall(page_of(tmp_path))
