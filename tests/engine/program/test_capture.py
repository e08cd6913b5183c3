from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.philoxdraws import uniform
from counterfoil.program.update import AdamW, Sgd
from counterfoil_core.arithmetic.admission import check_types
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import DataError, ProgramError
from counterfoil_core.operators.facts import UNIFORM
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program
from support.jobs import capture_on


def operators(captured: CapturedStep) -> list[str]:
    return [node.operator.split(".")[1] for node in captured.program.nodes]


def modules(captured: CapturedStep, operator: str, phase: str | None = None) -> set[str]:
    return {
        node.module
        for node in captured.program.nodes
        if node.operator.split(".")[1] == operator and phase in (None, node.phase)
    }


def execute(captured: CapturedStep, **batch: Tensor) -> dict[str, Tensor]:
    """One step in float64 without rounding."""
    inputs = StepInputs(captured.initial_state, batch, {"lr": 0.1}, Draws(1, 1))
    return Interpreter(captured.program, torch.device("cpu")).run(inputs).state


class Twice(nn.Module):
    """One batch norm applied twice in a step, and an in-place ReLU between."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.relu(self.bn(self.conv(x))))


def test_running_statistics_of_batch_norm_become_state_updates():
    model = Twice()
    captured = capture_on(model, (6, 1, 5, 5))
    assert {"bn.running_mean", "bn.running_var", "bn.num_batches_tracked"} <= set(captured.program.updates)
    assert not any(name.endswith("_") for name in operators(captured))
    x = torch.randn(6, 1, 5, 5)
    state = execute(captured, x0=x)
    model.double()(x.double())
    # Applied twice, the statistics move twice.
    assert int(state["bn.num_batches_tracked"]) == 2
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(state[f"bn.{name}"], getattr(model.bn, name).float(), rtol=1e-6, atol=1e-7)


def test_evaluation_mode_leaves_the_statistics_alone():
    captured = capture_on(Twice().eval(), (6, 1, 5, 5))
    assert set(captured.program.updates) == {"conv.weight", "conv.bias", "bn.weight", "bn.bias"}
    assert "_native_batch_norm_legit_no_training" in operators(captured)


def test_every_operator_knows_its_module_and_its_pass():
    captured = capture_on(Twice(), (6, 1, 5, 5))
    assert modules(captured, "convolution") == {"conv"}
    assert modules(captured, "_native_batch_norm_legit_functional") == {"bn"}
    assert modules(captured, "native_batch_norm_backward", "backward") == {"bn"}
    assert modules(captured, "relu", "forward") == {"relu"}
    assert modules(captured, "threshold_backward", "backward") == {"relu"}
    assert modules(captured, "convolution_backward", "backward") == {"conv"}
    updates = {node.module for node in captured.program.nodes if node.phase == "update"}
    assert updates == {"conv.weight", "conv.bias", "bn.weight", "bn.bias"}
    phases = [node.phase for node in captured.program.nodes]
    assert phases == sorted(phases, key=("forward", "backward", "update").index)


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_transformer_encoder_layer_with_dropout_inside_attention(dropout):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=dropout, batch_first=True)
    captured = capture_on(layer, (3, 5, 8))
    names = operators(captured)
    draws = [node.args[1] for node in captured.program.nodes if node.operator == UNIFORM]
    # Attention weights, both residual branches, and between the two linear layers.
    assert len(draws) == (4 if dropout else 0)
    assert len(set(draws)) == len(draws)
    assert "bernoulli" not in names
    assert "native_dropout" not in names
    assert not any("scaled_dot_product" in name for name in names)
    assert {"self_attn", "linear1", "linear2", "norm1", "norm2"} <= {node.module for node in captured.program.nodes}
    check_types(captured.program, "float64")


def test_lstm():
    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 6, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            return self.lstm(x)[0]

    torch.manual_seed(0)
    model = Reader()
    captured = capture_on(model, (3, 5, 4))
    assert "lstm" in {node.module for node in captured.program.nodes}
    x = torch.randn(3, 5, 4)
    state = execute(captured, x0=x)
    model.double()(x.double()).square().mean().backward()
    for name, parameter in model.named_parameters():
        expected = parameter.detach() - 0.1 * parameter.grad
        torch.testing.assert_close(state[name].double(), expected, rtol=1e-6, atol=1e-8)


class Tied(nn.Module):
    """Embedding and output projection share one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.out = nn.Linear(4, 7, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(self.embed(tokens))


def test_tied_weights_are_one_state_tensor_with_both_gradients():
    def objective(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
        return functional.cross_entropy(model(batch["tokens"]).flatten(0, 1), batch["tokens"].flatten())

    torch.manual_seed(0)
    model = Tied()
    captured = capture(model, objective, Sgd(), {"tokens": TensorType("int64", (2, 3))})
    assert captured.parameters == ("embed.weight",)
    assert "embedding_dense_backward" in operators(captured)
    tokens = torch.tensor([[1, 2, 1], [6, 1, 0]])
    state = execute(captured, tokens=tokens)
    model.double()
    objective(model, {"tokens": tokens}).backward()
    expected = model.embed.weight.detach() - 0.1 * model.embed.weight.grad
    torch.testing.assert_close(state["embed.weight"].double(), expected, rtol=1e-6, atol=1e-8)


def test_a_buffer_that_a_module_assigns_is_updated():
    class Averaging(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))
            self.register_buffer("average", torch.zeros(3))
            self.register_buffer("constant", torch.full((3,), 2.0))

        def forward(self, x: Tensor) -> Tensor:
            self.average = self.average * 0.5 + x.detach().amax(0) * 0.5
            return x * self.weight * self.constant

    model = Averaging()
    captured = capture_on(model, (4, 3))
    assert set(captured.program.updates) == {"weight", "average"}
    x = torch.arange(12.0).reshape(4, 3)
    assert execute(captured, x0=x)["average"].tolist() == [4.5, 5.0, 5.5]
    # Capturing leaves the client's model as it was.
    assert model.average.tolist() == [0.0, 0.0, 0.0]


def test_optimizer_slots_are_state_with_the_parameters_name():
    captured = capture_on(nn.Linear(3, 2), (4, 3), rule=AdamW())
    names = {item.name for item in captured.program.state_inputs()}
    assert {"moment1:weight", "moment2:weight", "moment1:bias", "moment2:bias"} <= names
    assert {node.module for node in captured.program.nodes if node.phase == "update"} == {"weight", "bias"}


def test_a_parameter_without_gradient_gets_zeros():
    class Idle(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used = nn.Linear(3, 2)
            self.idle = nn.Parameter(torch.ones(5))

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x)

    captured = capture_on(Idle(), (4, 3))
    assert torch.equal(execute(captured, x0=torch.ones(4, 3))["idle"], torch.ones(5))


@pytest.mark.parametrize(
    "model",
    [
        Twice(),
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.1)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_canonical_json_round_trip(model):
    shape = (6, 1, 5, 5) if isinstance(model, Twice) else (3, 5, 8)
    program = capture_on(model, shape).program
    again = Program.from_bytes(program.to_bytes())
    assert again == program
    assert again.to_bytes() == program.to_bytes()
    assert again.digest == program.digest


def test_capture_is_reproducible():
    assert capture_on(Twice(), (6, 1, 5, 5)).program.digest == capture_on(Twice(), (6, 1, 5, 5)).program.digest


# Errors name the operator and the module.


class Wrapped(nn.Module):
    """Puts a function of a tensor into a module named ``inner``."""

    def __init__(self, function) -> None:
        super().__init__()

        class Inner(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))

            def forward(self, x: Tensor) -> Tensor:
                return function(x * self.weight)

        self.inner = Inner()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


def refused(function) -> str:
    with pytest.raises(ProgramError) as caught:
        capture_on(Wrapped(function), (4, 3))
    return str(caught.value)


def test_an_operator_outside_the_allow_list():
    message = refused(lambda x: torch.special.i0(x))
    assert "aten.i0.default" in message or "special_i0" in message
    assert "'inner' (forward pass)" in message
    assert "allow-list" in message


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 if x.sum() > 0 else x,
        lambda x: x[x > 0],
        lambda x: x * x.sum().item(),
        lambda x: x.unique(),
    ],
    ids=["branch", "boolean index", "item", "unique"],
)
def test_control_flow_or_shapes_that_depend_on_values(function):
    message = refused(function)
    assert "inner" in message


