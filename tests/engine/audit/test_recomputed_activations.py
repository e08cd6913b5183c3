"""Runs whose backward pass computes activations again: the same training, recorded, replayed and disputed as ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterfoil.training.order import OrderDraft
from counterfoil.training.orderfile import load_order
from counterfoil_core.arithmetic.compute.operation import Operation, native
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.precision import ExactPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import CheckNumber
from independent.bundle import Bundle, leaf
from independent.exact import replayer_of
from support.bundles import test_key
from support.expectations import disputed, operator_of, refused, run_root, verified
from support.forgery import log_of
from support.jobs import Job, digits_order, gpt2_order, record_job, records_of, replace_bytes, sign_again
from support.malicious import Trainer, record_malicious

SEGMENTS = 3
ORDERS: dict[str, Callable[[], OrderDraft]] = {
    "gpt2": lambda: gpt2_order(steps=4),
    "digits": lambda: digits_order(steps=4),
    "exact": lambda: gpt2_order(steps=2, precision=ExactPrecision(20)),
}


@dataclass(frozen=True)
class Pair:
    """The same training with activations kept, and computed again."""

    kept: Job
    again: Job


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return test_key(tmp_path_factory.mktemp("key"))


@pytest.fixture(scope="module", params=ORDERS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, key: SigningKey) -> Pair:
    draft = ORDERS[request.param]()
    folders = [tmp_path_factory.mktemp(name) for name in ("kept", "again")]
    kept, again = map(record_job, folders, (draft, draft.recomputing(SEGMENTS)), (key, key))
    return Pair(kept, again)


def states(job: Job) -> list[tuple[Digest | None, float | None]]:
    return [(record.state_root, record.loss) for record in records_of(job.run)]


def repeats(operation: Operation) -> bool:
    """Whether an operation repeats what a layer of the forward pass does."""
    return operation.node.phase == "backward" and operation.node.operator == "aten.addmm.default"


def test_states_and_losses_are_those_of_the_run_that_keeps_them(pair: Pair) -> None:
    assert states(pair.again) == states(pair.kept)
    # It is another order all the same, and more of it was rounded.
    assert run_root(pair.again.run) != run_root(pair.kept.run)
    with BundleReader.open(pair.kept.run) as kept, BundleReader.open(pair.again.run) as again:
        assert len(load_order(again).program.sites) > len(load_order(kept).program.sites)
        assert kept.manifest.digest != again.manifest.digest


@pytest.mark.sampled(2)
@pytest.mark.parametrize("perturbation", [None, "rewritten"])
def test_it_is_verified_on_other_hardware_too(pair: Pair, perturbation: str | None) -> None:
    report = verified(pair.again.run, pair.again.order, perturbation=perturbation)
    with BundleReader.open(pair.again.run) as reader:
        assert report.steps_replayed == reader.manifest.steps


def test_a_second_implementation_needs_to_know_nothing_of_it(pair: Pair) -> None:
    bundle = Bundle(pair.again.run)
    bundle.check_order()
    replayer, state = replayer_of(bundle), bundle.group("order/initial")
    for step in range(1, bundle.steps + 1):
        result, leaf_hash = replayer.replay(step, state)
        assert leaf_hash == leaf(bundle.record(step))
        state = result.state


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory, key: SigningKey) -> Job:
    return record_job(tmp_path_factory.mktemp("gpt2"), gpt2_order(steps=4).recomputing(SEGMENTS), key)


def test_a_repeated_operator_has_decisions_of_its_own_in_the_log(gpt2: Job) -> None:
    with BundleReader.open(gpt2.run) as reader:
        program = load_order(reader).program
    sites = {number: program.nodes[site.node] for number, site in enumerate(program.sites)}
    products = [number for number, node in sites.items() if node.operator == "aten.addmm.default"]
    first = [number for number in products if sites[number].phase == "forward"]
    again = [number for number in products if sites[number].phase == "backward"]
    assert again
    for step in range(1, 5):
        log = log_of(gpt2.run, step)
        for number in again:
            (same,) = [n for n in first if sites[n].module == sites[number].module]
            assert log[number].exponent == log[same].exponent
            assert np.array_equal(log[number].indices, log[same].indices)


@dataclass
class Reused(Trainer):
    """Uses stale activations in the backward pass: what it computes again of one layer is off by an ulp of the grid."""

    def operator(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        result = native(operation, args, kwargs)
        return result * (1 + 2**-20) if self.acting and repeats(operation) else result


def test_a_lie_in_a_repeated_operator_is_found_there(gpt2: Job, tmp_path: Path, key: SigningKey) -> None:
    control = record_malicious(gpt2.order, tmp_path / "control.cfoil", key, Reused())
    assert run_root(control) == run_root(gpt2.run)
    run = record_malicious(gpt2.order, tmp_path / "run.cfoil", key, Reused(step=2))
    # The loss was there before.
    found = disputed(run, gpt2.order, 2, parts=("state", "fingerprints"))
    with BundleReader.open(gpt2.order) as reader:
        nodes = load_order(reader).program.nodes
    (first, *_) = [n for n in nodes if n.phase == "backward" and n.operator == "aten.addmm.default"]
    assert operator_of(found) == ("aten.addmm.default", first.module, "backward")


@dataclass
class Keeping(Trainer):
    """Keeps what was ordered to be computed again."""

    known: dict[str, torch.Tensor] = field(default_factory=dict)

    def operator(self, operation: Operation, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if operation.node.operator != "aten.addmm.default":
            return native(operation, args, kwargs)
        if not repeats(operation):
            self.known[operation.node.module] = native(operation, args, kwargs)
        return self.known[operation.node.module].clone()


def test_who_keeps_them_all_the_same_signs_the_same(gpt2: Job, tmp_path: Path, key: SigningKey) -> None:
    """The option is about memory: what an operator repeats it gives again, bit for bit."""
    run = record_malicious(gpt2.order, tmp_path / "run.cfoil", key, Keeping(step=2))
    assert run_root(run) == run_root(gpt2.run)


def test_a_run_without_it_is_not_a_run_of_the_order(gpt2: Job, tmp_path: Path, key: SigningKey) -> None:
    plain = record_job(tmp_path, gpt2_order(steps=4), key)
    refused(plain.run, gpt2.order, CheckNumber.ORDER, "order")
    run = tmp_path / "other.cfoil"
    run.write_bytes(gpt2.run.read_bytes())
    with BundleReader.open(plain.run) as reader:
        replace_bytes(run, "/order/program", reader.program())
    sign_again(run, key)
    refused(run, gpt2.order, CheckNumber.ORDER_CONTENTS, "program")
