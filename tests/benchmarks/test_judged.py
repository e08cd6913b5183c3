"""What single benchmarks compute: controls that must differ, trainings that differ in arithmetic alone, distances."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from benchmarks.against import THREADS, WAYS, case_table
from benchmarks.honest_jobs import ORDERS
from benchmarks.imitations import IMITATIONS, SETTINGS
from benchmarks.measure import Ended, Result, Rows
from benchmarks.paper_method import Hooks, correct, pack, symbols_of, unpack
from benchmarks.products import product_table
from torch import Tensor, nn

from benchmarks import accuracy, replays, scale, sessions, whole
from counterfoil.program.philoxdraws import uniform
from counterfoil.training import execution
from counterfoil.training.recipes import digits
from counterfoil.training.recorder import record
from counterfoil.training.tamper import LabelFlip
from counterfoil_core.arithmetic import machine as machine_module
from counterfoil_core.arithmetic.compute.interpreter import Interpreter
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.otherwise.perturbation import perturb
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.exact.products import Form
from support.jobs import captured_once

# Accuracy: only the arithmetic differs between two trainings of a seed.


def test_all_trainings_of_a_seed_differ_in_arithmetic_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digits, "capture_step", captured_once("accuracy, digits", {}))
    task, machine = accuracy.digits_task(2), open_machine("cpu", 1)
    eager = accuracy.train_once(task, accuracy.REFERENCE, 1, machine)
    for name in ("float64-24", "exact-20", "float32, weights one ulp up"):
        found = accuracy.train_once(task, name, 1, machine)
        assert found["losses"] == pytest.approx(eager["losses"], rel=1e-5), name
        assert found["loss"] == pytest.approx(eager["loss"], rel=1e-4), name
    for name in ("bfloat16 autocast", "exact-8"):
        found = accuracy.train_once(task, name, 1, machine)
        assert found["losses"] == pytest.approx(eager["losses"], rel=1e-2), name
        assert found["losses"] != pytest.approx(eager["losses"], rel=1e-6), f"{name} is another arithmetic"
    assert accuracy.train_once(task, accuracy.REFERENCE, 2, machine)["losses"] != eager["losses"], "seeds differ"
    with pytest.raises(RuntimeError, match="inside a step"):
        uniform((2,))


def test_the_page_says_which_differences_exceed_the_spread() -> None:
    losses = {
        accuracy.REFERENCE: (1.0, 2.0, 3.0), "exact-20": (1.5, 2.5, 3.5), "exact-13": (1.0, 2.0 + 1e-6, 3.0 + 2e-6),
        "exact-8": (3.0, 4.0, 7.0),
    }  # fmt: skip
    rows = [
        {"task": "t", "arithmetic": name, "seed": seed, "final": loss, "loss": loss, "accuracy": 90.0}
        for name, each in losses.items()
        for seed, loss in enumerate(each)
    ]
    found = accuracy.by_task(rows)
    loss, share = accuracy.shares(found, "exact-20")
    assert (loss.size, loss.error, share.size) == (0.5, 0.0, 0.0), "the spread of 1, 2 and 3 is 1"
    table, said = accuracy.table(found), accuracy.summary(found)
    assert "| t | exact-20 | 2.5000 ± 1.0000 | 2.5000 ± 1.0000 | +0.5000 ± 0.0000 | 90.00 ± 0.00 | 0 |" in table
    assert "| t | exact-13 | 2.0000 ± 1.0000 | 2.0000 ± 1.0000 | +1e-06 ± 1e-06 |" in table
    assert "| exact-8 | +2.67 ± 0.67 (t) | +0.00 ± 0.00 (t) | loss of t |" in said
    assert "larger than the spread under *exact-20* and *exact-13*. At least one is under *exact-8*." in said


# Exact replays: one that computes otherwise is found.


@pytest.fixture(scope="module")
def exact_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return replays.record_honestly(tmp_path_factory.mktemp("exact"), "logistic, exact-20", 2)


def test_the_plan_has_every_machine_on_one_thread_and_on_two() -> None:
    planned = replays.plan_exact(list(ORDERS))
    assert len({one.cell.key for one in planned}) == len(planned) > 1000
    for setting in SETTINGS:
        found = {
            (one.machine.perturbation, one.machine.threads)
            for one in planned
            if one.machine.name.startswith(f"{setting}: ")
        }
        assert found == {(machine, threads) for machine in (None, *IMITATIONS) for threads in (1, 2)}


@pytest.mark.parametrize(
    "machine", replays.plan_exact(["logistic"])[:: len(IMITATIONS) // 2], ids=lambda one: one.machine.name
)
def test_a_replay_gives_every_leaf(exact_run: tuple[Path, Path], machine: replays.Replay) -> None:
    try:
        found = replays.replay("logistic, exact-20", *exact_run, replace(machine.machine, variables={}))
    except replays.LeftOutError:
        assert machine.machine.form in (Form.INT8, Form.KARATSUBA), "float64 and float32 are always sound"
    else:
        assert replays.is_clean(found)
        assert found["whole"]


def test_products_in_a_form_are_computed_in_it(exact_run: tuple[Path, Path]) -> None:
    with patch.object(machine_module, "exactly", side_effect=machine_module.exactly) as computing:
        replays.replay("", *exact_run, replays.Machine("", form=Form.FLOAT32))
    assert {call.args[0].matrices for call in computing.call_args_list} == {Form.FLOAT32}


def test_a_run_that_is_not_what_was_ordered_is_not_equal(exact_run: tuple[Path, Path], tmp_path: Path) -> None:
    order, _ = exact_run
    run, key = tmp_path / "run.cfoil", sessions.key_in(tmp_path)
    for _ in record(order, run, key, threads=1, fresh=True, tamper=LabelFlip(2)):
        pass
    assert replays.replay("", order, run, replays.Machine(""))["outcome"] == "DISPUTED"


def test_ordinary_training_with_sums_in_another_order_gives_another_state(tmp_path: Path) -> None:
    """The control, which holds on every processor: without a profile the order of additions is seen."""
    order, _ = replays.record_honestly(tmp_path, "logistic, float64-24", 2)
    ours = [sessions.train_unrounded(order, "cpu", 1) for _ in range(2)]
    with patch.object(sessions, "Interpreter", lambda *told: Interpreter(*told, perturb("reversed"))):
        other = sessions.train_unrounded(order, "cpu", 1)
    assert ours[0] == ours[1] != other


# Whole trainings.


def test_distances_are_of_all_weights() -> None:
    one = np.array([3.0, 4.0, 0.0], np.float32)
    found = whole.apart(7, one, np.array([3.0, 4.0, 2.0], np.float32))
    assert (found.step, found.distance, found.relative, found.largest) == (7, 2.0, 0.4, 2.0)
    assert (found.differing, found.weights) == (1, 3)
    assert whole.apart(1, 0 * one, 0 * one).relative == 0


def test_a_machine_goes_on_from_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = whole.Pieces(tmp_path, replace(whole.JOBS["rehearsal"], steps=2), None, 1)
    pieces.write_order()
    monkeypatch.setattr(whole, "KEEP_EVERY", 1)

    def train(steps: str) -> np.ndarray:
        monkeypatch.setattr(sys, "stdin", io.StringIO(steps))
        whole.train_one(str(tmp_path), "this", "1")
        assert capsys.readouterr().out == steps
        return np.fromfile(tmp_path / "ordinary-this.f32", np.float32)

    # Another process goes on from what was kept after the first step, and ends in the same weights.
    assert not whole.apart(2, train("1\n2\n"), train("2\n")).differing


def test_margins_are_proven_or_fixed_and_every_piece_is_a_cell_on_its_machine() -> None:
    pieces = whole.Pieces(Path(), whole.JOBS["gpt2"], None, 1)
    assert pieces.with_margin("proven").precision == Precision()
    assert [pieces.with_margin(name).precision.margin_bits for name in whole.MARGINS[1:]] == [50, 47, 44, 41, 38, 35]
    found = {cell.key: cell for cell in whole.cells(whole.WHOLE.parsed("whole", ["gpt2"]))}
    assert list(found)[:4] == ["gpt2/order", "gpt2/record", "gpt2/audit", "gpt2/apart"]
    assert found["gpt2/audit-m50"].variables == whole.MACHINES["other"]
    words = ["rehearsal", "--precision", "exact-20"]
    keys = [cell.key for cell in whole.cells(whole.WHOLE.parsed("whole", words))]
    trained = [f"rehearsal/{what}" for what in ("order", "record", "audit", "apart")]
    trained += [f"rehearsal@exact-20/{what}" for what in ("order", "record", "audit")]
    assert keys[: len(trained)] == trained, "whole trainings come before short ones"
    assert all("-" in key.split("/")[1] for key in keys[len(trained) :])
    assert not found["gpt2/record"].variables


def test_a_text_gives_its_bytes_as_tokens(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"To be")
    assert whole.text_tokens(tmp_path / "text", 50257, 8).numbers.tolist() == list(b"To be")
    assert whole.text_tokens(None, 50257, 8).numbers.max() > 256


def test_what_is_not_done_is_not_said_to_be_equal(tmp_path: Path) -> None:
    rows = [{"step": 1, "seconds": 1.0, "loss": 2.0, "bytes": 3, "entries": 4}]
    results = {"rehearsal/record": Result("rehearsal/record", Ended.DONE, "", 0.0, {"steps": rows, "bytes": 9})}
    options = whole.WHOLE.parsed("whole", ["--out", str(tmp_path)])
    (text,) = whole.sections(results, options).values()
    assert "| not yet | not yet | not yet |" in text
    replayed = {"step": 1, "equal": True, "seconds": 5.0, "values": 24, "corrections": 2, "contradictions": 0}
    Rows(tmp_path / "rehearsal" / "replayed.jsonl").keep({**replayed, "omissions": 0})
    (text,) = whole.sections(results, options).values()
    assert "| 5 | not yet: 1 replayed | 1 of 1 | 3 bytes | 1.00000 | 2 | 0 | 0 |" in text


# Shares, and the ways of others.


def test_the_exchange_is_a_ring_and_the_plain_sum_is_one_of_floats() -> None:
    fast, slow = scale.NETWORKS
    assert fast.seconds(8e9, 512) == pytest.approx(2 * 8 * 8e9 / 50e9, rel=0.01)
    assert slow.seconds(124e6, 1) == 0
    exact, shares = execution.__dict__["combine"], [{"x": torch.tensor([float(number)])} for number in range(3)]
    with scale.plainly():
        assert execution.__dict__["combine"] is not exact
    assert scale.float_sum(shares, ["x"])["x"].tolist() == [3.0]
    assert execution.__dict__["combine"] is exact


def rounded(values: Tensor) -> Tensor:
    return values.float().double()


def test_the_papers_log_has_five_symbols_in_a_byte_of_what_lies_far_from_its_rounding() -> None:
    for count in (0, 1, 4, 5, 6, 23):
        symbols = torch.randint(0, 3, (count,), generator=torch.Generator().manual_seed(count)).to(torch.uint8)
        assert len(pack(symbols)) == -(-count // 5)
        assert torch.equal(unpack(pack(symbols), count), symbols)
    values = 1 + 2.0**-23 * torch.tensor([0.0, 0.24, 0.26, 0.49, 0.51, 0.74, 0.76], dtype=torch.float64)
    assert symbols_of(values, rounded(values)).tolist() == [1, 1, 0, 0, 2, 2, 1]


def test_an_auditor_takes_the_direction_of_what_both_log_and_of_nothing_else() -> None:
    step = 2.0**-23
    trainer = 1 + step * torch.tensor([0.5001, 0.4999, 0.9, 0.1], dtype=torch.float64)
    auditor = 1 + step * torch.tensor([0.4999, 0.5001, 0.1, 0.9], dtype=torch.float64)
    followed, own = correct(auditor, pack(symbols_of(trainer, rounded(trainer))))
    assert torch.equal(followed[:2], rounded(trainer)[:2])
    assert not torch.equal(rounded(auditor)[:2], rounded(trainer)[:2]), "without the log they part"
    assert torch.equal(followed[2:], rounded(auditor)[2:])
    assert own.tolist() == [0, 2, 1, 1]


def test_hooks_round_what_modules_give_and_the_gradients_that_they_pass_on() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)).double()
    hooks = Hooks(model)
    hooks.begin()
    x = torch.randn(3, 8, dtype=torch.float64, requires_grad=True)
    y = model(x)
    y.square().sum().backward()
    assert torch.equal(y, rounded(y))
    assert x.grad is not None
    assert torch.equal(x.grad, rounded(x.grad))
    assert hooks.values == 3 * (8 + 4 + 8 + 8)
    weights = model[1].weight.grad
    assert not torch.equal(weights, rounded(weights)), "the gradients of weights are not hooked"


def test_the_table_of_ways_says_what_was_found() -> None:
    times = {name: {"seconds": 0.01, "ratio": 2.5, "bits": 1.6 if "paper" in name else 0.0} for name in WAYS}
    first, second, third, *_ = THREADS
    found = {"times/cnn": {"ways": times}}
    for setting in (first, second, third):
        found[f"bits/cnn/{setting}"] = {"weights": dict.fromkeys(WAYS, "the weights")}
    found[f"bits/cnn/{third}"]["weights"]["float32"] = "other weights"
    text = case_table(
        "cnn", {key: Result(key, Ended.DONE, "", 0.0, json.loads(json.dumps(one))) for key, one in found.items()}
    )
    assert "| float32 | 2.50 | none | - | no, 1 of 2 |" in text
    assert "| float64 | 2.50 | none | - | **yes**, 2 of 2 |" in text
    assert "| the paper's method, trainer | 2.50 | 1.6000 |" in text
    assert "| RepDL | not installed here |" in product_table({"1 x 1 x 1": {"float32": 1.0}})