def test_a_constant_number_is_part_of_the_program():
    constant = torch.tensor(2.5)
    program = capture_on(Wrapped(lambda x: x * constant), (4, 3)).program
    assert 2.5 in [node.args[1] for node in program.nodes if node.operator == "aten.full.default"]


def test_float64_in_the_model():
    with pytest.raises(DataError, match=r"'bias'.*float64"):
        capture_on(nn.Linear(3, 2).double(), (4, 3))
    message = refused(lambda x: x.double() * 2)
    assert "torch.float64" in message
    assert "'inner'" in message


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * torch.bernoulli(torch.full((4, 3), 0.5)),
        lambda x: functional.alpha_dropout(x, training=True),
    ],
    ids=["bernoulli", "alpha_dropout"],
)
def test_bernoulli_of_the_framework_is_taken_from_philox(function):
    captured = capture_on(Wrapped(function), (4, 3))
    assert UNIFORM in {node.operator for node in captured.program.nodes}


def test_an_objective_that_is_no_number():
    with pytest.raises(ProgramError, match="must be one number"):
        capture(nn.Linear(3, 2), lambda m, b: m(b["x"]), Sgd(), {"x": TensorType("float32", (4, 3))})


def test_an_objective_without_any_parameter():
    with pytest.raises(ProgramError, match="does not depend on any parameter"):
        capture(nn.Linear(3, 2), lambda m, b: b["x"].mean(), Sgd(), {"x": TensorType("float32", (4, 3))})


