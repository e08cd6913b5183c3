"""An order whose operators look at strides: they say nothing about a result, and reach no other memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import Sgd
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil_core.operators.node import Node
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import SigningKey
from support.bundles import flip_bit
from support.expectations import disputed, verified
from support.jobs import classify, draw, record_job, types
from support.operator_calls import ATEN

DATA = {"x": draw((16, 4, 6), 1), "labels": np.arange(16, dtype=np.int64) % 5}


class Turned(nn.Module):
    """The group norm's gradient arrives with strides of zero: the sum over positions is expanded."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.head = nn.GroupNorm(2, 4), nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.norm(torch.tanh(x.transpose(1, 2)).transpose(1, 2)).sum(2).view(len(x), 4))


def order() -> OrderDraft:
    """Every ``view`` has become a ``_reshape_alias`` with strides that reach far beyond the tensor."""
    torch.manual_seed(0)
    captured = capture(Turned(), classify, Sgd(), types(DATA, 8))
    assert any(node.operator == "aten.view.default" for node in captured.program.nodes)
    return draft_order(
        title="Strides that lie", recipe="own", captured=lying(captured), rule=Sgd(), learning_rates=[0.1] * 3,
        schedule=np.arange(24).reshape(3, 8) % 16, data=DATA, seed=1, checkpoint_every=3,
    )  # fmt: skip


def lying(captured: CapturedStep) -> CapturedStep:
    program = captured.program
    nodes = tuple(lie(node) if node.operator == "aten.view.default" else node for node in program.nodes)
    return replace(captured, program=Program(program.inputs, nodes, program.updates, program.loss))


def lie(node: Node) -> Node:
    x, size = node.args
    assert isinstance(size, tuple)
    return replace(
        node, operator="aten._reshape_alias.default", args=(x, size, tuple(1000 + n for n in range(len(size))))
    )


def test_it_is_trained_and_verified(tmp_path: Path, trainer_key: SigningKey) -> None:
    job = record_job(tmp_path, order(), trainer_key)
    verified(job.run, job.order)
    verified(job.run, job.order, perturbation="reversed")


def test_control_the_library_itself_reaches_beyond_the_tensor() -> None:
    """Group norm's gradient reads past the end of an expanded argument; _reshape_alias reads what it is told to."""
    x = torch.arange(6.0)
    assert ATEN._reshape_alias.default(x[:3], [3], [2]).tolist() == [0.0, 2.0, 4.0]


def test_control_another_result_is_disputed(tmp_path: Path, trainer_key: SigningKey) -> None:
    from support.jobs import sign_again

    job = record_job(tmp_path, order(), trainer_key)
    flip_bit(job.run, "/run/fingerprints", 3, 5)
    sign_again(job.run, trainer_key)
    disputed(job.run, job.order, 1, parts=("fingerprints",))
