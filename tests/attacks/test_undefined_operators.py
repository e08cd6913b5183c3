"""An order whose program uses an operator in a way that leaves the result to the machine.

Its author could have an honest trainer accused. Capture writes no such program; whoever edits one can.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import counterfoil_core.program.graph as graph
from counterfoil.training.order import OrderDraft
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.base.turns import Turns
from counterfoil_core.operators.node import Argument, Node
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.values.outcome import CheckNumber
from support.expectations import refused, verified
from support.jobs import draw, own_order, record_job, record_run, replaced


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x)
        order = torch.argsort(x, dim=1)
        counted = torch.arange(8).float()
        put = torch.zeros(8, 8).index_put((order[0],), y, accumulate=True)
        cut = torch.div(y, 3, rounding_mode="trunc")
        return functional.softplus(y) * order.float() * counted + put + cut


EDITS = {
    "stable": ("aten.sort.stable", {"stable": False}, "need not keep the order of equal elements"),
    "arange": ("aten.arange.default", (8.0,), "counts in steps that are not integers"),
    "softplus": ("aten.softplus.default", (None, 2.0, 20), "compares a rounded product with its threshold"),
    "index_put": ("aten.index_put.default", (None, None, None, False), "the last write wins"),
    "quotient": ("aten.div.Tensor_mode", {"rounding_mode": None}, "without saying how the quotient"),
}


def edited(draft: OrderDraft, operator: str, arguments: object) -> OrderDraft:
    """The order with other arguments of the nodes of an operator; None leaves one as it is."""

    def edit(node: Node) -> Node:
        if node.operator != operator:
            return node
        if isinstance(arguments, dict):
            return replace(node, kwargs=tuple(sorted({**dict(node.kwargs), **arguments}.items())))
        assert isinstance(arguments, tuple)
        old = (*node.args, *[None] * (len(arguments) - len(node.args)))
        args: tuple[Argument, ...] = tuple(o if a is None else a for o, a in zip(old, arguments, strict=False))
        return replace(node, args=args)

    program = replace(draft.program, nodes=tuple(edit(node) for node in draft.program.nodes))
    assert program.digest != draft.program.digest
    manifest = replace(draft.manifest, programs=Turns.alone(program.digest))
    return replace(draft, programs=Turns.alone(program), manifest=manifest)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EDITS)
def test_is_refused_by_name(name: str, tmp_path: Path, trainer_key: SigningKey) -> None:
    operator, arguments, sentence = EDITS[name]
    draft = own_order(Model(), lambda model, batch: model(batch["x"]).square().mean(), {"x": draw((32, 8), 1)}, steps=2)
    honest = record_job(tmp_path, draft, trainer_key)
    verified(honest.run, honest.order)
    order, run = tmp_path / "edited.cfoil", tmp_path / "edited-run.cfoil"
    edited(draft, operator, arguments).write(order, trial=False)
    with pytest.raises(ProgramError, match=sentence):
        record_run(order, run, trainer_key)
    # A trainer whose own copy accepts it gets no verdict out of an auditor's.
    with replaced(graph, "undefined_use", lambda *_: None):
        record_run(order, run, trainer_key)
    refused(run, order, CheckNumber.PROGRAM, sentence)