def test_uniform_outside_a_capture():
    with pytest.raises(RuntimeError, match="being captured"):
        uniform((3,))


def test_draws_are_numbered_from_zero_in_every_capture():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 3), nn.Dropout(0.5))
    for _ in range(2):
        nodes = capture_on(model, (4, 3)).program.nodes
        assert [node.args[1] for node in nodes if node.operator == UNIFORM] == [0, 1]


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_dropout_of_nothing_and_of_everything_draws_nothing(p):
    program = capture_on(nn.Sequential(nn.Linear(3, 3), nn.Dropout(p), nn.Linear(3, 3)), (4, 3)).program
    assert UNIFORM not in {node.operator for node in program.nodes}


def test_channel_dropout_draws_once_for_each_channel():
    program = capture_on(nn.Sequential(nn.Conv2d(1, 4, 1), nn.Dropout2d(0.5)), (2, 1, 3, 3)).program
    assert [node.args[0] for node in program.nodes if node.operator == UNIFORM] == [(2, 4, 1, 1)]


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (nn.BatchNorm1d(3), (6, 3)),
        (nn.LayerNorm(3), (6, 3)),
        (nn.GroupNorm(1, 4), (6, 4, 2)),
        (nn.Conv1d(4, 2, 1), (6, 4, 2)),
        (nn.ConvTranspose1d(4, 2, 1), (6, 4, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_first_layer_has_no_gradient_of_its_input(model, shape):
    program = capture_on(model, shape).program
    (backward,) = [node for node in program.nodes if node.operator.endswith("norm_backward.default")] or [
        node for node in program.nodes if node.operator == "aten.convolution_backward.default"
    ]
    assert backward.outputs[0] is None
    execute(capture_on(model, shape), x0=torch.ones(shape))


class Block(nn.Module):
    """A part of a model that is checkpointed as ``torch.utils.checkpoint`` does, or not."""

    def __init__(self, reentrant: bool | None) -> None:
        super().__init__()
        self.outer, self.reentrant = nn.Linear(3, 3), reentrant
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 3))

    def forward(self, x: Tensor) -> Tensor:
        x = self.outer(x)
        return self.inner(x) if self.reentrant is None else checkpoint(self.inner, x, use_reentrant=self.reentrant)


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpointed_module_is_captured_as_if_it_were_called(reentrant):
    plain, checkpointed = (capture_on(Block(each), (4, 3)).program for each in (None, reentrant))
    assert checkpointed.to_bytes() == plain.to_bytes()


def test_where_a_reentrant_checkpoint_has_no_gradients_a_program_has_none():
    class First(Block):
        def forward(self, x: Tensor) -> Tensor:
            return self.outer(checkpoint(self.inner, x, use_reentrant=True))

    x, model = torch.ones(4, 3), First(True)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad"):
        model(x).sum().backward()
    learned = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert learned == {"outer.weight", "outer.bias"}
    updated = capture_on(model, (4, 3)).program.updates
    assert {name for name in updated if ":" not in name and "running" not in name and "num_b" not in name} == learned


def test_checkpointing_of_ones_own_is_refused():
    class Again(torch.autograd.Function):
        @staticmethod
        def forward(context, module, x):
            context.module = module
            context.save_for_backward(x)
            with torch.no_grad():
                return module(x)

        @staticmethod
        def backward(context, gradient):
            (x,) = context.saved_tensors
            with torch.enable_grad():
                given = x.detach().requires_grad_()
                made = context.module(given)
            return None, torch.autograd.grad(made, given, gradient)[0]

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.inner = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            return Again.apply(self.inner, self.first(x))

    with pytest.raises(ProgramError) as caught:
        capture_on(Model(), (4, 3))
    assert "past the step's inputs" in caught.value.sentence
    assert "--recompute-activations" in caught.value.remedy


def test_a_custom_backward_pass():
    class Straight(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x: Tensor) -> Tensor:
            return torch.round(x)

        @staticmethod
        def backward(ctx, gradient: Tensor) -> Tensor:
            return gradient * 3.0

    captured = capture_on(Wrapped(Straight.apply), (4, 3))
    # The gradient of mean(round(w)^2) is 3 * 2 * 1 * 4 rows / 12 elements = 2.
    assert torch.allclose(execute(captured, x0=torch.ones(4, 3))["inner.weight"], torch.tensor(1 - 0.1 * 2.0))
