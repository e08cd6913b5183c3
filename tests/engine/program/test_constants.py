"""Constant tensors that a step meets become state of the order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.update import AdamW, Sgd
from counterfoil_core.base.errors import ProgramError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.keys import SigningKey
from support.expectations import verified
from support.jobs import capture_on, draw, own_order, record_job


class Positions(nn.Module):
    """Attention in the style of Hugging Face: a table in a plain attribute, and tensors made in forward."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.table = torch.from_numpy(np.sin(np.arange(20.0, dtype=np.float32)).reshape(5, 4))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.table
        scores = self.query(x) @ self.key(x).transpose(1, 2) * torch.tensor(0.5)
        causal = torch.tensor([[j <= i for j in range(5)] for i in range(5)])
        scores = torch.where(causal, scores, torch.tensor(torch.finfo(torch.float32).min))
        # The same table again is the same constant.
        return torch.softmax(scores, -1) @ self.value(x) + torch.tensor(self.table.tolist())


def constants(captured: CapturedStep) -> dict[str, Tensor]:
    return {name: tensor for name, tensor in captured.initial_state.items() if name.startswith("constant.")}


def test_they_are_state_once_and_stay_as_they_are() -> None:
    captured = capture_on(Positions(), (3, 5, 4), rule=AdamW(weight_decay=0.1))
    held = constants(captured)
    assert set(held) == {"constant.1", "constant.2"}
    assert torch.equal(held["constant.1"], Positions().table)
    assert held["constant.2"].tolist() == [[j <= i for j in range(5)] for i in range(5)]
    assert not set(held) & set(captured.program.updates)
    assert not set(held) & set(captured.parameters)
    # They are copies: what the client does with its model later changes no order.
    assert held["constant.1"].data_ptr() != Positions().table.data_ptr()
    again = Program.from_bytes(captured.program.to_bytes())
    assert again == captured.program
    assert captured.program.digest == capture_on(Positions(), (3, 5, 4), rule=AdamW(weight_decay=0.1)).program.digest


def test_an_order_with_constants_is_trained_and_verified(tmp_path: Path, trainer_key: SigningKey) -> None:
    draft = own_order(
        Positions(), lambda model, batch: model(batch["x"]).square().mean(), {"x": draw((32, 5, 4), 1)}, rule=AdamW()
    )
    job = record_job(tmp_path, draft, trainer_key)
    verified(job.run, job.order)
    with BundleReader.open(job.run) as reader:
        final = reader.checkpoint(4)
    assert np.array_equal(final["constant.1"], Positions().table.numpy())
    assert not np.array_equal(final["query.weight"], draft.initial["query.weight"])


class Using(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor], **buffers: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.function = function
        for name, tensor in buffers.items():
            self.register_buffer(name, tensor)

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x * self.weight)


def test_numbers_and_what_has_no_elements_are_part_of_the_program() -> None:
    number, empty = torch.tensor(2.5), torch.zeros(0, 3)
    captured = capture_on(Using(lambda x: torch.cat([x * number, empty])), (4, 3))
    assert constants(captured) == {}
    filled = [node.args for node in captured.program.nodes if node.operator == "aten.full.default"]
    assert ((), 2.5) in filled
    assert ((0, 3), 0) in filled


def test_one_element_with_an_axis_is_a_tensor() -> None:
    constant = torch.tensor([2.5])
    assert constants(capture_on(Using(lambda x: x * constant), (4, 3)))["constant.1"].tolist() == [2.5]


def test_names_that_the_model_has_are_left_alone() -> None:
    constant = torch.arange(3.0)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.constant = nn.ParameterList([torch.ones(3), torch.ones(3)])

        def forward(self, x: Tensor) -> Tensor:
            return x * self.constant[1] + constant

    captured = capture_on(Model(), (4, 3))
    assert torch.equal(captured.initial_state["constant.2"], constant)
    assert torch.equal(captured.initial_state["constant.1"], torch.ones(3))


def test_equal_numbers_of_another_shape_or_dtype_are_others() -> None:
    first, second, third = torch.ones(3), torch.ones(1, 3), torch.ones(3, dtype=torch.int64)
    captured = capture_on(Using(lambda x: x * first * second * third * torch.ones(3).clone()), (4, 3))
    assert len(constants(captured)) == 3


def test_a_frozen_teacher_is_a_constant() -> None:
    teacher = nn.Linear(3, 3)
    captured = capture_on(Using(lambda x: x - teacher(x).detach()), (4, 3))
    held = list(constants(captured).values())
    assert sorted(tuple(t.shape) for t in held) == [(3,), (3, 3)]
    assert not any(t.requires_grad for t in held)


def test_a_constant_that_the_step_changes_is_refused() -> None:
    counter = torch.zeros(3)

    def count(x: Tensor) -> Tensor:
        counter.add_(1.0)
        return x * counter

    with pytest.raises(ProgramError, match="is changed in the step itself") as caught:
        capture_on(Using(count), (4, 3))
    assert "register_buffer" in caught.value.remedy


def test_a_tensor_of_the_model_by_another_way_is_refused() -> None:
    model = Using(lambda x: x)
    kept = model.weight.detach()
    model.function = lambda x: x * kept
    with pytest.raises(ProgramError, match="A tensor of the model, of shape"):
        capture_on(model, (4, 3))


def test_a_constant_of_a_dtype_that_no_program_has_is_refused() -> None:
    constant = torch.arange(3, dtype=torch.float64)
    with pytest.raises(ProgramError, match=r"torch\.float64"):
        capture_on(Using(lambda x: (x * constant).float()), (4, 3))


def test_a_hugging_face_model_keeps_its_cache() -> None:
    """The default of its library, whose cache begins with tensors without elements."""
    transformers = pytest.importorskip("transformers")
    sizes = {
        "vocab_size": 11,
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).train()
    assert model.config.use_cache
    tokens = {"tokens": TensorType("int64", (2, 5))}
    captured = capture(model, lambda m, b: m(input_ids=b["tokens"], labels=b["tokens"]).loss, Sgd(), tokens)
    assert not any(name.startswith("constant") and not t.numel() for name, t in captured.initial_state.items())
